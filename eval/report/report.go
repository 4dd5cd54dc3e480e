// Package report writes measurements for people and for programs: a table for
// the terminal, JSON, CSV, and one HTML page with charts that needs nothing else.
package report

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/dataset"
	"github.com/kproxy/kproxy/eval"
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
	// PolicyK, PolicyL and PolicyAlpha are the policy's own parameters.
	PolicyK     int     `json:"policy_k"`
	PolicyL     float64 `json:"policy_l,omitempty"`
	PolicyAlpha float64 `json:"policy_alpha,omitempty"`
	// Measurements are in the order of the runs.
	Measurements []eval.Measurement `json:"measurements"`
}

// New starts a report on a table.
func New(data string, t *dataset.Table, seed uint64) *Report {
	r := &Report{Data: data, Records: t.Records.Len(), Seed: seed, QuasiIdentifiers: []string{}, Sensitive: []string{}}
	r.PolicyK, r.PolicyL, r.PolicyAlpha = eval.Parameters(t.Publication.Policy.Constraints)
	for _, a := range t.Records.Attributes() {
		r.QuasiIdentifiers = append(r.QuasiIdentifiers, a.Name)
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

// WriteFiles writes the page, the JSON and the CSV into the folder, which it
// makes where it is absent. Files of an earlier report are replaced.
func (r *Report) WriteFiles(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the report's folder: %w", err)
	}
	for name, write := range map[string]func(*os.File) error{
		PageName:  func(f *os.File) error { return r.WritePage(f) },
		JSONName:  func(f *os.File) error { return r.WriteJSON(f) },
		TableName: func(f *os.File) error { return r.WriteCSV(f) },
	} {
		if err := writeFile(filepath.Join(folder, name), write); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

func writeFile(path string, write func(*os.File) error) error {
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
