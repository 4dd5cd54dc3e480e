package sync

import (
	"context"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

const (
	// groupRows and groupTime bound how many source transactions go into one
	// transaction of the store while more are waiting: up to groupRows changes, for
	// groupTime or for as long as writing the last group took, up to groupMost. A class
	// that several changes of a group touch is written once.
	groupRows = 20000
	groupTime = 50 * time.Millisecond
	groupMost = 500 * time.Millisecond
	// idleBytes, and the interval of heartbeats, bound how far an idle stream may run ahead
	// of the stored position, so that the slot does not hold WAL that concerns nobody.
	idleBytes = 16 << 20
)

// spillRows bounds the rows of one source transaction that are held in memory for a
// table, beyond what a group holds anyway. Tests lower it.
var spillRows = 2 * groupRows

// spillBytes bounds the bytes of their values likewise.
const spillBytes = 64 << 20

// applier turns the stream's messages into changes of the tables and writes
// them at commit boundaries of the source.
type applier struct {
	*session
	stream    *stream
	relations map[uint32]*relation
	heard     map[uint32]pglogrepl.LSN // of each relation: where the last commit begins that changed it

	inTransaction bool
	transaction   uint32        // its number
	final         pglogrepl.LSN // where the transaction's commit begins
	end           pglogrepl.LSN // end of the last transaction in the group
	spoke         bool          // the transaction has changes, be they of tables that are applied or not
	passed        pglogrepl.LSN // end of the last transaction that had
	rows          int           // changes in the group
	since         time.Time     // when the group began
	wrote         time.Duration // how long the last group was written, up to groupMost
	moved         time.Time     // when the position was last moved
	tx            pgx.Tx        // open where rows were spilled; else nil

	mixer    *mixer
	due      *time.Timer // for tables that publish by the clock
	renewer  *renewer
	worker   *worker
	working  bool      // the worker is at a job
	newcomer *newcomer // waits for a commit boundary
	watcher  *watcher
	found    *finding // waits for a commit boundary
}

// apply applies the changes that follow the position, until an error.
func (s *session) apply(ctx context.Context, w *watcher, first *stream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &applier{session: s, stream: first, relations: make(map[uint32]*relation), heard: make(map[uint32]pglogrepl.LSN), worker: newWorker(s), watcher: w}
	worked := make(chan struct{})
	go func() {
		a.worker.run(ctx)
		close(worked)
	}()
	applied := guard(s.Logger, func() error { return a.run(ctx) })
	cancel()
	<-worked
	a.stream.stop()
	if ended := <-a.stream.ended; applied == nil {
		return ended // why there was nothing left to apply
	}
	return applied
}

func (a *applier) run(ctx context.Context) error {
	a.moved, a.mixer, a.due = time.Now(), newMixer(), time.NewTimer(0)
	defer a.mixer.timer.Stop()
	defer a.due.Stop()
	a.renewer = newRenewer(a)
	defer a.renewer.close()
	a.dispatch()
	for {
		var err error
		select {
		case <-a.due.C:
			err = a.publishDue(ctx)
		case <-a.mixer.timer.C:
			err = a.mix(ctx)
		case <-a.renewer.look.C:
			err = a.tick(ctx)
		case a.renewer.ready = <-a.renewer.ended:
			err = a.renewer.step(ctx)
		case a.newcomer = <-a.worker.ready:
			err = a.welcome(ctx)
		case f := <-a.watcher.found:
			if a.found == nil {
				a.found = &f
			}
			if a.atBoundary() {
				err = a.react(ctx)
			}
		case m, open := <-a.stream.messages:
			if !open {
				return nil // the receiver says why
			}
			if err = a.handle(ctx, m); err == nil {
				err = a.flushIfDue(ctx)
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// tick does what has to be done now and then.
func (a *applier) tick(ctx context.Context) error {
	if err := a.renewer.lookForRequests(ctx); err != nil {
		return err
	}
	if err := a.renewer.step(ctx); err != nil {
		return err
	}
	// Changes that concern nobody move the position as well, if not each on its own.
	if a.passed > a.position && a.atBoundary() {
		return a.flush(ctx, a.end)
	}
	return nil
}

// atBoundary says that tables and store agree, between two transactions of the source.
func (a *applier) atBoundary() bool { return !a.inTransaction && a.rows == 0 && a.tx == nil }

// welcome lets the newcomer join, if this is a commit boundary; else the next flush does.
func (a *applier) welcome(ctx context.Context) error {
	if a.newcomer == nil || !a.atBoundary() {
		return nil
	}
	return a.join(ctx, a.newcomer)
}

// rewind has the stream start at the position once more.
func (a *applier) rewind(ctx context.Context) (err error) {
	old := a.stream
	if a.stream, err = a.restartStream(ctx, old); err != nil {
		a.stream = old
		return err
	}
	clear(a.relations) // the server describes them again
	a.end, a.passed = 0, 0
	return nil
}

func (a *applier) handle(ctx context.Context, m message) error {
	if m.data == nil {
		return a.keepalive(ctx, m.keepalive)
	}
	parsed, err := pglogrepl.Parse(m.data)
	if err != nil {
		return &StopError{What: "a replication message cannot be read", Fix: "report this with the server's version", Err: err}
	}
	switch m := parsed.(type) {
	case *pglogrepl.BeginMessage:
		a.inTransaction, a.transaction, a.final, a.spoke = true, m.Xid, m.FinalLSN, false
		return nil
	case *pglogrepl.CommitMessage:
		a.inTransaction = false
		if a.rows == 0 {
			a.consumed.Store(uint64(m.TransactionEndLSN))
		}
		if a.end = m.TransactionEndLSN; a.spoke {
			a.passed = a.end
		}
		return nil
	case *pglogrepl.RelationMessage:
		return a.describe(ctx, m)
	}
	a.spoke = true
	return a.change(ctx, parsed)
}

// change applies one row change, or a truncation, to the tables in memory.
func (a *applier) change(ctx context.Context, parsed pglogrepl.Message) error {
	switch m := parsed.(type) {
	case *pglogrepl.InsertMessage:
		return a.row(ctx, m.RelationID, m.Tuple, nil, func(t *table, _, values []value) error { return t.insert(values) })
	case *pglogrepl.UpdateMessage:
		return a.row(ctx, m.RelationID, m.NewTuple, m.OldTuple, (*table).update)
	case *pglogrepl.DeleteMessage:
		return a.row(ctx, m.RelationID, nil, m.OldTuple, func(t *table, old, _ []value) error { return t.delete(old) })
	case *pglogrepl.TruncateMessage:
		for _, id := range m.RelationIDs {
			r, err := a.relation(id)
			if err != nil {
				return err
			}
			t, err := a.concerned(r)
			if err != nil {
				return err
			}
			if t != nil {
				if r.leaf {
					return t.errDifferent("a partition was truncated")
				}
				a.count()
				t.truncate()
				t.truncatedBy = a.transaction
			}
		}
	}
	return nil // types, origins and logical messages change no row
}

// concerned is the table that the relation's changes belong to: nil for one that is not
// applied, or that has the transaction already, as it begins to commit before the
// table's position.
func (a *applier) concerned(r *relation) (*table, error) {
	a.heard[r.as.RelationID] = a.final
	if r.table == nil || a.final < r.table.lsn {
		return nil, nil
	}
	return r.table, r.err
}

// row applies the change of one row.
func (a *applier) row(
	ctx context.Context, id uint32, newTuple, oldTuple *pglogrepl.TupleData, do func(t *table, old, values []value) error,
) error {
	r, err := a.relation(id)
	if err != nil {
		return err
	}
	t, err := a.concerned(r)
	if t == nil || err != nil {
		return err
	}
	a.count()
	if err := r.apply(newTuple, oldTuple, func(old, values []value) error { return do(t, old, values) }); err != nil {
		return err
	}
	if (t.rows >= spillRows || t.bytes >= spillBytes) && a.inTransaction {
		return a.spill(ctx, t)
	}
	return nil
}

func (a *applier) count() {
	if a.rows == 0 {
		a.since = time.Now()
	}
	a.rows++
}

// publishDue settles the tables whose time has come, at a commit boundary.
func (a *applier) publishDue(ctx context.Context) error {
	if !a.atBoundary() {
		a.due.Reset(mixIdle)
		return nil
	}
	now, any := a.Now(), false
	for _, t := range a.tables {
		if due := t.stage.due(); !due.IsZero() && !due.After(now) {
			t.changed, any = true, true
		}
	}
	if any {
		if err := a.flush(ctx, a.position); err != nil {
			return err
		}
	}
	a.waitForDue()
	return nil
}

// leastWait and mostWait bound the time between two looks at what is due: the clock may
// be put right meanwhile.
const (
	leastWait = 100 * time.Millisecond
	mostWait  = 5 * time.Second
)

// waitForDue sets the timer to when the first table has something to publish although
// nothing changes.
func (a *applier) waitForDue() {
	a.due.Stop()
	var first time.Time
	for _, t := range a.tables {
		if due := t.stage.due(); !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	if !first.IsZero() {
		a.due.Reset(min(mostWait, max(leastWait, first.Sub(a.Now()))))
	}
}
