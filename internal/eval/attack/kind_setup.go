package attack

import (
	"errors"
	"fmt"
)

// KindSetup is an experiment with several audiences of tables about the same persons: the persons, their visits, and what
// was prescribed at these. Rows are inserted, deleted and changed, persons come and leave.
type KindSetup struct {
	Seed    uint64  `json:"seed"`
	Persons int     `json:"persons"`
	Days    int     `json:"days"`
	Rate    float64 `json:"rate"` // visits of a person in all days, on average
	// Deleted and Changed are the shares of the visits that are deleted, and that get another ward, within the days.
	Deleted float64 `json:"deleted"`
	Changed float64 `json:"changed"`
	// K are the audiences, the finest first, each by how many persons are left to whoever knows what Knows says.
	K     []int `json:"k"`
	Crowd int   `json:"crowd"` // where one row is known
	// Report, if not nil, is called with what is being done.
	Report func(format string, arguments ...any) `json:"-"`
}

// DefaultKind is the experiment of docs/audiences.md.
func DefaultKind() KindSetup {
	return KindSetup{Seed: 1, Persons: 400, Days: 180, Rate: 3, Deleted: 0.1, Changed: 0.1, K: []int{3, 9}, Crowd: 4}
}

// Validate returns all that is wrong with the setup, joined.
func (s KindSetup) Validate() error {
	var errs []error
	check := func(ok bool, what string) {
		if !ok {
			errs = append(errs, errors.New(what))
		}
	}
	check(s.Persons >= 1 && s.Persons <= maxRecords, fmt.Sprintf("persons must be 1 to %d", maxRecords))
	check(s.Days >= 1 && s.Days <= maxDays, fmt.Sprintf("days must be 1 to %d", maxDays))
	check(s.Rate > 0 && s.Rate <= maxVisits, fmt.Sprintf("visits must be above 0 and at most %d", maxVisits))
	check(s.Deleted >= 0 && s.Deleted <= 1, "deleted must be 0 to 1")
	check(s.Changed >= 0 && s.Changed <= 1, "changed must be 0 to 1")
	check(s.Crowd >= 1 && s.Crowd <= maxRecords, "crowd must be at least 1")
	check(len(s.K) >= 2 && len(s.K) <= maxAudiences, fmt.Sprintf("k must have 2 to %d numbers", maxAudiences))
	for i, k := range s.K {
		check(k >= 1 && k <= maxRecords, "k must be at least 1")
		check(i == 0 || k >= s.K[i-1], "k must ascend: the finest audience is the first")
	}
	return errors.Join(errs...)
}

const maxAudiences = 4 // all sets of them are tried

func (s KindSetup) report(format string, arguments ...any) {
	if s.Report != nil {
		s.Report(format, arguments...)
	}
}
