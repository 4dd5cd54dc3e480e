package processes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/state"
)

// maxAnswerBytes bounds the texts in one answer, in bytes as they are sent. A notification has
// fewer than 8000 (PostgreSQL, chapter NOTIFY), and the other parts of an answer take less than
// the rest.
const maxAnswerBytes = 5000

// payload is a value as it is sent: JSON in ASCII. Names of this machine, and those in certificates, may have
// characters that the encoding of the database has not.
func payload(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("answering: %w", err)
	}
	var written []byte
	for _, character := range string(text) {
		switch {
		case character < utf8.RuneSelf:
			written = append(written, byte(character))
		case character > 0xffff:
			high, low := utf16.EncodeRune(character)
			written = fmt.Appendf(written, `\u%04x\u%04x`, high, low)
		default:
			written = fmt.Appendf(written, `\u%04x`, character)
		}
	}
	return written, nil
}

// room is the number of bytes left.
type room int

// take reports whether there is room for a text, and reserves it. In JSON, some characters take
// six bytes, such as < and >, or twelve.
func (r *room) take(text string) bool {
	written, err := payload(text)
	if n := room(len(written) + len(",")); err == nil && n <= *r {
		*r -= n
		return true
	}
	return false
}

// fitting returns the first names for which there is room.
func (r *room) fitting(names []string) []string {
	for i, name := range names {
		if !r.take(name) {
			return names[:i]
		}
	}
	return names
}

// fitting returns the answer, shortened to what a notification can hold. What keeps everything from
// being served comes first.
func (c Clients) fitting() Clients {
	left := room(maxAnswerBytes)
	if c.Refusal != nil {
		told := *c.Refusal
		told.Why, told.Fix = left.beginning(told.Why), left.beginning(told.Fix)
		c.Refusal = &told
	}
	if c.Expires != nil {
		told := *c.Expires
		told.Subject, told.File = left.beginning(told.Subject), left.beginning(told.File)
		c.Expires = &told
	}
	c.Problem, c.Fix, c.Refused = left.beginning(c.Problem), left.beginning(c.Fix), left.beginning(c.Refused)
	all := c.Work
	c.Work = make(map[string]*state.Work)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if w, text := left.work(name, all[name]); w != nil {
			left -= room(len(text))
			c.Work[name] = w
		}
	}
	c.Unserved = left.fitting(c.Unserved)
	return c
}

// work returns the work on a table, as far as half of the room holds it, and how it is sent; nil where there is no room. A
// long problem is shortened rather than left out.
func (r *room) work(name string, w *state.Work) (fitting *state.Work, text []byte) {
	told := *w
	half := *r / 2
	told.Problem, told.Fix = half.beginning(told.Problem), half.beginning(told.Fix)
	text, err := payload(told)
	if err != nil || room(len(text)) > *r*3/4 || !r.take(name) {
		return nil, nil
	}
	return &told, text
}

// counted returns the first names for which there is room, and the number of the others.
func (r *room) counted(names []string) []string {
	told := r.fitting(names)
	if more := len(names) - len(told); more > 0 {
		told = append(slices.Clip(told), fmt.Sprintf("and %d more", more))
	}
	return told
}

// beginning returns a text, or as much of its beginning as there is room for.
func (r *room) beginning(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if text == "" || r.take(text) {
		return text
	}
	for i, character := range text {
		written, _ := payload(string(character)) // texts can be written
		if *r -= room(len(written) - len(`""`)); *r < 0 {
			return text[:i] + " ... (the log has all of it)"
		}
	}
	return text
}

// fitting returns the answer, shortened to what a notification can hold.
func (a Answer) fitting() Answer {
	left := room(maxAnswerBytes)
	a.Refused = left.beginning(a.Refused)
	a.Added, a.Changed, a.Removed = left.counted(a.Added), left.counted(a.Changed), left.counted(a.Removed)
	return a
}
