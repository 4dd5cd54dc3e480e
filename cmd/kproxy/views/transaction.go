package views

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of PostgreSQL's errors (appendix "PostgreSQL Error Codes").
const (
	lockNotAvailable       = "55P03"
	deadlockDetected       = "40P01"
	invalidTableDefinition = "42P16"
)

// isHeld reports whether readers' transactions held a view for too long.
func isHeld(refused *pgconn.PgError) bool {
	return refused.Code == lockNotAvailable || refused.Code == deadlockDetected
}

// errConnection says that the database is out of reach during a look.
var errConnection = errors.New("the connection was lost")

// serializeSQL lets one process at a time publish, however long that takes. It waits for readers
// only briefly, since later readers would have to wait as well.
const serializeSQL = `SET LOCAL search_path = pg_catalog; SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock(hashtextextended('kproxy: published views', 0)); SET LOCAL lock_timeout = '300ms'`

// serialized runs do in a transaction, in one process at a time. An error of the database rolls it
// back and is returned as refused; err is any other error.
func (m *viewMaker) serialized(ctx context.Context, do func(pgx.Tx) error) (refused *pgconn.PgError, err error) {
	tx, err := m.conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err = tx.Exec(ctx, serializeSQL, pgx.QueryExecModeSimpleProtocol); err == nil {
		err = do(tx)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if errors.As(err, &refused) && !m.conn.IsClosed() {
		return refused, nil
	}
	return nil, err
}

// change changes one view, unless its plan is carried out already or a table has its name. On
// success, the outcome is that of the plan.
func (m *viewMaker) change(ctx context.Context, plan viewPlan, do func(tx pgx.Tx, before storedView) error) (refused *pgconn.PgError, err error) {
	name := plan.view.Name
	outcome := viewOutcome{problem: plan.problem, fix: plan.fix, waits: plan.waits, standIn: plan.standIn}
	refused, err = m.serialized(ctx, func(tx pgx.Tx) error {
		before, known, err := readStoredView(ctx, tx, m.audience, m.reader, name)
		if err != nil {
			return err
		}
		if known && m.settled(before, plan) {
			outcome = outcomeOf(plan, before)
			return nil
		}
		switch taken, err := isTable(ctx, tx, name); {
		case err != nil:
			return err
		case taken:
			outcome = nameTaken
			return nil
		}
		return do(tx, before)
	})
	if refused == nil && err == nil {
		m.outcomes[name] = outcome
	}
	return refused, err
}
