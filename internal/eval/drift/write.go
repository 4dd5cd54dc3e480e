package drift

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kproxy/kproxy/internal/eval/report"
)

// JSONName is the name of the file with all figures that WriteFiles makes.
const JSONName = "drift.json"

// Report is what a setup came to.
type Report struct {
	Setup   Setup     `json:"setup"`
	Summary []Summary `json:"summary"`
	Curves  []Curve   `json:"curves"`
}

// NewReport puts the curves of a setup together.
func NewReport(s Setup, curves []Curve) Report {
	return Report{Setup: s, Summary: Summarize(curves), Curves: curves}
}

// WriteJSON writes all figures.
func (r Report) WriteJSON(w io.Writer) error { return report.WriteJSON(w, r) }

// WriteText writes a table for each method and k, for a terminal.
func (r Report) WriteText(w io.Writer) error {
	s := r.Setup
	_, err := fmt.Fprintf(w, "%d records of %s, %d operations (insert %g : delete %g : modify %g), %d in a commit; means of %s.\n"+
		"Loss is the share of the information that readers lose; drift is loss by that of a\nrelease made afresh. Renewed: made anew where that loses at least %g %% less.\n",
		s.Records, s.Data, s.Operations, s.Mix.Insert, s.Mix.Delete, s.Mix.Modify, s.Group, counted(len(s.Seeds), "seed"), 100*s.Threshold)
	if err != nil {
		return err
	}
	for _, summary := range r.Summary {
		if _, err := fmt.Fprintf(w, "\n%s, k = %d: %.3g renewals measured, %.3g adopted\n", summary.Method, summary.K, summary.Measured, summary.Adopted); err != nil {
			return err
		}
		if err := summary.table().WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

func (s Summary) table() report.Table {
	percent := func(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }
	ratio := func(drift float64) string { return fmt.Sprintf("%.3f", drift) }
	number := func(count float64) string { return fmt.Sprintf("%.0f", count) }
	t := report.Table{Rows: [][]string{{
		"operations", "afresh", "maintained", "drift", "least", "most", "classes", "largest", "renewed", "drift", "classes", "largest",
	}}}
	for _, p := range s.Points {
		m, n := p.Maintained, p.Renewed
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(p.Operations), percent(p.Afresh),
			percent(m.Loss), ratio(m.Drift), ratio(m.LeastDrift), ratio(m.MostDrift), number(m.Classes), number(m.Largest),
			percent(n.Loss), ratio(n.Drift), number(n.Classes), number(n.Largest),
		})
	}
	return t
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// WriteFiles writes the figures as JSON and the curves as SVG into the folder,
// which it makes where it is absent. It returns the names of the files.
func (r Report) WriteFiles(folder string) ([]string, error) {
	files := []report.File{report.JSONFile(JSONName, r)}
	for _, f := range r.figures() {
		files = append(files, f.File())
	}
	return report.WriteFiles(folder, files...)
}
