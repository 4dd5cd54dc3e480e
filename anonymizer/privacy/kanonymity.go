package privacy

import "fmt"

// KAnonymity demands that every class has at least K records (Sweeney 2002), or
// with subjects K different persons.
// K below 1 counts as 1.
//
// Over restricts it to some attributes, the <QI, K> of Yang, Liu, Wang and Yu
// 2006: records alike in these are at least K. A class of records that are alike
// in further attributes as well satisfies it by its size.
type KAnonymity struct {
	K    int
	Over []int // indexes of attributes, ascending; nil = all
}

// Satisfied reports whether the class has at least K records.
func (c KAnonymity) Satisfied(class Summary, _ *Population) bool {
	return class.Records >= c.MinRecords()
}

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
