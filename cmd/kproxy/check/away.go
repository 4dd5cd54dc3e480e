package check

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// CodeSourceAway is about a table of which nothing is known while the source is away.
const CodeSourceAway = "source-away"

// SourceAway reports whether the server of a source in a database of its own does not let kproxy in, or
// has ended the session.
func SourceAway(err error) bool {
	if _, lost := errors.AsType[*upstream.SourceLostError](err); lost {
		return true
	}
	refused, is := errors.AsType[*upstream.ConnectError](err)
	return is && refused.Source
}

// ErrNothingKept says that nothing can be served while the source is away.
var ErrNothingKept = errors.New("while the source is away, kproxy serves what was published under the policy in force; there is nothing of the policy of this configuration")

// Kept is Fitness while the source is away, by what the store has of the protected tables: it examines the
// database of the release as ever, and tolerates the tables of which the store has nothing under this policy.
// What only the source can show is not examined.
func Kept(ctx context.Context, c *config.Config, may Leniency) (Fit, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return Fit{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	publications, err := KeptPublications(ctx, conn, c)
	if err != nil {
		return Fit{}, err
	}
	if len(publications) == 0 {
		return Fit{}, ErrNothingKept
	}
	checked, err := judge(ctx, upstream.Databases{Owner: conn}, c, true, publications)
	if err != nil {
		return Fit{}, err
	}
	for _, t := range c.Policy.Tables {
		if !slices.ContainsFunc(publications, func(p catalog.Publication) bool { return p.Policy.Table == t.Table }) {
			checked.Report = append(checked.Report, inspect.Finding{
				Severity: inspect.Error, Code: CodeSourceAway, Table: t.Table,
				What: "the store has no release of it under this policy, and the source is away", Fix: "have the server of the source answer",
			})
		}
	}
	may.Table = func(catalog.TablePolicy) bool { return true }
	return fitness(ctx, c, checked, may)
}

// KeptPublications are those of the configuration's tables of which the store has releases under its policy.
func KeptPublications(ctx context.Context, conn *pgx.Conn, c *config.Config) ([]catalog.Publication, error) {
	whole, err := ksync.NewPolicy(c.Policy, upstream.Place(c.LocateSetting("").File))
	if err != nil {
		return nil, err
	}
	kept, err := ksync.KeptPublications(ctx, conn, whole)
	if err != nil {
		return nil, upstream.Unprepared(err)
	}
	return slices.DeleteFunc(kept, func(p catalog.Publication) bool { return !upstream.Protects(c.Policy, p.Policy.Table) }), nil
}

// relationsOf are the tables of publications.
func relationsOf(publications []catalog.Publication) []catalog.Relation {
	relations := make([]catalog.Relation, len(publications))
	for i, p := range publications {
		relations[i] = p.Relation
	}
	return relations
}
