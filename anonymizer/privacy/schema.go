package privacy

import (
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Schema is what specifications refer to by name.
type Schema struct {
	Attributes []string // quasi-identifying, in the order of Table.Attributes
	Sensitive  []Sensitive
}

// Sensitive is a sensitive attribute, in the order of Summary.Sensitive.
type Sensitive struct {
	Name string
	// Values gives the text of a value code.
	Values *Dictionary
	// Hierarchy orders the values or arranges them in a taxonomy, for the ordered
	// and the hierarchical distance; nil where no constraint needs one. The
	// constraints made over the schema encode values with it, so it must not
	// be an attribute's of the table at the same time.
	Hierarchy hierarchy.Hierarchy
}

// Dictionary numbers the different texts of a sensitive attribute, and NULL,
// from 0 in the order of their first appearance. It is append-only. It is not
// safe for concurrent use, and constraints read it: nothing may be appended
// while a constraint is being checked.
type Dictionary struct {
	codes map[string]uint32
	texts []string
	null  int // code of NULL, -1 while it has none
}

// NewDictionary returns an empty dictionary.
func NewDictionary() *Dictionary { return &Dictionary{codes: map[string]uint32{}, null: -1} }

// Code is the text's number, a new one where it is new.
func (d *Dictionary) Code(text string) uint32 {
	code, known := d.codes[text]
	if !known {
		text = strings.Clone(text) // it may be part of a longer one
		code = uint32(len(d.texts))
		d.codes[text] = code
		d.texts = append(d.texts, text)
	}
	return code
}

// Null is the number of NULL, which is a value of its own, different from every
// text.
func (d *Dictionary) Null() uint32 {
	if d.null < 0 {
		d.null = len(d.texts)
		d.texts = append(d.texts, "")
	}
	return uint32(d.null)
}

// Text is the text of a code; false for NULL and for codes that are not known.
func (d *Dictionary) Text(code uint32) (string, bool) {
	if int64(code) >= int64(len(d.texts)) || int(code) == d.null {
		return "", false
	}
	return d.texts[code], true
}

// Len is how many codes there are: the next new one.
func (d *Dictionary) Len() int { return len(d.texts) }
