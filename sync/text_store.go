package sync

import (
	"encoding/binary"
	"slices"
)

// textStore keep a text for each of many places, with as few bytes beside it and as few things
// for the garbage collector to look at as can be: those of textsPage places share one piece
// of memory, in which their lengths come first. A place that was given none has the empty
// text.
type textStore struct {
	pages [][]byte
}

const (
	textsPage = 16
	// longText takes the place of a length that a byte has no room for. The length then
	// stands before the text, in longHead bytes.
	longText = 255
	longHead = 8
)

// get is the text at a place, until the next set; empty at -1, which is no place.
func (t *textStore) get(place int32) []byte {
	if place < 0 || int(place) >= len(t.pages)*textsPage || t.pages[place/textsPage] == nil {
		return nil
	}
	page := t.pages[place/textsPage]
	from, to := textAt(page, int(place%textsPage))
	if page[place%textsPage] == longText {
		from += longHead
	}
	return page[from:to]
}

// textAt finds what a page has of a text beside the byte of its length.
func textAt(page []byte, number int) (from, to int) {
	to = textsPage
	for _, length := range page[:number+1] {
		from = to
		if to += int(length); length == longText {
			to = from + longHead + int(binary.NativeEndian.Uint64(page[from:]))
		}
	}
	return from, to
}

// set gives a place its text, which is copied.
func (t *textStore) set(place int32, text []byte) {
	at, number := int(place/textsPage), int(place%textsPage)
	if at >= len(t.pages) {
		t.pages = append(t.pages, make([][]byte, at+1-len(t.pages))...)
	}
	page := t.pages[at]
	if page == nil {
		page = make([]byte, textsPage, t.usualPage(at))
	}
	from, to := textAt(page, number)
	switch {
	case len(text) < longText && from == len(page): // places are filled one after the other
		page[number] = byte(len(text))
		page = append(page, text...)
	case len(text) < longText:
		page[number] = byte(len(text))
		page = slices.Replace(page, from, to, text...)
	default:
		page[number] = longText
		var head [longHead]byte
		binary.NativeEndian.PutUint64(head[:], uint64(len(text)))
		page = slices.Insert(slices.Replace(page, from, to, head[:]...), from+longHead, text...)
	}
	if number == textsPage-1 && cap(page) > len(page)+len(page)/4 {
		page = append(make([]byte, 0, len(page)), page...) // it is full for the first time, as a rule
	}
	t.pages[at] = page
}

// usualPage is the size of a new page that makes it likely not to have to grow: some more
// than the one before has.
func (t *textStore) usualPage(at int) int {
	const least, most = 4 * textsPage, textsPage * longText
	if at == 0 {
		return least
	}
	before := len(t.pages[at-1])
	return min(most, max(least, before+before/8))
}
