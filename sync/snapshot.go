package sync

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// publishAll makes the initial release of every table under the slot's
// snapshot, in the one transaction that also writes the first position: a
// crash leaves either nothing or everything.
func (s *session) publishAll(ctx context.Context, slot pglogrepl.CreateReplicationSlotResult) error {
	position, err := pglogrepl.ParseLSN(slot.ConsistentPoint)
	if err != nil {
		return fmt.Errorf("reading the slot's position: %w", err)
	}
	tx, err := s.control.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return fmt.Errorf("opening the publication's transaction: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if _, err := tx.Exec(ctx, "SET TRANSACTION SNAPSHOT "+catalog.QuoteLiteral(slot.SnapshotName)); err != nil {
		return fmt.Errorf("adopting the slot's snapshot: %w", err)
	}
	// A stable scan order makes the release a function of the table and the seed.
	if _, err := tx.Exec(ctx, "SET LOCAL synchronize_seqscans = off"); err != nil {
		return fmt.Errorf("pinning the scan order: %w", err)
	}
	var generation int64
	if err := tx.QueryRow(ctx, "SELECT coalesce(max(generation), 0) FROM kproxy_store.generation").Scan(&generation); err != nil {
		return fmt.Errorf("reading the last generation: %w", err)
	}
	if _, err := tx.Exec(ctx, "DELETE FROM kproxy_store.generation"); err != nil {
		return fmt.Errorf("forgetting earlier generations: %w", err)
	}
	for _, t := range s.tables {
		generation++
		p := publisher{table: t, tx: tx, session: s}
		if err := p.publish(ctx, generation); err != nil {
			return fmt.Errorf("publishing %s: %w", t.name(), withoutValues(err))
		}
	}
	if err := s.swap(ctx, tx); err != nil {
		return err
	}
	if err := s.storePosition(ctx, tx, position); err != nil {
		return err
	}
	s.Failpoint(FailBeforePublication)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing the publication: %w", err)
	}
	s.position = position
	s.Failpoint(FailAfterPublication)
	return nil
}

// publisher makes the initial release of one table inside a transaction.
type publisher struct {
	*table
	tx      pgx.Tx
	session *session
	total   int
}

func (p *publisher) publish(ctx context.Context, generation int64) error {
	p.generation = generation
	if err := p.copySource(ctx); err != nil {
		return err
	}
	cells, sensitive, keys, err := p.read(ctx)
	if err != nil {
		return err
	}
	p.session.Failpoint(FailSnapshotCopied)
	release, err := p.anonymize(ctx, cells, sensitive)
	if err != nil {
		return err
	}
	if err := p.fillPartition(release, cells, sensitive, keys); err != nil {
		return err
	}
	if err := p.copyClasses(ctx); err != nil {
		return err
	}
	return p.finish(ctx)
}

func (p *publisher) progress(stage string, done int) {
	p.session.Progress(Progress{Table: p.name(), Stage: stage, Done: done, Total: p.total})
}

func (p *publisher) staging(kind string) string { return storeTable(kind, p.generation).SQL() }

// copySource numbers the source's rows into an unlogged table, inside the server.
func (p *publisher) copySource(ctx context.Context) error {
	tag, err := p.tx.Exec(ctx, fmt.Sprintf("CREATE UNLOGGED TABLE %s AS SELECT row_number() OVER ()::bigint AS %s, %s FROM ONLY %s",
		p.staging("source"), recordColumn, p.columnList(""), p.publication.Relation.Name.SQL()))
	if err != nil {
		return fmt.Errorf("copying the source: %w", err)
	}
	p.total = int(tag.RowsAffected())
	return nil
}

// read codes the quasi-identifiers, diverse attributes and keys of all records,
// in the order of their numbers from 1.
func (p *publisher) read(ctx context.Context) (cells [][]hierarchy.Cell, codes [][]uint32, keys []string, err error) {
	coded := p.codedColumns()
	cells = make([][]hierarchy.Cell, len(p.qi))
	for a := range cells {
		cells[a] = make([]hierarchy.Cell, 0, p.total)
	}
	codes = make([][]uint32, len(p.sensitive))
	for a := range codes {
		codes[a] = make([]uint32, 0, p.total)
	}
	keys = make([]string, 0, p.total)
	reader := &copyReader{columns: len(coded), row: func(values []value) error {
		row := p.spread(coded, values)
		for a, column := range p.qi {
			cells[a] = append(cells[a], p.cell(a, row[column]))
		}
		for a, column := range p.sensitive {
			codes[a] = append(codes[a], p.code(a, row[column]))
		}
		keys = append(keys, p.keyOf(row))
		if len(keys)%10000 == 0 {
			p.progress("reading", len(keys))
		}
		return nil
	}}
	sql := fmt.Sprintf("COPY (SELECT %s FROM %s ORDER BY %s) TO STDOUT", p.codedList(), p.staging("source"), recordColumn)
	if _, err := p.tx.Conn().PgConn().CopyTo(ctx, reader, sql); err != nil {
		return nil, nil, nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	if err := reader.Close(); err != nil {
		return nil, nil, nil, err
	}
	p.progress("reading", len(keys))
	return cells, codes, keys, nil
}

func (p *publisher) anonymize(ctx context.Context, cells [][]hierarchy.Cell, sensitive [][]uint32) (*anonymizer.Release, error) {
	records, err := anonymizer.NewTable(p.attributes, cells, sensitive)
	if err != nil {
		return nil, fmt.Errorf("laying out the records: %w", err)
	}
	release, err := p.method.Anonymize(ctx, records, p.constraints, anonymizer.Options{
		Seed:     p.session.Seed,
		Progress: func(done, _ int) { p.progress("anonymizing", done) },
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &StopError{What: fmt.Sprintf("table %s cannot be anonymized", p.name()), Fix: "change its constraints or its method", Err: err}
	}
	return release, nil
}

// fillPartition hands the release to the maintained partition.
func (p *publisher) fillPartition(release *anonymizer.Release, cells [][]hierarchy.Cell, sensitive [][]uint32, keys []string) error {
	p.begin(p.generation, incremental.RecordID(p.total+1), incremental.ClassID(len(release.Classes)+1), p.session.Seed)
	load := func(class incremental.ClassID, members []int32) error {
		records := make([]incremental.Record, len(members))
		for i, m := range members {
			r := incremental.Record{
				ID:        incremental.RecordID(m + 1),
				Cells:     make([]hierarchy.Cell, len(cells)),
				Sensitive: make([]uint32, len(sensitive)),
			}
			for a := range cells {
				r.Cells[a] = cells[a][m]
			}
			for a := range sensitive {
				r.Sensitive[a] = sensitive[a][m]
			}
			records[i] = r
			p.records[keys[m]] = r.ID
		}
		return p.partition.Load(class, records)
	}
	for i, class := range release.Classes {
		if err := load(incremental.ClassID(i+1), class); err != nil {
			return fmt.Errorf("loading class %d: %w", i+1, err)
		}
	}
	if len(release.Withheld) > 0 {
		if err := load(0, release.Withheld); err != nil {
			return fmt.Errorf("loading the withheld records: %w", err)
		}
	}
	return nil
}

// copyClasses sends the assignment of records to classes and the classes'
// generalizations to the server.
func (p *publisher) copyClasses(ctx context.Context) error {
	generalized := len(p.generalizedColumns())
	names := []string{classColumn}
	definitions := []string{classColumn + " bigint"}
	for i := range generalized {
		names = append(names, fmt.Sprintf("g%d", i))
		definitions = append(definitions, fmt.Sprintf("g%d text", i))
	}
	create := fmt.Sprintf("CREATE UNLOGGED TABLE %s (%s bigint, %s bigint); CREATE UNLOGGED TABLE %s (%s)",
		p.staging("member"), recordColumn, classColumn, p.staging("class"), strings.Join(definitions, ", "))
	if _, err := p.tx.Exec(ctx, create); err != nil {
		return fmt.Errorf("preparing the classes: %w", err)
	}
	classes := p.partition.Classes()
	member := storeTable("member", p.generation)
	done := 0
	_, err := p.tx.CopyFrom(ctx, pgx.Identifier{member.Schema, member.Relation}, []string{recordColumn, classColumn},
		pgx.CopyFromFunc(p.assignments(classes, &done)))
	if err != nil {
		return fmt.Errorf("writing the assignment: %w", err)
	}
	class := storeTable("class", p.generation)
	_, err = p.tx.CopyFrom(ctx, pgx.Identifier{class.Schema, class.Relation}, names,
		pgx.CopyFromSlice(classes, func(i int) ([]any, error) {
			row := []any{int64(i + 1)}
			for _, text := range p.published(p.partition.Generalize(incremental.ClassID(i + 1))) {
				row = append(row, text)
			}
			return row, nil
		}))
	if err != nil {
		return fmt.Errorf("writing the classes: %w", err)
	}
	return nil
}

// assignments yields (record, class) for the members of classes 1..classes.
func (p *publisher) assignments(classes int, done *int) func() ([]any, error) {
	class, members := 0, []incremental.RecordID(nil)
	return func() ([]any, error) {
		for len(members) == 0 {
			if class == classes {
				return nil, nil
			}
			class++
			members = p.partition.Members(incremental.ClassID(class))
		}
		id := members[0]
		members = members[1:]
		if *done++; *done%10000 == 0 {
			p.progress("publishing", *done)
		}
		return []any{int64(id), int64(class)}, nil
	}
}

// finish joins the staging tables into store and release.
func (p *publisher) finish(ctx context.Context) error {
	statements := []string{
		fmt.Sprintf("CREATE TABLE %s AS SELECT r.%s, m.%s, %s FROM %s r LEFT JOIN %s m USING (%s)",
			p.recordsTable(), recordColumn, classColumn, p.columnList("r."), p.staging("source"), p.staging("member"), recordColumn),
		fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", p.recordsTable(), recordColumn),
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s, %s FROM %s m JOIN %s c USING (%s) JOIN %s r USING (%s) ORDER BY 1, random()",
			p.releaseTable(), classColumn, p.releaseList(), p.staging("member"), p.staging("class"), classColumn, p.staging("source"), recordColumn),
		fmt.Sprintf("CREATE INDEX ON %s (%s)", p.releaseTable(), classColumn),
		fmt.Sprintf("DROP TABLE %s, %s, %s", p.staging("source"), p.staging("member"), p.staging("class")),
		"ANALYZE " + p.recordsTable(),
		"ANALYZE " + p.releaseTable(),
	}
	for i, sql := range statements {
		if _, err := p.tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making the release, step %d: %w", i+1, err)
		}
		p.progress("publishing", p.total*(i+1)/len(statements))
	}
	_, err := p.tx.Exec(ctx, `INSERT INTO kproxy_store.generation
		(table_schema, table_name, generation, policy_digest, next_class, next_record, withheld) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		p.name().Schema, p.name().Relation, p.generation, p.digest,
		int64(p.partition.NextClass()), int64(p.nextRecord), len(p.partition.Members(0)))
	if err != nil {
		return fmt.Errorf("recording the generation: %w", err)
	}
	return nil
}
