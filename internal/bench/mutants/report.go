package main

import (
	"fmt"
	"io"
	"time"
)

// score counts what became of a package's mutants.
type score struct {
	name  string
	count [unreached + 1]int
	took  time.Duration
}

func (s score) tried() int { return s.count[noticed] + s.count[survived] + s.count[unreached] }

// percent is the share of the mutants that were noticed.
func (s score) percent() float64 { return 100 * float64(s.count[noticed]) / float64(max(1, s.tried())) }

// report prints the scores, and fails where one is below the least that is asked for.
func report(w io.Writer, scores []score, least float64) error {
	if len(scores) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%-28s%9s%9s%10s%13s%8s%10s\n", "package", "mutants", "noticed", "survived", "not reached", "share", "time")
	var err error
	for _, s := range scores {
		fmt.Fprintf(w, "%-28s%9d%9d%10d%13d%7.1f%%%10s\n", s.name, s.tried(), s.count[noticed], s.count[survived], s.count[unreached],
			s.percent(), s.took.Round(time.Second))
		if s.percent() < least && err == nil {
			err = fmt.Errorf("of %s, less than %g %% of the mutants were noticed", s.name, least)
		}
	}
	return err
}
