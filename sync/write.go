package sync

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// writeChunk bounds the rows one statement carries, so that parameters stay
// small whatever the size of a source transaction.
const writeChunk = 5000

// write queues everything that brings the table's store and release to the
// state of its partition, as of a position; 0 leaves the table's as it is. It belongs to the
// transaction that also moves the position of the stream.
// What is queued does not change when the table does.
func (t *table) write(ctx context.Context, to *statements, at pglogrepl.LSN) error {
	placed := len(t.keptPlaces()) > 0
	if !placed {
		t.writeRows(to, nil)
		to.flush() // the server has something to do while the classes are settled
	}
	if err := t.mode.settle(ctx, t.clock()); err != nil {
		return err
	}
	if placed {
		t.writeRows(to, t.mode.place)
		t.writePlaces(to)
	}
	t.writeVisible(to)
	sql, arguments := t.statusUpdate(at)
	to.Queue(sql, arguments...)
	return to.err
}

// spill writes the pending rows of a source transaction that has not ended, so that memory does
// not grow with it. The places of new records are written when it commits, or when many
// records wait to be settled. The release is written only at the commit.
func (t *table) spill(ctx context.Context, to *statements) error {
	t.writeRows(to, t.placeSpilled)
	t.forgetRows()
	t.pending.spilled = true
	if s, immediate := t.mode.(*immediate); immediate && s.unplacedExceed() {
		if err := s.settle(ctx, t.clock()); err != nil {
			return err
		}
		t.writePlaces(to)
		s.placed()
	}
	return to.close()
}

// placeSpilled gives the places of new records before their transaction commits: none, but for those that are
// foreseen.
func (t *table) placeSpilled(ids []incremental.RecordID) []any {
	if s, guarded := t.mode.(*linkedGuarded); guarded && !s.group.isPublished() {
		return s.place(ids)
	}
	nowhere := make([]any, len(t.keptPlaces()))
	for i := range nowhere {
		nowhere[i] = make([]*string, len(ids))
	}
	return nowhere
}

// writeRows writes the rows of the private store; place gives the places of new ones, in a table
// that stores them.
func (t *table) writeRows(to *statements, place func([]incremental.RecordID) []any) {
	if len(t.keptPlaces()) == 0 {
		t.sendRows(to)
	} else {
		t.writeDeletes(to, t.pending.deleted)
		t.writeInserts(to, place)
	}
	t.writeUpdates(to)
}

// statusUpdate notes the table's figures, for kproxy status, and its position, unless that is 0: the
// row is logged as a whole, so one statement does both.
func (t *table) statusUpdate(at pglogrepl.LSN) (sql string, arguments []any) {
	s := t.mode.status()
	sql = `UPDATE kproxy_store.generation SET next_class = $3, next_record = $4, withheld = $5,
		waiting = $6, stale = $7, ghosts = $8, expired = $9, oldest_waiting = $10, oldest_stale = $11, withheld_why = nullif($12, ''), returned = $13, untold = $14, lsn = coalesce($15::text::pg_lsn, lsn), audiences = $16
		WHERE table_schema = $1 AND table_name = $2`
	return sql, []any{
		t.layout.name().Schema, t.layout.name().Relation, int64(t.mode.nextClass()), int64(t.nextRecord), s.Withheld,
		s.Waiting, s.Stale, s.Ghosts, s.Expired, storedTime(s.OldestWaiting), storedTime(s.OldestStale), s.Reason, s.Returned, s.Untold, storedLSN(at),
		storedAudiences(s.Audiences),
	}
}

func (t *table) writeDeletes(batch *statements, deleted []incremental.RecordID) {
	if t.pending.truncated {
		// DELETE, not TRUNCATE: readers of the release are never locked out.
		batch.Queue("DELETE FROM " + t.recordsTable())
		return
	}
	for ids := range slices.Chunk(deleted, writeChunk) {
		batch.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", t.recordsTable(), recordColumn), recordNumbers(ids))
	}
}

func (t *table) writeInserts(batch *statements, place func([]incremental.RecordID) []any) {
	var ids []incremental.RecordID
	for id, row := range t.pending.rows {
		if row.inserted {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if t.layout.isSealed() {
		t.insertSealed(batch, ids, place)
		return
	}
	casts := sqlList(t.layout.columns, func(i int, c catalog.Column) string { return fmt.Sprintf("u.c%d::%s", i, c.Type) })
	names := sqlList(t.layout.columns, func(i int, _ catalog.Column) string { return fmt.Sprintf("c%d", i) })
	places := t.keptPlaces()
	at := listed(places, "") + ", "
	sql := fmt.Sprintf("INSERT INTO %s (%s, %s%s) SELECT u.record, %s%s FROM unnest($1::bigint[]%s%s) AS u(record, %s%s)",
		t.recordsTable(), recordColumn, at, t.layout.columns.list(""), at, casts,
		typedArrays(2, places), textArrays(2+len(places), len(t.layout.columns)), at, names)
	for chunk := range slices.Chunk(ids, writeChunk) {
		arguments := append([]any{recordNumbers(chunk)}, place(chunk)...)
		for i := range t.layout.columns {
			arguments = append(arguments, t.pending.column(chunk, i))
		}
		batch.Queue(sql, arguments...)
	}
}

// sendRows writes the new rows of a table that does not store the places of records. Where there
// are many changed ones whose values are all known, they are deleted and sent like new ones, which
// costs the server half of an UPDATE.
func (t *table) sendRows(to *statements) {
	gone := slices.Clone(t.pending.deleted)
	var sent []incremental.RecordID
	changed := t.sendsChanged()
	for id, row := range t.pending.rows {
		if row.inserted || changed && row.isWhole() {
			sent = append(sent, id)
			if !row.inserted {
				gone = append(gone, id)
			}
		}
	}
	slices.Sort(gone)
	t.writeDeletes(to, gone)
	slices.Sort(sent)
	into := t.into(nil)
	rows, sealer := newCopyRows(), rowSealer{box: t.sealing.box}
	for _, id := range sent {
		rows = strconv.AppendInt(rows, int64(id), 10)
		if values := t.pending.rows[id].values; t.layout.isSealed() {
			rows = sealer.appendField(append(rows, '\t'), int64(id), values)
		} else {
			for _, v := range values {
				rows = appendCopyField(append(rows, '\t'), v)
			}
		}
		if rows = append(rows, '\n'); len(rows) >= copyBytes {
			to.Copy(into, rows)
			rows = newCopyRows()
		}
	}
	to.Copy(into, rows)
}

// isWhole reports whether all values of the row are known.
func (r *pendingRow) isWhole() bool {
	return !slices.ContainsFunc(r.values, func(v value) bool { return v.kept })
}

// sendsChanged reports whether changed rows are sent like new ones.
func (t *table) sendsChanged() bool {
	changed := 0
	for _, row := range t.pending.rows {
		if !row.inserted {
			changed++
		}
	}
	return len(t.keptPlaces()) == 0 && changed > inPlace
}

// writeUpdates writes the other changed rows, those that changed the same columns
// together: the stream leaves unchanged TOAST values out.
func (t *table) writeUpdates(batch *statements) {
	if t.layout.isSealed() {
		t.updateSealed(batch)
		return
	}
	byColumns, sent := make(map[string][]incremental.RecordID), t.sendsChanged()
	for id, row := range t.pending.rows {
		if row.inserted || sent && row.isWhole() {
			continue
		}
		mask := make([]byte, len(row.values))
		for i, v := range row.values {
			if !v.kept {
				mask[i] = 1
			}
		}
		byColumns[string(mask)] = append(byColumns[string(mask)], id)
	}
	for mask, ids := range byColumns {
		slices.Sort(ids)
		var columns []int
		for i := range t.layout.columns {
			if mask[i] == 1 {
				columns = append(columns, i)
			}
		}
		if len(columns) == 0 {
			continue
		}
		sets := sqlList(columns, func(_, c int) string {
			column := t.layout.columns[c]
			return fmt.Sprintf("%s = u.c%d::%s", catalog.QuoteIdentifier(column.Name), c, column.Type)
		})
		names := sqlList(columns, func(_, c int) string { return fmt.Sprintf("c%d", c) })
		sql := fmt.Sprintf("UPDATE %s AS r SET %s FROM unnest($1::bigint[]%s) AS u(record, %s) WHERE r.%[5]s = u.record AND r.%[5]s = ANY($1)",
			t.recordsTable(), sets, textArrays(2, len(columns)), names, recordColumn)
		for chunk := range slices.Chunk(ids, writeChunk) {
			arguments := []any{recordNumbers(chunk)}
			for _, c := range columns {
				arguments = append(arguments, t.pending.column(chunk, c))
			}
			batch.Queue(sql, arguments...)
		}
	}
}

// keptPlaces are the columns with the places of records; none for a packed release, whose packed
// rows have the members.
func (t *table) keptPlaces() []storeColumn {
	if t.isPacked() {
		return nil
	}
	return t.mode.places()
}

// writePlaces writes the places of records that the store had before.
func (t *table) writePlaces(batch *statements) {
	places := t.keptPlaces()
	if len(places) == 0 {
		return
	}
	var ids []incremental.RecordID
	for _, id := range t.mode.moved() {
		if row, pending := t.pending.rows[id]; !pending || !row.inserted {
			ids = append(ids, id)
		}
	}
	sets := sqlList(places, func(_ int, c storeColumn) string { return fmt.Sprintf("%[1]s = u.%[1]s", c.name) })
	sql := fmt.Sprintf("UPDATE %s AS r SET %s FROM unnest($1::bigint[]%s) AS u(record, %s) WHERE r.%[5]s = u.record AND r.%[5]s = ANY($1)",
		t.recordsTable(), sets, typedArrays(2, places), listed(places, ""), recordColumn)
	for chunk := range slices.Chunk(ids, writeChunk) {
		batch.Queue(sql, append([]any{recordNumbers(chunk)}, t.mode.place(chunk)...)...)
	}
}

// column collects one column of the pending rows.
func (t *pendingChanges) column(ids []incremental.RecordID, column int) *array {
	texts := newTexts(len(ids))
	for _, id := range ids {
		texts.add(t.rows[id].values[column])
	}
	return texts
}

// textArrays is ", $first::text[], ..." for count parameters.
func textArrays(first, count int) string { return arrays("text", first, count) }

// numberArrays is ", $first::bigint[], ..." for count parameters.
func numberArrays(first, count int) string { return arrays("bigint", first, count) }

func arrays(of string, first, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, ", $%d::%s[]", first+i, of)
	}
	return b.String()
}

// typedArrays is ", $first::type[], ..." with the columns' types.
func typedArrays(first int, columns []storeColumn) string {
	var b strings.Builder
	for i, c := range columns {
		b.WriteString(arrays(c.sqlType, first+i, 1))
	}
	return b.String()
}

// storedNumber is an id in the store: NULL is none.
func storedNumber(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}
