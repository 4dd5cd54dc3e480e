package history

import (
	"context"
	"fmt"

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

// LinkRelease attacks a generation (metric.Link). It returns nil if nothing is published, and for tables that
// are released together but the root: a row of theirs is followed by joins, which verify counts.
func LinkRelease(ctx context.Context, tx pgx.Tx, p catalog.Publication, generation int64, seed uint64) (*Linkages, error) {
	if p.Membership != nil && p.Membership.Table != people.Root || len(p.Attributes) == 0 {
		return nil, nil
	}
	found := Linkages{Sensitive: []string{}}
	for _, s := range p.Sensitive {
		found.Sensitive = append(found.Sensitive, s.Column)
	}
	records := recordsWithClasses(p, generation)
	for i, part := range p.Components() {
		sampled, err := readClasses(ctx, tx, p, records, catalog.ClassColumn(i), linkedRecords)
		if err != nil {
			return nil, fmt.Errorf("attacking %s: %w", p.Policy.Table, upstream.WithoutValues(err))
		}
		if len(sampled.release.Classes) == 0 {
			return nil, nil
		}
		if i == 0 || sampled.records.Len() < found.Records {
			found.Records = sampled.records.Len()
		}
		found.Parts = append(found.Parts, metric.Link(sampled.records.Project(part), sampled.release, linkedTargets, seed))
	}
	return &found, nil
}
