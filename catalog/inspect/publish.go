package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Publish derives the published shapes of the policy's tables that are among the
// relations, which must be those of [Relations] in the same database. It is
// [catalog.Publish] of the policy in the server's words: each value that the policy
// names for a column is first brought to the text that the server gives it, since
// replication, generalization and verification tell values apart by their texts.
// Where a text depends on settings, dates are read and written as ISO 8601, and
// times without a zone as UTC. Types that extensions and users define, other than
// enumerations, are left as the policy writes them.
//
// The publications are those of the tables without a problem, in the policy's
// order. The policy itself is not changed.
func Publish(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (
	publications []catalog.Publication, problems []catalog.Problem, err error,
) {
	err = reading(ctx, conn, func() error {
		// The form that package sync pins for replication.
		const form = "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC'; " +
			"SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'"
		if _, err := conn.PgConn().Exec(ctx, form).ReadAll(); err != nil {
			return fmt.Errorf("pinning the form of values: %w", err)
		}
		for _, t := range policy.Tables {
			i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == t.Table })
			if i < 0 {
				continue
			}
			publication, found, err := publish(ctx, conn, t, relations[i])
			if err != nil {
				return err
			}
			if len(found) == 0 {
				publications = append(publications, publication)
			}
			problems = append(problems, found...)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("comparing the policy with the tables: %w", err)
	}
	return publications, problems, nil
}

func publish(ctx context.Context, conn *pgx.Conn, policy catalog.TablePolicy, relation catalog.Relation) (catalog.Publication, []catalog.Problem, error) {
	c := canonicalizer{ctx: ctx, conn: conn, table: policy.Table}
	policy, err := c.canonicalize(policy, relation)
	if err != nil {
		return catalog.Publication{}, nil, fmt.Errorf("the values that the policy of %s names: %w", policy.Table, err)
	}
	publication, problems := catalog.Publish(policy, relation)
	return publication, append(c.problems, problems...), nil
}
