// Package tablefile writes and reads what is released as files, CSV or Parquet.
//
// Both formats hold the same rows, as texts in PostgreSQL's output form (DateStyle ISO, TimeZone
// UTC). NewWriter and Open are the entry points; Output puts a file into its place only when it is
// whole, and a Manifest says what it is.
package tablefile

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is that of a file.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	switch f := Format(strings.ToLower(name)); f {
	case CSV, Parquet:
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q: known are csv and parquet", name)
}

// FormatOf is the format that the name of a file ends in; false where it ends in none.
func FormatOf(path string) (Format, bool) {
	f, err := ParseFormat(strings.TrimPrefix(filepath.Ext(path), "."))
	return f, err == nil
}
