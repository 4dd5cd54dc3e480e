// Package dataset reads a CSV file as the table that PostgreSQL would make of it, so that a
// policy can be tried without a server.
package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/config"
)

// File is a CSV file, read whole.
type File struct {
	Columns []string
	// Types are the columns' SQL types, of config.CSVTypes.
	Types []string
	// Records hold a field for each column, in the text form in which PostgreSQL
	// writes values of the column's type; "" is a missing value.
	Records [][]string
	// Dropped is the number of incomplete records that are left out.
	Dropped int

	path  string // "" where the text was given
	form  config.CSV
	lines []int // on which the records begin
	one   bool  // of several files of the form: a type may be of another one's column
}

// Read reads the file of the form. The error names the line that cannot be read,
// or, of fields that are not of their column's declared type, the first ones.
func Read(path string, form config.CSV) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the data: %w", err)
	}
	f := &File{form: form, path: path}
	if err := f.parse(text); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, f.takeTypes()
}

// Parse reads a file from its text.
func Parse(text []byte, form config.CSV) (*File, error) {
	f := &File{form: form}
	if err := f.parse(text); err != nil {
		return nil, err
	}
	if err := f.takeTypes(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) parse(text []byte) error {
	form := f.form
	if err := checkText(text); err != nil {
		return err
	}
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	reader.Comma = form.Delimiter
	reader.FieldsPerRecord = -1 // add says more of it
	// A space that separates fields is not one around them.
	reader.TrimLeadingSpace = form.TrimSpaces && !unicode.IsSpace(form.Delimiter)
	f.Columns = form.Columns
	if form.Header {
		header, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return errors.New("the file is empty")
		}
		if err != nil {
			return unreadable(err)
		}
		if err := f.name(header); err != nil {
			return err
		}
	}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unreadable(err)
		}
		line, _ := reader.FieldPos(0)
		if err := f.add(record, line); err != nil {
			return err
		}
	}
	switch {
	case f.Dropped > 0 && len(f.Records) == 0:
		return fmt.Errorf("there are no records: all %d are incomplete, and csv.drop_incomplete leaves them out", f.Dropped)
	case len(f.Records) == 0:
		return errors.New("there are no records")
	}
	return nil
}

// unreadable explains the CSV reader's errors about quotes.
func unreadable(err error) error {
	if errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote) {
		return fmt.Errorf(`%w; a field with a quote in it is written "with ""two"" of them"`, err)
	}
	return err
}

// checkText checks that the text is UTF-8 without zero bytes, which PostgreSQL cannot store.
func checkText(text []byte) error {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return errors.New("line 1 is not in UTF-8; convert the file with iconv -f utf-16 -t utf-8")
	}
	if !utf8.Valid(text) {
		return fmt.Errorf("line %d is not in UTF-8; convert the file, for example with iconv -f latin1 -t utf-8", invalidLine(text))
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return fmt.Errorf("line %d has a zero byte, which no text in PostgreSQL can have", 1+bytes.Count(text[:at], []byte("\n")))
	}
	return nil
}

// invalidLine is the number of the first line that is not in UTF-8.
func invalidLine(text []byte) int {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if !utf8.Valid(line) {
			break
		}
	}
	return number
}

// SingleFieldError is the error for a header of one field that contains another delimiter.
type SingleFieldError struct {
	Header string
	// Delimiter is what seems to separate the fields.
	Delimiter rune
}

func (e *SingleFieldError) Error() string {
	return fmt.Sprintf("the header is a single field, %s: write csv.delimiter: %s", quote(e.Header), DelimiterName(e.Delimiter))
}

// DelimiterName is a delimiter as policies write it.
func DelimiterName(delimiter rune) string {
	if delimiter == '\t' {
		return "tab"
	}
	return strconv.Quote(string(delimiter))
}

// separator is the character that seems to separate the fields of a line, 0 for
// none.
func separator(line string) rune {
	var best rune
	for _, c := range ";\t|," {
		if n := strings.Count(line, string(c)); n > 0 && n > strings.Count(line, string(best)) {
			best = c
		}
	}
	return best
}

// name takes the columns' names from the header, unless the form has them. Each
// column has a name of its own.
func (f *File) name(header []string) error {
	if len(f.Columns) > 0 {
		return nil
	}
	f.Columns = header
	if delimiter := separator(header[0]); len(header) == 1 && delimiter != 0 {
		return &SingleFieldError{header[0], delimiter}
	}
	for i, name := range header {
		if f.form.TrimSpaces {
			name = strings.TrimSpace(name)
			header[i] = name
		}
		if name == "" {
			return fmt.Errorf("column %d has no name in the header", i+1)
		}
		if first := slices.Index(header, name); first < i {
			return fmt.Errorf("columns %d and %d are both called %q in the header", first+1, i+1, name)
		}
	}
	return nil
}

// add keeps a record, unless it is to be dropped as incomplete.
func (f *File) add(record []string, line int) error {
	if len(record) != len(f.Columns) {
		return f.ragged(record, line)
	}
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
		return nil
	}
	f.Records = append(f.Records, record)
	f.lines = append(f.lines, line)
	return nil
}

func (f *File) ragged(record []string, line int) error {
	hint := ""
	if delimiter := separator(record[0]); len(record) == 1 && delimiter != 0 {
		hint = "; is the delimiter " + DelimiterName(delimiter) + "?"
	} else if len(record) > len(f.Columns) {
		hint = "; a field with the delimiter in it is written in double quotes"
	}
	return fmt.Errorf("line %d has %s, but %d are expected, one for each column%s", line, counted(len(record), "field"), len(f.Columns), hint)
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// takeTypes finds the columns' types and brings all fields into the form that
// PostgreSQL writes. The error lists the fields that are not of the declared type.
func (f *File) takeTypes() error {
	for _, name := range slices.Sorted(maps.Keys(f.form.Types)) {
		if !f.one && !slices.Contains(f.Columns, name) {
			return fmt.Errorf("csv.types has a column %q, which the file does not have: there are %s", name, strings.Join(f.Columns, ", "))
		}
	}
	f.Types = make([]string, len(f.Columns))
	wrong := &mistakes{file: f}
	for i, name := range f.Columns {
		if f.Types[i] = f.form.Types[name]; f.Types[i] == "" {
			f.Types[i] = f.inferType(i)
		}
		f.convert(i, f.Types[i], wrong, func(record int, text string) { f.Records[record][i] = text })
	}
	return wrong.asError()
}

// convert hands on the output forms of a column's values as a type; of those that
// are not of it, wrong takes note.
func (f *File) convert(column int, name string, wrong *mistakes, to func(record int, text string)) {
	t := sqlTypes[name]
	if t.output == nil {
		return
	}
	for i, record := range f.Records {
		field := record[column]
		if field == "" {
			continue
		}
		text, ok := t.output(field)
		if !ok {
			wrong.add(mistake{f.lines[i], f.Columns[column], field, t.not})
		} else if text != field {
			to(i, text)
		}
	}
}

// inferType is the narrowest type that all values of a column fit.
func (f *File) inferType(column int) string {
	valued := slices.ContainsFunc(f.Records, func(r []string) bool { return r[column] != "" })
	for _, t := range inferable {
		misfits := func(r []string) bool { return r[column] != "" && !t.fits(r[column]) }
		if valued && !slices.ContainsFunc(f.Records, misfits) {
			return t.name
		}
	}
	return "text"
}
