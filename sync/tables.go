package sync

import (
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// tables are those that are applied. They belong to the applier's goroutine.
type tables []*table

// find returns the table with a name; nil for one that is not applied.
func (t tables) find(name catalog.Name) *table {
	if i := slices.IndexFunc(t, func(of *table) bool { return of.layout.name() == name }); i >= 0 {
		return t[i]
	}
	return nil
}

// without removes the table with a name.
func (t tables) without(name catalog.Name) tables {
	return slices.DeleteFunc(t, func(of *table) bool { return of.layout.name() == name })
}

// awaitShowing reports whether readers are to see a generation that a batch may show.
func (t tables) awaitShowing() bool {
	return slices.ContainsFunc(t, func(of *table) bool { return of.release.showAt != 0 && (of.group == nil || of.group.present) })
}

// markDue marks the tables that have something to publish by the clock.
func (t tables) markDue(now time.Time) (any bool) {
	for _, of := range t {
		if due := of.mode.due(); !due.IsZero() && !due.After(now) {
			of.pending.dirty, any = true, true
		}
	}
	return any
}

// nextDue is when the first table has something to publish although nothing changes; zero for
// never.
func (t tables) nextDue() (first time.Time) {
	for _, of := range t {
		if due := of.mode.due(); !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	return first
}

// definitionChecks are those of the tables of which a group has something to publish.
func (t tables) definitionChecks() []definitionCheck {
	var checks []definitionCheck
	for _, of := range t {
		if !of.pending.dirty && of.release.showAt == 0 {
			continue
		}
		check := definitionCheck{table: of, bound: of.definition.bound, sent: of.definition.sent, detail: accept.WithoutLeaves, after: of.describedBy}
		if len(of.describedBy) > 0 {
			check.detail = accept.Whole
		}
		of.describedBy = nil
		checks = append(checks, check)
	}
	return checks
}
