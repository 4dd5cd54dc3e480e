// Package comparison shows what package eval measured of methods and parameters, and which
// method loses least.
package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// Report is an evaluation and what it was made of.
type Report struct {
	// Data names the table, for headings.
	Data string `json:"data"`
	// Records, QuasiIdentifiers and Sensitive describe it.
	Records          int      `json:"records"`
	QuasiIdentifiers []string `json:"quasi_identifiers"`
	Sensitive        []string `json:"sensitive"`
	Seed             uint64   `json:"seed"`
	// Parts are the quasi-identifiers that are anonymized apart from each other; nil
	// where all are anonymized together.
	Parts [][]string `json:"parts,omitempty"`
	// Planned is how many runs were to be measured; of an interrupted evaluation
	// there are fewer.
	Planned int `json:"planned"`
	// PolicyMethod, PolicyK, PolicyL and PolicyAlpha are the policy's own method,
	// as eval.MethodName writes it, and parameters.
	PolicyMethod string  `json:"policy_method"`
	PolicyK      int     `json:"policy_k"`
	PolicyL      float64 `json:"policy_l,omitempty"`
	PolicyAlpha  float64 `json:"policy_alpha,omitempty"`
	// Measurements are in the order of the runs.
	Measurements []eval.Measurement `json:"measurements"`
}

// New starts a report on a table.
func New(data string, t *dataset.Table, seed uint64) *Report {
	r := &Report{Data: data, Records: t.Records.Len(), Seed: seed, QuasiIdentifiers: []string{}, Sensitive: []string{}}
	r.PolicyMethod = t.Publication.Policy.Method
	if methods.Varies(r.PolicyMethod) {
		r.PolicyMethod = eval.MethodName(r.PolicyMethod, t.Publication.Policy.Effort.String())
	}
	r.PolicyK, r.PolicyL, r.PolicyAlpha = eval.Parameters(t.Publication.Policy.Constraints)
	for _, a := range t.Records.Attributes() {
		r.QuasiIdentifiers = append(r.QuasiIdentifiers, a.Name)
	}
	if parts := t.Publication.Components(); len(parts) > 1 {
		for _, part := range parts {
			var names []string
			for _, a := range part {
				names = append(names, r.QuasiIdentifiers[a])
			}
			r.Parts = append(r.Parts, names)
		}
	}
	for _, c := range t.Publication.Policy.ByRole(catalog.Sensitive) {
		r.Sensitive = append(r.Sensitive, c.Name)
	}
	return r
}

// Names of the files that WriteFiles makes.
const (
	PageName  = "report.html"
	JSONName  = "measurements.json"
	TableName = "measurements.csv"
)

// Released are the measurements of runs that made a release.
func (r *Report) Released() []eval.Measurement { return released(r.Measurements) }

func released(runs []eval.Measurement) []eval.Measurement {
	return slices.DeleteFunc(slices.Clone(runs), func(m eval.Measurement) bool { return m.Refused != "" })
}

// Refusals say why runs made no release: each reason once, after the parameters
// that it is about, whatever the method.
func (r *Report) Refusals() []string {
	var reasons []string
	with := map[string][]string{}
	for _, m := range r.Measurements {
		if m.Refused == "" {
			continue
		}
		if !slices.Contains(reasons, m.Refused) {
			reasons = append(reasons, m.Refused)
		}
		if p := parameters(m); !slices.Contains(with[m.Refused], p) {
			with[m.Refused] = append(with[m.Refused], p)
		}
	}
	lines := make([]string, len(reasons))
	for i, reason := range reasons {
		lines[i] = strings.Join(with[reason], "; ") + ": " + reason
	}
	return lines
}

// parameters are those of a run, for headings.
func parameters(m eval.Measurement) string {
	text := fmt.Sprintf("k = %d", m.K)
	if m.L != 0 {
		text += fmt.Sprintf(", l = %g", m.L)
	}
	if m.Alpha != 0 {
		text += fmt.Sprintf(", alpha = %g", m.Alpha)
	}
	return text
}

// WriteFiles writes the page, the JSON and the CSV into the folder, which it
// makes where it is absent. Files of an earlier report are replaced.
func (r *Report) WriteFiles(folder string) error {
	_, err := report.WriteFiles(folder,
		report.File{Name: PageName, Write: r.WritePage}, report.JSONFile(JSONName, r), report.File{Name: TableName, Write: r.WriteCSV})
	return err
}
