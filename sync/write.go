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
func (t *table) write(batch *pgx.Batch) {
	changes := t.partition.Settle()
	t.writeDeletes(batch)
	t.writeInserts(batch)
	t.writeUpdates(batch)
	t.writeMoves(batch, changes.Moved)
	t.writeRelease(batch, changes)
	t.rememberWritten(changes.Rewrite)
	batch.Queue(`UPDATE kproxy_store.generation SET next_class = $3, next_record = $4, withheld = $5
		WHERE table_schema = $1 AND table_name = $2`,
		t.name().Schema, t.name().Relation, int64(t.partition.NextClass()), int64(t.nextRecord), len(t.partition.Members(0)))
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
	sql := fmt.Sprintf("INSERT INTO %s (%s, %s, %s) SELECT u.record, u.class, %s FROM unnest($1::bigint[], $2::bigint[]%s) AS u(record, class, %s)",
		t.recordsTable(), recordColumn, classColumn, t.columnList(""),
		strings.Join(casts, ", "), textArrays(3, len(t.columns)), strings.Join(names, ", "))
	for chunk := range slices.Chunk(ids, writeChunk) {
		classes := make([]*int64, len(chunk))
		for i, id := range chunk {
			_, class, _ := t.partition.Record(id)
			classes[i] = classNumber(class)
		}
		arguments := []any{recordNumbers(chunk), classes}
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
func (t *table) writeMoves(batch *pgx.Batch, moved map[incremental.RecordID]incremental.ClassID) {
	var ids []incremental.RecordID
	for id := range moved {
		if row, pending := t.pending[id]; !pending || !row.inserted {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	sql := fmt.Sprintf("UPDATE %s AS r SET %s = u.class FROM unnest($1::bigint[], $2::bigint[]) AS u(record, class) WHERE r.%s = u.record",
		t.recordsTable(), classColumn, recordColumn)
	for chunk := range slices.Chunk(ids, writeChunk) {
		classes := make([]*int64, len(chunk))
		for i, id := range chunk {
			classes[i] = classNumber(moved[id])
		}
		batch.Queue(sql, recordNumbers(chunk), classes)
	}
}

// writeRelease writes every touched class whole and in random order, so that
// neither the order of insertion nor which member changed can be seen.
func (t *table) writeRelease(batch *pgx.Batch, changes incremental.Changes) {
	gone := make([]int64, 0, len(changes.Rewrite)+len(changes.Retired))
	for _, class := range slices.Concat(changes.Retired, changes.Rewrite) {
		gone = append(gone, int64(class))
	}
	for chunk := range slices.Chunk(gone, writeChunk) {
		batch.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", t.releaseTable(), classColumn), chunk)
	}
	for classes := range slices.Chunk(changes.Rewrite, writeChunk) {
		t.writeClasses(batch, classes)
	}
}

func (t *table) writeClasses(batch *pgx.Batch, classes []incremental.ClassID) {
	generalized := len(t.generalizedColumns())
	columns := make([][]*string, generalized)
	var numbers, members, memberOf []int64
	for _, class := range classes {
		numbers = append(numbers, int64(class))
		for i, text := range t.published(t.partition.Generalize(class)) {
			columns[i] = append(columns[i], text)
		}
		for _, id := range t.partition.Members(class) {
			members = append(members, int64(id))
			memberOf = append(memberOf, int64(class))
		}
	}
	names := make([]string, generalized)
	arguments := []any{members, memberOf, numbers}
	for i := range generalized {
		names[i] = fmt.Sprintf("g%d", i)
		arguments = append(arguments, columns[i])
	}
	batch.Queue(fmt.Sprintf(`INSERT INTO %s (%s, %s)
		SELECT c.class, %s
		FROM unnest($1::bigint[], $2::bigint[]) AS m(record, class)
		JOIN unnest($3::bigint[]%s) AS c(class, %s) ON c.class = m.class
		JOIN %s AS r ON r.%s = m.record
		ORDER BY random()`,
		t.releaseTable(), classColumn, t.publishedList(), t.releaseList(),
		textArrays(4, generalized), strings.Join(names, ", "), t.recordsTable(), recordColumn), arguments...)
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
func textArrays(first, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, ", $%d::text[]", first+i)
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
