package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// admit loads a table of the policy so that it is applied, or enqueues its publication or its
// comparison with the source, or halts it until the operator acts.
func (s *session) admit(ctx context.Context, t *table, g generation, known bool) error {
	fits := t.layout.fits(g) // which one that is not known does not
	if g.staysHalted(fits, s.syncer.retryHalted()) {
		s.syncer.setTable(t.layout.name(), g.status(true, true))
		return nil
	}
	var group foundGroup
	if t.group != nil {
		group = t.group.found
	}
	if group.afresh && (group.blocked || !known && group.endsLineage()) {
		return s.leave(ctx, t, g, known)
	}
	bound, err := s.store.accepted(ctx, t, g, known)
	if err != nil {
		return s.haltAgain(ctx, t, g, err)
	}
	t.definition.bound = bound
	kind := publishAfresh
	switch {
	case g.updates == catalog.Guarded.String() && g.asked != askRebuild && !group.consented && (!fits || group.endsLineage()):
		return s.halt(ctx, changesLineage(&t.layout, g))
	case group.afresh:
	case fits:
		if kind, err = s.resume(ctx, t, g); err != nil || kind == noJob {
			return err
		}
	}
	if known { // it lacks what the stream brings from here on, whatever happens
		if err := s.store.stopApplying(ctx, t.layout.name()); err != nil {
			return err
		}
	}
	s.enqueue(t, kind)
	status := s.stored(t, g)
	status.Preparing = true
	if known && !fits && !g.isMark() {
		s.tellSuperseded(t, g)
	}
	s.syncer.setTable(t.layout.name(), status)
	return nil
}

// visible reports whether readers may have what the store shows of a table.
func (s *session) visible(t *table, g generation) bool {
	return t.layout.visible(g, Superseded(s.syncer.superseded.Load()))
}

// overtaken are the audiences that may not have it, though the table's own readers may.
func (s *session) overtaken(t *table, g generation) []string {
	return t.layout.overtaken(g, Superseded(s.syncer.superseded.Load()))
}

// stored is the status of a table by its row in the store.
func (s *session) stored(t *table, g generation) TableStatus {
	return t.layout.stored(g, Superseded(s.syncer.superseded.Load()))
}

// tellSuperseded tells what readers have of a table until its release for a changed policy is ready.
func (s *session) tellSuperseded(t *table, g generation) {
	logger := s.syncer.config.Logger.With("relation", t.layout.name())
	shown, _ := readPromise(g.promise)
	switch {
	case !s.visible(t, g):
		logger.Warn("the table is published afresh for its policy; until then readers have nothing of it, as the release before may promise less or look different")
	case !shown.covers(t.layout.promise):
		logger.Warn("the table is published afresh for its policy; until then readers have the release before, which promises less")
	default:
		logger.Info("the table is published afresh for its policy; until then readers have the release before, which promises as much")
	}
	if !s.visible(t, g) {
		return
	}
	for _, audience := range s.overtaken(t, g) {
		logger.Warn("until then this audience has nothing of it, as the release before may promise it less or look different", "audience", audience)
	}
}

// leave leaves a linked table as it is, since all of its group have to be published afresh and one
// of them stays halted.
func (s *session) leave(ctx context.Context, t *table, g generation, known bool) error {
	s.syncer.setTable(t.layout.name(), s.stored(t, g))
	if !known {
		return nil
	}
	return s.store.stopApplying(ctx, t.layout.name())
}

// staysHalted reports whether a table stays halted without being examined. If it needs consent,
// it does until the operator asks for it; else until halted tables are retried, unless its
// policy has changed or it may heal by itself.
func (g generation) staysHalted(fits, afresh bool) bool {
	return g.halted != "" && g.asked == "" && (g.consent || fits && !afresh && !g.heals)
}

// mayHeal reports whether a halted table continues by itself when it is again what was accepted.
func (g generation) mayHeal() bool {
	return g.halted != "" && g.asked == "" && !g.consent && g.heals
}

// noJob means that the worker has nothing to prepare.
const noJob jobKind = -1

// resume applies a table from the position of its store, if possible; else wanted is the job
// that repairs it. If an error concerns the table alone, resume has halted the table and
// returns noJob.
func (s *session) resume(ctx context.Context, t *table, g generation) (wanted jobKind, err error) {
	now, absent, err := t.layout.source().readDefinition(ctx, s.store.source, s.store.publication, t.definition.bound)
	if err != nil {
		return noJob, s.haltAgain(ctx, t, g, err)
	}
	inStep := g.halted == "" && g.asked != askResync && g.noted == "" && g.lsn != 0
	different := (*TableError)(nil)
	if absent || now.text() != g.definition {
		different = t.layout.source().differs(now, g.definition)
	}
	switch {
	case inStep && different == nil:
		if err := s.store.updateMadeFor(ctx, t, g); err != nil {
			return noJob, err
		}
		if err := s.keepPublication(ctx, s.store.conn, t.layout.asConfigured()); err != nil {
			return noJob, err
		}
		if t.definition = now; g.asked == askRebuild {
			s.enqueue(t, publishAfresh)
		}
		return noJob, s.load(ctx, t, g)
	case g.asked == askRebuild || g.noted == askRebuild:
		return publishAfresh, nil
	case different != nil && !different.resync:
		return noJob, s.halt(ctx, different)
	case different != nil:
		s.syncer.config.Logger.Info("a table is looked at afresh", "relation", t.layout.name(), "reason", different.What)
		return different.kind(), nil
	}
	return resynchronize, nil
}

// updateMadeFor brings in line what the store says of the policy that a table, which fits it, was made
// for: the digest of a store from the time when digests included identifying columns, and the promise and
// the lineage of one from before these were kept.
func (s *store) updateMadeFor(ctx context.Context, t *table, g generation) error {
	promise, err := t.layout.promise.text()
	if g.shows != 0 {
		promise = g.promise // of the release before
	}
	if err != nil {
		return err
	}
	lineage, err := t.layout.storedLineage()
	if err != nil || g.digest == t.layout.digest && g.promise == promise && (g.lineage != "" || lineage == nil) {
		return err
	}
	_, err = s.conn.Exec(ctx, "UPDATE kproxy_store.generation SET policy_digest = $3, promise = nullif($4, ''), lineage = coalesce(lineage, $5) WHERE table_schema = $1 AND table_name = $2",
		t.layout.name().Schema, t.layout.name().Relation, t.layout.digest, promise, lineage)
	if err != nil {
		return fmt.Errorf("recording what %s was made for: %w", t.layout.name(), err)
	}
	return nil
}

// stopApplying records that a generation is no longer applied.
func (s *store) stopApplying(ctx context.Context, name catalog.Name) error {
	_, err := s.conn.Exec(ctx, `UPDATE kproxy_store.generation SET lsn = '0/0' WHERE table_schema = $1 AND table_name = $2
		AND EXISTS (SELECT FROM kproxy_store.position WHERE slot = $3 AND epoch = $4)`, name.Schema, name.Relation, s.slot, s.epoch)
	if err != nil {
		return fmt.Errorf("recording that %s is not applied: %w", name, err)
	}
	return nil
}

// enqueue adds a job for the worker.
func (s *session) enqueue(t *table, kind jobKind) {
	s.store.lastGeneration++
	s.jobs = append(s.jobs, job{publication: t.layout.asConfigured(), lineage: t.layout.lineage, bound: t.definition.bound, kind: kind, generation: s.store.lastGeneration, group: t.group})
}

// load loads the store of a table, which is applied from there.
func (s *session) load(ctx context.Context, t *table, g generation) error {
	if !s.kept[t] {
		if err := s.loadStored(ctx, t, g); err != nil {
			return s.haltOr(ctx, t, err)
		}
		s.syncer.config.Logger.Debug("the store of a table was loaded", "relation", t.layout.name())
	}
	if err := s.store.sumUpAlone(ctx, t); err != nil {
		return s.haltOr(ctx, t, err)
	}
	if g.shows == 0 {
		if err := s.store.grant(ctx, s.store.conn, t, true); err != nil {
			return s.haltOr(ctx, t, err)
		}
	}
	s.tables = append(s.tables, t)
	status := t.mode.status()
	stored := s.stored(t, g)
	status.State, status.Preparing, status.Superseded = stored.State, stored.Preparing, stored.Superseded
	status.Generation = t.release.generation
	s.syncer.setTable(t.layout.name(), status)
	return nil
}

// loadStored loads the store of a table under one snapshot.
func (s *session) loadStored(ctx context.Context, t *table, g generation) error {
	tx, err := s.store.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("looking at the store of %s: %w", t.layout.name(), err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	if err := s.store.checkUnchanged(ctx, tx, g); err != nil {
		return fmt.Errorf("looking at the store of %s: %w", t.layout.name(), err)
	}
	view, err := s.syncer.view(ctx, tx, t, g.number)
	if err != nil {
		return err
	}
	defer view.close()
	return t.loadGeneration(ctx, view, g, s.syncer.config.Seed, func(done int) {
		s.syncer.config.Progress(Progress{Table: t.layout.name(), Stage: "loading", Done: done})
	})
}

// haltOr halts the table, unless the error is transient, in which case it is returned.
func (s *session) haltOr(ctx context.Context, t *table, err error) error {
	if transient(err) {
		return err
	}
	if halt := (*TableError)(nil); errors.As(err, &halt) {
		return s.halt(ctx, halt)
	}
	return s.haltUnreadable(ctx, errHalted(t.layout.name(), err))
}

// haltUnreadable is halt for an error of the server. If the table's rows may not be read, it goes on
// by itself once they may.
func (s *session) haltUnreadable(ctx context.Context, halt *TableError) error {
	if hasState(halt, insufficientPrivilege) {
		mayRead, err := s.store.mayRead(ctx, halt.Table)
		if err != nil {
			return err
		}
		halt.heals = !mayRead
	}
	return s.halt(ctx, halt)
}

// mayRead reports whether the owner has the privilege to read a table, which is there, and row-level
// security hides no rows from it.
func (s *store) mayRead(ctx context.Context, table catalog.Name) (bool, error) {
	_, err := s.source.Exec(ctx, "SELECT FROM "+table.SQL()+" LIMIT 0")
	if hasState(err, insufficientPrivilege) || hasState(err, undefinedTable) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking whether %s can be read: %w", table, err)
	}
	return true, nil
}

// haltAgain is haltOr for a table that may be halted for the same reason already.
func (s *session) haltAgain(ctx context.Context, t *table, g generation, err error) error {
	if halt := (*TableError)(nil); errors.As(err, &halt) && g.halted == halt.problem() && g.fix == halt.advice() && g.asked == "" {
		s.syncer.setTable(t.layout.name(), g.status(true, true))
		return nil
	}
	return s.haltOr(ctx, t, err)
}

// halt records that a table needs the operator. The session continues without it.
func (s *session) halt(ctx context.Context, halt *TableError) error {
	s.syncer.config.Logger.Error("a table is halted; others go on", "relation", halt.Table, "reason", halt.problem(), "fix", halt.advice())
	s.tables = s.tables.without(halt.Table)
	s.syncer.setTable(halt.Table, TableStatus{State: Halted, Problem: halt.problem(), Fix: halt.advice()})
	if err := s.store.stopApplying(ctx, halt.Table); err != nil {
		return err
	}
	return s.store.recordHalt(ctx, s.store.conn, halt)
}

// recordHalt records in the store that a table is halted, or is to be compared with its source,
// unless another process has taken over. A table that was never published gets a mark.
func (s *store) recordHalt(ctx context.Context, on executor, halt *TableError) error {
	statement, arguments := haltSQL, []any{halt.problem(), halt.advice(), halt.heals, markNumber}
	if halt.resync {
		statement, arguments = resyncSQL, []any{halt.kind().request()}
	}
	done, err := on.Exec(ctx, statement, append([]any{halt.Table.Schema, halt.Table.Relation, s.slot, s.epoch}, arguments...)...)
	if err != nil {
		return fmt.Errorf("recording that %s is halted: %w", halt.Table, err)
	}
	if halt.resync || done.RowsAffected() == 0 {
		return nil
	}
	return s.revoke(ctx, on, halt.Table)
}

const (
	haltSQL = `INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record, lsn, halted, halted_fix, heals)
		SELECT $1, $2, $8, '', 0, 0, '0/0', $5, $6, $7 FROM kproxy_store.position WHERE slot = $3 AND epoch = $4
		ON CONFLICT (table_schema, table_name) DO UPDATE SET lsn = '0/0', halted = excluded.halted, halted_fix = excluded.halted_fix, heals = excluded.heals,
			asked = NULL, noted = NULL`
	resyncSQL = `UPDATE kproxy_store.generation SET noted = $5, lsn = '0/0' WHERE table_schema = $1 AND table_name = $2
		AND EXISTS (SELECT FROM kproxy_store.position WHERE slot = $3 AND epoch = $4)`
)

// haltUnfit halts a table that its policy does not fit. Its release stays in the store.
func (s *session) haltUnfit(ctx context.Context, name catalog.Name, g generation) error {
	if g.halted != "" {
		s.syncer.setTable(name, g.status(false, false))
		return nil
	}
	return s.halt(ctx, &TableError{Table: name, What: "the table and its policy do not fit", Fix: "see 'kproxy check', and run 'kproxy reload' afterwards"})
}
