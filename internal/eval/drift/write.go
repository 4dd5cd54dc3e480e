package drift

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
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
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// WriteText writes a table for each method and k, for a terminal.
func (r Report) WriteText(w io.Writer) error {
	var text strings.Builder
	s := r.Setup
	fmt.Fprintf(&text, "%d records of %s, %d operations (insert %g : delete %g : modify %g), %d in a commit; means of %s.\n",
		s.Records, s.Data, s.Operations, s.Mix.Insert, s.Mix.Delete, s.Mix.Modify, s.Group, counted(len(s.Seeds), "seed"))
	fmt.Fprintf(&text, "Loss is the share of the information that readers lose; drift is loss by that of a\nrelease made afresh. Renewed: made anew where that loses at least %g %% less.\n", 100*s.Threshold)
	for _, summary := range r.Summary {
		fmt.Fprintf(&text, "\n%s, k = %d: %.3g renewals measured, %.3g adopted\n", summary.Method, summary.K, summary.Measured, summary.Adopted)
		table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(table, "operations\tafresh\tmaintained\tdrift\tleast\tmost\tclasses\tlargest\trenewed\tdrift\tclasses\tlargest\t")
		for _, p := range summary.Points {
			m, n := p.Maintained, p.Renewed
			fmt.Fprintf(table, "%d\t%.2f%%\t%.2f%%\t%.3f\t%.3f\t%.3f\t%.0f\t%.0f\t%.2f%%\t%.3f\t%.0f\t%.0f\t\n",
				p.Operations, 100*p.Afresh, 100*m.Loss, m.Drift, m.LeastDrift, m.MostDrift, m.Classes, m.Largest,
				100*n.Loss, n.Drift, n.Classes, n.Largest)
		}
		_ = table.Flush() // a strings.Builder takes everything
	}
	_, err := io.WriteString(w, text.String())
	return err
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
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the curves: %w", err)
	}
	var figures strings.Builder
	if err := r.WriteJSON(&figures); err != nil {
		return nil, fmt.Errorf("writing the figures: %w", err)
	}
	files := []file{{JSONName, []byte(figures.String())}}
	drawings, err := r.draw()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range append(files, drawings...) {
		if err := os.WriteFile(filepath.Join(folder, f.name), f.content, 0o644); err != nil {
			return nil, fmt.Errorf("writing the curves: %w", err)
		}
		names = append(names, f.name)
	}
	return names, nil
}

// file is one that WriteFiles makes.
type file struct {
	name    string
	content []byte
}
