package sync

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// createSealed makes the table of records, and the type of what is published of them as it is; typed
// are the stored columns as typed NULLs. That of a guarded table is filled, until the release is made.
func (t *table) createSealed(typed string) []string {
	places, kind := "", "TABLE"
	if kept := t.keptPlaces(); len(kept) > 0 {
		places, kind = ", "+definitions(kept), "UNLOGGED TABLE"
	}
	return []string{
		fmt.Sprintf("CREATE TABLE %s (%s bigint, %s bytea NOT NULL%s) WITH (fillfactor = %d)", t.recordsTable(), recordColumn, catalog.CiphertextColumn, places, recordsFill),
		fmt.Sprintf("ALTER TABLE %s ALTER %s SET STORAGE EXTERNAL", t.recordsTable(), catalog.CiphertextColumn), // it cannot be compressed
		t.keepKey(),
		fmt.Sprintf("CREATE %s %s AS SELECT %s FROM (SELECT 0::bigint AS %s, %s) AS r WITH NO DATA",
			kind, t.release.copiedTable(), t.layout.view().copiedList("r."), recordColumn, typed),
	}
}

// insertSealed writes new rows, sealed, with their places.
func (t *table) insertSealed(batch *statements, ids []incremental.RecordID, place func([]incremental.RecordID) []any) {
	places, sealer := t.keptPlaces(), rowSealer{box: t.sealing.box}
	at := listed(places, "")
	sql := fmt.Sprintf("INSERT INTO %[1]s (%[2]s, %[3]s, %[4]s) SELECT u.record, %[3]s, u.row FROM unnest($1::bigint[]%[5]s, $%[6]d::bytea[]) AS u(record, %[3]s, row)",
		t.recordsTable(), recordColumn, at, catalog.CiphertextColumn, typedArrays(2, places), 2+len(places))
	for chunk := range slices.Chunk(ids, writeChunk) {
		rows := make([][]byte, len(chunk))
		for i, id := range chunk {
			rows[i] = slices.Clone(sealer.seal(int64(id), t.pending.rows[id].values))
		}
		batch.Queue(sql, append(append([]any{recordNumbers(chunk)}, place(chunk)...), rows)...)
	}
}

// updateSealed writes changed rows, sealed. Values that the stream has left out are those of the row
// that is stored: it is read and opened in the transaction that writes it.
func (t *table) updateSealed(batch *statements) {
	var whole, partial []incremental.RecordID
	sent := t.sendsChanged()
	for id, row := range t.pending.rows {
		switch {
		case row.inserted || sent && row.isWhole():
		case row.isWhole():
			whole = append(whole, id)
		default:
			partial = append(partial, id)
		}
	}
	slices.Sort(whole)
	slices.Sort(partial)
	sealer := rowSealer{box: t.sealing.box}
	for chunk := range slices.Chunk(whole, writeChunk) {
		rows := make([][]byte, len(chunk))
		for i, id := range chunk {
			rows[i] = slices.Clone(sealer.seal(int64(id), t.pending.rows[id].values))
		}
		batch.Queue(t.sealedUpdate(), recordNumbers(chunk), rows)
	}
	for chunk := range slices.Chunk(partial, writeChunk) {
		changed := make(map[incremental.RecordID][]value, len(chunk))
		for _, id := range chunk {
			changed[id] = t.pending.rows[id].values
		}
		batch.Do(func(ctx context.Context, tx pgx.Tx) error { return t.completeSealed(ctx, tx, chunk, changed) })
	}
}

func (t *table) sealedUpdate() string {
	return fmt.Sprintf("UPDATE %[1]s AS r SET %[2]s = u.row FROM unnest($1::bigint[], $2::bytea[]) AS u(record, row) WHERE r.%[3]s = u.record AND r.%[3]s = ANY($1)",
		t.recordsTable(), catalog.CiphertextColumn, recordColumn)
}

// completeSealed writes rows of which some values are those that are stored.
func (t *table) completeSealed(ctx context.Context, tx pgx.Tx, ids []incremental.RecordID, changed map[incremental.RecordID][]value) error {
	if larger, err := t.exceedsMemory(ctx, tx, ids); err != nil || larger {
		for half := range slices.Chunk(ids, (len(ids)+1)/2) {
			if err == nil {
				err = t.completeSealed(ctx, tx, half, changed)
			}
		}
		return err
	}
	var records []int64
	var rows [][]byte
	sealer := rowSealer{box: t.sealing.box}
	err := t.readSealed(ctx, tx, ids, func(record int64, stored []value) error {
		now := slices.Clone(changed[incremental.RecordID(record)])
		for i := range now {
			if now[i].kept {
				now[i] = stored[i]
			}
		}
		records, rows = append(records, record), append(rows, slices.Clone(sealer.seal(record, now)))
		return nil
	})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, t.sealedUpdate(), numbers(records), rows)
	return err
}

// sealedBytes bounds the rows that are read, opened and written together, unless it is one; they take some times as many bytes in memory.
var sealedBytes int64 = 16 << 20

// exceedsMemory tells whether several rows of the store are larger together than what is read at once.
func (t *table) exceedsMemory(ctx context.Context, tx pgx.Tx, ids []incremental.RecordID) (larger bool, err error) {
	if len(ids) < 2 {
		return false, nil
	}
	sql := fmt.Sprintf("SELECT coalesce(sum(octet_length(%[2]s)), 0) > $2 FROM %[3]s WHERE %[1]s = ANY($1)", recordColumn, catalog.CiphertextColumn, t.recordsTable())
	err = tx.QueryRow(ctx, sql, recordNumbers(ids), sealedBytes).Scan(&larger)
	return larger, err
}

// readSealed reads rows of the store, all of which must be there. Their values are those of the next
// one afterwards.
func (t *table) readSealed(ctx context.Context, tx pgx.Tx, ids []incremental.RecordID, take func(record int64, values []value) error) error {
	sql := fmt.Sprintf("SELECT %[1]s, %[2]s FROM %[3]s WHERE %[1]s = ANY($1)", recordColumn, catalog.CiphertextColumn, t.recordsTable())
	rows, _ := tx.Query(ctx, sql, recordNumbers(ids)) // the rows carry its error
	opener, values := t.opener(), make([]value, len(t.layout.columns))
	var record int64
	var sealed []byte
	done, err := pgx.ForEachRow(rows, []any{&record, &sealed}, func() error {
		if err := opener.open(record, sealed, values); err != nil {
			return err
		}
		return take(record, values)
	})
	if err == nil && done.RowsAffected() != int64(len(ids)) {
		return errOutOfStep(t.layout.name(), "a record is missing")
	}
	return err
}

// sealedRow is a row of a packed release that is written from the sealed store.
type sealedRow struct {
	packedKey
	shown   []value // of its class
	members []incremental.RecordID
}

// sealedAtOnce bounds the packed rows whose members are read, opened and written together.
const sealedAtOnce = 256

// replaceSealed is replacePacked where the server cannot read what the members show: their rows are
// read and opened, and what is published of them is sent.
func (s *packedRelease) replaceSealed(to queue, gone []packedKey, rows []packedRow) {
	if len(gone) > 0 {
		classes, sections := packedKeys(gone)
		to.Queue(deletionFrom(s.table(), s.part.column), classes, sections)
	}
	shown := s.newShown()
	all := make([]sealedRow, len(rows))
	for i, row := range rows {
		all[i] = sealedRow{packedKey: packedKey{row.class, row.section}, shown: slices.Clone(shown.of(row.class))}
		for _, slot := range row.members {
			all[i].members = append(all[i].members, s.classes.InSlot(slot))
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for chunk := range slices.Chunk(all, sealedAtOnce) {
		to.Do(func(ctx context.Context, tx pgx.Tx) error { return s.sendSealed(ctx, tx, chunk) })
	}
}

// sendSealed writes packed rows of members that are read from the sealed store. A wide member has a
// row of its own.
func (s *packedRelease) sendSealed(ctx context.Context, tx pgx.Tx, rows []sealedRow) error {
	var ids []incremental.RecordID
	for _, row := range rows {
		ids = append(ids, row.members...)
	}
	if len(rows) > 1 {
		if larger, err := s.t.exceedsMemory(ctx, tx, ids); err != nil || larger {
			for half := range slices.Chunk(rows, (len(rows)+1)/2) {
				if err == nil {
					err = s.sendSealed(ctx, tx, half)
				}
			}
			return err
		}
	}
	type member struct {
		text []byte
		wide bool
	}
	members := make(map[incremental.RecordID]member, len(ids))
	err := s.t.readSealed(ctx, tx, ids, func(record int64, values []value) error {
		text := strconv.AppendInt([]byte(memberBegin), record, 10)
		members[incremental.RecordID(record)] = member{append(s.t.copies.appendFields(text, values), memberEnd...), s.t.copies.width(values) > packedWidth}
		return nil
	})
	if err != nil {
		return err
	}
	var text []byte
	send := func(row sealedRow, of ...[]byte) {
		if len(of) == 0 {
			return
		}
		text = append(strconv.AppendInt(text, int64(row.class), 10), '\t')
		text = strconv.AppendInt(text, int64(row.section), 10)
		for _, v := range row.shown {
			text = appendCopyField(append(text, '\t'), v)
		}
		text = append(append(append(text, "\t{"...), bytes.Join(of, []byte(","))...), "}\n"...)
	}
	for _, row := range rows {
		var narrow [][]byte
		rand.Shuffle(len(row.members), func(i, j int) { row.members[i], row.members[j] = row.members[j], row.members[i] })
		for _, id := range row.members {
			if m := members[id]; m.wide {
				send(row, m.text)
			} else {
				narrow = append(narrow, m.text)
			}
		}
		send(row, narrow...)
	}
	names, _ := s.list()
	_, err = tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(text), fmt.Sprintf("COPY %s (%s) FROM STDIN", s.table(), names))
	return err
}
