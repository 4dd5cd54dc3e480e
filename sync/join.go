package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog/accept"
)

// errSpoiled ends a session, after which there are others.
var errSpoiled = errors.New("the memory of tables that are released together has a part of a difference")

// joiner has tables prepared outside the stream, one at a time, and lets them join it. It
// belongs to the applier's goroutine.
type joiner struct {
	session   *session
	relations *relations
	worker    *worker
	preparing bool           // the worker is at a job
	prepared  *preparedTable // waits for a commit boundary
}

// startJob hands the next job to the worker, at a commit boundary. The table of a
// resynchronization is no longer applied from here on.
func (j *joiner) startJob() {
	if j.preparing || len(j.session.jobs) == 0 {
		return
	}
	j.preparing = true
	j.session.shared.ack.held.Store(uint64(j.session.position))
	j.worker.jobs <- j.session.jobs[0]
}

// endJob ends the first job, and with it what was held for it.
func (j *joiner) endJob() {
	j.session.jobs = j.session.jobs[1:]
	j.session.shared.ack.held.Store(0)
}

// fail ends a job that has no table. The error ends the session where another attempt can
// succeed; else the table is halted, and the next one prepared.
func (j *joiner) fail(ctx context.Context, n *preparedTable) error {
	j.endJob()
	if transient(n.err) {
		return n.err
	}
	halt := (*TableError)(nil)
	if !errors.As(n.err, &halt) {
		halt = &TableError{Table: n.job.publication.Policy.Table, What: "it cannot be published", Err: withoutValues(n.err), Fix: fixOf(n.err)}
	}
	if err := j.session.haltUnreadable(ctx, halt); err != nil {
		return err
	}
	if n.job.spoilsGroup() {
		return errSpoiled
	}
	j.startJob()
	return nil
}

// join lets a prepared table into the stream, which was consumed up to a position, at a commit
// boundary. It reports whether the stream has to start at the session's position once more.
func (j *joiner) join(ctx context.Context, n *preparedTable, consumed pglogrepl.LSN) (rewinds bool, err error) {
	rewinds = n.at < consumed && j.relations.missed(n)
	if !rewinds {
		n.table.release.position = max(n.at, consumed)
	}
	if err := j.recordJoin(ctx, n, consumed); err != nil {
		return false, tableFailure(n.table, err)
	}
	j.endJob()
	j.session.tables = append(j.session.tables.without(n.table.layout.name()), n.table)
	j.session.watch()
	j.session.syncer.config.Failpoint(FailAfterJoin)
	j.session.report(j.session.figures())
	j.startJob()
	return rewinds, nil
}

// recordJoin records that the table is part of the stream from now on, in the
// transaction that moves the position back to where it joins.
func (j *joiner) recordJoin(ctx context.Context, n *preparedTable, consumed pglogrepl.LSN) error {
	t, to := n.table, min(j.session.position, n.table.release.position)
	tx, err := j.session.store.conn.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return fmt.Errorf("opening a transaction on the store: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if err := j.session.store.movePosition(ctx, tx, j.session.position, to); err != nil {
		return err
	}
	// The table was locked until now; its types were not.
	if err := (definitionCheck{table: t, bound: t.definition.bound, sent: t.definition.sent}).run(ctx, j.session.store.lookingFrom(tx), j.session.store.publication); err != nil {
		return err
	}
	if err := accept.Save(ctx, tx, accept.KindTable, t.layout.name(), t.definition.bound); err != nil {
		return err
	}
	if n.job.kind == publishAfresh {
		err = j.recordRelease(ctx, tx, t, consumed)
	} else {
		err = j.recordDifference(ctx, tx, t)
	}
	if err == nil {
		err = j.session.keepPublication(ctx, tx, t.layout.asConfigured())
	}
	if err != nil {
		return err
	}
	j.session.syncer.config.Failpoint(FailBeforeJoin)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing that %s joins: %w", t.layout.name(), err)
	}
	t.written()
	j.session.position = to
	j.session.shared.ack.stored.Store(uint64(to))
	return nil
}

// recordRelease records a new generation, which is shown as soon as it has caught up
// with the others. The one that readers have stays until then if it may.
func (j *joiner) recordRelease(ctx context.Context, tx pgx.Tx, t *table, consumed pglogrepl.LSN) error {
	found, err := j.session.store.generations(ctx)
	if err != nil {
		return err
	}
	g, known := found[t.layout.name()]
	var overtaken []string
	if t.release.position < consumed || known || t.group != nil {
		t.release.showAt = max(consumed, t.release.position) // readers of an earlier one may have to be waited for
		if known && g.halted == "" && j.session.visible(t, g) {
			t.release.previous, overtaken = g.number, j.session.overtaken(t, g)
			if g.shows != 0 {
				t.release.previous = g.previous
			}
		}
	}
	if err := t.record(ctx, tx); err != nil {
		return err
	}
	sql, arguments := t.statusUpdate(0)
	if _, err := tx.Exec(ctx, sql, arguments...); err != nil {
		return fmt.Errorf("recording the figures of %s: %w", t.layout.name(), err)
	}
	switch {
	case t.release.showAt == 0:
		return j.session.store.show(ctx, tx, t, j.session.making())
	case t.release.previous == 0:
		_, err = briefly(ctx, tx, func(tx pgx.Tx) error { return hide(ctx, tx, t.layout.name()) })
	case len(overtaken) > 0:
		_, err = briefly(ctx, tx, func(tx pgx.Tx) error { return hideFrom(ctx, tx, t.layout.name(), overtaken) })
	}
	return err
}

// recordDifference writes the difference to the source.
func (j *joiner) recordDifference(ctx context.Context, tx pgx.Tx, t *table) error {
	t.pending.dirty = true
	if err := j.session.store.sumUp(ctx, tx, t); err != nil {
		return err
	}
	to := sendTo(ctx, tx)
	if err := t.write(ctx, to, 0); err != nil {
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
	return j.session.store.grant(ctx, tx, t, t.release.showAt == 0) // which a halt has taken
}

// withdraw takes a table out of the stream and has it compared with its source.
func (j *joiner) withdraw(ctx context.Context, t *table, halt *TableError) error {
	j.session.syncer.config.Logger.Info("a table is compared with its source", "relation", t.layout.name(), "reason", halt.What)
	if err := j.session.store.stopApplying(ctx, t.layout.name()); err != nil {
		return err
	}
	if err := j.session.store.recordHalt(ctx, j.session.store.conn, halt); err != nil {
		return err
	}
	j.session.tables = j.session.tables.without(t.layout.name())
	j.session.enqueue(t, halt.kind())
	status := j.session.syncer.Status().Tables[t.layout.name()]
	status.Preparing = true
	j.session.syncer.setTable(t.layout.name(), status)
	j.startJob()
	return nil
}
