package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// startJob hands the next job to the worker, at a commit boundary. The table of a
// resynchronization is no longer applied from here on.
func (a *applier) startJob() {
	if a.preparing || len(a.session.jobs) == 0 {
		return
	}
	a.preparing = true
	a.session.shared.ack.held.Store(uint64(a.session.position))
	a.worker.jobs <- a.session.jobs[0]
}

// join lets a prepared table into the stream at a commit boundary. What others have applied
// since its snapshot is sent once more, and skipped by them.
func (a *applier) join(ctx context.Context, n *preparedTable) error {
	name := n.job.publication.Policy.Table
	a.preparing, a.prepared = false, nil
	if n.err != nil {
		a.session.jobs = a.session.jobs[1:]
		a.session.shared.ack.held.Store(0)
		if transient(n.err) {
			return n.err // the session ends
		}
		if halt := (*TableError)(nil); errors.As(n.err, &halt) {
			return a.session.halt(ctx, halt)
		}
		return a.session.halt(ctx, &TableError{Table: name, What: "it cannot be published", Err: withoutValues(n.err), Fix: fixOf(n.err)})
	}
	rewinds := n.at < a.streamPosition() && a.missed(n)
	if !rewinds {
		n.table.release.position = max(n.at, a.streamPosition())
	}
	if err := a.recordJoin(ctx, n); err != nil {
		return a.tableFailure(n.table, err)
	}
	a.session.jobs = a.session.jobs[1:]
	a.session.shared.ack.held.Store(0)
	a.session.tables = slices.DeleteFunc(a.session.tables, func(t *table) bool { return t.layout.name() == name })
	a.session.tables = append(a.session.tables, n.table)
	a.session.watch()
	a.session.syncer.config.Failpoint(FailAfterJoin)
	a.session.report(a.session.figures())
	a.startJob()
	if rewinds {
		return a.rewind(ctx)
	}
	return a.bindAgain(ctx)
}

// streamPosition is up to where the stream was consumed: transactions that change none of the
// applied tables do not move the position.
func (a *applier) streamPosition() pglogrepl.LSN { return max(a.session.position, a.end) }

// missed tells whether the stream has brought something for the table since its
// snapshot. Of what a partitioned table consists is not known for certain meanwhile.
func (a *applier) missed(n *preparedTable) bool {
	relation := n.job.publication.Relation
	for oid, last := range a.lastChange {
		if last < n.at {
			continue
		}
		of := a.relations[oid]
		another := of != nil && of.table != nil && of.table.layout.name() != n.job.publication.Policy.Table
		if catalog.OID(oid) == relation.OID || relation.Kind == catalog.KindPartitionedTable && !another {
			return true
		}
	}
	return false
}

// recordJoin records that the table is part of the stream from now on, in the
// transaction that moves the position back to where it joins.
func (a *applier) recordJoin(ctx context.Context, n *preparedTable) error {
	t, to := n.table, min(a.session.position, n.table.release.position)
	tx, err := a.session.store.conn.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return fmt.Errorf("opening a transaction on the store: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if err := a.session.store.movePosition(ctx, tx, a.session.position, to); err != nil {
		return err
	}
	// The table was locked until now; its types were not.
	if err := (definitionCheck{table: t, bound: t.definition.bound}).run(ctx, tx); err != nil {
		return err
	}
	if err := accept.Save(ctx, tx, accept.KindTable, t.layout.name(), t.definition.bound); err != nil {
		return err
	}
	if n.job.kind == publishAfresh {
		err = a.recordRelease(ctx, tx, t)
	} else {
		err = a.recordDifference(ctx, tx, t)
	}
	if err != nil {
		return err
	}
	a.session.syncer.config.Failpoint(FailBeforeJoin)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing that %s joins: %w", t.layout.name(), err)
	}
	t.written()
	a.session.position = to
	a.session.shared.ack.stored.Store(uint64(to))
	return nil
}

// recordRelease records a new generation, which is shown as soon as it has caught up
// with the others. The previous one stays until then if it was made for the same policy.
func (a *applier) recordRelease(ctx context.Context, tx pgx.Tx, t *table) error {
	found, err := a.session.store.generations(ctx)
	if err != nil {
		return err
	}
	g, known := found[t.layout.name()]
	if t.release.position < a.streamPosition() || known {
		t.release.showAt = a.streamPosition() // readers of an earlier one may have to be waited for
		if known && t.layout.fits(g) && g.halted == "" {
			t.release.previous = g.number
			if g.shows != 0 {
				t.release.previous = g.previous
			}
		}
	}
	if err := t.record(ctx, tx); err != nil {
		return err
	}
	sql, arguments := t.statusUpdate()
	if _, err := tx.Exec(ctx, sql, arguments...); err != nil {
		return fmt.Errorf("recording the figures of %s: %w", t.layout.name(), err)
	}
	switch {
	case t.release.showAt == 0:
		return a.session.store.show(ctx, tx, t, a.session.making())
	case t.release.previous == 0:
		_, err = briefly(ctx, tx, func(tx pgx.Tx) error { return hide(ctx, tx, t.layout.name()) })
	}
	return err
}

// recordDifference writes the difference to the source.
func (a *applier) recordDifference(ctx context.Context, tx pgx.Tx, t *table) error {
	t.pending.dirty = true
	to := sendTo(ctx, tx)
	if err := t.write(ctx, to); err != nil {
		return err
	}
	if err := to.close(); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE kproxy_store.generation SET lsn = $3::text::pg_lsn, definition = $4,
		halted = NULL, halted_fix = NULL, needs_consent = false, asked = nullif(asked, 'resync'), noted = NULL WHERE table_schema = $1 AND table_name = $2`,
		t.layout.name().Schema, t.layout.name().Relation, t.release.position.String(), t.definition.text())
	if err != nil {
		return fmt.Errorf("recording that %s was compared with its source: %w", t.layout.name(), err)
	}
	if t.release.showAt != 0 && t.release.previous == 0 {
		return nil // readers have nothing of it yet
	}
	return t.layout.view().grant(ctx, tx, a.session.store.reader) // which a halt has taken
}
