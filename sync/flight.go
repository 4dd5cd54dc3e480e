package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// flight is a group of source transactions on its way into the store: one transaction of
// the store, which a goroutine sends to the server while the applier takes the next
// groups into memory. One is in the air and has the connection to itself; another one
// may be ready and wait for it.
//
// What is in memory is settled, and queued as statements, before the next change is
// applied: a flight knows nothing of the changes that come after it. Position,
// acknowledgement and all that tells of what is stored wait for its commit. Where one
// fails, so do all that follow, and the session with them.
type flight struct {
	from, to pglogrepl.LSN
	tx       pgx.Tx  // which spilled rows have begun; nil for none
	earlier  *flight // that has to land first; nil for none
	began    time.Time
	changes  bool                   // it has changes of the source
	proofs   []proof                // of the tables that it changes
	figures  map[*table]TableStatus // of the state that it writes
	orders   chan order
	given    bool // the orders are complete; without, nothing is committed
	gone     chan struct{}
	err      error // once gone is closed
}

// order is a part of what a flight writes.
type order func(ctx context.Context, tx pgx.Tx) error

const (
	// mostFlights is how many are under way, so that the server need not wait for the
	// next one.
	mostFlights = 2
	// queuedOrders bounds the orders of a group that wait for the server, so that all
	// of a usual group's do. A large transaction has more than fit into memory, and
	// waits for them.
	queuedOrders = 64
	fewOrders    = 2
)

// aheadRows is from how many changes on a group without more behind it is settled before the one
// before it has landed.
func aheadRows() int { return groupRows / 12 }

// depart sends what has changed on its way, up to a commit boundary.
func (a *applier) depart(ctx context.Context, to pglogrepl.LSN) error {
	for len(a.flights) == mostFlights || len(a.flights) > 0 && a.catchesUp() {
		if err := a.land(ctx); err != nil {
			return err
		}
	}
	a.markDue()
	a.mixWith()
	f := &flight{
		from: a.session.position, to: to, tx: a.tx, began: time.Now(), changes: a.rows > 0,
		orders: make(chan order, queuedOrders), gone: make(chan struct{}), proofs: a.proofs(),
	}
	if last := len(a.flights) - 1; last >= 0 {
		f.earlier, f.from = a.flights[last], a.flights[last].to
	}
	for _, t := range a.session.tables {
		if t.pending.spilled {
			f.orders = make(chan order, fewOrders)
		}
	}
	a.flights, a.tx = append(a.flights, f), nil
	go func() {
		f.err = guard(a.session.syncer.config.Logger, func() error { return a.fly(ctx, f) })
		close(f.gone)
	}()
	err := a.board(ctx, f)
	f.given = err == nil
	close(f.orders)
	a.rows = 0
	if err != nil {
		return a.lost(err)
	}
	if a.renewer.running == nil {
		a.renewer.beginNext(ctx) // what is in memory is settled
	}
	return nil
}

// catchesUp says that a generation is not shown yet, which a flight may do.
func (a *applier) catchesUp() bool {
	return slices.ContainsFunc(a.session.tables, func(t *table) bool { return t.release.showAt != 0 })
}

// lost waits for the end of all flights after an error; what went wrong with the first of
// them comes before it.
func (a *applier) lost(err error) error {
	flights := a.flights
	a.flights = nil
	for _, f := range flights {
		<-f.gone
	}
	for _, f := range flights {
		if f.err != nil && !errors.Is(f.err, errNotGiven) {
			return f.err
		}
	}
	return err
}

// board gives a flight its orders.
func (a *applier) board(ctx context.Context, f *flight) error {
	for _, t := range a.session.tables {
		if !t.pending.any {
			continue
		}
		to := &sink{deliver: func(d delivery) error {
			return f.order(func(ctx context.Context, tx pgx.Tx) error { return a.blame(t, d.send(ctx, tx)) })
		}}
		if err := t.write(ctx, to); err != nil {
			return a.blame(t, err)
		}
		to.Queue("UPDATE kproxy_store.generation SET lsn = $3::text::pg_lsn WHERE table_schema = $1 AND table_name = $2",
			t.layout.name().Schema, t.layout.name().Relation, max(f.to, t.release.position).String())
		if err := to.close(); err != nil {
			return err
		}
		t.written()
	}
	f.figures = a.session.figures()
	for _, t := range a.session.tables {
		if t.release.showAt == 0 || t.release.showAt > f.to || time.Since(t.release.postponed) < postponement {
			continue
		}
		err := f.order(func(ctx context.Context, tx pgx.Tx) (err error) {
			t.release.shown, err = a.tryShow(ctx, tx, t)
			return err
		})
		if err != nil {
			return err
		}
	}
	outcomes := &sink{deliver: func(d delivery) error {
		return f.order(d.send)
	}}
	a.renewer.writeOutcomes(outcomes)
	a.renewer.outcomes = nil
	return outcomes.close()
}

// errNotGiven ends a flight whose orders could not be made.
var errNotGiven = errors.New("there is nothing to commit")

// order adds to what is written. It waits where the server is behind.
func (f *flight) order(o order) error {
	select {
	case f.orders <- o:
		return nil
	case <-f.gone:
		return errors.Join(f.err, errNotGiven)
	}
}

// fly writes store, release and position in one transaction, which spilled rows may
// have begun.
func (a *applier) fly(ctx context.Context, f *flight) error {
	if f.earlier != nil {
		if <-f.earlier.gone; f.earlier.err != nil {
			return errNotGiven
		}
		f.earlier = nil
	}
	tx := f.tx
	if tx == nil {
		var err error
		if tx, err = a.session.store.conn.BeginTx(ctx, pgx.TxOptions{}); err != nil {
			return fmt.Errorf("opening a transaction on the store: %w", err)
		}
	}
	committed := false
	defer func() {
		if !committed {
			_ = tx.Rollback(context.WithoutCancel(ctx))
		}
	}()
	if err := a.session.store.movePosition(ctx, tx, f.from, f.to); err != nil {
		return err
	}
	for _, p := range f.proofs {
		if err := p.prove(ctx, tx); err != nil {
			return err
		}
	}
	for do := range f.orders {
		if err := do(ctx, tx); err != nil {
			return err
		}
	}
	if !f.given {
		return errNotGiven
	}
	a.session.syncer.config.Failpoint(FailBeforeCommit)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing the store: %w", err)
	}
	committed = true
	a.session.syncer.config.Failpoint(FailAfterCommit)
	return nil
}

// gone is closed when the first flight under way has ended; nil where there is none.
func (a *applier) gone() <-chan struct{} {
	if len(a.flights) == 0 {
		return nil
	}
	return a.flights[0].gone
}

// landAll waits for all that is under way, so that the connection is free.
func (a *applier) landAll(ctx context.Context) error {
	for len(a.flights) > 0 {
		if err := a.land(ctx); err != nil {
			return err
		}
	}
	return nil
}

// land waits for the first flight under way, and takes note of what the store has then.
func (a *applier) land(ctx context.Context) error {
	f := a.flights[0]
	<-f.gone // soon after ctx ends
	if f.err != nil {
		return a.lost(f.err)
	}
	a.flights = a.flights[1:]
	a.session.position, a.moved = f.to, time.Now()
	a.wrote = min(time.Since(f.began), groupMost)
	for _, t := range a.session.tables {
		t.release.stored(f.to)
	}
	a.session.shared.ack.stored.Store(uint64(f.to))
	a.session.report(f.figures)
	if f.changes {
		a.mixer.changed(a.moved)
		a.waitForDue()
	}
	if a.renewer.asked {
		return a.renewer.lookForRequests(ctx)
	}
	return nil
}
