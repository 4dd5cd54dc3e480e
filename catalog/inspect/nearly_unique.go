package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Codes of what values tell.
const (
	// CodeNearlyUnique is a column that is published as it is, and whose values tell most
	// records apart.
	CodeNearlyUnique = "nearly-unique"
	// CodeEqualColumns are columns of two protected tables that say the same.
	CodeEqualColumns = "equal-columns"
	// CodeRepeatedKey is a column that is published as it is, and brings together the records
	// of a person in a table that counts records.
	CodeRepeatedKey = "repeated-key"
	// CodeTelling is a column that is published as it is, and tells a quasi-identifier.
	CodeTelling = "tells-quasi-identifier"
)

// Joinable reports what the database does not declare and the values tell: what
// [NearlyUnique] does, and, as warnings, columns that tell quasi-identifiers, as the number of
// a person with several records does, and columns of two protected tables that say the same.
// It reads each table once more, and for each foreign key between two of the tables some ten
// thousand records besides.
func Joinable(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (Report, error) {
	return sampling(ctx, conn, policy, relations, func(tables []*rawTable, report Report) (Report, error) {
		for _, t := range tables {
			if err := t.tells(ctx, conn); err != nil {
				return nil, err
			}
			for _, c := range t.columns {
				report = append(report, c.judgeTelling()...)
			}
		}
		equal, err := equalColumns(ctx, conn, tables)
		return append(report, equal...), err
	})
}

// NearlyUnique reports columns that are published as they are and nearly unique by their
// values, unless the policy acknowledges them. Those that [PublishedKeys] reports are not
// told again.
//
// It reads each table with such columns twice, and keeps counts of some of the values; the
// role must be able to select the tables.
func NearlyUnique(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (Report, error) {
	return sampling(ctx, conn, policy, relations, func(_ []*rawTable, report Report) (Report, error) { return report, nil })
}

// sampling samples the protected tables, judges each column by itself, and goes on.
func sampling(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation, further func([]*rawTable, Report) (Report, error)) (report Report, err error) {
	err = reading(ctx, conn, func() error {
		declared, err := PublishedKeys(ctx, conn, policy, relations)
		if err != nil {
			return err
		}
		tables := rawTables(policy, relations)
		for _, t := range tables {
			if err := t.sample(ctx, conn); err != nil {
				return err
			}
			for _, c := range t.columns {
				report = append(report, c.judge(declared)...)
			}
		}
		report, err = further(tables, report)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking at the values of the protected tables: %w", err)
	}
	return report, nil
}

// judge reports a column that is nearly unique. That holds for sensitive columns as for
// others: that they are published is meant, but not that who knows the value, as of a bill,
// finds the person's record by it. Quasi-identifying ones are not published as they are.
func (c *rawColumn) judge(declared Report) Report {
	policy := c.table.policy
	c.refused = slices.ContainsFunc(declared, func(f Finding) bool { return f.Table == policy.Table && f.Column == c.column.Name })
	share, fewer := c.distinguishing()
	if c.refused || slices.Contains(policy.Joinable, c.column.Name) || share < most {
		return nil
	}
	c.refused = true
	what, fix := policy.NearlyUnique(c.column.Name, share, fewer)
	return Report{{Severity: Error, Code: CodeNearlyUnique, Table: policy.Table, Column: c.column.Name, What: what, Fix: fix}}
}
