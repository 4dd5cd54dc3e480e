package eval

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// Measurement is one run and what it made of the table. Metrics are those of
// package metric, which says what they mean; all but Precision and LevelLoss are
// of what a live table publishes, which is of each class what its members cover.
type Measurement struct {
	Method string `json:"method"`
	// Effort is that of a method that makes several, "" of others.
	Effort string `json:"effort,omitempty"`
	// SameAs is the method whose run this is, since both make the same release under the
	// constraints; "" for a run of its own.
	SameAs      string   `json:"same_as,omitempty"`
	K           int      `json:"k"`
	L           float64  `json:"l,omitempty"`
	Alpha       float64  `json:"alpha,omitempty"`
	Constraints []string `json:"constraints"`
	// Refused says why the run made no release: the constraints cannot be met by
	// any method. Everything below is then zero.
	Refused string `json:"refused,omitempty"`

	Records  int `json:"records"`
	Withheld int `json:"withheld"`
	// Classes of all parts of the table, their smallest, mean and largest size.
	Classes  int     `json:"classes"`
	Smallest int     `json:"smallest_class"`
	Average  float64 `json:"average_class"`
	Largest  int     `json:"largest_class"`
	// Sizes are the number of classes of each size, ascending.
	Sizes []SizeCount `json:"class_sizes"`

	Discernibility int64 `json:"discernibility"`
	// Classification is CM, None without labels.
	Classification int `json:"classification"`
	// Loss is metric.PublishedLoss, by which methods are compared.
	Loss float64 `json:"information_loss"`
	// AxisLoss is metric.GCP of what the classes cover: the papers' measure.
	AxisLoss float64 `json:"gcp_axis"`
	// LevelLoss is metric.GCP of the levels to which the method recodes; None of
	// methods that recode by none.
	LevelLoss float64 `json:"level_loss"`
	Precision float64 `json:"precision"`
	// Columns say what becomes of each quasi-identifying column, in the policy's order.
	Columns []ColumnLoss `json:"columns"`
	// Reached says how much the classes reveal at most of each sensitive column under constraints.
	Reached []Reached `json:"reached"`
	// Divergence and QueryError are None for a table in several parts, whose
	// counts over columns of different parts no part can answer.
	Divergence float64 `json:"query_divergence"`
	QueryError float64 `json:"median_query_error"`

	// Prosecutor is the risk of the record most at risk from somebody who knows the
	// attributes of one part.
	Prosecutor float64 `json:"prosecutor_risk"`
	// Joint is the same risk from somebody who knows the attributes of all parts; None of a
	// table in one part.
	Joint float64 `json:"joint_risk"`
	// MeanRisk is the marketer's: that of all records together, in the population
	// where there is one.
	MeanRisk float64 `json:"marketer_risk"`
	// Journalist is the highest risk where only the population is known to hold a
	// person; None without a population.
	Journalist float64 `json:"journalist_risk"`

	Seconds float64 `json:"seconds"`
	// HeapGrowth is by how many bytes the heap grew during the run, garbage that
	// nobody has collected yet included: an upper bound of what the run needs.
	HeapGrowth int64 `json:"heap_growth_bytes"`

	// Spread says how far runs with several seeds lie apart, nil of a single one. Loss and
	// QueryError are then means over the seeds, and all else is of the first one.
	Spread *Spread `json:"spread,omitempty"`
}

// Name is the method, with the effort where it is more than the least.
func (m Measurement) Name() string { return MethodName(m.Method, m.Effort) }

// MethodName is a method with its effort, "" or the least of which is left out.
func MethodName(method, effort string) string {
	if effort == "" || effort == anonymizer.Fast.String() {
		return method
	}
	return method + " (" + effort + ")"
}

// Spread is of runs that differ in their seeds alone, which decide ties and draw the queries.
type Spread struct {
	Seeds      int   `json:"seeds"`
	Loss       Range `json:"information_loss"`
	QueryError Range `json:"median_query_error"`
}

// Range is how a figure spreads; all are 0 where the runs do not have it.
type Range struct {
	Mean float64 `json:"mean"`
	// Deviation is the standard deviation of a sample: with n-1 below the root.
	Deviation float64 `json:"standard_deviation"`
	Least     float64 `json:"least"`
	Greatest  float64 `json:"greatest"`
}

// RangeOf is the range of at least one figure.
func RangeOf(figures []float64) Range {
	r := Range{Least: slices.Min(figures), Greatest: slices.Max(figures)}
	for _, f := range figures {
		r.Mean += f / float64(len(figures))
	}
	for _, f := range figures {
		r.Deviation += (f - r.Mean) * (f - r.Mean) / float64(max(1, len(figures)-1))
	}
	r.Deviation = math.Sqrt(r.Deviation)
	return r
}

// None stands for a figure that a measurement does not have.
const None = -1

// SizeCount says how many classes have so many records.
type SizeCount struct {
	Size    int `json:"size"`
	Classes int `json:"classes"`
}
