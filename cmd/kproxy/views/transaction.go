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

// isHeld says whether readers' transactions were waited for in vain.
func isHeld(refused *pgconn.PgError) bool {
	return refused.Code == lockNotAvailable || refused.Code == deadlockDetected
}

// errConnection says that the database is out of reach in the midst of a look.
var errConnection = errors.New("the connection was lost")

// takeTurn has processes come one after the other, however long that takes. Readers are
// waited for briefly: those who come later wait behind.
const takeTurn = `SET LOCAL search_path = pg_catalog; SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock(hashtextextended('kproxy: published views', 0)); SET LOCAL lock_timeout = '300ms'`

// alone does something in a transaction, one process at a time: the next one finds it done.
// What the database refuses is undone and returned as such; err is anything else.
func (m *viewMaker) alone(ctx context.Context, do func(pgx.Tx) error) (refused *pgconn.PgError, err error) {
	tx, err := m.conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err = tx.Exec(ctx, takeTurn, pgx.QueryExecModeSimpleProtocol); err == nil {
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

// change does something about one view, unless that is settled, or a table has its name.
// Where that works, the outcome is what the plan says.
func (m *viewMaker) change(ctx context.Context, plan viewPlan, do func(tx pgx.Tx, before storedView) error) (refused *pgconn.PgError, err error) {
	name := plan.view.Name
	outcome := viewOutcome{problem: plan.problem, fix: plan.fix, waits: plan.waits, standIn: plan.standIn}
	refused, err = m.alone(ctx, func(tx pgx.Tx) error {
		before, known, err := readStoredView(ctx, tx, m.reader, name)
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
