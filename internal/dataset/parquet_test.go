package dataset_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// parquetPath writes a file of columns and rows.
func parquetPath(t *testing.T, columns []parquetfile.Column, rows ...[]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.PARQUET")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquetfile.NewWriter(file, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range rows {
		row := make([]parquetfile.Value, len(texts))
		for i, text := range texts {
			row[i] = parquetfile.Value{Text: text, Null: text == "NULL"}
			if row[i].Null {
				row[i].Text = ""
			}
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []func() error{w.Close, file.Close} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestParquetIsRead takes names and types from the file, unless the policy declares types.
func TestParquetIsRead(t *testing.T) {
	t.Parallel()
	path := parquetPath(t, []parquetfile.Column{
		{Name: "age", Kind: parquetfile.Int16},
		{Name: "zip"},
		{Name: "born"},
		{Name: "cost", Kind: parquetfile.Decimal, Precision: 9, Scale: 2},
		{Name: "fit", Kind: parquetfile.Boolean},
		{Name: "seen", Kind: parquetfile.TimestampTZ},
		{Name: "dose", Kind: parquetfile.Float64},
	},
		[]string{"31", "10115", "2001-1-2", "1.50", "t", "2024-01-01 10:00:00+00", "0.25"},
		[]string{"NULL", "", "1999-12-31", "NULL", "f", "NULL", "1e20"})
	f, err := dataset.Read(path, config.CSV{Types: map[string]string{"born": "date"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"integer", "text", "date", "numeric", "boolean", "timestamptz", "numeric"}; !slices.Equal(f.Types, want) {
		t.Errorf("types are %v, want %v", f.Types, want)
	}
	for record, want := range []string{"31 10115 2001-01-02 1.50 t 2024-01-01 10:00:00+00 0.25", "  1999-12-31  f  100000000000000000000"} {
		var got []string
		for column := range f.Columns {
			got = append(got, f.Field(record, column))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("record %d is %q, want %q", record, strings.Join(got, " "), want)
		}
	}
}

// TestParquetMistakes name file, row and column.
func TestParquetMistakes(t *testing.T) {
	t.Parallel()
	path := parquetPath(t, []parquetfile.Column{{Name: "born"}}, []string{"2001-01-02"}, []string{"yesterday"})
	if _, err := dataset.Read(path, config.CSV{Types: map[string]string{"born": "date"}}); err == nil || !strings.Contains(err.Error(), path+`, row 2: born is "yesterday"`) {
		t.Errorf("a date that is none: %v", err)
	}
	zero := parquetPath(t, []parquetfile.Column{{Name: "word"}}, []string{"a"}, []string{"b\x00"})
	if _, err := dataset.Read(zero, config.CSV{}); err == nil || !strings.Contains(err.Error(), "row 2, column word has a zero byte") {
		t.Errorf("a zero byte: %v", err)
	}
	text := filepath.Join(t.TempDir(), "people.parquet")
	if err := os.WriteFile(text, []byte("age\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Read(text, config.CSV{}); err == nil || !strings.Contains(err.Error(), "reading "+text) {
		t.Errorf("CSV called Parquet: %v", err)
	}
}

// TestNestedColumns can be dropped, and nothing else.
func TestNestedColumns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "people.parquet")
	type person struct {
		Age  int64    `parquet:"age"`
		Tags []string `parquet:"tags"`
	}
	if err := parquet.WriteFile(path, []person{{31, []string{"a", "b"}}, {32, nil}}); err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]string{"identifying": "", "insensitive": "column tags is of nested or unknown values, which no policy can protect"} {
		p, err := config.ParsePolicy("policy.yaml", []byte("tables:\n  public.people:\n    constraints: [{k: 2}]\n    columns:\n      age: {role: quasi-identifying, hierarchy: numeric}\n      tags: "+role+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := dataset.Read(path, p.CSV)
		if err != nil {
			t.Fatal(err)
		}
		if err := dataset.CheckColumns(f, p); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", role, err)
		}
		if f.Field(0, 0) != "31" || f.Field(1, 0) != "32" {
			t.Errorf("the ages are %s and %s", f.Field(0, 0), f.Field(1, 0))
		}
	}
}

// TestEveryColumnHasARole names those that have none.
func TestEveryColumnHasARole(t *testing.T) {
	t.Parallel()
	p, err := config.ParsePolicy("policy.yaml", []byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataset.Parse([]byte("age,zip,id\n1,2,3\n"), p.CSV)
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.CheckEveryColumn(f, p, []string{"id"}); err == nil || !strings.Contains(err.Error(), "policy.yaml:7: the policy gives no role to zip: name each under columns of public.people") {
		t.Errorf("error %v", err)
	}
}
