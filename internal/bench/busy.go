package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// busy is the share of the machine above which other processes invalidate times and rates.
const busy = 0.15

// writeBusy warns of figures that were measured on a machine that others used.
func writeBusy(page *strings.Builder, s *result.Section) {
	most, all := 0.0, true
	for _, c := range s.Commands {
		most, all = max(most, c.Others), all && c.Others > busy
	}
	if most <= busy {
		return
	}
	which := "this section"
	if !all {
		which = "the commands marked below"
	}
	fmt.Fprintf(page, "**Busy:** other processes took up to %.0f %% of the machine. Times, rates and their ratios of %s are meaningless; "+
		"memory, bytes, losses and counts are valid, and processor times within a factor.\n\n", 100*most, which)
}

// othersDuring is the largest share of the machine that other processes took during the
// commands that contain the word, or during all commands if none does.
func othersDuring(s *result.Section, word string) (most float64) {
	named := slices.DeleteFunc(slices.Clone(s.Commands), func(c result.Command) bool {
		return !slices.Contains(strings.Fields(c.Line), word)
	})
	if len(named) == 0 {
		named = s.Commands
	}
	for _, c := range named {
		most = max(most, c.Others)
	}
	return most
}
