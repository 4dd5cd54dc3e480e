package sync

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// classStage is the staging table with the generalizations of one part's classes.
func (p *publisher) classStage(part int) string { return fmt.Sprintf("class%d", part) }

// copyClasses sends the assignment of records to classes and the classes'
// generalizations to the server.
func (p *publisher) copyClasses(ctx context.Context) error {
	classes := make([]string, len(p.parts))
	for i, part := range p.parts {
		classes[i] = part.column + " bigint"
	}
	create := []string{fmt.Sprintf("CREATE UNLOGGED TABLE %s (%s bigint, %s)", p.staging("member"), recordColumn, strings.Join(classes, ", "))}
	for i, part := range p.parts {
		columns := append([]string{classes[i]}, p.generalizedNames(part, "", " text")...)
		create = append(create, fmt.Sprintf("CREATE UNLOGGED TABLE %s (%s)", p.staging(p.classStage(i)), strings.Join(columns, ", ")))
	}
	if _, err := p.tx.Exec(ctx, strings.Join(create, "; ")); err != nil {
		return fmt.Errorf("preparing the classes: %w", err)
	}
	columns := []string{recordColumn}
	for _, part := range p.parts {
		columns = append(columns, part.column)
	}
	if err := p.copyInto(ctx, "member", columns, p.assignments()); err != nil {
		return fmt.Errorf("writing the assignment: %w", err)
	}
	for i, part := range p.parts {
		columns := append([]string{part.column}, p.generalizedNames(part, "", "")...)
		if err := p.copyInto(ctx, p.classStage(i), columns, p.generalizations(part)); err != nil {
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

// assignments yields each published record with its class in every part.
func (p *publisher) assignments() func() ([]any, error) {
	place, done := 0, 0
	first := p.parts[0].partition
	var members []incremental.RecordID
	return func() ([]any, error) {
		for len(members) == 0 {
			if place == first.Classes() {
				return nil, nil
			}
			members = first.Members(first.ClassAt(place))
			place++
		}
		id := members[0]
		members = members[1:]
		if done++; done%10000 == 0 {
			p.progress("publishing", done)
		}
		row := []any{int64(id)}
		for _, part := range p.parts {
			row = append(row, int64(part.partition.ClassOf(id)))
		}
		return row, nil
	}
}

// generalizations yields the classes of a part with what is published for them.
func (p *publisher) generalizations(of *part) func() ([]any, error) {
	place := 0
	return func() ([]any, error) {
		if place == of.partition.Classes() {
			return nil, nil
		}
		class := of.partition.ClassAt(place)
		place++
		row := []any{int64(class)}
		for _, text := range p.published(of, of.partition.Generalize(class)) {
			row = append(row, text)
		}
		return row, nil
	}
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
			p.recordsTable(), recordColumn, p.classColumns("m."), p.columnList("r."), p.staging("source"), p.staging("member"), recordColumn),
		fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", p.recordsTable(), recordColumn),
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s, %s FROM %s m%s JOIN %s r USING (%s) ORDER BY 1, random()",
			p.releaseTable(), p.classColumns("m."), p.releaseList(), p.staging("member"), joins.String(), p.staging("source"), recordColumn),
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
	_, err := p.tx.Exec(ctx, `INSERT INTO kproxy_store.generation
		(table_schema, table_name, generation, policy_digest, next_class, next_record, withheld) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		p.name().Schema, p.name().Relation, p.generation, p.digest, int64(p.nextClass()), int64(p.nextRecord), p.countWithheld())
	if err != nil {
		return fmt.Errorf("recording the generation: %w", err)
	}
	return nil
}
