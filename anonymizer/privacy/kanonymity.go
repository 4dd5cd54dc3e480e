package privacy

import "fmt"

// KAnonymity demands that every class has at least K records (Sweeney 2002).
// K below 1 counts as 1.
type KAnonymity struct{ K int }

// Satisfied reports whether the class has at least K records.
func (c KAnonymity) Satisfied(s Summary) bool { return s.Records >= c.MinRecords() }

// String returns for example "5-anonymity".
func (c KAnonymity) String() string { return fmt.Sprintf("%d-anonymity", c.MinRecords()) }

// MinRecords is K.
func (c KAnonymity) MinRecords() int { return max(1, c.K) }

// Feasible demands at least K records altogether.
func (c KAnonymity) Feasible(table Summary) error {
	if table.Records > 0 && table.Records < c.MinRecords() {
		return fmt.Errorf("%v needs %d records and the table has %d", c, c.MinRecords(), table.Records)
	}
	return nil
}
