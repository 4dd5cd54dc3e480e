package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// publisher makes the initial release of one table inside a transaction.
type publisher struct {
	*table
	tx      pgx.Tx
	session *session
	total   int
	at      time.Time // of the publication
}

func (p *publisher) publish(ctx context.Context, generation int64) error {
	p.generation, p.at = generation, p.clock()
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
		p.keys.add(key, incremental.RecordID(i+1))
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
	tag, err := p.tx.Exec(ctx, fmt.Sprintf("CREATE UNLOGGED TABLE %s AS SELECT row_number() OVER ()::bigint AS %s, %s FROM %s",
		p.staging("source"), recordColumn, p.columnList(""), p.source()))
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
