package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
	"github.com/kproxy/kproxy/internal/repeats"
)

// jobKind is what the worker does for a table.
type jobKind int

const (
	// publishAfresh makes a new generation from a snapshot of the source.
	publishAfresh jobKind = iota
	// resynchronize brings a generation, which is not applied meanwhile, to a snapshot of the
	// source.
	resynchronize
)

// request is what an operator would ask for.
func (k jobKind) request() string {
	if k == publishAfresh {
		return askRebuild
	}
	return askResync
}

// kind is the job that repairs a table whose definition differs.
func (e *TableError) kind() jobKind {
	if e.afresh {
		return publishAfresh
	}
	return resynchronize
}

// job is one table to be prepared for the stream.
type job struct {
	publication catalog.Publication
	lineage     *catalog.Lineage // see layout.lineage
	bound       accept.Table     // what was accepted of the table
	kind        jobKind
	generation  int64 // the number of the new generation
	group       *linkedGroup
}

// spoilsGroup reports whether a failure leaves a part of a difference in the memory of a group whose
// release goes on: the session has to begin anew.
func (j *job) spoilsGroup() bool {
	return j.kind == resynchronize && j.group != nil && j.group.guarded != nil
}

// preparedTable is a table at a position of the stream, where it joins.
type preparedTable struct {
	job   job
	table *table
	at    pglogrepl.LSN
	err   error // why there is no table
}

// worker prepares tables outside the stream, one at a time, on its own connections and
// goroutine. What it writes is invisible until the applier lets the table join.
type worker struct {
	syncer *Syncer
	ack    *acknowledgement
	epoch  int64
	jobs   chan job
	ready  chan *preparedTable
}

func newWorker(s *session) *worker {
	return &worker{syncer: s.syncer, ack: &s.shared.ack, epoch: s.store.epoch, jobs: make(chan job, 1), ready: make(chan *preparedTable, 1)}
}

// run works until ctx ends. It retries after transient errors.
func (w *worker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-w.jobs:
			n := w.prepare(ctx, j)
			select {
			case w.ready <- n:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (w *worker) prepare(ctx context.Context, j job) *preparedTable {
	n := &preparedTable{job: j}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		n.err = guard(w.syncer.config.Logger, func() error { return w.prepareOnce(ctx, n) })
		if n.err == nil || ctx.Err() != nil || !transient(n.err) || j.spoilsGroup() {
			return n
		}
		if errors.Is(n.err, errMostDiffers) {
			w.syncer.config.Logger.Info("a table is published afresh", "relation", j.publication.Policy.Table, "reason", n.err)
			n.job.kind = publishAfresh
			continue
		}
		w.ack.held.Store(0)
		w.reportObstacle(n, n.err)
		name := j.publication.Policy.Table
		w.syncer.repeats.Note(w.syncer.config.Logger, slog.LevelWarn, repeats.Key{Kind: "unready", Who: name.String() + n.err.Error()},
			"a table could not be made ready; trying again", "relation", name, "error", n.err, "pause", pause)
		if sleep(ctx, pause) != nil {
			return n
		}
	}
}

// reportObstacle has the status say why a table is not ready yet.
func (w *worker) reportObstacle(n *preparedTable, err error) {
	name := n.job.publication.Policy.Table
	status := w.syncer.Status().Tables[name]
	status.Problem, status.Fix = err.Error(), fixTransient(err)
	w.syncer.setTable(name, status)
	w.syncer.notify()
}

// forgetObstacle has the status no longer say who keeps a table from being made ready.
func (w *worker) forgetObstacle(n *preparedTable) {
	name := n.job.publication.Policy.Table
	if status := w.syncer.Status().Tables[name]; status.State != Halted {
		status.Problem, status.Fix = "", ""
		w.syncer.setTable(name, status)
		w.syncer.notify()
	}
}

// prepareOnce brings the table to a snapshot.
func (w *worker) prepareOnce(ctx context.Context, n *preparedTable) error {
	lineage := n.job.lineage
	if n.job.kind == publishAfresh {
		lineage = nil
	}
	t, err := newTableOf(n.job.publication, lineage)
	if err != nil {
		return &StopError{What: err.Error(), Fix: fixPolicy}
	}
	t.join(n.job.group)
	t.now, t.logger, n.table = w.syncer.config.Now, w.syncer.config.Logger, t
	t.sealing.ring = w.syncer.config.Seal
	var blocked atomic.Bool
	snapshot, err := w.takeSnapshot(ctx, func(b *BlockedError) { blocked.Store(true); w.reportObstacle(n, b) })
	if err != nil {
		return err
	}
	defer snapshot.close()
	if blocked.Load() {
		w.forgetObstacle(n)
	}
	n.at, t.release.position = snapshot.at, snapshot.at
	tx, err := snapshot.begin(ctx, w.syncer)
	if err != nil {
		return err
	}
	if err := t.layout.source().lock(ctx, tx); err != nil {
		return err
	}
	present, err := snapshot.open(ctx, w.syncer)
	if err != nil {
		return err
	}
	if err := w.identify(ctx, tx, present, t, n.job.bound); err != nil {
		return err
	}
	if n.job.kind == resynchronize {
		snapshot.releaseSlot()
		return w.compare(ctx, snapshot, tx, t)
	}
	p := &publisher{table: t, config: &w.syncer.config, epoch: w.epoch, readers: []pgx.Tx{tx}, conn: present}
	if p.extent, err = t.measure(ctx, tx, w.syncer.config.ranges); err != nil {
		return err
	}
	p.readers = append(p.readers, snapshot.beginMore(ctx, w.syncer, t, w.syncer.config.ranges.degree(p.extent)-1)...)
	snapshot.releaseSlot()
	if err := w.openWriters(ctx, snapshot, p); err != nil {
		return err
	}
	if err := p.publish(ctx, n.job.generation); err != nil {
		return fmt.Errorf("publishing %s: %w", t.layout.name(), withoutValues(err))
	}
	w.syncer.config.Failpoint(FailAfterPublication)
	return nil
}

// openWriters opens the connections by which a publication is written, as many as read the source.
func (w *worker) openWriters(ctx context.Context, snapshot *sourceSnapshot, p *publisher) (err error) {
	if !w.syncer.config.isApart() {
		for _, reader := range p.readers {
			p.writers = append(p.writers, reader.Conn())
		}
		return nil
	}
	if p.conn, err = snapshot.openStore(ctx, w.syncer); err != nil {
		return err
	}
	for range p.readers {
		writer, err := snapshot.openStore(ctx, w.syncer)
		if err != nil {
			return err
		}
		p.writers = append(p.writers, writer)
	}
	return nil
}

// identify compares the definition of a locked table, under the snapshot and at present, with
// what was accepted.
func (w *worker) identify(ctx context.Context, snapshot, present querier, t *table, bound accept.Table) (err error) {
	if t.definition, _, err = t.layout.source().readDefinition(ctx, snapshot, w.syncer.config.Publication, bound); err != nil {
		return err
	}
	then, err := t.layout.source().examine(ctx, snapshot, accept.Whole)
	if err != nil {
		return err
	}
	return t.settle(ctx, present, then.Table)
}

// sourceSnapshot is a moment of the source, at which the stream can be joined. It lasts
// until it is closed.
type sourceSnapshot struct {
	at          pglogrepl.LSN
	name        string
	replication *pgconn.PgConn // holds the temporary slot, and so the snapshot
	conns       []*pgx.Conn
}

// takeSnapshot makes a temporary slot for the snapshot that comes with it: it sees all
// that was committed before a position and nothing that was after. Making it waits for
// the transactions that write at the moment. Until the table has joined, nothing beyond
// that position is acknowledged. Told is called with who keeps it waiting for long.
func (w *worker) takeSnapshot(ctx context.Context, told func(*BlockedError)) (_ *sourceSnapshot, err error) {
	s := &sourceSnapshot{}
	// What is acknowledged from here on lies before the snapshot, wherever that will be.
	w.ack.held.Store(w.ack.stored.Load())
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.replication, err = w.syncer.openReplication(ctx, ApplierName(w.syncer.config.Slot)); err != nil {
		return nil, err
	}
	wait, cancel := w.syncer.awaitWriters(ctx, s.replication.PID(), told)
	defer cancel()
	slot, err := pglogrepl.CreateReplicationSlot(wait, s.replication, fmt.Sprintf("kproxy_snapshot_%d", s.replication.PID()), outputPlugin,
		pglogrepl.CreateReplicationSlotOptions{Temporary: true, SnapshotAction: "EXPORT_SNAPSHOT", Mode: pglogrepl.LogicalReplication})
	if err != nil {
		return nil, fmt.Errorf("creating a temporary replication slot for a snapshot: %w", blockedBy(wait, err))
	}
	if s.at, err = pglogrepl.ParseLSN(slot.ConsistentPoint); err != nil {
		return nil, fmt.Errorf("reading the snapshot's position: %w", err)
	}
	s.name = slot.SnapshotName
	w.ack.held.Store(uint64(s.at))
	w.syncer.config.Failpoint(FailSnapshotTaken)
	return s, nil
}

// open makes a further connection to the source, which is closed with the snapshot.
func (s *sourceSnapshot) open(ctx context.Context, syncer *Syncer) (*pgx.Conn, error) {
	return s.keep(syncer.openSource(ctx, ApplierName(syncer.config.Slot)))
}

// openStore makes a connection to the store, likewise.
func (s *sourceSnapshot) openStore(ctx context.Context, syncer *Syncer) (*pgx.Conn, error) {
	return s.keep(syncer.open(ctx, ApplierName(syncer.config.Slot)))
}

func (s *sourceSnapshot) keep(conn *pgx.Conn, err error) (*pgx.Conn, error) {
	if err != nil {
		return nil, err
	}
	s.conns = append(s.conns, conn)
	return conn, nil
}

// begin opens a transaction that sees the snapshot, on a connection of its own.
func (s *sourceSnapshot) begin(ctx context.Context, syncer *Syncer) (pgx.Tx, error) {
	conn, err := s.open(ctx, syncer)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return nil, fmt.Errorf("opening the snapshot's transaction: %w", err)
	}
	if _, err := tx.Exec(ctx, "SET TRANSACTION SNAPSHOT "+catalog.QuoteLiteral(s.name)); err != nil {
		// The server says that the name is wrong where the slot's connection has ended.
		return nil, fmt.Errorf("%w: %v", errSnapshotGone, err) //nolint:errorlint // as another attempt takes another snapshot
	}
	return tx, nil
}

// beginMore opens further transactions, as many as possible; without them reading only takes
// longer. Each locks the source as the first one does. It does not wait for that lock, since
// it could wait behind a session that waits for the first transaction.
func (s *sourceSnapshot) beginMore(ctx context.Context, syncer *Syncer, t *table, wanted int) []pgx.Tx {
	var more []pgx.Tx
	for range wanted {
		tx, err := s.begin(ctx, syncer)
		if err == nil {
			_, err = tx.Exec(ctx, "SET LOCAL lock_timeout = '1s'; LOCK TABLE "+t.layout.source().sql()+" IN ACCESS SHARE MODE; SET LOCAL lock_timeout = 0")
		}
		if err != nil {
			syncer.config.Logger.Info("the source is read by fewer connections than planned", "relation", t.layout.name(), "connections", 1+len(more), "error", err)
			break
		}
		more = append(more, tx)
	}
	return more
}

// errSnapshotGone means that the connection of the temporary slot has ended.
var errSnapshotGone = errors.New("adopting the slot's snapshot failed")

// releaseSlot ends the temporary slot: transactions that have adopted the snapshot keep it.
func (s *sourceSnapshot) releaseSlot() {
	closeConn(s.replication)
	s.replication = nil
}

func (s *sourceSnapshot) close() {
	if s.replication != nil {
		closeConn(s.replication)
	}
	for _, conn := range s.conns {
		closeConn(conn)
	}
}
