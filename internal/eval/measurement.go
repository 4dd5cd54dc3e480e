package eval

// Measurement is one run and what it made of the table. Metrics are those of
// package metric, which says what they mean; all but Precision and LevelLoss are
// of what a live table publishes, which is of each class what its members cover.
type Measurement struct {
	Method      string   `json:"method"`
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
}

// None stands for a figure that a measurement does not have.
const None = -1

// SizeCount says how many classes have so many records.
type SizeCount struct {
	Size    int `json:"size"`
	Classes int `json:"classes"`
}
