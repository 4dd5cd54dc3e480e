// Package dataset reads a CSV file as the table of records that PostgreSQL would
// make of it, so that a policy can be tried on it without a server.
package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/config"
)

// File is a CSV file, read whole.
type File struct {
	Columns []string
	// Types are the columns' SQL types, of config.CSVTypes.
	Types []string
	// Records hold a field for each column; "" is a missing value.
	Records [][]string
	// Dropped is the number of incomplete records that are left out.
	Dropped int

	form config.CSV
}

// Read reads the file of the form; the error names the line that cannot be read.
func Read(path string, form config.CSV) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the data: %w", err)
	}
	f, err := Parse(text, form)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, nil
}

// Parse reads a file from its text.
func Parse(text []byte, form config.CSV) (*File, error) {
	f := &File{form: form}
	if err := f.parse(text); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) parse(text []byte) error {
	form := f.form
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	reader.Comma = form.Delimiter
	reader.TrimLeadingSpace = form.TrimSpaces
	f.Columns = form.Columns
	if form.Header {
		header, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return errors.New("the file is empty")
		}
		if err != nil {
			return err
		}
		if len(f.Columns) == 0 {
			f.Columns = header
		}
	}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(record) != len(f.Columns) {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("line %d has %d fields, but there are %d columns", line, len(record), len(f.Columns))
		}
		f.add(record)
	}
	f.Types = make([]string, len(f.Columns))
	for i, name := range f.Columns {
		if f.Types[i] = form.Types[name]; f.Types[i] == "" {
			f.Types[i] = f.inferType(i)
		}
	}
	return nil
}

// add keeps a record, unless it is to be dropped as incomplete.
func (f *File) add(record []string) {
	form := f.form
	missing := false
	for i, field := range record {
		if form.TrimSpaces {
			field = strings.TrimSpace(field)
		}
		if form.Missing != "" && field == form.Missing {
			field = ""
		}
		record[i] = field
		missing = missing || field == ""
	}
	if missing && form.DropIncomplete {
		f.Dropped++
		return
	}
	f.Records = append(f.Records, record)
}

// inferType is the narrowest type that all values of a column fit. A number
// with a leading zero is a code, such as a postcode, and stays a text.
func (f *File) inferType(column int) string {
	candidates := []struct {
		name string
		fits func(string) bool
	}{
		{"bigint", func(v string) bool {
			n, err := strconv.ParseInt(v, 10, 64)
			return err == nil && strconv.FormatInt(n, 10) == v
		}},
		{"numeric", isPlainNumber},
		{"date", isDate},
	}
	for _, c := range candidates {
		values := 0
		if !slices.ContainsFunc(f.Records, func(r []string) bool {
			if r[column] == "" {
				return false
			}
			values++
			return !c.fits(r[column])
		}) && values > 0 {
			return c.name
		}
	}
	return "text"
}

func isPlainNumber(v string) bool {
	digits := strings.TrimPrefix(v, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return false
	}
	return whole == "0" || whole[0] != '0'
}

func isDate(v string) bool {
	parts := strings.Split(v, "-")
	if len(parts) != 3 || len(parts[0]) != 4 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return false
	}
	return strings.Trim(parts[0]+parts[1]+parts[2], "0123456789") == ""
}
