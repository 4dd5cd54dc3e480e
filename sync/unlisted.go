package sync

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// A table that is removed from the configuration is dropped, store and release, since nothing
// would remove from its store what is erased at its source. A guarded one leaves a mark, a
// generation without tables, which says that its lineage has ended. If the table is
// configured again, it waits for the operator, as readers may have kept what they saw. What was
// accepted of its columns stays (kproxy_store.accepted): when the table returns, a name of the
// policy means the same column, or the table is halted.

// markNumber is the generation of a mark; those of tables begin at 1.
const markNumber = 0

// isMark reports whether the generation is a mark: of a dropped guarded table, whose lineage has
// ended, or of a table that was halted before it was first published.
func (g generation) isMark() bool { return g.number == markNumber }

// lineageEnded is why a guarded table does not come back by itself.
const lineageEnded = "its lineage ended when it was taken out of the configuration; " +
	"readers who compare a new release of this guarded table with the earlier one could single people out"

// lineageRenamed is why one does not either that was protected under another name.
const lineageRenamed = "it was protected as %s, and that lineage has ended; " +
	"readers who compare a new release of this guarded table with the earlier one could single people out"

// changesLineage is why a guarded table cannot be published under the policy as it is.
func changesLineage(t *layout, g generation) *TableError {
	if g.isMark() {
		return &TableError{Table: t.name(), What: lineageEnded, Fix: fixEnded}
	}
	what := "the policy or the table has changed; readers who compare new classes of this guarded table with the old ones could single people out"
	if t.unlinked != "" {
		what += ": " + t.unlinked
	}
	return &TableError{Table: t.name(), Fix: fixLineage, What: what}
}

// dropUnlisted drops the tables that are no longer in the configuration. A process that takes
// over from another keeps tables that it does not know, as the other's configuration may be
// newer.
func (s *session) dropUnlisted(ctx context.Context, found map[catalog.Name]generation) error {
	tx, err := s.store.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("dropping what is no longer protected: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	dropped := false
	for name, g := range found {
		if g.isMark() && g.consent || slices.Contains(s.unfit, name) || slices.ContainsFunc(s.policy, func(t *table) bool { return t.layout.name() == name }) {
			continue
		}
		if !s.syncer.mayDrop(name) {
			if g.halted == "" {
				halt := &TableError{Table: name, What: "it is not in the configuration of the kproxy that applies", Fix: "give all kproxy processes the same configuration"}
				if err := s.store.recordHalt(ctx, tx, halt); err != nil {
					return err
				}
			}
			continue
		}
		gone, err := s.drop(ctx, tx, name, g)
		if err != nil {
			return err
		}
		dropped = dropped || gone
	}
	if _, err := briefly(ctx, tx, func(tx pgx.Tx) error { return s.store.dropOrphans(ctx, tx, s.making()) }); err != nil {
		return err
	}
	if dropped {
		s.syncer.config.Failpoint(FailBeforeDrop)
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("dropping what is no longer protected: %w", err)
	}
	if dropped {
		s.syncer.config.Failpoint(FailAfterDrop)
	}
	return nil
}

// drop drops the published view of a table and its generation; dropOrphans then drops the
// tables. While readers hold locks on the view, nothing is dropped.
func (s *session) drop(ctx context.Context, tx pgx.Tx, name catalog.Name, g generation) (gone bool, err error) {
	hidden, err := briefly(ctx, tx, func(tx pgx.Tx) error { return hide(ctx, tx, name) })
	if err != nil {
		return false, err
	}
	if !hidden {
		s.syncer.config.Logger.Warn("a table is no longer listed, but readers hold its release; it is dropped at the next start or reload", "relation", name)
		return false, s.store.stopApplying(ctx, name) // the stream passes it by meanwhile
	}
	if g.updates == catalog.Guarded.String() {
		s.syncer.config.Logger.Warn("a guarded table is no longer protected; its release is dropped and its lineage has ended", "relation", name)
		return true, markEnded(ctx, tx, name)
	}
	if _, err := tx.Exec(ctx, "DELETE FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2", name.Schema, name.Relation); err != nil {
		return false, fmt.Errorf("forgetting %s: %w", name, err)
	}
	s.syncer.config.Logger.Info("the table is no longer listed; its release is dropped", "relation", name)
	return true, nil
}

// markEnded leaves of a guarded table's generation that there was one.
func markEnded(ctx context.Context, on executor, name catalog.Name) error {
	if err := forgetDeparted(ctx, on, name, markNumber); err != nil {
		return err
	}
	_, err := on.Exec(ctx, `UPDATE kproxy_store.generation SET generation = $3, policy_digest = '', lsn = '0/0', shows = NULL, previous = NULL, promise = NULL,
		next_class = 0, next_record = 0, withheld = 0, withheld_why = NULL, returned = 0, hash_key = NULL, waiting = 0, stale = 0, ghosts = 0, untold = 0, expired = 0, oldest_waiting = NULL, oldest_stale = NULL,
		halted = $4, halted_fix = $5, needs_consent = true, asked = NULL, noted = NULL WHERE table_schema = $1 AND table_name = $2`,
		name.Schema, name.Relation, markNumber, lineageEnded, naming(fixEnded, name))
	if err != nil {
		return fmt.Errorf("recording that the lineage of %s has ended: %w", name, err)
	}
	return nil
}

// markRenamed leaves the mark of a guarded table's lineage under the name that its relation
// has now, where a table that was never published is one that the store knows by another name.
func (s *session) markRenamed(ctx context.Context, t *table, found map[catalog.Name]generation) (g generation, known bool, err error) {
	if g, known = found[t.layout.name()]; known && (!g.isMark() || g.consent) {
		return g, known, nil
	}
	for name, before := range found {
		listed := slices.ContainsFunc(s.policy, func(t *table) bool { return t.layout.name() == name })
		if listed || before.updates != catalog.Guarded.String() || rootOf(before.definition) != t.layout.publication.Relation.OID {
			continue
		}
		g = generation{number: markNumber, updates: before.updates, definition: before.definition, halted: fmt.Sprintf(lineageRenamed, name), fix: naming(fixEnded, t.layout.name()), consent: true}
		_, err := s.store.conn.Exec(ctx, `INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record,
			updates, lsn, definition, halted, halted_fix, needs_consent) VALUES ($1, $2, $3, '', 0, 0, $4, '0/0', $5, $6, $7, true)
			ON CONFLICT (table_schema, table_name) DO UPDATE SET updates = excluded.updates, definition = excluded.definition, halted = excluded.halted,
				halted_fix = excluded.halted_fix, needs_consent = true, asked = NULL`,
			t.layout.name().Schema, t.layout.name().Relation, markNumber, g.updates, g.definition, g.halted, g.fix)
		if err != nil {
			return g, known, fmt.Errorf("recording that %s was renamed to %s: %w", name, t.layout.name(), err)
		}
		return g, true, nil
	}
	return g, known, nil
}
