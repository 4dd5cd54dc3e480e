package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

// TestFieldsAreKept compares columns of few and of many different fields with lists.
func TestFieldsAreKept(t *testing.T) {
	t.Parallel()
	for _, different := range []int{1, 300, maxDifferent, maxDifferent + 1, 4 * maxDifferent} {
		random := rand.New(rand.NewPCG(1, uint64(different)))
		var want []string
		of := newFields()
		for i := range 2 * maxDifferent {
			n := random.IntN(different)
			if i < different {
				n = i
			}
			text := strings.Repeat("x", n%5) + fmt.Sprint(n)
			if n%50 == 7 {
				text = ""
			}
			want = append(want, text)
			of.add(text)
		}
		same := func(name string, of *fields, want func(string) string, texts []string) {
			t.Helper()
			if of.length != len(texts) {
				t.Fatalf("%d different: %s has %d fields", different, name, of.length)
			}
			for i, text := range texts {
				if of.at(i) != want(text) {
					t.Fatalf("%d different: %s has %q as field %d, want %q", different, name, of.at(i), i, want(text))
				}
			}
		}
		itself := func(text string) string { return text }
		same("the column", of, itself, want)
		shorter := func(text string) string { return text[:min(1, len(text))] }
		same("the mapped column", of.mapped(shorter), shorter, want)
		if got := coded(of, func(text string) int { return len(text) }); len(got) != len(want) || got[3] != len(want[3]) || got[len(got)-1] != len(want[len(want)-1]) {
			t.Errorf("%d different: the codes are wrong", different)
		}
		tally := make(map[string]int)
		for _, text := range want {
			if text != "" {
				tally[text]++
			}
		}
		for text, n := range of.tally() {
			if tally[text] != n {
				t.Fatalf("%d different: %q is counted %d times, not %d", different, text, n, tally[text])
			}
			delete(tally, text)
		}
		if len(tally) > 0 {
			t.Errorf("%d different: %d are not counted", different, len(tally))
		}
		seen := make(map[string]bool)
		for text := range of.some() {
			seen[text] = true
		}
		for _, text := range want {
			if !seen[text] {
				t.Fatalf("%d different: %q is not among the different ones", different, text)
			}
		}
		f := &File{fields: []*fields{of}, records: of.length}
		compare := f.Compare(0)
		for range 1000 {
			a, b := random.IntN(len(want)), random.IntN(len(want))
			if got := compare(int32(a), int32(b)); got != strings.Compare(want[a], want[b]) {
				t.Fatalf("%q is compared with %q: %d", want[a], want[b], got)
			}
		}
	}
}

// TestCountsOfPersons counts who has each value, in columns of both kinds.
func TestCountsOfPersons(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "a", "b", "", "a", "c", "c"}
	persons := []uint32{1, 1, 1, 2, 2, 3, 3}
	of := newFields()
	for _, text := range texts {
		of.add(text)
	}
	spread := newFields()
	for _, text := range texts {
		spread.add(text)
	}
	spread.spread()
	for _, column := range []*fields{of, spread} {
		for _, test := range []struct {
			persons []uint32
			want    []int64
		}{{nil, []int64{1, 2, 3}}, {persons, []int64{1, 1, 2}}} {
			if got := slices.Sorted(slices.Values(column.counts(test.persons))); !slices.Equal(got, test.want) {
				t.Errorf("numbered %t: counts are %v, want %v", column.isNumbered(), got, test.want)
			}
		}
	}
}

// TestLinesOfRecords finds lines behind fields of several lines, empty lines and left-out records.
func TestLinesOfRecords(t *testing.T) {
	t.Parallel()
	text := "a,b\n1,x\n\n2,\"y\ny\"\n3,?\n4,z\n5,z\n"
	f, err := Parse([]byte(text), config.CSV{Header: true, Delimiter: ',', Missing: "?", DropIncomplete: true})
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for i := range f.Len() {
		lines = append(lines, f.lines.of(i))
	}
	if want := []int{2, 4, 7, 8}; !slices.Equal(lines, want) || f.Dropped != 1 {
		t.Errorf("records begin on lines %v, want %v", lines, want)
	}
}

// FuzzCSV reads any text as CSV: what is read can be read again from what it holds.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\ufeffa\n\"x\ny\"\n", "a;b\n1;2\n", "a\n\xff\n", "a\n\"\n", "a,a\n1,2\n", "a\nnan\n1e5\n", "d\n2024-1-1\n2024-02-30\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form := config.CSV{Header: true, Delimiter: ','}
		file, err := Parse([]byte(text), form)
		if err != nil {
			return
		}
		if file.Len() == 0 || len(file.Types) != len(file.Columns) {
			t.Fatalf("%d records, %d types of %d columns", file.Len(), len(file.Types), len(file.Columns))
		}
		form.Types = make(map[string]string)
		var again strings.Builder
		write := func(fields []string) {
			for i, field := range fields {
				if i > 0 {
					again.WriteByte(',')
				}
				again.WriteString(`"` + strings.ReplaceAll(field, `"`, `""`) + `"`)
			}
			again.WriteByte('\n')
		}
		write(file.Columns)
		for i, name := range file.Columns {
			form.Types[name] = file.Types[i]
		}
		for i := range file.Len() {
			var record []string
			for c := range file.Columns {
				record = append(record, file.Field(i, c))
			}
			write(record)
		}
		second, err := Parse([]byte(again.String()), form)
		if err != nil {
			t.Fatalf("%q cannot be read again: %v", again.String(), err)
		}
		for i := range file.Len() {
			for c := range file.Columns {
				if strings.Contains(file.Field(i, c), "\r") {
					return // encoding/csv reads \r\n as \n
				}
				if second.Field(i, c) != file.Field(i, c) {
					t.Errorf("%q becomes %q as %s", file.Field(i, c), second.Field(i, c), file.Types[c])
				}
			}
		}
	})
}
