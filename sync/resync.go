package sync

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// Resynchronization compares a table with its private store, both as one snapshot shows
// them, and applies the difference as one transaction of the source would be. What the
// stream did not tell, for whatever reason, is made good, and the lineage of a guarded
// table goes on. Values are compared as texts, which is what everything is made from.

// compare loads the table's generation and applies what differs.
func (w *worker) compare(ctx context.Context, tx pgx.Tx, t *table) error {
	s := &session{Syncer: w.Syncer, control: tx.Conn()}
	found, err := s.generations(ctx)
	if err != nil {
		return err
	}
	at := t.lsn
	if err := t.take(ctx, tx.Conn().PgConn(), found[t.name()], w.Seed, w.telling(t, "loading")); err != nil {
		return err
	}
	t.lsn = at
	done, tell := 0, w.telling(t, "comparing")
	count := func() {
		if done++; done%10000 == 0 {
			tell(done)
		}
	}
	// Deletions first: a key may have come to another row.
	if err := t.removeSurplus(ctx, tx, count); err != nil {
		return fmt.Errorf("comparing %s with its source: %w", t.name(), withoutValues(err))
	}
	if err := t.takeMissing(ctx, tx, count); err != nil {
		return fmt.Errorf("comparing %s with its source: %w", t.name(), withoutValues(err))
	}
	w.Logger.Info("a table was compared with its source", "table", t.name(), "differences", done)
	return nil
}

func (w *worker) telling(t *table, stage string) func(done int) {
	return func(done int) { w.Progress(Progress{Table: t.name(), Stage: stage, Done: done}) }
}

// pairing is the condition under which a row of the source, s, and a record, r, are the
// same: their keys' texts are, or where equal rows are possible all texts and the
// number among equal ones.
func (t *table) pairing() (source, records, condition string) {
	texts := func(from string, columns []int) string {
		list := make([]string, len(columns))
		for i, c := range columns {
			list[i] = from + catalog.QuoteIdentifier(t.columns[c].Name) + "::text"
		}
		return strings.Join(list, ", ")
	}
	all := make([]int, len(t.columns))
	for i := range all {
		all[i] = i
	}
	number := "0"
	if t.publication.Relation.KeyRepeats {
		number = "row_number() OVER (PARTITION BY ROW(" + texts("", t.key) + ")::text)"
	}
	const form = "(SELECT *, ROW(%s)::text AS kproxy_key, ROW(%s)::text AS kproxy_all, %s AS kproxy_number FROM %s)"
	source = fmt.Sprintf(form, texts("", t.key), texts("", all), number, t.source())
	records = fmt.Sprintf(form, texts("", t.key), texts("", all), number, t.recordsTable())
	return source, records, "s.kproxy_key = r.kproxy_key AND s.kproxy_number = r.kproxy_number"
}

// source is what the table's rows are selected from.
func (t *table) source() string {
	if t.publication.Relation.Kind == catalog.KindPartitionedTable {
		return t.name().SQL()
	}
	return "ONLY " + t.name().SQL()
}

// removeSurplus deletes the records whose rows the source does not have.
func (t *table) removeSurplus(ctx context.Context, tx pgx.Tx, count func()) error {
	source, records, condition := t.pairing()
	sql := fmt.Sprintf("SELECT r.%s, %s FROM %s r WHERE NOT EXISTS (SELECT FROM %s s WHERE %s)", recordColumn, t.columnList("r."), records, source, condition)
	return copyOut(ctx, tx.Conn().PgConn(), 1+len(t.columns), func(values []value) error {
		id, err := storedID(values[0])
		if err != nil {
			return err
		}
		count()
		return t.remove(t.keyOf(values[1:]), incremental.RecordID(id))
	}, sql)
}

// takeMissing inserts the rows that no record is of, and modifies the records whose rows
// differ.
func (t *table) takeMissing(ctx context.Context, tx pgx.Tx, count func()) error {
	source, records, condition := t.pairing()
	sql := fmt.Sprintf("SELECT r.%s, %s FROM %s s LEFT JOIN %s r ON %s WHERE r.%[1]s IS NULL OR r.kproxy_all <> s.kproxy_all",
		recordColumn, t.columnList("s."), source, records, condition)
	return copyOut(ctx, tx.Conn().PgConn(), 1+len(t.columns), func(values []value) error {
		count()
		if row := values[1:]; !values[0].null {
			return t.update(row, row)
		}
		return t.insert(values[1:])
	}, sql)
}
