package sync

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// copies hold, of the records of a packed release, what their class's row shows of them, in
// the form in which it is sent: a touched class is then written from memory, and the server
// need not look for its members. Wide records are left out, and records with a value that
// the stream has left out; their classes are written inside the server, as are all classes
// of a table whose copied columns can change their texts by themselves.
type copies struct {
	partition *incremental.Partition
	columns   []int     // of the stored ones, in the order of copiedList
	weights   []int     // bytes that a byte of each column's text takes at most
	texts     textStore // by slot of the partition; empty for none
	buffer    []byte
}

// newCopies are none, and nil for a table whose members are not held in memory.
func (t *table) newCopies() *copies {
	if !t.isPacked() {
		return nil
	}
	c := &copies{partition: t.mode.(*immediate).parts[0].partition}
	for _, published := range t.layout.publication.Copied() {
		i := t.layout.columns.index(published.Source)
		weight := textWeight(t.layout.columns[i])
		if weight == 0 {
			return nil
		}
		c.columns, c.weights = append(c.columns, i), append(c.weights, weight)
	}
	return c
}

// stableTypes are types whose texts stand for the same value at any time, which those of
// enumerations, composite types, names of objects and money need not. Their values take no
// more bytes than the texts, but for a few whatever the length.
var stableTypes = []string{
	"text", "varchar", "bpchar", "name", "json", "bytea", "bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric",
	"date", "time", "timetz", "timestamp", "timestamptz", "interval", "uuid", "inet", "cidr", "macaddr", "bit", "varbit",
}

// textWeight is how many bytes a byte of the column's texts stands for at most; 0 where the
// texts are not stable.
func textWeight(c catalog.Column) int {
	element := strings.TrimPrefix(c.BaseType, "_")
	switch {
	case c.UserType != catalog.Name{}:
		return 0
	case slices.Contains(stableTypes, c.BaseType):
		return 1
	case element == "jsonb" || slices.Contains(stableTypes, element):
		return 6 // arrays and documents of short numbers
	}
	return 0
}

// memberBytes and columnBytes are what a member and each of its columns take beside the
// values.
const (
	memberBytes = 32
	columnBytes = 8
)

// note holds the values of a record, all stored columns, if they can be held.
func (c *copies) note(id incremental.RecordID, values []value) {
	if c != nil {
		c.put(c.partition.SlotOf(id), values)
	}
}

// same reports whether a record is held and shows what these values would.
func (c *copies) same(id incremental.RecordID, values []value) bool {
	return c != nil && c.shows(c.partition.SlotOf(id), values)
}

// forget drops a record that the partition still has.
func (c *copies) forget(id incremental.RecordID) {
	if c != nil {
		c.drop(c.partition.SlotOf(id))
	}
}

// put is note for the record in a slot.
func (c *copies) put(slot int32, values []value) {
	if c == nil {
		return
	}
	if text := c.member(values); text != nil {
		c.texts.set(slot, text)
	} else {
		c.drop(slot)
	}
}

func (c *copies) shows(slot int32, values []value) bool {
	return c.holds(slot) && bytes.Equal(c.texts.get(slot), c.member(values))
}

func (c *copies) drop(slot int32) {
	if c.holds(slot) {
		c.texts.set(slot, nil)
	}
}

// member is what is held of a record with these values, until the next call; nil if it
// cannot be held.
func (c *copies) member(values []value) []byte {
	if slices.ContainsFunc(c.columns, func(column int) bool { return values[column].kept }) || c.width(values) > packedWidth {
		return nil
	}
	c.buffer = append(c.appendFields(c.buffer[:0], values), memberEnd...)
	return c.buffer
}

// width is how many bytes a member with these values takes at most.
func (c *copies) width(values []value) int {
	width := memberBytes
	for i, column := range c.columns {
		width += columnBytes + c.weights[i]*len(values[column].text)
	}
	return width
}

// appendFields appends what a member shows of these values.
func (c *copies) appendFields(text []byte, values []value) []byte {
	for _, column := range c.columns {
		text = appendMemberField(append(text, ','), values[column])
	}
	return text
}

func (c *copies) clear() {
	if c != nil {
		c.texts = textStore{}
	}
}

func (c *copies) holds(slot int32) bool { return c != nil && len(c.texts.get(slot)) > 0 }

// have tells whether the records in all of the slots are held.
func (c *copies) have(slots []int32) bool {
	for _, slot := range slots {
		if !c.holds(slot) {
			return false
		}
	}
	return c != nil
}

// A member is a row within an array within a line of COPY, each of which escapes what it
// consists of (PostgreSQL, "Composite Type Input and Output Syntax", "Array Input and Output
// Syntax", and COPY, "Text Format"). What stands between its number and its end is made
// once.
const (
	memberBegin = `"(`
	memberEnd   = `)"`
	fieldQuote  = `\\"`
)

// appendMember appends a record that is held in a slot.
func (c *copies) appendMember(text []byte, id incremental.RecordID, slot int32) []byte {
	text = strconv.AppendInt(append(text, memberBegin...), int64(id), 10)
	return append(text, c.texts.get(slot)...)
}

// quoted says that a value must be quoted, or escaped.
func quoted(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '"', '\\', ',', '(', ')', '\n', '\r', '\t':
			return true
		}
	}
	return false
}

// appendMemberField appends a value of a member; NULL is nothing at all.
func appendMemberField(text []byte, v value) []byte {
	if v.null {
		return text
	}
	if v.text != "" && !quoted(v.text) {
		return append(text, v.text...)
	}
	text = append(text, fieldQuote...)
	for i := range len(v.text) {
		switch b := v.text[i]; b {
		case '"':
			text = append(text, fieldQuote+fieldQuote...)
		case '\\':
			text = append(text, `\\\\\\\\`...)
		case '\n':
			text = append(text, `\n`...)
		case '\r':
			text = append(text, `\r`...)
		case '\t':
			text = append(text, `\t`...)
		default:
			text = append(text, b)
		}
	}
	return append(text, fieldQuote...)
}
