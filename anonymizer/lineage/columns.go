package lineage

import (
	"encoding/hex"
	"fmt"
)

// columns is a set of columns that are published as they are: a bit for each sensitive
// attribute, then for each copied value, at last for the subject. It is a string of
// bytes without trailing zeros, so that equal sets are equal.
type columns string

// with adds the columns in which two states of a record differ.
func (c columns) with(before, after Record) columns {
	bits := []byte(c)
	add := func(i int) {
		for len(bits) <= i/8 {
			bits = append(bits, 0)
		}
		bits[i/8] |= 1 << (i % 8)
	}
	for a, code := range before.Sensitive {
		if code != after.Sensitive[a] {
			add(a)
		}
	}
	for i, value := range before.Copied {
		if value != after.Copied[i] {
			add(len(before.Sensitive) + i)
		}
	}
	if before.Subject != after.Subject {
		add(len(before.Sensitive) + len(before.Copied))
	}
	return columns(bits)
}

// counted reports whether one of the sensitive attributes is in the set.
func (c columns) counted(sensitive int) bool {
	for a := range min(sensitive, 8*len(c)) {
		if c[a/8]&(1<<(a%8)) != 0 {
			return true
		}
	}
	return false
}

// String is the set as a store keeps it, in hexadecimal digits.
func (c columns) String() string { return hex.EncodeToString([]byte(c)) }

func parseColumns(text string) (columns, error) {
	bits, err := hex.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("reading a set of columns: %w", err)
	}
	return columns(bits), nil
}
