package dataset

import (
	"iter"
	"math"
	"strconv"
)

// fields are those of one column, in the order of the records. While a column has few different
// fields, each takes two bytes; else it takes its text and four bytes.
type fields struct {
	length int
	// different are the fields by number, in the order in which they came first; numbers has
	// the number of each field. Both are nil where there are too many different ones.
	different []string
	numbers   []uint16
	number    map[string]uint16 // nil once nothing is added any more
	blocks    []block           // in place of different and numbers
	tooLong   bool              // a block has no room for a field, which is left out
}

// block holds fields one behind the other.
type block struct {
	text []byte // while fields are added
	done string // in place of text, once the block is full
	ends []uint32
}

// finish ends a block.
func (b *block) finish() { b.done, b.text = string(b.text), nil }

const (
	// maxDifferent bounds the different fields of a column that are numbered.
	maxDifferent = 1 << 16
	blockFields  = 1 << 14
)

func newFields() *fields { return &fields{number: make(map[string]uint16)} }

// keyFields number the records from 1.
func keyFields(records int) *fields {
	f := newFields()
	for i := range records {
		f.add(strconv.Itoa(i + 1))
	}
	return f
}

func (f *fields) isNumbered() bool { return f.blocks == nil }

// add copies the text.
func (f *fields) add(text string) {
	f.length++
	if !f.isNumbered() {
		f.append(text)
		return
	}
	number, known := f.number[text]
	switch {
	case known:
	case len(f.different) < maxDifferent:
		text = string([]byte(text)) // without the record that it is a part of
		number = uint16(len(f.different))
		f.different, f.number[text] = append(f.different, text), number
	default:
		f.spread()
		f.append(text)
		return
	}
	f.numbers = append(f.numbers, number)
}

// spread gives up numbers.
func (f *fields) spread() {
	f.blocks = []block{{}}
	for _, number := range f.numbers {
		f.append(f.different[number])
	}
	f.different, f.numbers, f.number = nil, nil, nil
}

func (f *fields) append(text string) {
	last := &f.blocks[len(f.blocks)-1]
	// All blocks but the last have blockFields fields, so that at finds them.
	if len(last.ends) == blockFields {
		last.finish()
		f.blocks = append(f.blocks, block{text: make([]byte, 0, len(last.done)), ends: make([]uint32, 0, blockFields)})
		last = &f.blocks[len(f.blocks)-1]
	}
	if len(text) > math.MaxUint32-len(last.text) {
		f.tooLong, text = true, ""
	}
	last.text = append(last.text, text...)
	last.ends = append(last.ends, uint32(len(last.text)))
}

// at is one field.
func (f *fields) at(record int) string {
	if f.isNumbered() {
		return f.different[f.numbers[record]]
	}
	of, i := &f.blocks[record/blockFields], record%blockFields
	start := uint32(0)
	if i > 0 {
		start = of.ends[i-1]
	}
	if of.text == nil {
		return of.done[start:of.ends[i]]
	}
	return string(of.text[start:of.ends[i]])
}

// finish ends the column: nothing is added any more.
func (f *fields) finish() {
	f.number = nil
	if last := len(f.blocks) - 1; last >= 0 && f.blocks[last].text != nil {
		f.blocks[last].finish()
	}
}

// all yields the number and the text of each field.
func (f *fields) all() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range f.length {
			if !yield(i, f.at(i)) {
				return
			}
		}
	}
}

// some yields every different text at least once, in the order in which they came first.
func (f *fields) some() iter.Seq[string] {
	return func(yield func(string) bool) {
		if f.isNumbered() {
			for _, text := range f.different {
				if !yield(text) {
					return
				}
			}
			return
		}
		for _, text := range f.all() {
			if !yield(text) {
				return
			}
		}
	}
}

// mapped are the fields with another text each, which is a function of the text alone.
func (f *fields) mapped(to func(string) string) *fields {
	if f.isNumbered() {
		m := &fields{length: f.length, numbers: f.numbers, different: make([]string, len(f.different))}
		for i, text := range f.different {
			m.different[i] = to(text)
		}
		return m
	}
	m := &fields{blocks: []block{{}}}
	for _, text := range f.all() {
		m.length++
		m.append(to(text))
	}
	m.finish()
	return m
}

// tally counts the records with each value.
func (f *fields) tally() map[string]int {
	values := make(map[string]int)
	if f.isNumbered() {
		counts := make([]int, len(f.different))
		for _, number := range f.numbers {
			counts[number]++
		}
		for i, text := range f.different {
			if text != "" {
				values[text] += counts[i]
			}
		}
		return values
	}
	for _, text := range f.all() {
		if text != "" {
			values[text]++
		}
	}
	return values
}

// coded gives a code for each field: a function of its text.
func coded[T any](f *fields, code func(text string) T) []T {
	codes := make([]T, f.length)
	if !f.isNumbered() {
		for i, text := range f.all() {
			codes[i] = code(text)
		}
		return codes
	}
	of := make([]T, len(f.different))
	for i, text := range f.different {
		of[i] = code(text)
	}
	for i, number := range f.numbers {
		codes[i] = of[number]
	}
	return codes
}
