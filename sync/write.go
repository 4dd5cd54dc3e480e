package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// writeChunk bounds the rows one statement carries, so that parameters stay
// small whatever the size of a source transaction.
const writeChunk = 5000

// write queues everything that brings the table's store and release to the
// state of its partition. The batch runs in the transaction that also moves the
// position.
func (t *table) write(ctx context.Context, batch *pgx.Batch) error {
	t.hide()
	changes, err := t.settle(ctx)
	if err != nil {
		return err
	}
	t.writeDeletes(batch)
	t.writeInserts(batch)
	t.writeUpdates(batch)
	for i, p := range t.parts {
		t.writeMoves(batch, p, changes[i].Moved)
	}
	t.writeRelease(batch, changes)
	for i, p := range t.parts {
		p.rememberWritten(changes[i].Rewrite)
	}
	batch.Queue(`UPDATE kproxy_store.generation SET next_class = $3, next_record = $4, withheld = $5
		WHERE table_schema = $1 AND table_name = $2`,
		t.name().Schema, t.name().Relation, int64(t.nextClass()), int64(t.nextRecord), t.countWithheld())
	return nil
}

func (t *table) writeDeletes(batch *pgx.Batch) {
	if t.truncated {
		// DELETE, not TRUNCATE: readers of the release are never locked out.
		batch.Queue("DELETE FROM " + t.recordsTable())
		return
	}
	for ids := range slices.Chunk(t.deleted, writeChunk) {
		batch.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", t.recordsTable(), recordColumn), recordNumbers(ids))
	}
}

func (t *table) writeInserts(batch *pgx.Batch) {
	var ids []incremental.RecordID
	for id, row := range t.pending {
		if row.inserted {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	casts, names := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		casts[i] = fmt.Sprintf("u.c%d::%s", i, c.Type)
		names[i] = fmt.Sprintf("c%d", i)
	}
	sql := fmt.Sprintf("INSERT INTO %s (%s, %s, %s) SELECT u.record, %s, %s FROM unnest($1::bigint[]%s%s) AS u(record, %s, %s)",
		t.recordsTable(), recordColumn, t.classColumns(""), t.columnList(""),
		t.classColumns("u."), strings.Join(casts, ", "),
		numberArrays(2, len(t.parts)), textArrays(2+len(t.parts), len(t.columns)), t.classColumns(""), strings.Join(names, ", "))
	for chunk := range slices.Chunk(ids, writeChunk) {
		arguments := []any{recordNumbers(chunk)}
		for _, p := range t.parts {
			classes := make([]*int64, len(chunk))
			for i, id := range chunk {
				classes[i] = classNumber(p.partition.ClassOf(id))
			}
			arguments = append(arguments, classes)
		}
		for i := range t.columns {
			arguments = append(arguments, t.pendingColumn(chunk, i))
		}
		batch.Queue(sql, arguments...)
	}
}

// writeUpdates writes changed rows, those that changed the same columns
// together: the stream leaves unchanged TOAST values out.
func (t *table) writeUpdates(batch *pgx.Batch) {
	byColumns := make(map[string][]incremental.RecordID)
	for id, row := range t.pending {
		if row.inserted {
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
		for i := range t.columns {
			if mask[i] == 1 {
				columns = append(columns, i)
			}
		}
		if len(columns) == 0 {
			continue
		}
		sets, names := make([]string, len(columns)), make([]string, len(columns))
		for i, c := range columns {
			column := t.columns[c]
			sets[i] = fmt.Sprintf("%s = u.c%d::%s", catalog.QuoteIdentifier(column.Name), c, column.Type)
			names[i] = fmt.Sprintf("c%d", c)
		}
		sql := fmt.Sprintf("UPDATE %s AS r SET %s FROM unnest($1::bigint[]%s) AS u(record, %s) WHERE r.%s = u.record",
			t.recordsTable(), strings.Join(sets, ", "), textArrays(2, len(columns)), strings.Join(names, ", "), recordColumn)
		for chunk := range slices.Chunk(ids, writeChunk) {
			arguments := []any{recordNumbers(chunk)}
			for _, c := range columns {
				arguments = append(arguments, t.pendingColumn(chunk, c))
			}
			batch.Queue(sql, arguments...)
		}
	}
}

// writeMoves tells the store the class of records that were there before.
func (t *table) writeMoves(batch *pgx.Batch, p *part, moved map[incremental.RecordID]incremental.ClassID) {
	var ids []incremental.RecordID
	for id := range moved {
		if row, pending := t.pending[id]; !pending || !row.inserted {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	sql := fmt.Sprintf("UPDATE %s AS r SET %s = u.class FROM unnest($1::bigint[], $2::bigint[]) AS u(record, class) WHERE r.%s = u.record",
		t.recordsTable(), p.column, recordColumn)
	for chunk := range slices.Chunk(ids, writeChunk) {
		classes := make([]*int64, len(chunk))
		for i, id := range chunk {
			classes[i] = classNumber(moved[id])
		}
		batch.Queue(sql, recordNumbers(chunk), classes)
	}
}

// pendingColumn collects one column of the pending rows as a text array.
func (t *table) pendingColumn(ids []incremental.RecordID, column int) []*string {
	texts := make([]*string, len(ids))
	for i, id := range ids {
		texts[i] = t.pending[id].values[column].pointer()
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

func recordNumbers(ids []incremental.RecordID) []int64 {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	return numbers
}

// classNumber is a class in the store: NULL is withheld.
func classNumber(class incremental.ClassID) *int64 {
	if class == 0 {
		return nil
	}
	number := int64(class)
	return &number
}

// send runs a batch and tells the first failure without quoting values.
func send(ctx context.Context, tx pgx.Tx, batch *pgx.Batch) error {
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("writing the private store: %w", withoutValues(err))
	}
	return nil
}
