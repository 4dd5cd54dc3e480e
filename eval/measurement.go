package eval

// Measurement is one run and what it made of the table. Metrics are those of
// package metric, which says what they mean.
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
	// Classification is CM, -1 without labels.
	Classification int     `json:"classification"`
	Loss           float64 `json:"information_loss"`
	TaxonomyLoss   float64 `json:"taxonomy_loss"`
	Precision      float64 `json:"precision"`
	Divergence     float64 `json:"query_divergence"`
	QueryError     float64 `json:"median_query_error"`

	// Prosecutor is the risk of the record most at risk, MeanRisk that of all
	// together, which is the marketer's.
	Prosecutor float64 `json:"prosecutor_risk"`
	MeanRisk   float64 `json:"marketer_risk"`
	// Journalist is the highest risk where only the population is known to hold a
	// person; -1 without a population.
	Journalist float64 `json:"journalist_risk"`

	Seconds float64 `json:"seconds"`
	// PeakBytes is the most memory that the run held beside its input.
	PeakBytes int64 `json:"peak_bytes"`
}

// SizeCount says how many classes have so many records.
type SizeCount struct {
	Size    int `json:"size"`
	Classes int `json:"classes"`
}
