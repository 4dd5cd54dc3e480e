package sync

import (
	"slices"
	"strings"
	"testing"
)

// rows collects what a copyReader cuts from the pieces.
func rows(columns int, pieces ...string) (rows [][]value, err error) {
	r := &copyReader{columns: columns, row: func(v []value) error {
		rows = append(rows, slices.Clone(v))
		return nil
	}}
	for _, piece := range pieces {
		if _, err := r.Write([]byte(piece)); err != nil {
			return rows, err
		}
	}
	return rows, r.Close()
}

func TestCopyReader(t *testing.T) {
	t.Parallel()
	text := func(s string) value { return value{text: s} }
	tests := []struct {
		name    string
		columns int
		pieces  []string
		want    [][]value
	}{
		{"nothing", 1, nil, nil},
		{"empty text and NULL", 2, []string{"\t\\N\n"}, [][]value{{text(""), {null: true}}}},
		{"escapes", 1, []string{`a\\b\tc\nd\re\bf\fg\v` + "\n"}, [][]value{{text("a\\b\tc\nd\re\bf\fg\v")}}},
		{"text that looks like NULL", 1, []string{`\\N` + "\n"}, [][]value{{text(`\N`)}}},
		{"cut anywhere", 2, []string{"a", "b\t", "c\nd\te", "\n"}, [][]value{{text("ab"), text("c")}, {text("d"), text("e")}}},
		{"cut inside an escape", 1, []string{`a\`, "\\\n"}, [][]value{{text(`a\`)}}},
		{"several rows in a piece", 1, []string{"a\nb\nc\n"}, [][]value{{text("a")}, {text("b")}, {text("c")}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := rows(test.columns, test.pieces...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, test.want, slices.Equal) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestCopyReaderRefuses(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{
		"too few columns":   "a\n",
		"too many columns":  "a\tb\tc\n",
		"unfinished row":    "a\tb",
		"unfinished escape": "a\tb\\\n",
		"unknown escape":    "a\tb\\x\n",
	} {
		if got, err := rows(2, piece); err == nil {
			t.Errorf("%s: read as %v", name, got)
		}
	}
}

var copyEscaper = strings.NewReplacer("\\", `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`)

// FuzzCopyReader checks that what is escaped as PostgreSQL does is read back,
// wherever the stream is cut, and that arbitrary bytes do no harm.
func FuzzCopyReader(f *testing.F) {
	f.Add("a", "b", 3)
	f.Add("tab\tnewline\n", `back\slash`, 1)
	f.Add("", `\N`, 0)
	f.Fuzz(func(t *testing.T, first, second string, cut int) {
		line := copyEscaper.Replace(first) + "\t" + copyEscaper.Replace(second) + "\n"
		cut = max(0, min(cut, len(line)))
		got, err := rows(2, line[:cut], line[cut:])
		if err != nil {
			t.Fatal(err)
		}
		want := []value{{text: first}, {text: second}}
		if len(got) != 1 || !slices.Equal(got[0], want) {
			t.Errorf("got %v, want %v", got, want)
		}
		_, _ = rows(2, first, second) // must not panic
	})
}
