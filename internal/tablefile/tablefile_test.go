package tablefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
	"github.com/kproxy/kproxy/internal/tablefile"
)

var columns = []tablefile.Column{
	{Name: "age", Type: "integer"},
	{Name: "age_range", Type: "int4range"},
	{Name: "born", Type: "date"},
	{Name: "cost", Type: "numeric"},
	{Name: "price", Type: "numeric(10,2)"},
	{Name: "seen", Type: "timestamp(3) with time zone"},
	{Name: "fit", Type: "boolean"},
	{Name: "tags", Type: "text[]"},
	{Name: "sums", Type: "numrange"},
}

var rows = [][]string{
	{"23", "[20,30)", "2001-01-01", "1.5", "10.00", "2024-01-01 10:00:00.123+00", "t", `{a,"b c"}`, "[0.25,100]"},
	{"-4", "(,)", "1999-12-31", "-1200", "0.99", "2024-01-01 10:00:00+00", "f", `say "hi", or`, "(,3]"},
	{"", "", "", "", "", "", "", "", ""},
}

func written(t *testing.T, format tablefile.Format, of []tablefile.Column, rows [][]string) []byte {
	t.Helper()
	of = slices.Clone(of)
	for i := range of {
		if of[i].NeedsDigits() {
			for _, row := range rows {
				if row[i] != "" {
					of[i].Digits.Add(row[i])
				}
			}
		}
	}
	var file bytes.Buffer
	w, err := tablefile.NewWriter(format, &file, of)
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range rows {
		row := make([]parquetfile.Value, len(texts))
		for i, text := range texts {
			row[i] = parquetfile.Value{Text: text, Null: text == ""}
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readBack(t *testing.T, format tablefile.Format, file []byte) (columns []string, rows [][]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := tablefile.Open(format, path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for row, err := range r.Rows {
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, v := range row {
			texts = append(texts, v.Text)
		}
		rows = append(rows, texts)
	}
	return r.Columns, rows
}

// TestFormatsHoldTheSame reads the same rows from both formats, and writes what it has read from one as the other.
func TestFormatsHoldTheSame(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	for _, format := range []tablefile.Format{tablefile.CSV, tablefile.Parquet} {
		file := written(t, format, columns, rows)
		of, got := readBack(t, format, file)
		if !slices.Equal(of, names) || len(got) != len(rows) {
			t.Fatalf("%s: %d rows of %v", format, len(got), of)
		}
		for i := range rows {
			for c := range columns {
				if want := rows[i][c]; scaled(got[i][c]) != scaled(want) {
					t.Errorf("%s: row %d, %s is %q, want %q", format, i, columns[c].Name, got[i][c], want)
				}
			}
		}
		for _, other := range []tablefile.Format{tablefile.CSV, tablefile.Parquet} {
			if _, again := readBack(t, other, written(t, other, columns, got)); !slices.EqualFunc(again, got, slices.Equal) && format == other {
				t.Errorf("%s by %s is %v, want %v", other, format, again, got)
			}
		}
	}
}

// scaled leaves out the zeros that a number has in Parquet.
func scaled(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[](),", r) })
	for i, p := range parts {
		if strings.Contains(p, ".") && strings.Trim(p, "0123456789.-") == "" {
			parts[i] = strings.TrimRight(strings.TrimRight(p, "0"), ".")
		}
	}
	return strings.Join(parts, "|")
}

// TestNullsAreTold tells NULL from an empty text in CSV, as COPY does.
func TestNullsAreTold(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w, err := tablefile.NewWriter(tablefile.CSV, &file, []tablefile.Column{{Name: "a,b", Type: "text"}, {Name: "c", Type: "text"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]parquetfile.Value{{parquetfile.Null(), parquetfile.Of("")}, {parquetfile.Of(" x"), parquetfile.Of("two\nlines\"")}} {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "\"a,b\",c\n,\"\"\n\" x\",\"two\nlines\"\"\"\n"; file.String() != want {
		t.Errorf("the file is %q, want %q", file.String(), want)
	}
}

// TestNumbersWithoutPrecision are decimals where Parquet has the digits, and texts else.
func TestNumbersWithoutPrecision(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []string
		kind   parquetfile.Kind
	}{
		{[]string{"1.5", "-20"}, parquetfile.Decimal},
		{[]string{strings.Repeat("9", 30), "0.12345678"}, parquetfile.Decimal},
		{[]string{strings.Repeat("9", 30), "0.123456789"}, parquetfile.Text},
		{[]string{"NaN"}, parquetfile.Text},
		{[]string{""}, parquetfile.Decimal},
	} {
		var given [][]string
		for _, v := range test.values {
			given = append(given, []string{v})
		}
		file := written(t, tablefile.Parquet, []tablefile.Column{{Name: "n", Type: "numeric"}}, given)
		r, err := parquetfile.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Columns()[0].Kind; got != test.kind {
			t.Errorf("%v are of kind %v, want %v", test.values, got, test.kind)
		}
	}
}

// TestOutput puts a file into its place when it is whole, and not over another one.
func TestOutput(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "people.csv")
	listed := func() string {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	write := func(force bool, text string) *tablefile.Output {
		o, err := tablefile.Create(path, force)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return o
	}
	discarded := write(false, "half")
	if strings.Contains(listed(), " ") || !strings.HasSuffix(listed(), ".part") {
		t.Errorf("while it is written the folder has %s", listed())
	}
	discarded.Discard()
	first, second := write(false, "first"), write(false, "second")
	if err := first.Commit(nil); err != nil {
		t.Fatal(err)
	}
	if err := second.Commit(nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that came meanwhile: %v", err)
	}
	second.Discard()
	if _, err := tablefile.Create(path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	third := write(true, "third")
	if third.Size() != 5 || third.Digest() != "b1e99324505bd32da0e1f85dcf5e19a09db0481e8a15f62c41eb320304a8e927" {
		t.Errorf("%d bytes, %s", third.Size(), third.Digest())
	}
	if err := third.Commit(nil); err != nil {
		t.Fatal(err)
	}
	third.Discard()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "third" || listed() != "people.csv" {
		t.Errorf("the file is %q, %v; the folder has %s", text, err, listed())
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tablefile.CheckFree(filepath.Join(folder, "sub"), true); err == nil {
		t.Error("a folder may be replaced")
	}
	out, err := tablefile.Create(tablefile.Stdout, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("shown")); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	if err := out.Commit(&stdout); err != nil || stdout.String() != "shown" {
		t.Errorf("standard output has %q, %v", stdout.String(), err)
	}
	if _, err := os.Stat(out.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what went to standard output stays: %v", err)
	}
}

// TestCSVComesBack reads values that CSV readers change: an empty line is a row of one NULL, an empty text is none, and line
// ends in values stay.
func TestCSVComesBack(t *testing.T) {
	t.Parallel()
	for _, rows := range [][][]parquetfile.Value{
		{{parquetfile.Null()}, {parquetfile.Of("")}, {parquetfile.Of("a\r\nb")}, {parquetfile.Of(`\.`)}, {parquetfile.Of("\r")}, {parquetfile.Null()}},
		{{parquetfile.Null(), parquetfile.Null()}, {parquetfile.Of(`"`), parquetfile.Of(`""`)}, {parquetfile.Of(" x"), parquetfile.Of("y ")}, {parquetfile.Of(","), parquetfile.Of("\n\n")}, {parquetfile.Of(""), parquetfile.Null()}},
	} {
		of := make([]tablefile.Column, len(rows[0]))
		for i := range of {
			of[i] = tablefile.Column{Name: fmt.Sprintf("a \"%d\", b", i), Type: "text"}
		}
		var file bytes.Buffer
		w, err := tablefile.NewWriter(tablefile.CSV, &file, of)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := tablefile.Open(tablefile.CSV, path)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]parquetfile.Value
		for row, err := range r.Rows {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, slices.Clone(row))
		}
		if !slices.EqualFunc(got, rows, slices.Equal) || r.Columns[0] != of[0].Name {
			t.Errorf("%v comes back as %v", rows, got)
		}
		_ = r.Close()
	}
	for _, damaged := range []string{"", "a\n1", "a,b\n1\n", "a\n\"x", "a\nx\"y\n", "a\n\"x\"y\n", "a\n1\r\n"} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := tablefile.Open(tablefile.CSV, path)
		if err == nil {
			for _, failed := range r.Rows {
				err = errors.Join(err, failed)
			}
			_ = r.Close()
		}
		if err == nil {
			t.Errorf("%q is read", damaged)
		}
	}
}
