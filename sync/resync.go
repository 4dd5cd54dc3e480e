package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// Resynchronization compares a table with its private store under one snapshot, and applies the
// difference as a transaction of the source would be. It repairs whatever the stream did not
// carry, and keeps the lineage of a guarded table. The server joins both by their keys, in one
// pass, and sends what differs. Two servers sort both by their keys, and kproxy merges them.

const (
	// maxDifferences is the share of an immediate table, as one of so many records, from
	// which on it is rather published afresh: nearly all of its classes would be written
	// anew, and the difference is held in memory.
	maxDifferences = 2
	// minDifferences are applied in any case.
	minDifferences = 1000
)

// errMostDiffers means that publishing the table afresh takes less than applying what
// differs.
var errMostDiffers = errors.New("more than half of the table differs from its private store")

// compare loads the table's generation and applies what differs.
func (w *worker) compare(ctx context.Context, snapshot *sourceSnapshot, source pgx.Tx, t *table) error {
	tx, err := w.storeBeside(ctx, snapshot, source)
	if err != nil {
		return err
	}
	s := &store{slot: w.syncer.config.Slot, conn: tx.Conn(), source: source.Conn()}
	found, err := s.generations(ctx)
	if err != nil {
		return err
	}
	for _, conn := range s.connections() {
		if _, err := conn.Exec(ctx, fillingSettings); err != nil {
			return fmt.Errorf("comparing %s with its source: %w", t.layout.name(), err)
		}
	}
	at, watch := t.release.position, stopwatch{last: time.Now()}
	g := found[t.layout.name()]
	view, err := w.syncer.view(ctx, tx, t, g.number)
	if err != nil {
		return err
	}
	err = t.loadGeneration(ctx, view, g, w.syncer.config.Seed, w.telling(t, "loading"))
	if view.close(); err != nil {
		return err
	}
	t.release.position, watch.reading = at, watch.lap()
	differences, err := t.takeDifference(func(row func([]value) error) error {
		if t.layout.isSealed() {
			return t.sealedDifference(ctx, s, row)
		}
		if s.isApart() {
			return t.mergeDifference(ctx, s, row)
		}
		return copyOut(ctx, tx.Conn().PgConn(), 2+len(t.layout.columns), row, t.difference())
	}, w.telling(t, "comparing"))
	if errors.Is(err, errMostDiffers) {
		return errMostDiffers
	}
	if err != nil {
		return fmt.Errorf("comparing %s with its source: %w", t.layout.name(), withoutValues(err))
	}
	w.syncer.config.Logger.Info("a table was compared with its source", "relation", t.layout.name(), "differences", differences, "loading", watch.reading, "comparing", watch.lap())
	return nil
}

// storeBeside is the transaction that sees the store while a snapshot of the source is compared with
// it: the source's own where both are in one database. The store does not change meanwhile.
func (w *worker) storeBeside(ctx context.Context, snapshot *sourceSnapshot, source pgx.Tx) (pgx.Tx, error) {
	if !w.syncer.config.isApart() {
		return source, nil
	}
	conn, err := snapshot.openStore(ctx, w.syncer)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("looking at the store: %w", err)
	}
	return tx, nil
}

func (w *worker) telling(t *table, stage string) func(done int) {
	return func(done int) {
		w.syncer.config.Progress(Progress{Table: t.layout.name(), Stage: stage, Done: done})
	}
}

// sql is what the table's rows are selected from.
func (s sourceTable) sql() string {
	if s.layout.publication.Relation.Kind == catalog.KindPartitionedTable {
		return s.layout.name().SQL()
	}
	return "ONLY " + s.layout.name().SQL()
}

// plainKeys are the types whose values are equal exactly where their texts are.
var plainKeys = []string{"int2", "int4", "int8", "oid", "uuid", "date"}

// pairing is the condition under which a row of the source, s, and a record, r, are the
// same, and the further columns that both need for it. The key map knows keys by their
// texts, and so does the pairing: numeric 1 and 1.0 are two keys. Where equal rows are
// possible, all texts and the number among equal ones are the key; digests of them are
// of bounded size, and no two rows can be made to have the same one.
func (s sourceTable) pairing() (further, condition string) {
	texts := "ROW(" + s.layout.columns.listOf(s.layout.key) + ")::text"
	plain := func(i int) bool { return slices.Contains(plainKeys, s.layout.columns[i].BaseType) }
	switch {
	case s.layout.publication.Relation.KeyRepeats:
		hash := "pg_catalog.sha256(pg_catalog.convert_to(" + texts + ", pg_catalog.getdatabaseencoding()))"
		return fmt.Sprintf(", %[1]s AS kproxy_key, row_number() OVER (PARTITION BY %[1]s) AS kproxy_number", hash),
			"s.kproxy_key = r.kproxy_key AND s.kproxy_number = r.kproxy_number"
	case !slices.ContainsFunc(s.layout.key, func(i int) bool { return !plain(i) }):
		equal := make([]string, len(s.layout.key))
		for i, c := range s.layout.key {
			equal[i] = fmt.Sprintf("s.%[1]s = r.%[1]s", catalog.QuoteIdentifier(s.layout.columns[c].Name))
		}
		return "", strings.Join(equal, " AND ")
	default:
		return ", " + texts + " AS kproxy_key", "s.kproxy_key = r.kproxy_key"
	}
}

// difference selects records whose rows the source does not have, rows that no record is
// of, and pairs that differ: the record's number, whether the source has the row, and
// the row. Images of values are compared, which takes no equality of their types and
// tells apart whatever texts do.
func (t *table) difference() string {
	further, condition := t.layout.source().pairing()
	values := sqlList(t.layout.columns, func(_ int, c catalog.Column) string {
		return fmt.Sprintf("CASE WHEN s.kproxy_there THEN s.%[1]s ELSE r.%[1]s END", catalog.QuoteIdentifier(c.Name))
	})
	return fmt.Sprintf(`SELECT r.%[1]s, s.kproxy_there, %[2]s
		FROM (SELECT true AS kproxy_there, %[3]s%[4]s FROM %[5]s) s
		FULL JOIN (SELECT %[1]s, %[3]s%[4]s FROM %[6]s) r ON %[7]s
		WHERE r.%[1]s IS NULL OR s.kproxy_there IS NULL OR ROW(%[8]s)::record OPERATOR(pg_catalog.*<>) ROW(%[9]s)::record`,
		recordColumn, values, t.layout.columns.list(""), further, t.layout.source().sql(), t.recordsTable(), condition,
		t.layout.columns.list("s."), t.layout.columns.list("r."))
}

// takeDifference applies the difference to the table in memory, and counts it. Pairs have
// the same key, so no row comes to a key that another one has to leave first.
func (t *table) takeDifference(find func(row func([]value) error) error, tell func(done int)) (done int, err error) {
	most := max(minDifferences, t.mode.status().Records/maxDifferences)
	guarded := t.layout.isGuarded() || t.layout.isLinked()
	t.beginTransaction(0)
	err = find(func(values []value) error {
		if done++; done%progressRows == 0 {
			tell(done)
		}
		if done > most && !guarded {
			return errMostDiffers
		}
		row := slices.Clone(values[2:])
		if values[0].null {
			return t.insert(row)
		}
		if values[1].null {
			id, err := storedID(values[0])
			if err != nil {
				return err
			}
			return t.deleteUntilCommit(t.keyOf(row), incremental.RecordID(id))
		}
		return t.update(row, row)
	})
	if err != nil {
		return done, err
	}
	return done, t.endTransaction(func() error { return nil })
}
