package privacy

// Population is the distribution of the sensitive values over the whole table,
// with which some constraints compare a class. It is safe for concurrent use.
type Population struct {
	Summary
}

// NewPopulation takes the summary of all records of a table, which must not
// change any more.
func NewPopulation(all Summary) *Population { return &Population{Summary: all} }
