package comparison

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// WriteTable writes the most telling figures for a terminal, one line for each run
// that made a release, and why others made none.
func (r *Report) WriteTable(w io.Writer) error {
	released := r.Released()
	if len(released) > 0 {
		if err := r.writeRuns(w, released); err != nil {
			return err
		}
		if err := r.writeBest(w); err != nil {
			return err
		}
	}
	for _, reason := range r.Refusals() {
		if _, err := fmt.Fprintf(w, "\nno release with %s\n", reason); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

func (r *Report) writeRuns(w io.Writer, released []eval.Measurement) error {
	figures := slices.DeleteFunc(shown(slices.Concat(parameterFigures, r.figures()), released), func(f figure) bool { return f.short == "" })
	row := func(first string, text func(figure) string, last string) []string {
		cells := []string{first}
		for _, f := range figures {
			cells = append(cells, text(f))
		}
		return append(cells, last)
	}
	t := report.Table{Rows: [][]string{row("method", func(f figure) string { return f.short }, "time")}}
	for _, m := range released {
		if m.SameAs != "" {
			continue
		}
		t.Rows = append(t.Rows, row(m.Name(), func(f figure) string { return f.text(m) }, seconds(m.Seconds)))
	}
	if err := t.WriteText(w); err != nil {
		return err
	}
	for _, line := range r.same() {
		if _, err := fmt.Fprintf(w, "\n%s\n", line); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

// same says which methods were not run, since they make the release of another one.
func (r *Report) same() []string {
	var firsts []string
	others := map[string][]string{}
	for _, m := range r.Released() {
		if m.SameAs == "" || slices.Contains(others[m.SameAs], m.Method) {
			continue
		}
		if others[m.SameAs] == nil {
			firsts = append(firsts, m.SameAs)
		}
		others[m.SameAs] = append(others[m.SameAs], m.Method)
	}
	for i, first := range firsts {
		firsts[i] = fmt.Sprintf("same as %s under these constraints, and so run once: %s", first, strings.Join(others[first], ", "))
	}
	return firsts
}

// writeBest writes which method loses least, where several were run.
func (r *Report) writeBest(w io.Writer) error {
	rows := r.best()
	if rows == nil {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return report.Table{Rows: rows}.WriteText(w)
}
