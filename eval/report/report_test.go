package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/eval"
	"github.com/kproxy/kproxy/eval/report"
)

// sample has two methods over two k, a refused run, and a name that HTML must not
// take for markup.
func sample() *report.Report {
	r := &report.Report{Data: "<people>.csv", Records: 1000, QuasiIdentifiers: []string{"age", "sex"}, Sensitive: []string{"diagnosis"}, Seed: 1}
	for _, method := range []string{"rounded-partition", "mondrian-strict"} {
		for _, k := range []int{5, 10} {
			r.Measurements = append(r.Measurements, eval.Measurement{
				Method: method, K: k, Constraints: []string{"k"}, Records: 1000, Classes: 1000 / k, Smallest: k,
				Average: float64(k), Largest: k + 1, Sizes: []eval.SizeCount{{Size: k, Classes: 1000 / k}},
				Classification: -1, Journalist: -1, Loss: float64(k) / 100 * float64(len(method)), Prosecutor: 1 / float64(k), Seconds: 0.001,
			})
		}
	}
	r.Measurements[0].Loss = 0.01
	return r
}

func write(t *testing.T, r *report.Report) string {
	t.Helper()
	var page bytes.Buffer
	if err := r.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func TestPageStandsAlone(t *testing.T) {
	t.Parallel()
	page := write(t, sample())
	for _, part := range []string{"&lt;people&gt;.csv", "Least information loss: rounded-partition", "<svg", "mondrian-strict", "Class sizes"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	for _, foreign := range []string{"<script", "src=", "href=\"http", "@import", "url("} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page has %q, which asks for something else", foreign)
		}
	}
	if strings.Contains(page, "<people>") {
		t.Error("a name became markup")
	}
}

func TestPageWithoutARelease(t *testing.T) {
	t.Parallel()
	r := sample()
	for i := range r.Measurements {
		r.Measurements[i] = eval.Measurement{Method: "hilbert", K: 5, Refused: "the table has 3 records"}
	}
	page := write(t, r)
	if !strings.Contains(page, "No run made a release") || !strings.Contains(page, "no release: the table has 3 records") {
		t.Error("the page does not say why there is nothing")
	}
	var table bytes.Buffer
	if err := r.WriteTable(&table); err != nil || !strings.Contains(table.String(), "no release: hilbert, k = 5: the table has 3 records") {
		t.Errorf("error %v, table\n%s", err, table.String())
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "report")
	r := sample()
	if err := r.WriteFiles(folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, report.JSONName))
	if err != nil {
		t.Fatal(err)
	}
	var back report.Report
	if err := json.Unmarshal(text, &back); err != nil || len(back.Measurements) != len(r.Measurements) || back.Measurements[1].K != 10 {
		t.Errorf("JSON: error %v, %d measurements", err, len(back.Measurements))
	}
	f, err := os.Open(filepath.Join(folder, report.TableName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) != 1+len(r.Measurements) || lines[1][0] != "rounded-partition" {
		t.Errorf("CSV: error %v, lines %v", err, lines)
	}
	if err := r.WriteFiles(folder); err != nil {
		t.Errorf("writing the report again: %v", err)
	}
}
