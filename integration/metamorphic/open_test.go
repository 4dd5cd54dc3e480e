package metamorphic

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// findings are differences that are known and not mended yet, from testdata/open.txt. A
// line has a date, "order of" when only the order differs, a regular expression of
// observables, and after " -- " what is wrong; the next line an observable that it was
// seen by.
type findings struct {
	entries []*finding
	told    io.Writer // of all that is not known; or nil
}

type finding struct {
	line    string
	order   bool // it is of answers that are the same in another order
	pattern *regexp.Regexp
	example string // the name of an observable, which is in every sample
	found   int
	seen    bool // the example differs
}

var findingLine = regexp.MustCompile(`^\d{4}-\d\d-\d\d (order of )?(.+) -- .+$`)

func openFindings(t *testing.T) *findings {
	t.Helper()
	text, err := os.ReadFile("testdata/open.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := &findings{}
	if *open != "" {
		file, err := os.Create(*open)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		f.told = file
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		example, second := strings.CutPrefix(line, "seen by ")
		parts := findingLine.FindStringSubmatch(line)
		switch {
		case line == "" || line[0] == '#':
		case second && len(f.entries) > 0:
			f.entries[len(f.entries)-1].example = example
		case parts != nil:
			f.entries = append(f.entries, &finding{line: line, order: parts[1] != "", pattern: regexp.MustCompile(parts[2])})
		default:
			t.Fatalf("testdata/open.txt: not understood: %s", line)
		}
	}
	return f
}

func (f *findings) of(d difference) *finding {
	whole := d.observable.whole()
	for _, e := range f.entries {
		if e.pattern.MatchString(whole) && (!e.order || d.reordered()) {
			return e
		}
	}
	return nil
}

// always says whether an observable is in every sample: one by which a difference is known,
// and all of a relation.
func (f *findings) always(o observable) bool {
	return strings.HasPrefix(o.name, "TABLE ") || slices.ContainsFunc(f.entries, func(e *finding) bool { return e.example == o.String() })
}

// matches says whether a difference is known.
func (f *findings) matches(d difference) bool { return f.of(d) != nil }

// judge fails the test for differences that are not known.
func (f *findings) judge(t *testing.T, found []difference) {
	t.Helper()
	const most = 60
	told := 0
	for _, d := range found {
		if e := f.of(d); e != nil {
			e.found++
			e.seen = e.seen || e.example == d.observable.String()
			continue
		}
		if f.told != nil {
			_, _ = fmt.Fprintln(f.told, d)
		}
		if told++; told <= most {
			t.Errorf("told apart by %s", d)
		}
	}
	if told > most {
		t.Errorf("and by %d more; -metamorphic.open FILE writes all of them", told-most)
	}
}

// finish reports what is open, and fails for what is not any more.
func (f *findings) finish(t *testing.T) {
	t.Helper()
	for _, e := range f.entries {
		if *only != "" {
			break
		}
		if !e.seen && (!e.order || e.found == 0) { // which answers come in another order is not always the same
			t.Errorf("%q is told by nobody any more: take it out of testdata/open.txt, or name another that is\n%s (%d observables)", e.example, e.line, e.found)
			continue
		}
		t.Logf("open: %s (%d observables)", e.line, e.found)
	}
}
