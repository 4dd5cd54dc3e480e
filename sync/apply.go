package sync

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pglogrepl"
)

// groupRows bounds the changes of a group. Tests lower it.
var groupRows = maxGroupRows

const (
	// maxGroupRows and groupTime bound how many source transactions go into one
	// transaction of the store while more are waiting: up to mostGroupRows changes, for
	// groupTime or for as long as writing the last group took, up to groupMost, and
	// until that one is written. A class that several changes of a group touch is
	// written once.
	maxGroupRows = 60000
	groupTime    = 50 * time.Millisecond
	maxGroupTime = 500 * time.Millisecond
	// idleBytes, and the interval of heartbeats, bound how far an idle stream may run ahead
	// of the stored position, so that the slot does not hold WAL that concerns nobody.
	idleBytes = 16 << 20
)

// spillRows bounds the rows that are held in memory for a table until the end of their
// transaction. A group without large ones has fewer. Tests lower it.
var spillRows = maxGroupRows + maxGroupRows/2

// spillBytes bounds the bytes of their values likewise, and groupBytes those of a group.
const (
	spillBytes = 64 << 20
	groupBytes = spillBytes / 4
)

// applier turns the stream's messages into changes of the tables and writes
// them at commit boundaries of the source.
type applier struct {
	session    *session
	stream     *stream
	relations  map[uint32]*relation
	lastChange map[uint32]pglogrepl.LSN // of each relation: where the last commit begins that changed it

	inTransaction   bool
	transaction     uint32        // its number
	commitAt        pglogrepl.LSN // where the transaction's commit begins
	end             pglogrepl.LSN // end of the last transaction in the group
	moreReceived    bool          // more of the stream is here already
	changed         []*table      // that the transaction has changed
	hasChanges      bool          // the transaction has changes, be they of tables that are applied or not
	lastWithChanges pglogrepl.LSN // end of the last transaction that had
	rows            int           // changes in the group
	groupBegan      time.Time     // when the group began
	writeTime       time.Duration // how long the last group was written, up to groupMost
	moved           time.Time     // when the position was last moved
	writer          writer

	mixer     *mixer
	due       *time.Timer // for tables that publish by the clock
	renewer   *renewer
	worker    *worker
	preparing bool           // the worker is at a job
	prepared  *preparedTable // waits for a commit boundary
	watcher   *watcher
	found     *finding // waits for a commit boundary
}

// apply applies the changes that follow the position, until an error.
func (s *session) apply(ctx context.Context, w *watcher, first *stream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &applier{session: s, stream: first, relations: make(map[uint32]*relation), lastChange: make(map[uint32]pglogrepl.LSN), worker: newWorker(s), watcher: w, writer: newWriter(s)}
	worked := make(chan struct{})
	go func() {
		a.worker.run(ctx)
		close(worked)
	}()
	applied := guard(s.syncer.config.Logger, func() error { return a.run(ctx) })
	if halt := (*TableError)(nil); !errors.As(applied, &halt) {
		cancel() // else the connection is needed once more
	}
	applied = a.writer.fail(applied)
	cancel()
	<-worked
	if ended := a.stream.stop(); applied == nil {
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
	a.startJob()
	for {
		var err error
		select {
		case <-a.due.C:
			err = a.publishDue(ctx)
		case <-a.writer.oldestEnded():
			err = a.batchWritten(ctx)
		case <-a.mixer.timer.C:
			err = a.mix(ctx)
		case <-a.renewer.ticker.C:
			err = a.tick(ctx)
		case a.renewer.ready = <-a.renewer.ended:
			err = a.renewer.step(ctx)
		case a.prepared = <-a.worker.ready:
			err = a.joinPrepared(ctx)
		case f := <-a.watcher.found:
			if a.found == nil {
				a.found = &f
			}
			if a.atBoundary() {
				err = a.react(ctx)
			}
		case batch, open := <-a.stream.messages:
			if !open {
				return nil // the receiver says why
			}
			err = a.take(ctx, batch)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// take applies messages, unless the stream begins anew among them.
func (a *applier) take(ctx context.Context, batch []message) error {
	from := a.stream
	for i, m := range batch {
		if err := a.handle(ctx, m); err != nil {
			return err
		}
		a.moreReceived = i+1 < len(batch) || len(from.messages) > 0
		if err := a.flushIfDue(ctx); err != nil || a.stream != from {
			return err
		}
	}
	return nil
}

// tick does what has to be done now and then.
func (a *applier) tick(ctx context.Context) error {
	if err := a.renewer.readRequests(ctx); err != nil {
		return err
	}
	if err := a.renewer.step(ctx); err != nil {
		return err
	}
	// Changes that concern nobody move the position as well, if not each on its own.
	if a.lastWithChanges > a.session.position && a.atBoundary() {
		return a.flush(ctx, a.end)
	}
	return nil
}

// atBoundary says that tables and store agree, between two transactions of the source.
func (a *applier) atBoundary() bool {
	return !a.inTransaction && a.rows == 0 && a.writer.spilled == nil && len(a.writer.batches) == 0
}

// joinPrepared lets a prepared table join at a commit boundary; elsewhere the next flush does.
func (a *applier) joinPrepared(ctx context.Context) error {
	if a.prepared == nil || !a.atBoundary() {
		return nil
	}
	return a.join(ctx, a.prepared)
}

// rewind has the stream start at the position once more.
func (a *applier) rewind(ctx context.Context) (err error) {
	old := a.stream
	if a.stream, err = a.session.restartStream(ctx, old); err != nil {
		a.stream = old
		return err
	}
	clear(a.relations) // the server describes them again
	a.end, a.lastWithChanges = 0, 0
	return nil
}

func (a *applier) handle(ctx context.Context, m message) error {
	if m.data == nil {
		return a.keepalive(ctx, m.keepalive)
	}
	from := &messageReader{rest: m.data}
	switch kind := pglogrepl.MessageType(from.byte()); kind {
	case pglogrepl.MessageTypeBegin:
		a.inTransaction, a.hasChanges = true, false
		a.commitAt = from.lsn()
		from.bytes(8) // when it was committed
		a.transaction = from.uint32()
	case pglogrepl.MessageTypeCommit:
		from.bytes(9) // flags, and where the commit begins
		a.inTransaction, a.end = false, from.lsn()
		if err := a.committed(ctx); err != nil {
			return err
		}
		if a.rows == 0 && len(a.writer.batches) == 0 {
			a.session.consume(a.end)
		}
		if a.hasChanges {
			a.lastWithChanges = a.end
		}
	case pglogrepl.MessageTypeInsert, pglogrepl.MessageTypeUpdate, pglogrepl.MessageTypeDelete:
		a.hasChanges = true
		return a.row(ctx, kind, from)
	default:
		return a.handleOther(ctx, m)
	}
	if from.short {
		return errMessage
	}
	return nil
}

// handleOther handles the messages of which there are few.
func (a *applier) handleOther(ctx context.Context, m message) error {
	parsed, err := pglogrepl.Parse(m.data)
	if err != nil {
		return &StopError{What: "a replication message cannot be read", Fix: "report this with the server's version", Err: err}
	}
	if described, is := parsed.(*pglogrepl.RelationMessage); is {
		if err := a.describe(ctx, described); err != nil {
			return err
		}
		if t := a.relations[described.RelationID].table; t != nil {
			t.describedBy = append(t.describedBy, a.transaction)
		}
		return nil
	}
	a.hasChanges = true
	if truncated, is := parsed.(*pglogrepl.TruncateMessage); is {
		return a.truncate(truncated)
	}
	return nil // types, origins and logical messages change no row
}

func (a *applier) truncate(m *pglogrepl.TruncateMessage) error {
	for _, id := range m.RelationIDs {
		r, err := a.relation(id)
		if err != nil {
			return err
		}
		t, err := a.tableOf(r)
		if err != nil {
			return err
		}
		if t != nil {
			if r.leaf {
				return errDifferent(t.layout.name(), "a partition was truncated")
			}
			a.count()
			if err := t.deleteAllUntilCommit(); err != nil {
				return err
			}
			t.truncations.add(a.transaction)
		}
	}
	return nil
}

// tableOf is the table that the relation's changes belong to: nil for one that is not
// applied, or that has the transaction already, as it begins to commit before the
// table's position.
func (a *applier) tableOf(r *relation) (*table, error) {
	a.lastChange[r.message.RelationID] = a.commitAt
	if r.table == nil || a.commitAt < r.table.release.position {
		return nil, nil
	}
	if r.table.deletes.commitAt != a.commitAt {
		r.table.beginTransaction(a.commitAt)
		a.changed = append(a.changed, r.table)
	}
	return r.table, r.err
}

// row applies the change of one row.
func (a *applier) row(ctx context.Context, kind pglogrepl.MessageType, from *messageReader) error {
	r, err := a.relation(from.uint32())
	if err != nil {
		return err
	}
	t, err := a.tableOf(r)
	if t == nil || err != nil {
		return err
	}
	a.count()
	c, err := r.change(from)
	if err != nil {
		return err
	}
	if err := t.apply(kind, c); err != nil {
		return err
	}
	if (t.pending.count >= spillRows || t.pending.bytes >= spillBytes) && a.inTransaction {
		return a.spill(ctx, t)
	}
	return nil
}

// committed ends the source's transaction for the tables that it has changed.
func (a *applier) committed(ctx context.Context) error {
	for _, t := range a.changed {
		if err := t.endTransaction(func() error { return a.spill(ctx, t) }); err != nil {
			return err
		}
	}
	a.changed = a.changed[:0]
	return nil
}

// apply applies the change of one row. Where the stream sends no old row, the key is
// unchanged and stands in the new one.
func (t *table) apply(kind pglogrepl.MessageType, c change) error {
	switch {
	case kind == pglogrepl.MessageTypeDelete && c.old != nil:
		return t.delete(c.old)
	case kind == pglogrepl.MessageTypeInsert && c.new != nil:
		return t.insert(c.new)
	case kind == pglogrepl.MessageTypeUpdate && c.new != nil:
		if c.old == nil {
			c.old = c.new
		}
		return t.update(c.old, c.new)
	}
	return errMessage
}

func (a *applier) count() {
	if a.rows == 0 {
		a.groupBegan = time.Now()
	}
	a.rows++
}

// publishDue settles the tables whose time has come, at a commit boundary.
func (a *applier) publishDue(ctx context.Context) error {
	if !a.atBoundary() {
		a.due.Reset(mixIdle)
		return nil
	}
	if a.markDue() {
		if err := a.flush(ctx, a.session.position); err != nil {
			return err
		}
	}
	a.waitForDue()
	return nil
}

// markDue notes which tables have something to publish by the clock.
func (a *applier) markDue() (any bool) {
	now := a.session.syncer.config.Now()
	for _, t := range a.session.tables {
		if due := t.mode.due(); !due.IsZero() && !due.After(now) {
			t.pending.dirty, any = true, true
		}
	}
	return any
}

// leastWait and mostWait bound the time between two looks at what is due: the clock may
// be put right meanwhile.
const (
	minWait = 100 * time.Millisecond
	maxWait = 5 * time.Second
)

// waitForDue sets the timer to when the first table has something to publish although
// nothing changes.
func (a *applier) waitForDue() {
	a.due.Stop()
	var first time.Time
	for _, t := range a.session.tables {
		if due := t.mode.due(); !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	if !first.IsZero() {
		a.due.Reset(min(maxWait, max(minWait, first.Sub(a.session.syncer.config.Now()))))
	}
}
