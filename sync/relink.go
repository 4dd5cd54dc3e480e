package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// relinking takes guarded tables over to other audiences: one that stands alone, or all of a kind of person.
type relinking struct {
	tables []*relinked
	group  bool // they are released together
}

// relinked is a table whose links are not those of a lineage that its policy would begin.
type relinked struct {
	place  int // in session.policy
	from   generation
	before catalog.Lineage
	table  *table // with the links as they are from now on
	moves  bool   // they are others than the store has
}

// continueLineages has guarded tables go on by the links of their lineages, and takes over what has changed in
// audiences. Where it cannot, the table stays as it is configured, and is halted as one whose policy has changed.
func (s *session) continueLineages(ctx context.Context, found map[catalog.Name]generation) error {
	for _, r := range s.relinkings(found) {
		err := s.relink(ctx, r)
		if err != nil && transient(err) {
			return err
		}
		for _, of := range r.tables {
			if err != nil {
				s.policy[of.place].layout.unlinked = withoutValues(err).Error()
				continue
			}
			s.policy[of.place] = of.table
			found[of.table.layout.name()] = of.from
		}
		if err == nil && r.group {
			members := make(map[int]*table)
			for _, of := range r.tables {
				members[of.table.layout.number()] = of.table
			}
			if err := s.group(members); err != nil {
				return &StopError{What: err.Error(), Fix: fixPolicy}
			}
		}
	}
	return s.hideFormer(ctx, found)
}

// hideFormer drops what a crash or a reader has left of the views of audiences of other names, where the links are again those that
// a new lineage would have, and nothing else has changed.
func (s *session) hideFormer(ctx context.Context, found map[catalog.Name]generation) error {
	for _, t := range s.policy {
		g, known := found[t.layout.name()]
		if !known || !g.keepsLineage() || !t.layout.isGuarded() || t.layout.lineage != nil || len(t.layout.audiences) == 0 || !t.layout.fits(g) {
			continue
		}
		if err := s.hideRemoved(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// relinkings are the tables that go on by other links than their policies would begin with, those of a kind together.
func (s *session) relinkings(found map[catalog.Name]generation) (all []relinking) {
	kinds := make(map[*linkedGroup]*relinking)
	for place, t := range s.policy {
		g, known := found[t.layout.name()]
		if !known || !g.keepsLineage() || !t.layout.isGuarded() || t.layout.isMirrored() {
			continue
		}
		before, ok := readLineage(g.lineage)
		if !ok || before.Table != t.layout.lineageDigest {
			continue
		}
		of := &relinked{place: place, from: g, before: before, table: t, moves: !t.layout.fits(g)}
		switch {
		case t.group != nil && kinds[t.group] == nil:
			kinds[t.group] = &relinking{tables: []*relinked{of}, group: true}
		case t.group != nil:
			kinds[t.group].tables = append(kinds[t.group].tables, of)
		case of.differs():
			all = append(all, relinking{tables: []*relinked{of}})
		}
	}
	for group, of := range kinds {
		if len(of.tables) == group.size() && slices.ContainsFunc(of.tables, (*relinked).differs) { // else one of them cannot go on
			all = append(all, *of)
		}
	}
	return slices.DeleteFunc(all, func(r relinking) bool { return !r.follow() })
}

// differs reports whether the table's links are, or become, others than those of a lineage that its policy would begin.
func (of *relinked) differs() bool {
	return of.moves || !of.table.layout.isAsConfigured(of.before)
}

// follow makes the tables with the links of their lineages. It is false where these do not go on, and the tables stay as configured.
func (r *relinking) follow() bool {
	publications, after := make([]catalog.Publication, len(r.tables)), make([]catalog.Lineage, len(r.tables))
	moves := false
	for i, of := range r.tables {
		publications[i], after[i] = of.table.layout.publication, of.before
		moves = moves || of.moves
	}
	var err error
	if moves { // all of a kind, as an audience has the same link of all of them
		after, err = catalog.FollowAll(publications, after)
	}
	linked := make([]*table, len(r.tables))
	for i := 0; i < len(linked) && err == nil; i++ {
		linked[i], err = newTableOf(publications[i], &after[i])
	}
	for i, of := range r.tables {
		if err != nil {
			of.table.layout.unlinked = err.Error()
			continue
		}
		linked[i].now, linked[i].logger = of.table.now, of.table.logger
		of.table, of.moves = linked[i], moves
	}
	return err == nil
}

// keepsLineage reports whether what the store has of a table is what readers have seen of its lineage, and see on.
func (g generation) keepsLineage() bool {
	return !g.isMark() && g.updates == catalog.Guarded.String() && g.shows == 0 && g.asked != askRebuild && g.noted != askRebuild && g.lineage != ""
}

// relink writes what changes in one transaction, which only the process that applies can commit, and has the views go
// that nobody is to see any more, as soon as no reader's transaction keeps them.
func (s *session) relink(ctx context.Context, r relinking) error {
	tx, err := s.store.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("changing audiences: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	for _, of := range r.tables {
		if !of.moves {
			continue
		}
		if err := s.move(ctx, tx, of); err != nil {
			return fmt.Errorf("changing the audiences of %s: %w", of.table.layout.name(), err)
		}
	}
	s.syncer.config.Failpoint(FailBeforeRelink)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("changing audiences: %w", err)
	}
	s.syncer.config.Failpoint(FailAfterRelink)
	for _, of := range r.tables {
		if of.moves {
			of.tell(s.syncer.config.Logger)
		}
		if err := s.hideRemoved(ctx, of.table); err != nil {
			return err
		}
	}
	return nil
}

// move takes one table over.
func (s *session) move(ctx context.Context, tx pgx.Tx, of *relinked) error {
	t, g := of.table, &of.from
	t.release.generation = g.number
	for i := range t.layout.audiences {
		if i < len(of.before.Links) {
			continue
		}
		err := s.appendLink(ctx, tx, t, i, len(of.before.Links))
		if err == nil {
			g.secret, err = t.drawPseudonyms(g.secret)
		}
		if err != nil {
			return fmt.Errorf("for audience %s: %w", t.layout.audiences[i].name, err)
		}
	}
	if err := moveMark(ctx, tx, t.layout.name()); err != nil {
		return err
	}
	if err := revokeFrom(ctx, tx, t.layout.name(), ofAudiences(t.layout.name()), ""); err != nil {
		return err
	}
	for i := range t.layout.audiences {
		a := &t.layout.audiences[i]
		if a.removed || a.unseen || i < len(of.before.Links) && of.before.Links[i].Audience == a.name {
			continue // its view stays as it is
		}
		if err := a.view().put(ctx, tx, t.shownFor(a)); err != nil {
			return fmt.Errorf("creating the published view for audience %s: %w", a.name, err)
		}
	}
	if err := s.store.grant(ctx, tx, t, t.release.showAt == 0); err != nil {
		return err
	}
	return s.recordMove(ctx, tx, of)
}

// recordMove records what the table is made for from now on.
func (s *session) recordMove(ctx context.Context, tx pgx.Tx, of *relinked) error {
	t, g := of.table, &of.from
	promise, err := t.layout.promise.text()
	if err != nil {
		return err
	}
	lineage, err := t.layout.storedLineage()
	if err != nil {
		return err
	}
	renamed := of.renamed()
	done, err := tx.Exec(ctx, `UPDATE kproxy_store.generation SET policy_digest = $3, promise = $4, lineage = $5, audiences = nullif($6, ''), hash_key = $10
		WHERE table_schema = $1 AND table_name = $2 AND generation = $7 AND EXISTS (SELECT FROM kproxy_store.position WHERE slot = $8 AND epoch = $9)`,
		t.layout.name().Schema, t.layout.name().Relation, t.layout.digest, promise, lineage, renamed, g.number, s.store.slot, s.store.epoch, g.secret)
	if err != nil {
		return fmt.Errorf("recording them: %w", err)
	}
	if done.RowsAffected() != 1 {
		return errFenced
	}
	g.digest, g.promise, g.lineage, g.audiences = t.layout.digest, promise, *lineage, renamed
	return nil
}

// newAudience is why an audience that is new sees nothing of a guarded table before its release is settled for the first time.
const newAudience = "the audience is new: classes are united from those that are published"

// renamed is what the store tells of audiences, by the names that they have from now on. The classes of a new link are
// numbered from 1 on, as the numbers of others would tell how many classes these have, or behind those that its audience saw before.
func (of *relinked) renamed() string {
	var stored map[string]AudienceStatus
	if of.from.audiences != "" && json.Unmarshal([]byte(of.from.audiences), &stored) != nil {
		return ""
	}
	renamed := make(map[string]AudienceStatus)
	before := of.table.layout.configured.Linked(of.before)
	for i, a := range of.table.layout.audiences {
		if i >= len(before.Policy.Audiences) {
			renamed[a.name] = AudienceStatus{NextClass: max(1, stored[a.name].NextClass), Reason: newAudience}
		} else if status, known := stored[before.Policy.Audiences[i].Audience]; known {
			renamed[a.name] = status
		}
	}
	text := storedAudiences(renamed)
	if text == nil {
		return ""
	}
	return *text
}

// hideRemoved drops the views that nobody is to see, unless a reader's open transaction keeps one: nobody may
// read it then, and it goes at the next start.
func (s *session) hideRemoved(ctx context.Context, t *table) error {
	var shown []string
	for _, a := range t.layout.audiences {
		if !a.removed && !a.unseen {
			shown = append(shown, a.name)
		}
	}
	tx, err := s.store.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("dropping the views of audiences that were removed: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if _, err := briefly(ctx, tx, func(tx pgx.Tx) error { return hideFromOthers(ctx, tx, t.layout.name(), shown) }); err != nil {
		return fmt.Errorf("dropping the views of audiences that were removed: %w", err)
	}
	return tx.Commit(ctx)
}

// tell has the log say what has changed.
func (of *relinked) tell(logger *slog.Logger) {
	for i, a := range of.table.layout.audiences {
		known := i < len(of.before.Links)
		switch {
		case a.removed && known && of.before.Links[i].Audience != "":
			logger.Info("an audience no longer sees a guarded table; its release is kept, as others follow from it, and as its readers may have kept it", "relation", of.table.layout.name(), "audience", of.before.Links[i].Audience)
		case !a.removed && !known:
			logger.Info("an audience sees a guarded table from now on, by classes that are united from those that are published", "relation", of.table.layout.name(), "audience", a.name)
		case !a.removed && of.before.Links[i].Audience != a.name:
			logger.Info("an audience sees what another one saw of a guarded table", "relation", of.table.layout.name(), "audience", a.name)
		}
	}
}
