package tally

// Table is the share of the table.
func (t *Tally[T]) Table() float64 { return t.share }
