package sync

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// The rows of a guarded release show values of their records as they are. Where these are sealed, the
// server cannot copy them: kproxy reads the records of new rows, opens them, and sends what they show.
// Nothing of a record that waits, or is withheld, is sent but its sealed row.

// sealReturns has the hashes of keys depend on the data key of a sealed store, so that nobody who reads the store
// can test keys that he guesses.
func (s *guarded) sealReturns() {
	if s.t.layout.isSealed() {
		s.returns.use(s.t.sealing.box.Secret("keys that return"))
	}
}

// checkLoaded refuses classes of a sealed store that are smaller than any that kproxy has written, as that of an immediate
// table does.
func (s *guarded) checkLoaded(sizes map[incremental.ClassID]int) error {
	for _, size := range sizes {
		if size < s.t.layout.constraints.K() {
			return s.t.layout.errSmallClass()
		}
	}
	return nil
}

// sealedNewRow is a row of the release that is written from the sealed store.
type sealedNewRow struct {
	record incremental.RecordID
	marks  []byte  // as fields of COPY
	shown  []value // of its class
}

// writeSealedRows is writeRows of a sealed store.
func (s *guarded) writeSealedRows(batch queue, rows []lineage.NewRow) {
	all := make([]sealedNewRow, len(rows))
	shown := make(map[incremental.ClassID][]value)
	for i, r := range rows {
		if _, known := shown[r.Class]; !known {
			shown[r.Class] = s.part.published(s.changes.Classes[r.Class], nil)
		}
		all[i] = sealedNewRow{r.Record, fmt.Appendf(nil, "%d\t%d\t%d\t%t", r.Class, r.ID, r.Person, r.Sealed), shown[r.Class]}
	}
	batch.Do(func(ctx context.Context, tx pgx.Tx) error { return s.sendSealedRows(ctx, tx, all) })
}

// sendSealedRows writes rows of the release in their order, so many at a time as their records can be read together.
func (s *guarded) sendSealedRows(ctx context.Context, tx pgx.Tx, rows []sealedNewRow) error {
	t, ids := s.t, make([]incremental.RecordID, len(rows))
	for i, r := range rows {
		ids[i] = r.record
	}
	if larger, err := t.exceedsMemory(ctx, tx, ids); err != nil || larger {
		for half := range slices.Chunk(rows, (len(rows)+1)/2) {
			if err == nil {
				err = s.sendSealedRows(ctx, tx, half)
			}
		}
		return err
	}
	copied := make(map[incremental.RecordID][]value, len(ids))
	columns := t.copiedColumns()
	err := t.readSealed(ctx, tx, ids, func(record int64, values []value) error {
		of := make([]value, len(columns))
		for i, c := range columns {
			of[i] = values[c]
		}
		copied[incremental.RecordID(record)] = of
		return nil
	})
	if err != nil {
		return err
	}
	var text []byte
	for _, r := range rows {
		text = append(text, r.marks...)
		generalized, as := r.shown, copied[r.record]
		for _, c := range t.layout.kept.Columns {
			switch {
			case c.Generalized():
				text, generalized = appendCopyField(append(text, '\t'), generalized[0]), generalized[1:]
			case c.Part == catalog.Copy:
				text, as = appendCopyField(append(text, '\t'), as[0]), as[1:]
			}
		}
		text = append(text, '\n')
	}
	_, err = tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(text),
		fmt.Sprintf("COPY %s (%s, %s) FROM STDIN", t.release.releaseTable(), listed(s.marks(), ""), t.layout.keptView().shownList()))
	return err
}

// copiedColumns are the stored columns of which the release shows values as they are, in its order.
func (t *table) copiedColumns() (columns []int) {
	for _, c := range t.layout.kept.Columns {
		if c.Part == catalog.Copy {
			columns = append(columns, t.layout.columns.index(c.Source))
		}
	}
	return columns
}

// stagesCopies reports whether what is published of records as it is has to be sent for the first release.
func (p *publisher) stagesCopies() bool { return p.table.layout.isSealed() && !p.table.isPacked() }

// readableRecords is what the release is joined with: the records, of a sealed store with what is published of
// them.
func (p *publisher) readableRecords() string {
	if !p.stagesCopies() {
		return p.table.recordsTable()
	}
	return fmt.Sprintf("(%s JOIN %s USING (%s)) AS", p.table.recordsTable(), p.table.release.copiedTable(), recordColumn)
}

// stageCopies sends what the first release shows of records as it is, read from the sealed store. The rows pass
// through: none of them is kept. While the records that were made are claimed, the table with copies is the one made with them.
func (p *publisher) stageCopies(ctx context.Context, made targets) error {
	if !p.stagesCopies() {
		return nil
	}
	return p.anew(ctx, 1, func(ctx context.Context, _ int, tx pgx.Tx) error {
		if err := claim(ctx, tx, p.table.recordsTable(), made.records); err != nil {
			return err
		}
		return p.sendCopies(ctx, tx)
	})
}

func (p *publisher) sendCopies(ctx context.Context, to pgx.Tx) error {
	t, names := p.table, recordColumn
	for _, c := range t.layout.kept.Columns {
		if c.Part == catalog.Copy {
			names += ", " + catalog.QuoteIdentifier(c.Source)
		}
	}
	piped, into := io.Pipe()
	read := make(chan error, 1)
	go func() {
		opened := &drainingWriter{reader: newOpenedRows(t, t.copiedColumns(), into)}
		err := guard(p.config.Logger, func() error {
			published := fmt.Sprintf("COPY (SELECT %s, %s FROM %s WHERE %s IS NOT NULL) TO STDOUT", recordColumn, sealedField, t.recordsTable(), catalog.RowColumn)
			if _, err := p.conn.PgConn().CopyTo(ctx, opened, published); err != nil {
				return err
			}
			return opened.failure
		})
		if read <- err; err != nil {
			err = errUnread // the server that takes them is told no more
		}
		into.CloseWithError(err) // nil is the end of the rows
	}()
	_, err := to.Conn().PgConn().CopyFrom(ctx, piped, "COPY "+t.release.copiedTable()+" ("+names+") FROM STDIN")
	if err != nil {
		piped.CloseWithError(errInVain)
	}
	if failure := <-read; failure != nil && !errors.Is(failure, errInVain) { // the connection is free from now on
		return fmt.Errorf("reading the private store: %w", failure)
	}
	if err != nil {
		return fmt.Errorf("sending what is published: %w", err)
	}
	return nil
}
