// Package report writes measurements for people and for programs: a table for
// the terminal, JSON, CSV, and one HTML page with charts that needs nothing else.
package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
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
	// PolicyMethod, PolicyK, PolicyL and PolicyAlpha are the policy's own method
	// and parameters.
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

// Prepare makes the folder for WriteFiles where it is absent and tries to write
// into it, so that long runs do not end in vain.
func Prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the report's folder: %w; name one that you may write to with --out", err)
	}
	f, err := os.CreateTemp(folder, ".kproxy-")
	if err != nil {
		return fmt.Errorf("the report cannot be written: %w; name a folder that you may write to with --out", err)
	}
	err = errors.Join(f.Close(), os.Remove(f.Name()))
	if err != nil {
		return fmt.Errorf("trying to write the report: %w", err)
	}
	return nil
}

// WriteFiles writes the page, the JSON and the CSV into the folder, which it
// makes where it is absent. Files of an earlier report are replaced.
func (r *Report) WriteFiles(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the report's folder: %w", err)
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{PageName, r.WritePage}, {JSONName, r.WriteJSON}, {TableName, r.WriteCSV}} {
		if err := writeFile(filepath.Join(folder, file.name), file.write); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
