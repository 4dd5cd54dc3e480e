package privacy

import "fmt"

// DistinctDiversity demands that every class has at least L distinct values of
// one sensitive attribute (Machanavajjhala et al. 2006, distinct l-diversity).
// L below 1 counts as 1. With subjects each person counts with one value,
// where possible with the one that most others have, so that the fewest values
// are counted: where everybody has the flu there is one, whatever else they have.
type DistinctDiversity struct {
	L         int
	Attribute int    // index into Summary.Sensitive
	Name      string // the attribute's name, for messages
}

// Satisfied reports whether the class has at least L distinct values; a summary
// without the attribute satisfies nothing.
func (c DistinctDiversity) Satisfied(class Summary, _ *Population) bool {
	return c.distinct(class) >= c.MinRecords()
}

func (c DistinctDiversity) distinct(s Summary) int {
	counts, ok := s.counts(c.Attribute)
	if !ok || s.subjects == nil {
		return len(counts)
	}
	return len(s.descending(c.Attribute))
}

// String returns for example "distinct 3-diversity of diagnosis".
func (c DistinctDiversity) String() string {
	return fmt.Sprintf("distinct %d-diversity of %s", c.MinRecords(), c.Name)
}

// MinRecords is L: fewer records cannot have L distinct values.
func (c DistinctDiversity) MinRecords() int { return max(1, c.L) }

// Feasible demands at least L distinct values in the whole table.
func (c DistinctDiversity) Feasible(table Summary) error {
	if table.Records > 0 && c.distinct(table) < c.MinRecords() {
		return fmt.Errorf("%v needs %d distinct values and the table has %d", c, c.MinRecords(), c.distinct(table))
	}
	return nil
}
