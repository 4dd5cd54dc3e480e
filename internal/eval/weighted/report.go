package weighted

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/internal/eval/chart"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// bounds divide queries by the share of the records that they are about.
var bounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5}

// Summary is how far answers from one release are off, over the queries about From to
// To of the records. Errors are relative to the truth; each is a mean over the queries but
// for the medians.
type Summary struct {
	Method  string  `json:"method"`
	K       int     `json:"k"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	Queries int     `json:"queries"`
	Count   Errors  `json:"count"`
	Sum     *Errors `json:"sum,omitempty"` // nil where nothing is summed
}

// Errors are those of plain filtering and of weighted answers.
type Errors struct {
	Plain          float64 `json:"plain"`
	Weighted       float64 `json:"weighted"`
	PlainMedian    float64 `json:"plain_median"`
	WeightedMedian float64 `json:"weighted_median"`
}

// summaries gathers the errors of one release, by bucket.
type summaries struct {
	method  string
	k       int
	buckets []bucket
}

type bucket struct {
	count, sum [2][]float64 // plain, weighted
}

func newSummaries(method string, k int) *summaries {
	return &summaries{method: method, k: k, buckets: make([]bucket, len(bounds)-1)}
}

func (s *summaries) add(truth, plain, weighted answer, records int) {
	share := truth.count / float64(records)
	at := 0
	for at < len(s.buckets)-1 && share > bounds[at+1] {
		at++
	}
	b := &s.buckets[at]
	for i, got := range []answer{plain, weighted} {
		b.count[i] = append(b.count[i], off(got.count, truth.count))
		if truth.sum != 0 {
			b.sum[i] = append(b.sum[i], off(got.sum, truth.sum))
		}
	}
}

func (s *summaries) done() []Summary {
	var done []Summary
	for i, b := range s.buckets {
		if len(b.count[0]) == 0 {
			continue
		}
		one := Summary{Method: s.method, K: s.k, From: bounds[i], To: bounds[i+1], Queries: len(b.count[0]), Count: errorsOf(b.count)}
		if len(b.sum[0]) > 0 {
			sum := errorsOf(b.sum)
			one.Sum = &sum
		}
		done = append(done, one)
	}
	return done
}

func errorsOf(of [2][]float64) Errors {
	return Errors{Plain: mean(of[0]), Weighted: mean(of[1]), PlainMedian: median(of[0]), WeightedMedian: median(of[1])}
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(len(values))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Report is what a run came to.
type Report struct {
	Setup     Setup     `json:"setup"`
	Data      string    `json:"data"`
	Records   int       `json:"records"`
	Summaries []Summary `json:"summaries"`
}

// WriteJSON writes all figures.
func (r Report) WriteJSON(w io.Writer) error { return report.WriteJSON(w, r) }

// WriteText writes a table for a terminal.
func (r Report) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d records of %s. Mean relative error of counts and sums, in brackets the median:\n"+
		"plain filters on what stands for the class, weighted multiplies with kproxy.overlap.\n\n", r.Records, r.Data)
	if err != nil {
		return err
	}
	t := report.Table{Rows: [][]string{{"method", "k", "records meant", "queries", "count plain", "count weighted", "sum plain", "sum weighted"}}}
	for _, s := range r.Summaries {
		row := []string{s.Method, strconv.Itoa(s.K), fmt.Sprintf("%g-%g %%", 100*s.From, 100*s.To), strconv.Itoa(s.Queries)}
		row = append(append(row, s.Count.texts()...), s.Sum.texts()...)
		t.Rows = append(t.Rows, row)
	}
	return t.WriteText(w)
}

// texts are the mean and the median of plain filtering and of weighted answers.
func (e *Errors) texts() []string {
	if e == nil {
		return []string{"-", "-"}
	}
	text := func(mean, median float64) string { return fmt.Sprintf("%.1f%% (%.1f%%)", 100*mean, 100*median) }
	return []string{text(e.Plain, e.PlainMedian), text(e.Weighted, e.WeightedMedian)}
}

// WriteFiles writes the figures and a drawing for each method into the folder, which is made
// if need be, and returns the files' names.
func (r Report) WriteFiles(folder string) ([]string, error) {
	files := []report.File{report.JSONFile("weighted-"+r.Data+".json", r)}
	for _, method := range r.Setup.Methods {
		files = append(files, report.Figure{Name: fmt.Sprintf("weighted-%s-%s", r.Data, method), Chart: r.draw(method)}.File())
	}
	names, err := report.WriteFiles(folder, files...)
	slices.Sort(names)
	return slices.Compact(names), err
}

// draw is the mean error of counts by the share of the records that queries are about.
func (r Report) draw(method string) chart.Chart {
	c := chart.Chart{Title: fmt.Sprintf("Counts over %s, %s", r.Data, method), X: "records meant, up to (%)", Y: "mean relative error (%)", LogX: true, LogY: true}
	for _, k := range r.Setup.K {
		plain := chart.Line{Name: fmt.Sprintf("k = %d, plain", k)}
		weighted := chart.Line{Name: fmt.Sprintf("k = %d, weighted", k), Strong: true}
		for _, s := range r.Summaries {
			if s.Method == method && s.K == k {
				plain.Points = append(plain.Points, chart.Point{X: 100 * s.To, Y: 100 * s.Count.Plain})
				weighted.Points = append(weighted.Points, chart.Point{X: 100 * s.To, Y: 100 * s.Count.Weighted})
			}
		}
		c.Lines = append(c.Lines, plain, weighted)
	}
	return c
}
