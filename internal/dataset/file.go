// Package dataset reads a CSV or Parquet file as the table that PostgreSQL would make of it, so
// that a policy can be applied without a server.
package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/config"
)

// File is a file of records, read whole. It takes two bytes for a field of a column with up to
// 65,536 different ones, and four beside its text for one of any other column.
type File struct {
	Columns []string
	// Types are the columns' SQL types, of config.CSVTypes.
	Types []string
	// Dropped is the number of incomplete records that are left out.
	Dropped int

	path    string // "" where the text was given
	form    config.CSV
	fields  []*fields // of each column
	records int
	lines   lines
	one     bool // of several files of the form: a type may be of another one's column
	// declared are the types that a file declares by itself, "" for others; nil for CSV.
	declared []string
	// unreadable are the types of columns that no policy can protect, by name.
	unreadable map[string]string
}

// Len is the number of records.
func (f *File) Len() int { return f.records }

// Field is a field, in the text form in which PostgreSQL writes values of the column's type;
// "" is a missing value. Column is an index of Columns.
func (f *File) Field(record, column int) string { return f.fields[column].at(record) }

// Fields are those of a column.
func (f *File) Fields(column int) iter.Seq2[int, string] { return f.fields[column].all() }

// Read reads a CSV file of the form, or a Parquet file, whose name ends in .parquet. The error names
// the line that cannot be read, or, of fields that are not of their column's declared type, the first ones.
func Read(path string, form config.CSV) (*File, error) {
	f := &File{form: form, path: path}
	if err := f.open(context.Background(), nil); err != nil {
		return nil, err
	}
	return f, f.takeTypes()
}

// ReadWatched is Read for large files: told is called from time to time with how many records are read.
// Path - stands for input, which is CSV, if that is not nil. The error can be the context's, too.
func ReadWatched(ctx context.Context, path string, input io.Reader, form config.CSV, told func(records int)) (*File, error) {
	if path != "-" || input == nil {
		f := &File{form: form, path: path}
		if err := f.open(ctx, told); err != nil {
			return nil, err
		}
		return f, f.takeTypes()
	}
	f := &File{form: form, path: "standard input"}
	if err := f.parse(interruptible{ctx, input}, told); err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return f, f.takeTypes()
}

// Parse reads CSV from its text.
func Parse(text []byte, form config.CSV) (*File, error) {
	f := &File{form: form}
	if err := f.parse(bytes.NewReader(text), nil); err != nil {
		return nil, err
	}
	if err := f.takeTypes(); err != nil {
		return nil, err
	}
	return f, nil
}

// open reads the file at the path.
func (f *File) open(ctx context.Context, told func(records int)) error {
	file, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("reading the data: %w", err)
	}
	defer func() { _ = file.Close() }()
	read := func() error { return f.parse(interruptible{ctx, file}, told) }
	if IsParquet(f.path) {
		read = func() error { return f.parseParquet(ctx, file, told) }
	}
	if err := read(); err != nil {
		return fmt.Errorf("reading %s: %w", f.path, err)
	}
	return nil
}

// toldRecords is after how many records progress is told.
const toldRecords = 1 << 16

func (f *File) parse(input io.Reader, told func(records int)) error {
	form := f.form
	text := bufio.NewReaderSize(input, 1<<20)
	if err := skipMark(text); err != nil {
		return err
	}
	reader := csv.NewReader(text)
	reader.ReuseRecord = true
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
		if err := checkTexts(reader, header); err != nil {
			return err
		}
		if err := f.name(slices.Clone(header)); err != nil {
			return err
		}
	}
	f.makeFields()
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unreadable(err)
		}
		if err := checkTexts(reader, record); err != nil {
			return err
		}
		line, _ := reader.FieldPos(0)
		if err := f.add(record, line); err != nil {
			return err
		}
		if told != nil && f.records%toldRecords == 0 {
			told(f.records)
		}
	}
	return f.checkRecords()
}

// makeFields makes a place for each column's fields.
func (f *File) makeFields() {
	f.fields = make([]*fields, len(f.Columns))
	for i := range f.fields {
		f.fields[i] = newFields()
	}
}

// checkRecords checks that there are records.
func (f *File) checkRecords() error {
	switch {
	case f.Dropped > 0 && f.records == 0:
		return fmt.Errorf("there are no records: all %d are incomplete, and csv.drop_incomplete leaves them out", f.Dropped)
	case f.records == 0:
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

// skipMark skips the mark that a text in UTF-8 can begin with.
func skipMark(text *bufio.Reader) error {
	start, err := text.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return errors.New("line 1 is not in UTF-8; convert the file with iconv -f utf-16 -t utf-8")
	case bytes.Equal(start, []byte("\ufeff")):
		_, err = text.Discard(len(start))
		return err
	}
	return nil
}

// checkTexts checks that fields are UTF-8 without zero bytes, which PostgreSQL cannot store.
func checkTexts(reader *csv.Reader, record []string) error {
	for i, field := range record {
		if what, at := unstorable(field); what != "" {
			line, _ := reader.FieldPos(i)
			return fmt.Errorf("line %d %s", line+strings.Count(field[:at], "\n"), what)
		}
	}
	return nil
}

// unstorable says what keeps PostgreSQL from storing a text, and where it is; "" for nothing.
func unstorable(text string) (what string, at int) {
	if !utf8.ValidString(text) {
		valid := 0
		for i, c := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 {
				valid = i
				break
			}
		}
		return "is not in UTF-8; convert the file, for example with iconv -f latin1 -t utf-8", valid
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return "has a zero byte, which no text in PostgreSQL can have", at
	}
	return "", 0
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
	for i, field := range record {
		if f.fields[i].add(field); f.fields[i].tooLong {
			return fmt.Errorf("line %d: the fields of column %s are too long, some %d in a row more than 4 GB", line, f.Columns[i], blockFields)
		}
	}
	f.lines.add(f.records, line)
	f.records++
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
		f.Types[i] = f.form.Types[name]
		if f.Types[i] == "" && f.declared != nil {
			f.Types[i] = f.declared[i]
		}
		if f.Types[i] == "" {
			f.Types[i] = f.inferType(i)
		}
		if f.form.Types[name] != "" || !slices.Contains(unchangedTypes, f.Types[i]) || f.declared != nil {
			f.fields[i] = f.convert(i, f.Types[i], wrong)
		}
		f.fields[i].finish()
	}
	return wrong.asError()
}

// convert gives the output forms of a column's values as a type; of those that are not of
// it, which stay as they are, wrong takes note.
func (f *File) convert(column int, name string, wrong *mistakes) *fields {
	t := sqlTypes[name]
	of := f.fields[column]
	if t.output == nil {
		return of
	}
	changed, misfit := false, false
	for field := range of.some() {
		if field == "" {
			continue
		}
		text, ok := t.output(field)
		misfit = misfit || !ok
		changed = changed || text != field
	}
	if misfit {
		misfits := coded(of, func(field string) bool {
			_, ok := t.output(field)
			return !ok && field != ""
		})
		for i, misfits := range misfits {
			if misfits {
				wrong.add(mistake{f.lines.of(i), f.Columns[column], of.at(i), t.not})
			}
		}
	}
	if !changed {
		return of
	}
	return of.mapped(func(field string) string {
		if field == "" {
			return ""
		}
		if text, ok := t.output(field); ok {
			return text
		}
		return field
	})
}

// inferType is the narrowest type that all values of a column fit.
func (f *File) inferType(column int) string {
	valued := false
	for field := range f.fields[column].some() {
		if valued = field != ""; valued {
			break
		}
	}
	for _, t := range inferable {
		fits := valued
		for field := range f.fields[column].some() {
			if fits = fits && (field == "" || t.fits(field)); !fits {
				break
			}
		}
		if fits {
			return t.name
		}
	}
	return "text"
}

// lines are those on which the records begin.
type lines struct{ jumps []jump }

// jump is where records do not begin one line behind the other.
type jump struct{ record, line int }

// add takes the line of the next record.
func (l *lines) add(record, line int) {
	if record == 0 || l.of(record) != line {
		l.jumps = append(l.jumps, jump{record, line})
	}
}

// of is the line of a record.
func (l *lines) of(record int) int {
	at, exact := slices.BinarySearchFunc(l.jumps, record, func(j jump, r int) int { return j.record - r })
	if !exact {
		at--
	}
	return l.jumps[at].line + record - l.jumps[at].record
}
