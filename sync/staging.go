package sync

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// classStage is the staging table with the generalizations of one part's classes.
func (p *publisher) classStage(part int) string { return fmt.Sprintf("class%d", part) }

// copyClasses sends the assignment of records to classes and the classes'
// generalizations to the server.
func (p *publisher) copyClasses(ctx context.Context) error {
	members := union(p.stage.places(), p.stage.marks())
	create := []string{fmt.Sprintf("CREATE UNLOGGED TABLE %s (%s bigint, %s)", p.staging("member"), recordColumn, definitions(members))}
	for i, part := range p.parts {
		columns := append([]string{part.column + " bigint"}, p.generalizedNames(part, "", " text")...)
		create = append(create, fmt.Sprintf("CREATE UNLOGGED TABLE %s (%s)", p.staging(p.classStage(i)), strings.Join(columns, ", ")))
	}
	if _, err := p.tx.Exec(ctx, strings.Join(create, "; ")); err != nil {
		return fmt.Errorf("preparing the classes: %w", err)
	}
	assignments, done := p.stage.assignments(), 0
	counted := func() ([]any, error) {
		if done++; done%10000 == 0 {
			p.progress("publishing", done)
		}
		return assignments()
	}
	if err := p.copyInto(ctx, "member", append([]string{recordColumn}, columnNames(members)...), counted); err != nil {
		return fmt.Errorf("writing the assignment: %w", err)
	}
	for i, part := range p.parts {
		columns := append([]string{part.column}, p.generalizedNames(part, "", "")...)
		if err := p.copyInto(ctx, p.classStage(i), columns, p.stage.classes(part)); err != nil {
			return fmt.Errorf("writing the classes: %w", err)
		}
	}
	return nil
}

// copyInto fills a staging table. Rows are asked for on a goroutine of the driver's.
func (p *publisher) copyInto(ctx context.Context, kind string, columns []string, rows func() ([]any, error)) error {
	stage := storeTable(kind, p.generation)
	guarded := func() (row []any, err error) {
		err = guard(p.session.Logger, func() error {
			row, err = rows()
			return err
		})
		return row, err
	}
	_, err := p.tx.CopyFrom(ctx, pgx.Identifier{stage.Schema, stage.Relation}, columns, pgx.CopyFromFunc(guarded))
	return err
}

// finish joins the staging tables into store and release.
func (p *publisher) finish(ctx context.Context) error {
	var joins, stages strings.Builder
	for i, part := range p.parts {
		fmt.Fprintf(&joins, " JOIN %s c%d USING (%s)", p.staging(p.classStage(i)), i, part.column)
		fmt.Fprintf(&stages, ", %s", p.staging(p.classStage(i)))
	}
	statements := []string{
		fmt.Sprintf("CREATE TABLE %s AS SELECT r.%s, %s, %s FROM %s r LEFT JOIN %s m USING (%s)",
			p.recordsTable(), recordColumn, listed(p.stage.places(), "m."), p.columnList("r."), p.staging("source"), p.staging("member"), recordColumn),
		fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", p.recordsTable(), recordColumn),
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s, %s FROM %s m%s JOIN %s r USING (%s) ORDER BY 1, random()",
			p.releaseTable(), listed(p.stage.marks(), "m."), p.releaseList(), p.staging("member"), joins.String(), p.staging("source"), recordColumn),
	}
	for _, part := range p.parts {
		statements = append(statements, fmt.Sprintf("CREATE INDEX ON %s (%s)", p.releaseTable(), part.column))
	}
	statements = append(statements,
		fmt.Sprintf("DROP TABLE %s, %s%s", p.staging("source"), p.staging("member"), stages.String()),
		"ANALYZE "+p.recordsTable(),
		"ANALYZE "+p.releaseTable(),
	)
	for i, sql := range statements {
		if _, err := p.tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making the release, step %d: %w", i+1, err)
		}
		p.progress("publishing", p.total*(i+1)/len(statements))
	}
	p.stage.written()
	return nil
}
