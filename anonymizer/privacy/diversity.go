package privacy

import "fmt"

// DistinctDiversity demands that every class has at least L distinct values of
// one sensitive attribute (Machanavajjhala et al. 2006, distinct l-diversity).
// L below 1 counts as 1.
//
// With subjects it demands this of every choice of one value for each person from
// those that she has: no L-1 values are such that everybody has one of them. A value
// that many share is no harm as long as others lack it. See DESIGN.md.
type DistinctDiversity struct {
	L         int
	Attribute int    // index into Summary.Sensitive
	Name      string // the attribute's name, for messages
}

// Satisfied reports whether the class has at least L distinct values; a summary
// without the attribute satisfies nothing.
func (c DistinctDiversity) Satisfied(class Summary, _ *Population) bool {
	counts, ok := class.counts(c.Attribute)
	switch {
	case !ok || len(counts) < c.MinRecords():
		return false
	case class.subjects == nil || len(class.descending(c.Attribute)) >= c.MinRecords():
		return true
	}
	return !class.holdings(c.Attribute).covered(c.MinRecords()-1, 0)
}

// String returns for example "distinct 3-diversity of diagnosis".
func (c DistinctDiversity) String() string {
	return fmt.Sprintf("distinct %d-diversity of %s", c.MinRecords(), c.Name)
}

// MinRecords is L: fewer records cannot have L distinct values.
func (c DistinctDiversity) MinRecords() int { return max(1, c.L) }

// Feasible demands at least L distinct values in the whole table, and with subjects
// that some person has none of any L-1 of them.
func (c DistinctDiversity) Feasible(table Summary) error {
	if table.Records == 0 || c.Satisfied(table, nil) {
		return nil
	}
	counts, ok := table.counts(c.Attribute)
	if !ok {
		return missing(c)
	}
	if len(counts) < c.MinRecords() {
		return fmt.Errorf("%v needs %d distinct values and the table has %d", c, c.MinRecords(), len(counts))
	}
	h := table.holdings(c.Attribute)
	least := h.smallest()
	if h.work < 0 {
		return undecided(c)
	}
	return fmt.Errorf("%v cannot hold: the table has %d values of %d persons, %s, and everybody has one of %d; l can be %d at the most",
		c, len(counts), table.Records, table.mostShared(c.Attribute), least, least)
}
