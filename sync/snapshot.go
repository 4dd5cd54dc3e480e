package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

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
	now     time.Time // of the publication
}

func (p *publisher) publish(ctx context.Context, generation int64) error {
	p.generation, p.now = generation, clock()
	if err := p.copySource(ctx); err != nil {
		return err
	}
	source, err := p.read(ctx)
	if err != nil {
		return err
	}
	p.session.Failpoint(FailSnapshotCopied)
	if err := p.begin(generation, incremental.RecordID(p.total+1), 1, p.session.Seed); err != nil {
		return err
	}
	for i, key := range source.keys {
		p.records[key] = incremental.RecordID(i + 1)
	}
	if err := p.stage.publish(ctx, p, source); err != nil {
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

// snapshot is the source as partitions know it, in the order of the records'
// numbers from 1.
type snapshot struct {
	cells     [][]hierarchy.Cell // attribute, record
	sensitive [][]uint32         // sensitive attribute, record
	subjects  []uint32
	copied    [][]uint64 // record, column
	keys      []string
}

// read codes what partitions and the key map need of all records.
func (p *publisher) read(ctx context.Context) (*snapshot, error) {
	indexes := p.codedColumns()
	s := &snapshot{cells: make([][]hierarchy.Cell, len(p.qi)), sensitive: make([][]uint32, len(p.sensitive)), keys: make([]string, 0, p.total)}
	for a := range s.cells {
		s.cells[a] = make([]hierarchy.Cell, 0, p.total)
	}
	for a := range s.sensitive {
		s.sensitive[a] = make([]uint32, 0, p.total)
	}
	reader := &copyReader{columns: len(indexes), row: func(values []value) error {
		row := p.spread(indexes, values)
		for a, column := range p.qi {
			s.cells[a] = append(s.cells[a], p.cell(a, row[column]))
		}
		for a, column := range p.sensitive {
			s.sensitive[a] = append(s.sensitive[a], p.code(a, row[column]))
		}
		if p.subject >= 0 {
			s.subjects = append(s.subjects, p.person(row[p.subject]))
		}
		if p.copied != nil {
			s.copied = append(s.copied, p.fingerprints(row, nil))
		}
		s.keys = append(s.keys, p.keyOf(row))
		if len(s.keys)%10000 == 0 {
			p.progress("reading", len(s.keys))
		}
		return nil
	}}
	sql := fmt.Sprintf("COPY (SELECT %s FROM %s ORDER BY %s) TO STDOUT", p.codedList(), p.staging("source"), recordColumn)
	if _, err := p.tx.Conn().PgConn().CopyTo(ctx, reader, sql); err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	if err := reader.Close(); err != nil {
		return nil, err
	}
	p.progress("reading", len(s.keys))
	return s, nil
}

// row is one record of the snapshot.
func (s *snapshot) row(i int32) coded {
	row := coded{cells: make([]hierarchy.Cell, len(s.cells)), sensitive: make([]uint32, len(s.sensitive))}
	for a := range s.cells {
		row.cells[a] = s.cells[a][i]
	}
	for a := range s.sensitive {
		row.sensitive[a] = s.sensitive[a][i]
	}
	if s.subjects != nil {
		row.subject = s.subjects[i]
	}
	if s.copied != nil {
		row.copied = s.copied[i]
	}
	return row
}
