package parquetfile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/parquetfile"
)

// columns are of every kind that is written.
var columns = []parquetfile.Column{
	{Name: "z text", Kind: parquetfile.Text},
	{Name: "a", Kind: parquetfile.Boolean},
	{Name: "int2", Kind: parquetfile.Int16},
	{Name: "int4", Kind: parquetfile.Int32},
	{Name: "int8", Kind: parquetfile.Int64},
	{Name: "float4", Kind: parquetfile.Float32},
	{Name: "float8", Kind: parquetfile.Float64},
	{Name: "narrow", Kind: parquetfile.Decimal, Precision: 9, Scale: 2},
	{Name: "middle", Kind: parquetfile.Decimal, Precision: 18, Scale: 0},
	{Name: "wide", Kind: parquetfile.Decimal, Precision: 38, Scale: 38},
	{Name: "day", Kind: parquetfile.Date},
	{Name: "moment", Kind: parquetfile.Timestamp},
	{Name: "zoned", Kind: parquetfile.TimestampTZ},
	{Name: "uuid", Kind: parquetfile.UUID},
	{Name: "bytes", Kind: parquetfile.Bytes},
	{Name: "ages", Kind: parquetfile.Int32, Range: true},
	{Name: "sums", Kind: parquetfile.Decimal, Precision: 5, Scale: 1, Range: true},
	{Name: "days", Kind: parquetfile.Date, Range: true},
	{Name: "moments", Kind: parquetfile.TimestampTZ, Range: true},
}

// rows have the ends of each kind, and NULL.
var rows = [][]string{
	{
		"", "t", "-32768", "-2147483648", "-9223372036854775808", "-1.5", "0.1", "-9999999.99", "-999999999999999999", "-0." + strings.Repeat("9", 38), "0001-01-01", "0001-01-01 00:00:00",
		"9999-12-31 23:59:59.999999+00", "00000000-0000-0000-0000-000000000000", `\x`, "[20,30)", "[-0.5,1000.0]", "[2024-01-01,2024-02-01)", `["2024-01-01 00:00:00+00","2024-01-02 00:00:00.5+00"]`,
	},
	{
		"two\nlines, ü", "f", "32767", "2147483647", "9223372036854775807", "3.25", "1e+300", "0.00", "7", "0." + strings.Repeat("0", 37) + "1", "9999-12-31", "2024-02-29 12:00:00.000001",
		"1969-12-31 23:59:59+00", "123e4567-e89b-12d3-a456-426614174000", `\x00ff`, "[5,)", "(,2.5]", "[9999-12-31,10000-01-01)", "(,)",
	},
	nil, // all NULL
}

func written(t testing.TB, columns []parquetfile.Column, rows [][]string) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := parquetfile.NewWriter(&file, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range rows {
		row := make([]parquetfile.Value, len(columns))
		for i := range row {
			if row[i] = parquetfile.Null(); texts != nil {
				row[i] = parquetfile.Of(texts[i])
			}
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

// TestRoundTrip reads what was written: names, order, kinds and values.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	file := written(t, columns, rows)
	r, err := parquetfile.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Columns(), columns) {
		t.Errorf("the columns are\n%v, want\n%v", r.Columns(), columns)
	}
	number := 0
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range row {
			want := parquetfile.Null()
			if rows[number] != nil {
				want = parquetfile.Of(rows[number][i])
			}
			if want.Text == "1e+300" { // numeric has no exponent
				want.Text = "1" + strings.Repeat("0", 300)
			}
			if v != want {
				t.Errorf("row %d: %v is %+v, want %+v", number, columns[i], v, want)
			}
		}
		number++
	}
	if number != len(rows) || r.Len() != int64(len(rows)) {
		t.Errorf("%d of %d rows were read", number, r.Len())
	}
}

// TestManyRows reads a file of several row groups, and stops in the middle of another reading.
func TestManyRows(t *testing.T) {
	t.Parallel()
	var many [][]string
	for i := range 150_000 {
		many = append(many, []string{fmt.Sprint(i), fmt.Sprint(i % 7)})
	}
	file := written(t, []parquetfile.Column{{Name: "n", Kind: parquetfile.Int64}, {Name: "t"}}, many)
	r, err := parquetfile.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		number := 0
		for row, err := range r.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			if row[0].Text != many[number][0] || row[1].Text != many[number][1] {
				t.Fatalf("row %d is %v", number, row)
			}
			if number++; number == 70_000 && r.Len() == 0 {
				break
			}
		}
		if number != len(many) {
			t.Errorf("%d rows were read", number)
		}
	}
	for _, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
}

// TestWriterRefuses names the column whose value is not of its kind, and never the value.
func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		column parquetfile.Column
		text   string
	}{
		{parquetfile.Column{Kind: parquetfile.Boolean}, "maybe"},
		{parquetfile.Column{Kind: parquetfile.Int16}, "32768"},
		{parquetfile.Column{Kind: parquetfile.Int32}, "2147483648"},
		{parquetfile.Column{Kind: parquetfile.Int64}, "9223372036854775808"},
		{parquetfile.Column{Kind: parquetfile.Float64}, "secret"},
		{parquetfile.Column{Kind: parquetfile.Decimal, Precision: 3, Scale: 1}, "100.0"},
		{parquetfile.Column{Kind: parquetfile.Decimal, Precision: 3, Scale: 1}, "1.25"},
		{parquetfile.Column{Kind: parquetfile.Decimal, Precision: 3, Scale: 1}, "NaN"},
		{parquetfile.Column{Kind: parquetfile.Date}, "infinity"},
		{parquetfile.Column{Kind: parquetfile.Date}, "0044-03-15 BC"},
		{parquetfile.Column{Kind: parquetfile.Timestamp}, "-infinity"},
		{parquetfile.Column{Kind: parquetfile.TimestampTZ}, "2024-01-01 00:00:00+02"},
		{parquetfile.Column{Kind: parquetfile.UUID}, "1234"},
		{parquetfile.Column{Kind: parquetfile.Bytes}, "ff"},
		{parquetfile.Column{Kind: parquetfile.Int32, Range: true}, "empty"},
		{parquetfile.Column{Kind: parquetfile.Int32, Range: true}, "(1,5)"},
		{parquetfile.Column{Kind: parquetfile.Decimal, Precision: 9, Range: true}, "[1,5)"},
	} {
		test.column.Name = "tested"
		w, err := parquetfile.NewWriter(&bytes.Buffer{}, []parquetfile.Column{test.column})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write([]parquetfile.Value{parquetfile.Of(test.text)})
		if err == nil || !strings.Contains(err.Error(), `column "tested"`) || strings.Contains(err.Error(), test.text) {
			t.Errorf("%v %s: error %v", test.column, test.text, err)
		}
	}
	for _, wrong := range [][]parquetfile.Column{
		nil,
		{{Name: "a"}, {Name: "a"}},
		{{Name: "a", Kind: parquetfile.Decimal, Precision: 39}},
		{{Name: "a", Kind: parquetfile.Other}},
		{{Name: "a", Kind: parquetfile.Decimal, Precision: 2, Scale: 3}},
	} {
		if _, err := parquetfile.NewWriter(&bytes.Buffer{}, wrong); err == nil {
			t.Errorf("%v is written", wrong)
		}
	}
}

// FuzzReader reads damaged files: an error, and never a panic.
func FuzzReader(f *testing.F) {
	file := written(f, columns, rows)
	f.Add(file)
	f.Add(file[:len(file)-9])
	f.Add([]byte("PAR1PAR1"))
	for at := 0; at < len(file); at += 37 {
		damaged := slices.Clone(file)
		damaged[at] ^= 0x5a
		f.Add(damaged)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := parquetfile.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		number := 0
		for row, err := range r.Rows() {
			if err != nil {
				return
			}
			if len(row) != len(r.Columns()) {
				t.Fatalf("a row has %d values of %d columns", len(row), len(r.Columns()))
			}
			if number++; number > 10_000 {
				return
			}
		}
	})
}

// FuzzRange writes texts as ranges, and reads them: those that are written come back.
func FuzzRange(f *testing.F) {
	for _, row := range rows[:2] {
		f.Add(row[15])
		f.Add(row[17])
	}
	f.Add("[1,2]")
	f.Add(`["",")`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []parquetfile.Column{{Name: "r", Kind: parquetfile.Int64, Range: true}, {Name: "r", Kind: parquetfile.Date, Range: true}} {
			var file bytes.Buffer
			w, err := parquetfile.NewWriter(&file, []parquetfile.Column{c})
			if err != nil {
				t.Fatal(err)
			}
			if w.Write([]parquetfile.Value{parquetfile.Of(text)}) != nil {
				continue
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			again := func(file []byte) string {
				r, err := parquetfile.NewReader(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					t.Fatal(err)
				}
				for row, err := range r.Rows() {
					if err != nil {
						t.Fatal(err)
					}
					return row[0].Text
				}
				return ""
			}
			first := again(file.Bytes())
			if second := again(written(t, []parquetfile.Column{c}, [][]string{{first}})); second != first {
				t.Errorf("%q comes back as %q, and then as %q", text, first, second)
			}
		}
	})
}

// TestReadLikeCSV reads the same records from both formats.
func TestReadLikeCSV(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("age,illness\n")
	var rows [][]string
	for i := range 50 {
		row := []string{fmt.Sprint(i * 7 % 50), []string{"flu", "gout"}[i%2]}
		if i%10 == 3 {
			row[1] = ""
		}
		rows = append(rows, row)
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	quasi := []csvfile.QuasiIdentifier{{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}}}
	file := written(t, []parquetfile.Column{{Name: "age", Kind: parquetfile.Int32}, {Name: "illness"}}, rows)
	of, err := parquetfile.Read(bytes.NewReader(file), int64(len(file)), quasi, "illness")
	if err != nil {
		t.Fatal(err)
	}
	like, err := csvfile.Read(strings.NewReader(text.String()), quasi, "illness")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(of.Table.Cells(0), like.Table.Cells(0)) || !slices.Equal(of.Table.Sensitive(0), like.Table.Sensitive(0)) {
		t.Error("the records differ")
	}
	if _, err := parquetfile.Read(bytes.NewReader(file), int64(len(file)), quasi, "job"); err == nil || !strings.Contains(err.Error(), `no column "job"`) {
		t.Errorf("a column that is not there: %v", err)
	}
	release := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1, 2, 3}, {4, 5}}, Withheld: []int32{6}}
	var one bytes.Buffer
	if err := parquetfile.WriteRelease(&one, of, release); err != nil {
		t.Fatal(err)
	}
	r, err := parquetfile.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
	if err != nil || r.Len() != 6 {
		t.Fatalf("a release of 6 records: %v", err)
	}
	var got []string
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row[0].Text+row[1].Text)
	}
	if want := []string{"[0,22)flu", "[0,22)flu", "[0,22)gout", "[0,22)", "[28,36)flu", "[28,36)gout"}; !slices.Equal(got, want) {
		t.Errorf("the release is %q, want %q", got, want)
	}
}
