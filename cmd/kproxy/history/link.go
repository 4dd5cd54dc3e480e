package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// Linkages are the outcomes of a simulated attack on a release, one for each of its parts.
type Linkages struct {
	// Records counts the records that were read, in the part with the fewest. Where these are not all, fewer rows fit than
	// there are, so that the attacker does better than in truth.
	Records int              `json:"records"`
	Parts   []metric.Linkage `json:"parts"`
	// Sensitive are the columns of the guesses.
	Sensitive []string `json:"sensitive"`
}

const (
	linkedRecords = 500_000
	linkedTargets = 2_000
)

// LinkRelease attacks a generation (metric.Link), as the publication's audience sees it where it has one: an attacker
// among its readers has no use for what they know of columns that it does not see. It returns nil if nothing is published, where the private
// store is sealed, and for tables that are released together but the root: a row of theirs is followed by joins, which verify counts.
func LinkRelease(ctx context.Context, tx pgx.Tx, p catalog.Publication, generation int64, seed uint64) (*Linkages, error) {
	if p.Membership != nil && p.Membership.Table != people.Root || len(p.Attributes) == 0 {
		return nil, nil
	}
	sealed, err := isSealed(ctx, tx, p, generation)
	if err != nil {
		return nil, fmt.Errorf("attacking %s: %w", p.Policy.Table, err)
	}
	if sealed {
		return nil, nil
	}
	found := Linkages{Sensitive: []string{}}
	for _, s := range p.Sensitive {
		found.Sensitive = append(found.Sensitive, s.Column)
	}
	for i, part := range p.Components() {
		sampled, err := readClasses(ctx, tx, p, generation, catalog.ClassColumn(i), linkedRecords)
		if err != nil {
			return nil, fmt.Errorf("attacking %s: %w", p.Policy.Table, upstream.WithoutValues(err))
		}
		if len(sampled.release.Classes) == 0 {
			return nil, nil
		}
		if i == 0 || sampled.records.Len() < found.Records {
			found.Records = sampled.records.Len()
		}
		known := slices.DeleteFunc(slices.Clone(part), func(a int) bool { return hidden(p, a) })
		found.Parts = append(found.Parts, metric.Link(sampled.records.Project(known), sampled.release, linkedTargets, seed))
	}
	found.hide(p)
	return &found, nil
}

// hide leaves out the guesses of sensitive values that the publication's readers do not see.
func (l *Linkages) hide(p catalog.Publication) {
	for s := len(l.Sensitive) - 1; s >= 0; s-- {
		if !isHidden(p, l.Sensitive[s]) {
			continue
		}
		l.Sensitive = slices.Delete(l.Sensitive, s, s+1)
		for i := range l.Parts {
			l.Parts[i].Guesses = slices.Delete(l.Parts[i].Guesses, s, s+1)
		}
	}
}
