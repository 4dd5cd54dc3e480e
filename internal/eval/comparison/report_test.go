package comparison_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/comparison"
)

// sample has two methods over two k, a refused run, and a name that HTML must not
// take for markup.
func sample() *comparison.Report {
	r := &comparison.Report{Data: "<people>.csv", Records: 1000, QuasiIdentifiers: []string{"age", "sex"}, Sensitive: []string{"diagnosis"}, Seed: 1, PolicyMethod: "mondrian-strict", PolicyK: 5}
	for _, method := range []string{"rounded-partition", "mondrian-strict"} {
		for _, k := range []int{5, 10} {
			r.Measurements = append(r.Measurements, eval.Measurement{
				Method: method, K: k, Constraints: []string{"k"}, Records: 1000, Classes: 1000 / k, Smallest: k,
				Average: float64(k), Largest: k + 1, Sizes: []eval.SizeCount{{Size: k, Classes: 1000 / k}},
				Classification: eval.None, Journalist: eval.None, LevelLoss: eval.None, Joint: eval.None, Loss: float64(k) / 100 * float64(len(method)), Prosecutor: 1 / float64(k), Seconds: 0.001,
			})
		}
	}
	r.Measurements[0].Loss = 0.01
	return r
}

func write(t *testing.T, r *comparison.Report) string {
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
	for _, part := range []string{"&lt;people&gt;.csv", "Least information loss with k = 5: rounded-partition", "<svg", "mondrian-strict", "Class sizes"} {
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

func TestPageOfOneK(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Measurements = []eval.Measurement{r.Measurements[0], r.Measurements[2]}
	if page := write(t, r); strings.Count(page, "<svg") != 1 || !strings.Contains(page, "With several k") || strings.Contains(page, "own given") {
		t.Error("a page of one k has curves of points")
	}
}

func TestPageWithoutARelease(t *testing.T) {
	t.Parallel()
	r := sample()
	for i := range r.Measurements {
		r.Measurements[i] = eval.Measurement{Method: []string{"hilbert", "cbad"}[i%2], K: 5 + i/2, Refused: "the table has 3 records"}
	}
	page := write(t, r)
	if !strings.Contains(page, "No run made a release") || !strings.Contains(page, "no release: the table has 3 records") {
		t.Error("the page does not say why there is nothing")
	}
	var table bytes.Buffer
	if err := r.WriteTable(&table); err != nil || strings.TrimSpace(table.String()) != "no release with k = 5; k = 6: the table has 3 records" {
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
	text, err := os.ReadFile(filepath.Join(folder, comparison.JSONName))
	if err != nil {
		t.Fatal(err)
	}
	var back comparison.Report
	if err := json.Unmarshal(text, &back); err != nil || len(back.Measurements) != len(r.Measurements) || back.Measurements[1].K != 10 {
		t.Errorf("JSON: error %v, %d measurements", err, len(back.Measurements))
	}
	f, err := os.Open(filepath.Join(folder, comparison.TableName))
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

// TestPageCompares the policy's method with the best, and tells what a larger k
// costs.
func TestPageCompares(t *testing.T) {
	t.Parallel()
	r := sample()
	page := write(t, r)
	for _, part := range []string{
		"The policy&#39;s method, mondrian-strict, is at place 2 of 2: it loses 75.00% instead of 1.00%, counts are off by 0.00% instead of 0.00%, and the highest risk is the same",
		"from k = 5 to k = 10 the loss of rounded-partition goes from 1.00% to 170.00%, and its highest risk from 20.00% to 10.00%",
		"from k = 5 to k = 10 the loss of mondrian-strict",
		"mondrian-strict (the policy's)", `<tr class="first own given">`, "heap growth",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	for _, absent := range []string{"<th>l</th>", "<th>α</th>", "joint risk", "journalist", "<th>CM</th>", "loss by levels"} {
		if strings.Contains(page, absent) {
			t.Errorf("the page has %q, which no run has", absent)
		}
	}
	for range 5 {
		if write(t, r) != page {
			t.Fatal("the page is another one each time")
		}
	}
	r.PolicyMethod = "cbad"
	if !strings.Contains(write(t, r), "The policy&#39;s method, cbad, was not run.") {
		t.Error("it is not said that the policy's method was not run")
	}
	r.PolicyMethod = "rounded-partition"
	if !strings.Contains(write(t, r), "The policy&#39;s method is rounded-partition: no other one loses less.") {
		t.Error("it is not said that the policy's method is the best")
	}
}

// TestAlikeMethodsShareRows where nothing but their cost differs.
func TestAlikeMethodsShareRows(t *testing.T) {
	t.Parallel()
	r := sample()
	for _, m := range r.Measurements[2:4] {
		m.Method, m.Seconds, m.HeapGrowth = "hilbert", 2, 5<<20
		r.Measurements = append(r.Measurements, m)
	}
	page := write(t, r)
	for _, part := range []string{`rowspan="2">mondrian-strict, hilbert</td>`, "mondrian-strict + 1 alike", "1 ms to 2 s", "5 MB"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	r.Measurements[5].Loss /= 2
	if page = write(t, r); strings.Contains(page, "alike") && strings.Contains(page, "mondrian-strict, hilbert") {
		t.Error("methods of different loss share a row")
	}
}

// TestOptionalFigures stand in the table and on the page where there are some.
func TestOptionalFigures(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Parts = [][]string{{"age", "zip"}, {"sex"}}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		m.Joint, m.Journalist, m.Classification, m.L, m.QueryError, m.Divergence = 1, 0.125, 77, 3, eval.None, eval.None
	}
	page := write(t, r)
	for _, part := range []string{"joint risk", "journalist risk", "<th>CM</th>", "<td>77</td>", "<td>12.50%</td>", "<th>l</th>", "age and zip only, or sex only, finds", "finds it with up to 100.00%"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	if strings.Contains(page, "Somebody who knows a person&#39;s quasi-identifying values") || strings.Contains(page, "Error of counting queries over") {
		t.Error("the page speaks of the columns as if they were one part")
	}
	var table bytes.Buffer
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"joint risk", "journalist", "CM", "77"} {
		if !strings.Contains(table.String(), part) {
			t.Errorf("the table does not have %q:\n%s", part, table.String())
		}
	}
}
