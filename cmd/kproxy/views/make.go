package views

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// viewMaker carries out plans, each in a transaction of its own, so that views do not affect each
// other.
type viewMaker struct {
	conn   *pgx.Conn
	policy catalog.Policy
	// audience is the one for which views are published, empty for the policy's own readers, and reader
	// its role.
	audience, reader string
	invoker          bool
	// gone reports whether a published view is to be dropped: it is no longer a view over protected
	// tables, or the policy does not list it.
	gone func(catalog.Name) bool
	// listed are the names that the policy lists. Their acceptance is kept.
	listed map[catalog.Name]bool
	// again says to try definitions again that the database refused.
	again bool
	// told reports whether every process has had time to refuse the view to readers, so that its
	// published form can be dropped.
	told func(catalog.Name) bool

	outcomes map[catalog.Name]viewOutcome
	// kept says that readers' transactions hold a view that should be dropped.
	kept bool
	// dropped are the views that were dropped, including those that read them.
	dropped map[catalog.Name]bool
}

// make carries out the plans in order. Whatever fails, each plan has an outcome once the store
// has been read.
func (m *viewMaker) make(ctx context.Context, plans []viewPlan) error {
	stored, err := storedViews(ctx, m.conn, m.audience, m.reader)
	if err != nil {
		return err
	}
	m.outcomes, m.dropped = make(map[catalog.Name]viewOutcome), make(map[catalog.Name]bool)
	for _, plan := range plans {
		m.outcomes[plan.view.Name] = outcomeOf(plan, stored[plan.view.Name])
	}
	failed := m.dropGone(ctx, stored)
	for _, plan := range plans {
		name := plan.view.Name
		along := slices.ContainsFunc(plan.view.Reads, func(read catalog.Name) bool { return m.dropped[read] })
		if along {
			m.dropped[name] = true
			if m.outcomes[name].problem == "" {
				m.outcomes[name] = pending
			}
		}
		if s, known := stored[name]; known && !along && m.settled(s, plan) || m.lost(ctx) {
			continue
		}
		if err := m.settle(ctx, plan); err != nil {
			failed = append(failed, err)
		}
	}
	if !m.invoker && !m.lost(ctx) {
		failed = append(failed, m.narrow(ctx))
	}
	if m.lost(ctx) {
		failed = append(failed, fmt.Errorf("publishing views: %w", cmp.Or(ctx.Err(), errConnection)))
	}
	return errors.Join(failed...)
}

// lost reports whether nothing more can be done in this look.
func (m *viewMaker) lost(ctx context.Context) bool { return ctx.Err() != nil || m.conn.IsClosed() }

// settled reports whether a plan is carried out already.
func (m *viewMaker) settled(s storedView, plan viewPlan) bool {
	again := m.again && plan.problem == "" && s.problem != ""
	return s.settled(plan) && !again
}

// settle carries out one plan.
func (m *viewMaker) settle(ctx context.Context, plan viewPlan) error {
	name := plan.view.Name
	if plan.problem == "" {
		refused, err := m.publish(ctx, plan, false)
		if refused != nil && refused.Code == invalidTableDefinition { // other columns than before
			refused, err = m.publish(ctx, plan, true)
		}
		switch {
		case err != nil:
			return fmt.Errorf("publishing view %s: %w", name, err)
		case refused == nil:
			return nil
		case isHeld(refused):
			m.outcomes[name] = held
			return nil
		}
		plan.problem, plan.fix = refused.Message, FixDefinition
		if slices.Contains([]string{upstream.UndefinedSchema, upstream.InsufficientPrivilege}, refused.Code) {
			plan.fix, plan.digest = fixSetup, "" // tried again each time
		}
	}
	refused, err := m.withdraw(ctx, plan)
	switch {
	case err != nil:
		return fmt.Errorf("withdrawing view %s: %w", name, err)
	case refused != nil && isHeld(refused):
		m.outcomes[name] = viewOutcome{problem: plan.problem, fix: plan.fix, waits: plan.waits}
	case refused != nil:
		return fmt.Errorf("withdrawing view %s: %w", name, refused)
	}
	return nil
}

// publish creates a view, or with anew creates it again with other columns.
func (m *viewMaker) publish(ctx context.Context, plan viewPlan, anew bool) (*pgconn.PgError, error) {
	return m.change(ctx, plan, func(tx pgx.Tx, before storedView) error {
		if anew || m.audience != "" { // which may have another role than before
			if err := m.drop(ctx, tx, plan.view.Name, before); err != nil {
				return err
			}
		}
		if err := createViewFor(ctx, tx, plan, m.audience, m.reader, m.invoker); err != nil {
			return err
		}
		if plan.standIn {
			if err := createForAudiences(ctx, tx, plan, m.policy.Audiences); err != nil {
				return err
			}
			if err := m.confirm(ctx, tx, plan); err != nil {
				return err
			}
			return record(ctx, tx, m.audience, plan)
		}
		if !m.invoker {
			found, err := inspect.WidenedBy(ctx, tx.Conn(), m.audience, m.reader, catalog.PublishedFor(m.audience, plan.view.Name))
			if err != nil {
				return err
			}
			if len(found) > 0 {
				return fmt.Errorf("it would show rows of %s, which the reader role may not read: %s", found[0].Source, fixSetup)
			}
		}
		return record(ctx, tx, m.audience, plan)
	})
}

// confirm examines the relation of a new stand-in again: names may stand for other relations
// than when it was planned. What the stand-in reads is locked now and keeps its name.
func (m *viewMaker) confirm(ctx context.Context, tx pgx.Tx, plan viewPlan) error {
	name := plan.view.Name
	only := m.policy
	only.Readable = []catalog.Name{name} // otherwise all others would be read for each of them
	now, err := inspect.Readables(ctx, tx.Conn(), only, new(inspect.Definitions))
	if err != nil {
		return err
	}
	r, exists := now[name]
	if !exists || r.Raw || len(plan.accepted.Changes(catalog.IdentityOf(r, now))) > 0 {
		return fmt.Errorf("relation %s has changed meanwhile", name)
	}
	return nil
}

// withdraw records the plan's problem, and drops the published view once all processes refuse
// readers.
func (m *viewMaker) withdraw(ctx context.Context, plan viewPlan) (*pgconn.PgError, error) {
	return m.change(ctx, plan, func(tx pgx.Tx, before storedView) error {
		if m.told(plan.view.Name) {
			if err := m.drop(ctx, tx, plan.view.Name, before); err != nil {
				return err
			}
		}
		return record(ctx, tx, m.audience, plan)
	})
}

// drop drops a published view, if it exists, and those that read it. Anything else of its name
// is the published relation of a table.
func (m *viewMaker) drop(ctx context.Context, tx pgx.Tx, name catalog.Name, s storedView) error {
	if !s.made {
		return nil
	}
	m.dropped[name] = true
	if m.audience != "" {
		return dropView(ctx, tx, catalog.PublishedFor(m.audience, name))
	}
	if err := dropForAudiences(ctx, tx, name); err != nil {
		return err
	}
	return dropView(ctx, tx, catalog.Published(name))
}

// dropGone drops the views that are no longer in the database or the policy. It leaves one that
// readers hold for the next look.
func (m *viewMaker) dropGone(ctx context.Context, stored map[catalog.Name]storedView) (failed []error) {
	for _, name := range slices.SortedFunc(maps.Keys(stored), catalog.Name.Compare) {
		if !m.gone(name) || m.lost(ctx) || (m.listed[name] || stored[name].isDoubted()) && !stored[name].made {
			continue
		}
		err := m.release(m.serialized(ctx, func(tx pgx.Tx) error {
			before, _, err := readStoredView(ctx, tx, m.audience, m.reader, name)
			if err != nil {
				return err
			}
			if err := m.drop(ctx, tx, name, before); err != nil {
				return err
			}
			return forget(ctx, tx, m.audience, name, m.listed[name], before.isDoubted())
		}))
		if err != nil {
			failed = append(failed, fmt.Errorf("dropping the published view %s: %w", name, err))
		}
	}
	return failed
}

// release records that a view could not be dropped because readers hold it, which is no error.
func (m *viewMaker) release(refused *pgconn.PgError, err error) error {
	if refused == nil {
		return err
	}
	if isHeld(refused) {
		m.kept = true
		return nil
	}
	return refused
}

// narrow drops views that would show readers more than they may read themselves, for whatever
// reason. Views that read with the session's rights cannot.
func (m *viewMaker) narrow(ctx context.Context) error {
	found, err := inspect.Widenings(ctx, m.conn, m.audience, m.reader)
	if err != nil {
		return err
	}
	for _, w := range found {
		name := catalog.Name{Schema: strings.TrimPrefix(w.View.Schema, catalog.ReleaseSchemaFor(m.audience, "")), Relation: w.View.Relation}
		m.outcomes[name] = viewOutcome{problem: "it would show rows of " + w.Source + ", which the reader role may not read", fix: fixSetup, waits: true}
		if err := m.release(m.serialized(ctx, func(tx pgx.Tx) error { return dropView(ctx, tx, w.View) })); err != nil {
			return fmt.Errorf("dropping view %s, which shows too much: %w", w.View, err)
		}
	}
	return nil
}
