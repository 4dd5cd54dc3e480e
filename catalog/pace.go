package catalog

import (
	"fmt"
	"time"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// Pace is a named point between fresh rows, exact rows and exact persons, for guarded updates of
// several tables about the same persons. It is called after how long a row waits that its person has
// once a year.
type Pace int

// The paces. Months are the default.
const (
	Months Pace = iota + 1
	Weeks
	Days
)

func (p Pace) String() string {
	if p < Months || p > Days {
		return fmt.Sprintf("Pace(%d)", int(p))
	}
	return [...]string{"months", "weeks", "days"}[p-1]
}

// Crowd is how many times k persons have the same root values: more of them have enough rows for a
// cell sooner.
func (p Pace) Crowd() int { return [...]int{people.DefaultCrowd, 16, 64}[p-1] }

// RowsWithin is how long a row waits at most.
func (p Pace) RowsWithin() time.Duration {
	const day = 24 * time.Hour
	return [...]time.Duration{60 * day, 30 * day, 10 * day}[p-1]
}
