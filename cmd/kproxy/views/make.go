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

// viewMaker makes published views what plans want, each in a transaction of its own: what
// one waits for, or is refused, is nothing to the others.
type viewMaker struct {
	conn    *pgx.Conn
	policy  catalog.Policy
	reader  string
	invoker bool
	// gone says whether a view that was published is to be dropped: it is no longer one
	// over protected tables, or the policy does not list it.
	gone func(catalog.Name) bool
	// listed are the names that the policy lists. What was accepted of them is kept.
	listed map[catalog.Name]bool
	// again has definitions that the database refused tried once more.
	again bool
	// told says whether every process has had the time to refuse the view to readers, so
	// that its published form can go.
	told func(catalog.Name) bool

	outcomes map[catalog.Name]viewOutcome
	// kept says that readers' transactions hold a view that is to be dropped.
	kept bool
	// dropped are the views that were, and those that read them, which went along.
	dropped map[catalog.Name]bool
}

// make brings the published views in line with the plans, in their order. Whatever fails,
// there is an outcome of each plan once the store could be read.
func (m *viewMaker) make(ctx context.Context, plans []viewPlan) error {
	stored, err := storedViews(ctx, m.conn, m.reader)
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

// lost says whether nothing more can be done in this look.
func (m *viewMaker) lost(ctx context.Context) bool { return ctx.Err() != nil || m.conn.IsClosed() }

// settled says whether nothing is to be done for a plan.
func (m *viewMaker) settled(s storedView, plan viewPlan) bool {
	again := m.again && plan.problem == "" && s.problem != ""
	return s.settled(plan) && !again
}

// settle does for one view what its plan wants.
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

// publish makes a view; anew, where its columns do not go on from those that it had.
func (m *viewMaker) publish(ctx context.Context, plan viewPlan, anew bool) (*pgconn.PgError, error) {
	return m.change(ctx, plan, func(tx pgx.Tx, before storedView) error {
		if anew {
			if err := m.drop(ctx, tx, plan.view.Name, before); err != nil {
				return err
			}
		}
		if err := createView(ctx, tx, plan, m.reader, m.invoker); err != nil {
			return err
		}
		if plan.standIn {
			if err := m.confirm(ctx, tx, plan); err != nil {
				return err
			}
			return record(ctx, tx, plan)
		}
		if !m.invoker {
			found, err := inspect.WidenedBy(ctx, tx.Conn(), m.reader, catalog.Published(plan.view.Name))
			if err != nil {
				return err
			}
			if len(found) > 0 {
				return fmt.Errorf("it would show rows of %s, which the reader role may not read: %s", found[0].Source, fixSetup)
			}
		}
		return record(ctx, tx, plan)
	})
}

// confirm looks once more at the relation whose stand-in has been made: names may have
// come to mean others since it was planned. What the stand-in reads is locked by now and
// keeps its name.
func (m *viewMaker) confirm(ctx context.Context, tx pgx.Tx, plan viewPlan) error {
	name := plan.view.Name
	alone := m.policy
	alone.Readable = []catalog.Name{name} // what all others are now would be read for each of them
	now, err := inspect.Readables(ctx, tx.Conn(), alone, new(inspect.Definitions))
	if err != nil {
		return err
	}
	r, exists := now[name]
	if !exists || r.Raw || len(plan.accepted.Changes(catalog.IdentityOf(r, now))) > 0 {
		return fmt.Errorf("relation %s has changed meanwhile", name)
	}
	return nil
}

// withdraw notes the plan's problem, and drops the published view once readers are refused
// everywhere.
func (m *viewMaker) withdraw(ctx context.Context, plan viewPlan) (*pgconn.PgError, error) {
	return m.change(ctx, plan, func(tx pgx.Tx, before storedView) error {
		if m.told(plan.view.Name) {
			if err := m.drop(ctx, tx, plan.view.Name, before); err != nil {
				return err
			}
		}
		return record(ctx, tx, plan)
	})
}

// drop drops a published view if it is there, and those that read it. What else may bear
// its name is the published relation of a table.
func (m *viewMaker) drop(ctx context.Context, tx pgx.Tx, name catalog.Name, s storedView) error {
	if !s.made {
		return nil
	}
	m.dropped[name] = true
	return dropView(ctx, tx, catalog.Published(name))
}

// dropGone takes away the views that are gone from the database or the policy. One that
// readers hold is left for the next time.
func (m *viewMaker) dropGone(ctx context.Context, stored map[catalog.Name]storedView) (failed []error) {
	for _, name := range slices.SortedFunc(maps.Keys(stored), catalog.Name.Compare) {
		if !m.gone(name) || m.lost(ctx) || m.listed[name] && !stored[name].made {
			continue
		}
		err := m.release(m.alone(ctx, func(tx pgx.Tx) error {
			before, _, err := readStoredView(ctx, tx, m.reader, name)
			if err != nil {
				return err
			}
			if err := m.drop(ctx, tx, name, before); err != nil {
				return err
			}
			return forget(ctx, tx, name, m.listed[name])
		}))
		if err != nil {
			failed = append(failed, fmt.Errorf("dropping the published view %s: %w", name, err))
		}
	}
	return failed
}

// release notes that a view could not be dropped because readers hold it, which is no error.
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

// narrow drops what would show readers more than they may read themselves, whatever made
// it so. Views that read with the session's rights cannot.
func (m *viewMaker) narrow(ctx context.Context) error {
	found, err := inspect.Widenings(ctx, m.conn, m.reader)
	if err != nil {
		return err
	}
	for _, w := range found {
		name := catalog.Name{Schema: strings.TrimPrefix(w.View.Schema, catalog.ReleaseSchema("")), Relation: w.View.Relation}
		m.outcomes[name] = viewOutcome{problem: "it would show rows of " + w.Source + ", which the reader role may not read", fix: fixSetup, waits: true}
		if err := m.release(m.alone(ctx, func(tx pgx.Tx) error { return dropView(ctx, tx, w.View) })); err != nil {
			return fmt.Errorf("dropping view %s, which shows too much: %w", w.View, err)
		}
	}
	return nil
}
