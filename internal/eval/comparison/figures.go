package comparison

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/internal/eval"
)

// figure is a column of the table of runs, on the terminal and on the page.
type figure struct {
	title string // on the page
	short string // on the terminal; "" leaves it out there
	text  func(eval.Measurement) string
	// given reports whether a run has the figure; a column that no run has is left
	// out. Nil: all have it.
	given func(eval.Measurement) bool
}

var parameterFigures = []figure{
	{"k", "k", func(m eval.Measurement) string { return strconv.Itoa(m.K) }, nil},
	{"l", "l", func(m eval.Measurement) string { return orDash(m.L) }, func(m eval.Measurement) bool { return m.L != 0 }},
	{"α", "alpha", func(m eval.Measurement) string { return orDash(m.Alpha) }, func(m eval.Measurement) bool { return m.Alpha != 0 }},
}

var qualityFigures = []figure{
	{"information loss", "loss", func(m eval.Measurement) string { return percent(m.Loss) + deviation(m, spread(m).Loss) }, nil},
	{
		"query error", "query error",
		func(m eval.Measurement) string {
			if m.QueryError == eval.None {
				return "-"
			}
			return percent(m.QueryError) + deviation(m, spread(m).QueryError)
		},
		func(m eval.Measurement) bool { return m.QueryError != eval.None },
	},
	{"highest risk", "risk", func(m eval.Measurement) string { return percent(m.Prosecutor) }, nil},
	optional("joint risk", "joint risk", func(m eval.Measurement) float64 { return m.Joint }, percent),
	{"mean risk", "mean risk", func(m eval.Measurement) string { return percent(m.MeanRisk) }, nil},
	optional("journalist risk", "journalist", func(m eval.Measurement) float64 { return m.Journalist }, percent),
	{"classes", "classes", func(m eval.Measurement) string { return strconv.Itoa(m.Classes) }, nil},
	{"smallest", "", func(m eval.Measurement) string { return strconv.Itoa(m.Smallest) }, nil},
	{"mean size", "mean size", func(m eval.Measurement) string { return fmt.Sprintf("%.1f", m.Average) }, nil},
	{"largest", "", func(m eval.Measurement) string { return strconv.Itoa(m.Largest) }, nil},
	{"withheld", "withheld", func(m eval.Measurement) string { return strconv.Itoa(m.Withheld) }, nil},
	{"GCP (axis)", "", func(m eval.Measurement) string { return percent(m.AxisLoss) }, nil},
	optional("loss by levels", "", func(m eval.Measurement) float64 { return m.LevelLoss }, percent),
	{"precision", "", func(m eval.Measurement) string { return fmt.Sprintf("%.3f", m.Precision) }, nil},
	optional("query divergence", "", func(m eval.Measurement) float64 { return m.Divergence }, func(f float64) string { return fmt.Sprintf("%.4f", f) }),
	{"DM", "DM", func(m eval.Measurement) string { return strconv.FormatInt(m.Discernibility, 10) }, nil},
	optional("CM", "CM", func(m eval.Measurement) float64 { return float64(m.Classification) }, func(f float64) string { return fmt.Sprintf("%.0f", f) }),
}

// optional is a figure that is eval.None for runs that do not have it.
func optional(title, short string, of func(eval.Measurement) float64, text func(float64) string) figure {
	given := func(m eval.Measurement) bool { return of(m) != eval.None }
	return figure{title, short, func(m eval.Measurement) string {
		if !given(m) {
			return "-"
		}
		return text(of(m))
	}, given}
}

// shown leaves the figures that some of the runs have.
func shown(figures []figure, runs []eval.Measurement) []figure {
	return slices.DeleteFunc(slices.Clone(figures), func(f figure) bool {
		return f.given != nil && !slices.ContainsFunc(runs, f.given)
	})
}

func orDash(f float64) string {
	if f == 0 {
		return "-"
	}
	return fmt.Sprintf("%g", f)
}

// deviation is the standard deviation over the seeds in percentage points, of runs with
// several.
func deviation(m eval.Measurement, r eval.Range) string {
	if m.Spread == nil {
		return ""
	}
	return fmt.Sprintf(" ±%.2f", 100*r.Deviation)
}

func percent(f float64) string { return fmt.Sprintf("%.2f%%", 100*f) }

// seconds writes a duration with three digits, which is more than a run on a busy
// machine can promise.
func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", 1000*s)
	}
	return fmt.Sprintf("%.3g s", s)
}

func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
