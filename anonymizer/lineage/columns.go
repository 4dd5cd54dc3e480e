package lineage

import (
	"encoding/hex"
	"fmt"
)

// columns is a set of columns that are not generalized: a bit for each sensitive
// attribute, then for each copied value, then for the subject. It is a string of bytes
// without trailing zeros, so that equal sets are equal.
type columns string

// with adds the columns in which two states of a record differ.
func (c columns) with(before, after Record) columns {
	for a, code := range before.Sensitive {
		if code != after.Sensitive[a] {
			c = c.plus(a)
		}
	}
	copied := len(before.Sensitive)
	for i, value := range before.Copied {
		if value != after.Copied[i] {
			c = c.plus(copied + i)
		}
	}
	if before.Subject != after.Subject {
		c = c.plus(copied + len(before.Copied))
	}
	return c
}

// and is the union of two sets.
func (c columns) and(other columns) columns {
	for i := range 8 * len(other) {
		if other.has(i) {
			c = c.plus(i)
		}
	}
	return c
}

func (c columns) has(i int) bool { return i/8 < len(c) && c[i/8]&(1<<(i%8)) != 0 }

func (c columns) plus(i int) columns {
	bits := []byte(c)
	for len(bits) <= i/8 {
		bits = append(bits, 0)
	}
	bits[i/8] |= 1 << (i % 8)
	return columns(bits)
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
