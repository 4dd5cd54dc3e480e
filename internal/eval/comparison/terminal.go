package comparison

import (
	"fmt"
	"io"
	"slices"

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
	}
	for _, reason := range r.Refusals() {
		if _, err := fmt.Fprintf(w, "\nno release with %s\n", reason); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

func (r *Report) writeRuns(w io.Writer, released []eval.Measurement) error {
	figures := slices.DeleteFunc(shown(slices.Concat(parameterFigures, qualityFigures), released), func(f figure) bool { return f.short == "" })
	row := func(first string, text func(figure) string, last string) []string {
		cells := []string{first}
		for _, f := range figures {
			cells = append(cells, text(f))
		}
		return append(cells, last)
	}
	t := report.Table{Rows: [][]string{row("method", func(f figure) string { return f.short }, "time")}}
	for _, m := range released {
		t.Rows = append(t.Rows, row(m.Method, func(f figure) string { return f.text(m) }, seconds(m.Seconds)))
	}
	return t.WriteText(w)
}
