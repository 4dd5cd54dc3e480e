package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// viewOutcome is where one listed view over protected tables stands. It is published
// where there is no problem.
type viewOutcome struct {
	problem, fix string // for the operator
	// waits says that the view is published as soon as what it reads is, or readers let
	// go of an earlier definition.
	waits bool
}

// storedView is a row of kproxy_store.view.
type storedView struct {
	digest, problem string
	// made says that there is a published view, not of a table, and alive that it is the
	// one that was made and that the reader may read it.
	made, alive bool
	omitted     int // columns of the definition that are not published
}

// settled says whether what the store has is what the plan wants.
func (s storedView) settled(plan viewPlan) bool {
	if s.digest != plan.digest {
		return false
	}
	if plan.problem != "" || s.problem != "" {
		return !s.made
	}
	return s.alive
}

// refused says whether the database refused what the plan wants, or a digest was not kept
// because that is tried again each time.
func (s storedView) refused(plan viewPlan) bool {
	return s.problem != "" && (s.digest == plan.digest || s.digest == "")
}

// viewMaker makes published views what plans want.
type viewMaker struct {
	conn    *pgx.Conn
	reader  string
	invoker bool
	// gone says whether a view that was published is to be dropped: it is no longer one
	// over protected tables, or the policy does not list it.
	gone func(catalog.Name) bool
	// again has definitions that the database refused tried once more.
	again bool
	// told says whether every process has had the time to refuse the view to readers, so
	// that its published form can go.
	told func(catalog.Name) bool

	outcomes map[catalog.Name]viewOutcome
	// kept says that readers' transactions hold a view that is to be dropped.
	kept bool
}

// invokerVersion is the first server_version_num with security_invoker.
const invokerVersion = 150000

// errViewStore says that setup has to be run again.
var errViewStore = errors.New("the private store was made by an earlier version, which published no views: run 'kproxy setup', which keeps what is there")

// storedViews reads what has been made, for the reader role.
func storedViews(ctx context.Context, on querier, reader string) (map[catalog.Name]storedView, error) {
	rows, err := on.Query(ctx, `SELECT s.view_schema, s.view_name, s.digest, coalesce(s.problem, ''), s.omitted, c.oid IS NOT NULL,
		coalesce(c.oid = s.made AND pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT'), false)
		FROM kproxy_store.view s
		LEFT JOIN pg_catalog.pg_roles r ON r.rolname = $1
		LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = $2 || s.view_schema
		LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.view_name
			AND NOT EXISTS (SELECT FROM kproxy_store.generation g WHERE g.table_schema = s.view_schema AND g.table_name = s.view_name)`,
		reader, catalog.ReleaseSchema(""))
	if err != nil {
		return nil, fmt.Errorf("reading the published views: %w", err)
	}
	stored := make(map[catalog.Name]storedView)
	var name catalog.Name
	var s storedView
	_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &s.digest, &s.problem, &s.omitted, &s.made, &s.alive}, func() error {
		stored[name] = s
		return nil
	})
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && slices.Contains([]string{undefinedTable, undefinedSchema}, refused.Code) {
		return nil, errViewStore
	}
	if err != nil {
		return nil, fmt.Errorf("reading the published views: %w", err)
	}
	return stored, nil
}

// make brings the published views in line with the plans, in their order. Other processes may do the same at the same time: a lock has one of
// them come after the other, which then finds everything done.
func (m *viewMaker) make(ctx context.Context, plans []viewPlan) (err error) {
	m.outcomes = make(map[catalog.Name]viewOutcome)
	stored, err := storedViews(ctx, m.conn, m.reader)
	if err != nil {
		return err
	}
	if !m.unsettled(stored, plans) {
		m.note(plans, stored)
		return nil
	}
	tx, err := m.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("publishing views: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	// Readers are waited for briefly: those who come later wait behind.
	for _, sql := range []string{
		"SET LOCAL lock_timeout = '300ms'", "SET LOCAL search_path = pg_catalog",
		"SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('kproxy: published views', 0))",
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("publishing views: %w", err)
		}
	}
	if stored, err = storedViews(ctx, tx, m.reader); err != nil {
		return err
	}
	m.note(plans, stored)
	if err := m.drop(ctx, tx, stored); err != nil {
		return err
	}
	for _, plan := range plans {
		if err := m.settle(ctx, tx, plan); err != nil {
			return err
		}
	}
	if err := m.narrow(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("publishing views: %w", err)
	}
	return nil
}

// unsettled says whether anything has to be done.
func (m *viewMaker) unsettled(stored map[catalog.Name]storedView, plans []viewPlan) bool {
	for name := range stored {
		if m.gone(name) {
			return true
		}
	}
	return slices.ContainsFunc(plans, func(plan viewPlan) bool {
		s, known := stored[plan.view.Name]
		return !known || !m.settled(s, plan)
	})
}

// settled says whether nothing is to be done for a plan.
func (m *viewMaker) settled(s storedView, plan viewPlan) bool {
	again := m.again && plan.problem == "" && s.problem != ""
	return s.settled(plan) && !again
}

// note takes outcomes from what was done before.
func (m *viewMaker) note(plans []viewPlan, stored map[catalog.Name]storedView) {
	for _, plan := range plans {
		outcome := viewOutcome{problem: plan.problem, fix: plan.fix, waits: plan.waits}
		if s := stored[plan.view.Name]; outcome.problem == "" && s.refused(plan) {
			outcome.problem, outcome.fix = s.problem, fixDefinition
		}
		m.outcomes[plan.view.Name] = outcome
	}
}

// fixDefinition suits a definition that the database refuses on published tables.
const fixDefinition = "change its definition so that it works with the columns and types that tables publish ('kproxy check' and \\d show them), or take it off readable"

// drop takes away the views that are gone from the database or the policy. One that
// readers hold is left for the next time.
func (m *viewMaker) drop(ctx context.Context, tx pgx.Tx, stored map[catalog.Name]storedView) error {
	var names []catalog.Name
	for name := range stored {
		if m.gone(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, catalog.Name.Compare)
	for _, name := range names {
		refused, err := attempt(ctx, tx, func(part pgx.Tx) error {
			if err := dropView(ctx, part, name, stored[name]); err != nil {
				return err
			}
			_, err := part.Exec(ctx, "DELETE FROM kproxy_store.view WHERE view_schema = $1 AND view_name = $2", name.Schema, name.Relation)
			return err
		})
		if err == nil && refused != nil {
			if m.kept = isHeld(refused); !m.kept {
				err = refused
			}
		}
		if err != nil {
			return fmt.Errorf("dropping the published view %s: %w", name, err)
		}
	}
	return nil
}

// dropView drops a published view if it is there, and those that read it. What else may
// bear its name is the published relation of a table.
func dropView(ctx context.Context, on pgx.Tx, name catalog.Name, s storedView) error {
	if !s.made {
		return nil
	}
	_, err := on.Exec(ctx, "DROP VIEW IF EXISTS "+catalog.Published(name).SQL()+" CASCADE")
	return err
}

// Codes of PostgreSQL's errors (appendix "PostgreSQL Error Codes").
const (
	lockNotAvailable       = "55P03"
	deadlockDetected       = "40P01"
	invalidTableDefinition = "42P16"
)

// attempt does a part of a transaction, which is undone where it fails. A refusal of the
// database is returned as such; err is what ends the transaction.
func attempt(ctx context.Context, tx pgx.Tx, do func(pgx.Tx) error) (refused *pgconn.PgError, err error) {
	part, err := tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if err = do(part); err == nil {
		return nil, part.Commit(ctx)
	}
	if errors.As(err, &refused) {
		return refused, part.Rollback(ctx)
	}
	return nil, err
}

// settle does for one view what its plan wants.
func (m *viewMaker) settle(ctx context.Context, tx pgx.Tx, plan viewPlan) error {
	name := plan.view.Name
	// What was done for views that it reads may have taken it along.
	stored, err := storedViews(ctx, tx, m.reader)
	if err != nil {
		return err
	}
	before, known := stored[name]
	if known && m.settled(before, plan) {
		return nil
	}
	if taken, err := isTable(ctx, tx, name); err != nil || taken {
		m.outcomes[name] = viewOutcome{problem: "a table of its name was protected, and its release is still there", fix: "run 'kproxy reload'", waits: true}
		return err
	}
	problem := plan.problem
	if problem == "" {
		refused, err := attempt(ctx, tx, func(part pgx.Tx) error { return m.create(ctx, part, plan, before) })
		switch {
		case err != nil:
			return fmt.Errorf("publishing view %s: %w", name, err)
		case refused == nil:
			m.outcomes[name] = viewOutcome{}
			return nil
		case isHeld(refused):
			m.outcomes[name] = held
			return nil
		}
		problem = refused.Message
		m.outcomes[name] = viewOutcome{problem: problem, fix: fixDefinition}
		if slices.Contains([]string{undefinedSchema, insufficientPrivilege}, refused.Code) {
			m.outcomes[name] = viewOutcome{problem: problem, fix: "run 'kproxy setup'"}
			plan.digest = "" // tried again each time
		}
	}
	refused, err := attempt(ctx, tx, func(part pgx.Tx) error {
		if m.told(name) {
			if err := dropView(ctx, part, name, before); err != nil {
				return err
			}
		}
		return record(ctx, part, plan, problem)
	})
	if err == nil && refused != nil && !isHeld(refused) {
		err = refused
	}
	if err != nil {
		return fmt.Errorf("withdrawing view %s: %w", name, err)
	}
	return nil
}

// isTable says whether there is the release of a table of that name.
func isTable(ctx context.Context, tx pgx.Tx, name catalog.Name) (is bool, err error) {
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2)", name.Schema, name.Relation).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("looking for a table of the name of view %s: %w", name, err)
	}
	return is, nil
}

// isHeld says whether readers' transactions were waited for in vain.
func isHeld(refused *pgconn.PgError) bool {
	return refused.Code == lockNotAvailable || refused.Code == deadlockDetected
}

// held is the outcome for a view of whose earlier form readers have not let go.
var held = viewOutcome{problem: "readers' transactions hold an earlier form of it", fix: "nothing: their sessions are ended", waits: true}

// create makes the published view, in place of an earlier one where that has the same
// columns.
func (m *viewMaker) create(ctx context.Context, tx pgx.Tx, plan viewPlan, before storedView) error {
	view := catalog.Published(plan.view.Name).SQL()
	columns := make([]string, len(plan.published.Columns))
	for i, column := range plan.published.Columns {
		columns[i] = catalog.QuoteIdentifier(column)
	}
	options := fmt.Sprintf("security_barrier = %t", plan.view.Barrier)
	if m.invoker {
		options += ", security_invoker = true"
	}
	create := fmt.Sprintf("VIEW %s (%s) WITH (%s) AS %s", view, strings.Join(columns, ", "), options, plan.published.SQL)
	refused, err := attempt(ctx, tx, func(part pgx.Tx) error {
		_, err := part.Exec(ctx, "CREATE OR REPLACE "+create, pgx.QueryExecModeSimpleProtocol)
		return err
	})
	switch {
	case err != nil:
		return err
	case refused != nil && refused.Code != invalidTableDefinition:
		return refused
	case refused != nil:
		if err := dropView(ctx, tx, plan.view.Name, before); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE "+create, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	for _, sql := range []string{
		"GRANT SELECT ON " + view + " TO " + catalog.QuoteIdentifier(m.reader),
		"COMMENT ON VIEW " + view + " IS " + catalog.QuoteLiteral(plan.comment()),
	} {
		if _, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return record(ctx, tx, plan, "")
}

// comment is what readers see of the view's making. It names no column that they do not
// have.
func (plan viewPlan) comment() string {
	switch n := len(plan.published.Omitted); n {
	case 0:
		return "A view over published tables."
	case 1:
		return "A view over published tables. 1 column of its definition is not published."
	default:
		return fmt.Sprintf("A view over published tables. %d columns of its definition are not published.", n)
	}
}

// record notes what was made of a view.
func record(ctx context.Context, tx pgx.Tx, plan viewPlan, problem string) error {
	name := plan.view.Name
	_, err := tx.Exec(ctx, `INSERT INTO kproxy_store.view (view_schema, view_name, made, digest, problem, omitted)
		VALUES ($1, $2, CASE WHEN $5 = '' THEN pg_catalog.to_regclass($3)::oid END, $4, nullif($5, ''), $6)
		ON CONFLICT (view_schema, view_name) DO UPDATE SET made = excluded.made, digest = excluded.digest, problem = excluded.problem, omitted = excluded.omitted`,
		name.Schema, name.Relation, catalog.Published(name).SQL(), plan.digest, problem, len(plan.published.Omitted))
	return err
}

// narrow drops what would show readers more than they may read themselves, whatever made
// it so.
func (m *viewMaker) narrow(ctx context.Context, tx pgx.Tx) error {
	found, err := inspect.Widenings(ctx, m.conn, m.reader)
	if err != nil {
		return err
	}
	for _, w := range found {
		if _, err := tx.Exec(ctx, "DROP VIEW IF EXISTS "+w.View.SQL()+" CASCADE"); err != nil {
			return fmt.Errorf("dropping view %s, which shows too much: %w", w.View, err)
		}
		name := catalog.Name{Schema: strings.TrimPrefix(w.View.Schema, catalog.ReleaseSchema("")), Relation: w.View.Relation}
		m.outcomes[name] = viewOutcome{problem: "it would show rows of " + w.Source + ", which the reader role may not read", fix: "run 'kproxy setup'", waits: true}
	}
	return nil
}
