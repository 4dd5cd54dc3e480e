package sync

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pglogrepl"
)

// applier applies the stream's messages to the tables, and starts batches at commit boundaries
// of the source. It belongs to its own goroutine.
type applier struct {
	session *session
	stream  *stream

	relations       relations
	transaction     transaction
	end             pglogrepl.LSN // of the last transaction that was applied
	lastWithChanges pglogrepl.LSN // end of the last transaction that had changes

	group  group
	writer writer
	moved  time.Time // when the position was last moved

	due     *time.Timer // for tables that publish by the clock
	grown   *time.Timer // for a group that may not grow for longer
	renewer *renewer
	joiner  joiner
	watcher *watcher
	found   *finding // waits for a commit boundary
	leaves  bool     // the session ends at the next one
}

func newApplier(s *session, w *watcher, first *stream) *applier {
	a := &applier{stream: first, watcher: w}
	a.use(s)
	return a
}

// use has the parts of the applier work for a session.
func (a *applier) use(s *session) {
	a.session = s
	a.writer = newWriter(s, a.batchCommitted)
	a.relations = newRelations(s, a.writer.awaitAll)
	a.joiner = joiner{session: s, relations: &a.relations, worker: newWorker(s)}
}

// apply applies the changes that follow the position, until an error.
func (s *session) apply(ctx context.Context, w *watcher, first *stream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := newApplier(s, w, first)
	worked := make(chan struct{})
	go func() {
		a.joiner.worker.run(ctx)
		close(worked)
	}()
	applied := guard(s.syncer.config.Logger, func() error { return a.run(ctx) })
	if halt := (*TableError)(nil); !errors.As(applied, &halt) {
		cancel() // otherwise haltAfterwards needs the connection
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
	a.moved, a.due, a.grown = time.Now(), time.NewTimer(0), time.NewTimer(groupTime)
	defer a.due.Stop()
	defer a.grown.Stop()
	a.renewer = newRenewer(a)
	defer a.renewer.close()
	a.joiner.startJob()
	leave := a.session.ending
	for {
		var err error
		select {
		case <-a.due.C:
			err = a.publishDue(ctx)
		case <-a.grown.C:
			err = a.flushIfDue(ctx)
		case <-a.writer.oldestEnded():
			err = a.batchWritten(ctx)
		case <-a.renewer.ticker.C:
			err = a.tick(ctx)
		case a.renewer.ready = <-a.renewer.ended:
			err = a.renewer.step(ctx)
		case a.joiner.prepared = <-a.joiner.worker.ready:
			err = a.joinPrepared(ctx)
		case <-leave:
			a.leaves, leave = true, nil
			err = a.flushIfDue(ctx)
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

// take applies messages until the stream restarts, if it does.
func (a *applier) take(ctx context.Context, batch []message) error {
	from := a.stream
	for i, m := range batch {
		if err := a.handle(ctx, m); err != nil {
			return err
		}
		a.group.moreReceived = i+1 < len(batch) || len(from.messages) > 0
		if err := a.flushIfDue(ctx); err != nil || a.stream != from {
			return err
		}
	}
	return nil
}

// tick reads requests, continues renewals, and moves a position that lags behind.
func (a *applier) tick(ctx context.Context) error {
	if err := a.renewer.readRequests(ctx); err != nil {
		return err
	}
	if err := a.renewer.step(ctx); err != nil {
		return err
	}
	// Changes of tables that are not applied move the position too, but not one by one.
	if a.lastWithChanges > a.session.position && a.atBoundary() {
		return a.flush(ctx, a.end)
	}
	return nil
}

// atBoundary reports whether tables and store agree, between two transactions of the source.
func (a *applier) atBoundary() bool {
	return !a.transaction.open && a.group.rows == 0 && a.writer.spilled == nil && len(a.writer.batches) == 0
}

// joinPrepared lets a prepared table join at a commit boundary; elsewhere the next flush does.
func (a *applier) joinPrepared(ctx context.Context) error {
	if a.joiner.prepared == nil || !a.atBoundary() {
		return nil
	}
	return a.join(ctx, a.joiner.prepared)
}

// join lets a prepared table join the stream at a commit boundary. If the stream restarts at the
// table's snapshot, the other tables skip the changes that they have.
func (a *applier) join(ctx context.Context, n *preparedTable) error {
	a.joiner.preparing, a.joiner.prepared = false, nil
	if n.err != nil {
		return a.joiner.fail(ctx, n)
	}
	rewinds, err := a.joiner.join(ctx, n, a.streamPosition())
	if err != nil {
		return err
	}
	if n.table.group != nil {
		a.due.Reset(0) // it may be the last one of its group
	}
	if rewinds {
		return a.rewind(ctx)
	}
	return a.relations.bindAgain(ctx)
}

// streamPosition is the position up to which the stream was consumed. It can be ahead of the
// session's, which transactions that change none of the applied tables do not move.
func (a *applier) streamPosition() pglogrepl.LSN { return max(a.session.position, a.end) }

// rewind restarts the stream at the session's position.
func (a *applier) rewind(ctx context.Context) (err error) {
	old := a.stream
	if a.stream, err = a.session.restartStream(ctx, old); err != nil {
		a.stream = old
		return err
	}
	clear(a.relations.known) // the server describes them again
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
		a.transaction.open, a.transaction.hasChanges = true, false
		a.transaction.commitAt = from.lsn()
		from.bytes(8) // when it was committed
		a.group.lagging = isLate(m.lag)
		a.transaction.number = from.uint32()
	case pglogrepl.MessageTypeCommit:
		from.bytes(9) // flags, and where the commit begins
		a.transaction.open, a.end = false, from.lsn()
		if err := a.transaction.end(func(t *table) error { return a.writer.spill(ctx, t) }); err != nil {
			return err
		}
		if a.group.rows == 0 && len(a.writer.batches) == 0 {
			a.session.consume(a.end)
		}
		if a.transaction.hasChanges {
			a.lastWithChanges = a.end
		}
	case pglogrepl.MessageTypeInsert, pglogrepl.MessageTypeUpdate, pglogrepl.MessageTypeDelete:
		a.transaction.hasChanges = true
		return a.row(ctx, kind, from)
	default:
		return a.handleOther(ctx, m)
	}
	if from.short {
		return errMessage
	}
	return nil
}

// handleOther handles the infrequent kinds of messages.
func (a *applier) handleOther(ctx context.Context, m message) error {
	parsed, err := pglogrepl.Parse(m.data)
	if err != nil {
		return &StopError{What: "a replication message cannot be read", Fix: "report this with the server's version", Err: err}
	}
	if described, is := parsed.(*pglogrepl.RelationMessage); is {
		if err := a.relations.describe(ctx, described); err != nil {
			return err
		}
		if t := a.relations.known[described.RelationID].table; t != nil {
			t.describedBy = append(t.describedBy, a.transaction.number)
		}
		return nil
	}
	a.transaction.hasChanges = true
	if truncated, is := parsed.(*pglogrepl.TruncateMessage); is {
		return a.truncate(truncated)
	}
	return nil // types, origins and logical messages change no row
}

func (a *applier) truncate(m *pglogrepl.TruncateMessage) error {
	for _, id := range m.RelationIDs {
		r, err := a.relations.find(id)
		if err != nil {
			return err
		}
		t, err := a.relations.tableOf(r, &a.transaction)
		if err != nil {
			return err
		}
		if t != nil {
			if r.leaf {
				return errDifferent(t.layout.name(), "a partition was truncated")
			}
			a.group.count()
			if err := t.deleteAllUntilCommit(); err != nil {
				return err
			}
			t.truncations.add(a.transaction.number)
		}
	}
	return nil
}

// row applies the change of one row.
func (a *applier) row(ctx context.Context, kind pglogrepl.MessageType, from *messageReader) error {
	r, err := a.relations.find(from.uint32())
	if err != nil {
		return err
	}
	t, err := a.relations.tableOf(r, &a.transaction)
	if t == nil || err != nil {
		return err
	}
	a.group.count()
	c, err := r.change(from)
	if err != nil {
		return err
	}
	if err := t.apply(kind, c); err != nil {
		return err
	}
	if (t.pending.count >= spillRows || t.pending.bytes >= spillBytes) && a.transaction.open {
		return a.writer.spill(ctx, t)
	}
	return nil
}

// apply applies the change of one row. If the stream sends no old row, the key is unchanged, and
// the new row has it.
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

// publishDue publishes what is due by the clock, at a commit boundary.
func (a *applier) publishDue(ctx context.Context) error {
	if !a.atBoundary() {
		a.due.Reset(retryDue)
		return nil
	}
	a.session.tables.prepare(a.session.position)
	if a.session.tables.markDue(a.session.syncer.config.Now()) {
		if err := a.flush(ctx, a.session.position); err != nil {
			return err
		}
	}
	a.waitForDue()
	return nil
}

// minWait and maxWait bound the time until due tables are checked again, as the clock may be
// adjusted meanwhile. retryDue is when they are checked again amid a transaction.
const (
	retryDue = 30 * time.Millisecond
	minWait  = 100 * time.Millisecond
	maxWait  = 5 * time.Second
)

// waitForDue sets the timer to the time at which the first table has something to publish
// without a change.
func (a *applier) waitForDue() {
	a.due.Stop()
	if first := a.session.tables.nextDue(); !first.IsZero() {
		a.due.Reset(min(maxWait, max(minWait, first.Sub(a.session.syncer.config.Now()))))
	}
}
