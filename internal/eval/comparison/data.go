package comparison

import (
	"io"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// WriteJSON writes the whole report for programs.
func (r *Report) WriteJSON(w io.Writer) error { return report.WriteJSON(w, r) }

// column is one column of the CSV file.
type column struct {
	name  string
	value func(eval.Measurement) string
}

var columns = []column{
	{"method", func(m eval.Measurement) string { return m.Method }},
	{"effort", func(m eval.Measurement) string { return m.Effort }},
	{"same_as", func(m eval.Measurement) string { return m.SameAs }},
	{"k", func(m eval.Measurement) string { return strconv.Itoa(m.K) }},
	{"l", func(m eval.Measurement) string { return number(m.L) }},
	{"alpha", func(m eval.Measurement) string { return number(m.Alpha) }},
	{"constraints", func(m eval.Measurement) string { return strings.Join(m.Constraints, "; ") }},
	{"refused", func(m eval.Measurement) string { return m.Refused }},
	{"records", func(m eval.Measurement) string { return strconv.Itoa(m.Records) }},
	{"withheld", func(m eval.Measurement) string { return strconv.Itoa(m.Withheld) }},
	{"classes", func(m eval.Measurement) string { return strconv.Itoa(m.Classes) }},
	{"smallest_class", func(m eval.Measurement) string { return strconv.Itoa(m.Smallest) }},
	{"average_class", func(m eval.Measurement) string { return number(m.Average) }},
	{"largest_class", func(m eval.Measurement) string { return strconv.Itoa(m.Largest) }},
	{"discernibility", func(m eval.Measurement) string { return strconv.FormatInt(m.Discernibility, 10) }},
	{"classification", func(m eval.Measurement) string { return strconv.Itoa(m.Classification) }},
	{"information_loss", func(m eval.Measurement) string { return number(m.Loss) }},
	{"gcp_axis", func(m eval.Measurement) string { return number(m.AxisLoss) }},
	{"level_loss", func(m eval.Measurement) string { return number(m.LevelLoss) }},
	{"precision", func(m eval.Measurement) string { return number(m.Precision) }},
	{"query_divergence", func(m eval.Measurement) string { return number(m.Divergence) }},
	{"median_query_error", func(m eval.Measurement) string { return number(m.QueryError) }},
	{"prosecutor_risk", func(m eval.Measurement) string { return number(m.Prosecutor) }},
	{"joint_risk", func(m eval.Measurement) string { return number(m.Joint) }},
	{"marketer_risk", func(m eval.Measurement) string { return number(m.MeanRisk) }},
	{"journalist_risk", func(m eval.Measurement) string { return number(m.Journalist) }},
	{"seeds", func(m eval.Measurement) string { return strconv.Itoa(spread(m).Seeds) }},
	{"information_loss_deviation", func(m eval.Measurement) string { return number(spread(m).Loss.Deviation) }},
	{"query_error_deviation", func(m eval.Measurement) string { return number(spread(m).QueryError.Deviation) }},
	{"seconds", func(m eval.Measurement) string { return number(m.Seconds) }},
	{"heap_growth_bytes", func(m eval.Measurement) string { return strconv.FormatInt(m.HeapGrowth, 10) }},
}

// spread is that of a measurement; of a run with a single seed nothing spreads.
func spread(m eval.Measurement) eval.Spread {
	if m.Spread == nil {
		return eval.Spread{Seeds: 1}
	}
	return *m.Spread
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// WriteCSV writes one line for each run under a header.
func (r *Report) WriteCSV(w io.Writer) error {
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	lines := [][]string{header}
	for _, m := range r.Measurements {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.value(m)
		}
		lines = append(lines, line)
	}
	return report.WriteCSV(w, lines)
}
