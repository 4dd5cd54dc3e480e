package sync

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// publish has the policy's method make classes of all records and hands them to the
// partitions, which bring into order what a method leaves undone.
func (s *immediate) publish(ctx context.Context, p *publisher, source *snapshot) error {
	parts, err := s.anonymize(ctx, p, source)
	if err != nil {
		return err
	}
	for i, part := range s.parts {
		if err := s.takeOver(part, source, parts[i].Release); err != nil {
			return fmt.Errorf("taking over the classes of part %d: %w", i+1, err)
		}
	}
	if err := s.settle(ctx, p.at); err != nil {
		return err
	}
	s.written() // all is new
	for _, part := range s.parts {
		part.threshold.Fresh(part.partition.Loss())
	}
	return nil
}

// takeOver has a part's partition hold the records, in the order of the snapshot, and the
// classes that the method made of them.
func (s *immediate) takeOver(p *maintained, source *snapshot, release *anonymizer.Release) error {
	loading, err := p.partition.BeginLoading(source.records)
	if err != nil {
		return internal(err)
	}
	row := s.t.layout.newCoded()
	for i := range source.records {
		source.rowInto(&row, int32(i))
		if err := loading.Record(p.part.record(incremental.RecordID(i+1), row)); err != nil {
			return internal(err)
		}
	}
	var ids []incremental.RecordID
	for i, class := range release.Classes {
		ids = ids[:0]
		for _, member := range class {
			ids = append(ids, incremental.RecordID(member+1))
		}
		if err := loading.Assign(incremental.ClassID(i+1), ids); err != nil {
			return internal(err)
		}
	}
	if err := loading.End(); err != nil {
		return internal(err)
	}
	return nil
}

func (s *immediate) anonymize(ctx context.Context, p *publisher, source *snapshot) ([]anonymizer.Part, error) {
	records, err := anonymizer.NewTable(p.table.layout.attributes, source.cells, source.sensitive)
	if err == nil && p.table.layout.subject >= 0 {
		records, err = records.WithSubjects(source.subjects)
	}
	if err != nil {
		return nil, fmt.Errorf("laying out the records: %w", err)
	}
	parts, err := anonymizer.Anonymize(ctx, p.table.layout.method, records, p.table.layout.constraints, anonymizer.Options{
		Seed:        p.config.Seed,
		Suppression: p.table.layout.publication.Policy.Suppression,
		Progress:    func(done, _ int) { p.progress("anonymizing", done) },
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &StopError{What: fmt.Sprintf("table %s cannot be anonymized", p.table.layout.name()), Fix: "change its constraints or its method", Err: err}
	}
	return parts, nil
}

// assignments yields nothing: all that the release shows of a record's place stands in
// the records.
func (s *immediate) assignments() func() ([]any, error) {
	return func() ([]any, error) { return nil, nil }
}

func (s *immediate) classes(part int) func() ([]any, error) {
	of, place := s.parts[part], 0
	return func() ([]any, error) {
		if place == of.partition.Classes() {
			return nil, nil
		}
		class := of.partition.ClassAt(place)
		place++
		return of.part.classRow(class, of.partition.Generalize(class)), nil
	}
}

// load fills the partitions from the store as it stands, one pass for each part.
func (s *immediate) load(ctx context.Context, from *storeView, progress func(done int)) error {
	if s.t.isPacked() {
		return s.loadPacked(ctx, from, progress)
	}
	for i, p := range s.parts {
		if err := s.loadPart(ctx, from.first, p, func(done int) { progress(i*s.parts[0].partition.Len() + done) }); err != nil {
			return err
		}
	}
	s.stored()
	return s.loadCrossed(ctx, from)
}

func (s *immediate) loadPart(ctx context.Context, conn *pgconn.PgConn, p *maintained, progress func(done int)) error {
	t := s.t
	indexes := t.layout.codedColumns()
	var class incremental.ClassID
	var members []incremental.Record
	read, row := 0, make([]value, len(t.layout.columns))
	finish := func() error {
		if len(members) == 0 {
			return nil
		}
		if err := p.partition.Load(class, members); err != nil {
			return internal(err)
		}
		members = members[:0]
		return nil
	}
	err := copyOut(ctx, conn, 2+len(indexes), func(values []value) error {
		record, err := storedID(values[0])
		if err != nil {
			return err
		}
		next, err := storedID(values[1])
		if err != nil {
			return err
		}
		if incremental.ClassID(next) != class {
			if err := finish(); err != nil {
				return err
			}
			class = incremental.ClassID(next)
		}
		id := incremental.RecordID(record)
		spread(row, indexes, values[2:])
		t.keys.add(t.keyOf(row), id)
		members = append(members, p.part.record(id, t.encode(row, nil)))
		if read++; read%10000 == 0 {
			progress(read)
		}
		return nil
	}, fmt.Sprintf("SELECT %s, coalesce(%s, 0), %s FROM %s ORDER BY 2, 1", recordColumn, p.part.column, t.layout.columns.listOf(t.layout.codedColumns()), t.release.placedRecords()))
	if err != nil {
		return err
	}
	return finish()
}

// copyOut reads the rows of a query in text form.
func copyOut(ctx context.Context, conn *pgconn.PgConn, columns int, row func([]value) error, query string) error {
	reader := &copyReader{columns: columns, row: row}
	into := &drainingWriter{reader: reader}
	if _, err := conn.CopyTo(ctx, into, "COPY ("+query+") TO STDOUT"); err != nil {
		return err
	}
	if into.failure != nil {
		return into.failure
	}
	return reader.Close()
}

// drainingWriter takes the rest of what a reader has refused: a COPY that is broken off ends its
// connection, on which the table has to be halted, and others go on.
type drainingWriter struct {
	reader  io.Writer
	failure error
}

func (p *drainingWriter) Write(piece []byte) (int, error) {
	if p.failure == nil {
		_, p.failure = p.reader.Write(piece)
	}
	return len(piece), nil
}

// storedID is a number of the store, 0 for NULL.
func storedID(v value) (int64, error) {
	if v.null {
		return 0, nil
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil {
		return 0, errCopyText
	}
	return n, nil
}
