package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	gosync "sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/repeats"
)

// Syncer publishes the tables of its configuration and keeps them in step.
type Syncer struct {
	config  Config
	repeats repeats.Log

	mu        gosync.Mutex
	owner     *pgx.ConnConfig // see LogInAs
	source    *pgx.ConnConfig // likewise; nil where the source is in the store's database
	primary   *pgx.ConnConfig // likewise; nil where the source is meant to be one
	status    Status
	published chan struct{}
	announce  gosync.Once

	tables []catalog.Publication
	whole  Policy
	// byOperator says that the operator has had the process that applies take whole over, and
	// applies that no other process has applied since this one did.
	byOperator, applies bool
	formerPID           uint32                // of the server process of the last session that held the lock; Run's
	removed             map[catalog.Name]bool // by Reload
	followed            bool                  // another process has applied since Run began
	haltedRetried       bool                  // halted tables were looked at afresh since Run or Reload
	leaving             *leaving              // of the attempt under way
	reloading           bool                  // the configuration is another one than that of the attempt under way
	unproved            bool                  // see Config.Unproved
	handover            *handover             // to the next session; Run's
	undecodable         bool                  // the slot cannot be read
	conns               connTracker           // of the store's server
	apart               connTracker           // of the source's server, where that is configured apart
	progress            atomic.Pointer[progress]
	retry               chan struct{} // ends a pause
	superseded          atomic.Int32  // see Supersede
}

// New checks the configuration; nothing is connected yet.
func New(c Config) (*Syncer, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := &Syncer{
		config: c, unproved: c.Unproved, owner: c.Owner, source: c.Source, primary: c.Primary, tables: c.Tables, whole: c.Whole, removed: make(map[catalog.Name]bool),
		published: make(chan struct{}), retry: make(chan struct{}, 1), status: Status{Tables: map[catalog.Name]TableStatus{}},
	}
	s.Supersede(c.Superseded)
	return s, nil
}

// Supersede changes Config.Superseded for policies that are taken over from now on.
func (s *Syncer) Supersede(by Superseded) { s.superseded.Store(int32(by)) }

// Published is closed once every table has a release that readers may see, or is halted.
func (s *Syncer) Published() <-chan struct{} { return s.published }

// Status returns the state of the Syncer and of each table.
func (s *Syncer) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Tables = maps.Clone(s.status.Tables)
	return status
}

// LogInAs has connections that are made from now on show in another way who they belong to, such
// as by a new password; servers, databases and roles are those of Config.Owner, Config.Source and Config.Primary.
// Connections that are there go on.
func (s *Syncer) LogInAs(owner, source, primary *pgx.ConnConfig) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner, s.source, s.primary = owner, source, primary
}

// errReload ends an attempt because the configuration has changed.
var errReload = errors.New("the configuration was reloaded")

// Reload replaces the tables. Those that fit what is stored go on from there; new ones
// and those whose policy has changed are published beside the stream; those that are
// gone are dropped. Halted ones are looked at afresh.
func (s *Syncer) Reload(tables []catalog.Publication) {
	whole, _ := s.policyNow()
	s.ReloadAs(tables, whole, false)
}

// ReloadAs is Reload with another policy that the tables are of. By the operator it is put in
// force where this process applies; else it has to be in force already.
func (s *Syncer) ReloadAs(tables []catalog.Publication, whole Policy, byOperator bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unproved = false
	s.whole, s.byOperator = whole, s.byOperator || byOperator && s.applies
	for _, before := range s.tables {
		name := before.Policy.Table
		i := slices.IndexFunc(tables, func(p catalog.Publication) bool { return p.Policy.Table == name })
		if i < 0 {
			s.removed[name] = true
		}
		if i >= 0 && samePublication(before, tables[i]) {
			continue
		}
		status := s.status.Tables[name]
		stands, audiences := false, []string(nil)
		if i >= 0 && status.State == Published {
			stands, audiences = mayStand(before, tables[i], Superseded(s.superseded.Load()))
		}
		if !stands {
			delete(s.status.Tables, name) // what readers see is not what is wanted
			continue
		}
		status.Superseded, status.Preparing, status.Audiences = true, true, only(status.Audiences, audiences)
		s.status.Tables[name] = status
	}
	for _, now := range tables {
		delete(s.removed, now.Policy.Table)
	}
	s.tables, s.haltedRetried = slices.Clone(tables), false
	if s.leaving != nil {
		s.reloading = true
		s.leaving.ask()
	}
}

// Policy is the policy that the tables are of.
func (s *Syncer) Policy() Policy {
	p, _ := s.policyNow()
	return p
}

func (s *Syncer) configured() []catalog.Publication {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tables
}

// retryHalted says that halted tables are to be looked at afresh.
func (s *Syncer) retryHalted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.haltedRetried
}

// mayDrop says that a table which is not in the configuration was taken out of it, and
// not only put into another process's.
func (s *Syncer) mayDrop(name catalog.Name) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removed[name] || !s.followed
}

// unreadable says that the server could not decode what the slot holds.
func (s *Syncer) unreadable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.undecodable
}

func (s *Syncer) setUnreadable(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undecodable = is
}

func (s *Syncer) setState(state State, reason, fix string) {
	s.mu.Lock()
	s.status.State, s.status.Reason, s.status.Fix = state, reason, fix
	s.status.Stale = staleSince(s.status.Stale, state)
	s.mu.Unlock()
	s.notify()
}

// setSession notes by which session this process holds the lock for applying; 0 for none.
func (s *Syncer) setSession(pid uint32) {
	s.mu.Lock()
	s.status.Session = pid
	s.mu.Unlock()
}

// setTable notes the status of a table, unless a reload has said meanwhile what it is to be.
func (s *Syncer) setTable(name catalog.Name, status TableStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reloading {
		s.status.Tables[name] = status
	}
}

// notify passes the status on, and announces when there is nothing more to wait for.
func (s *Syncer) notify() {
	status := s.Status()
	ready := status.State == Streaming || status.State == Following || status.State == Reconnecting && s.isUnproved()
	for _, p := range s.configured() {
		ready = ready && status.Tables[p.Policy.Table].State != Unpublished
	}
	if ready {
		s.announce.Do(func() { close(s.published) })
	}
	s.config.Changed(status)
}

// lagging says that readers see a release that is not applied at the moment, as it is
// being compared with its source.
func (s *session) lagging() bool {
	for name, status := range s.syncer.status.Tables {
		t := s.tables.find(name)
		if status.State == Published && (t == nil || t.group != nil && !t.group.ready) {
			return true
		}
	}
	return false
}

// superseded says that readers see a release of which the successor catches up.
func (s *session) superseded() bool {
	return slices.ContainsFunc(s.tables, func(t *table) bool { return t.release.showAt != 0 && t.release.previous != 0 })
}

// figures are those of the tables in memory.
func (s *session) figures() map[*table]TableStatus {
	figures := make(map[*table]TableStatus, len(s.tables))
	for _, t := range s.tables {
		figures[t] = t.mode.status()
	}
	return figures
}

// report tells the tables' figures after the store has been written.
func (s *session) report(figures map[*table]TableStatus) {
	s.syncer.mu.Lock()
	lagging := s.lagging()
	if !lagging {
		s.syncer.status.Position = s.position
	}
	s.progressed.inStep.Store(!lagging && !s.superseded())
	s.progressed.advance(s.position)
	reported := s.tables
	if s.syncer.reloading {
		reported = nil // they may be other ones already, and readers not to have them
	}
	for _, t := range reported {
		before, now := s.syncer.status.Tables[t.layout.name()], figures[t]
		now.Generation = t.release.generation
		if t.release.showAt != 0 {
			now.Audiences = before.Audiences // they still see what was shown before, if anything
		}
		s.syncer.warnOfAudiences(t.layout.name(), before, now)
		if t.release.showAt == 0 || t.release.previous != 0 {
			now.State = Published
		}
		now.Preparing = t.release.showAt != 0 || slices.ContainsFunc(s.jobs, func(j job) bool { return j.publication.Policy.Table == t.layout.name() })
		now.Superseded = before.Superseded && t.release.showAt != 0 && now.State == Published
		if now.Preparing && before.State != Halted { // who keeps it from being made ready is still there
			now.Problem, now.Fix = before.Problem, before.Fix
		}
		if s.syncer.status.Tables[t.layout.name()] = now; now.Reason != "" && before.Reason == "" && now.Records > 0 {
			s.syncer.config.Logger.Warn("the table is withheld as a whole", "relation", t.layout.name(), "records", now.Withheld, "reason", now.Reason)
		}
		if now.Expired > before.Expired {
			s.syncer.config.Logger.Warn("records are withheld for good: they waited until the deadline, or violated the constraints together", "relation", t.layout.name(),
				"records", now.Expired-before.Expired, "altogether", now.Expired, "fix", "larger batches, or looser constraints, for those to come; kproxy rebuild --new-lineage tries these again")
		}
	}
	s.syncer.mu.Unlock()
	s.syncer.notify()
}

// warnOfAudiences tells of audiences that see nothing of a table any more.
func (s *Syncer) warnOfAudiences(name catalog.Name, before, now TableStatus) {
	for audience, status := range now.Audiences {
		if catalog.IsAudienceName(audience) && status.Reason != "" && before.Audiences[audience].Reason == "" && now.Records > 0 && now.Reason == "" {
			s.config.Logger.Warn("the table is withheld from an audience", "relation", name, "audience", audience, "reason", status.Reason)
		}
	}
}

// Bounds of the pause before another attempt.
const (
	minPause = 200 * time.Millisecond
	maxPause = 15 * time.Second
)

// A server that could not decode so often, each time sooner than this, will not the next
// time.
const (
	maxUndecodable    = 5
	undecodableWithin = 10 * time.Minute
)

// Run applies until ctx ends, which returns nil, or until something needs the
// operator, which returns a *StopError or the server's refusal. Broken
// connections and restarts of the server are lived through, and so are tables that need
// the operator while others do not.
func (s *Syncer) Run(ctx context.Context) error {
	defer s.repeats.Flush()
	pause, undecoded := minPause, 0
	for {
		started := time.Now()
		err := s.attempt(ctx)
		if time.Since(started) > undecodableWithin {
			undecoded = 0
		}
		if errors.Is(err, errUnreadable) {
			if undecoded++; undecoded > maxUndecodable {
				err = &StopError{What: "the server cannot decode its log, time and again", Fix: "see the server's log; then " + fixResync, Err: err}
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errReload) || errors.Is(err, errRestart):
			continue
		case !transient(err):
			s.setState(Stopped, err.Error(), fixOf(err))
			return err
		}
		if time.Since(started) > maxPause {
			pause = minPause
		}
		s.repeats.Note(s.config.Logger, slog.LevelWarn, repeats.Key{Kind: "interrupted", Who: err.Error()}, "replication interrupted; trying again", "error", err, "pause", pause)
		s.setState(Reconnecting, err.Error(), fixTransient(err))
		jittered := pause/2 + rand.N(pause)
		select {
		case <-time.After(jittered):
			pause = min(2*pause, maxPause)
		case <-s.retry:
			pause = minPause
		case <-ctx.Done():
			return nil
		}
	}
}

// attempt is one session. A table that needs the operator ends it, and the next one goes
// on without the table.
func (s *Syncer) attempt(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	s.mu.Lock()
	s.leaving, s.reloading = newLeaving(cancel), false
	s.mu.Unlock()
	if s.isUnproved() {
		err := s.standBy(ctx)
		if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
			return cause
		}
		return err
	}
	ses, err := s.connect(ctx)
	if err == nil {
		defer ses.close()
		ses.ending = s.leaving.boundary
		err = guard(s.config.Logger, func() error { return ses.run(ctx) })
	}
	if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
		return cause
	}
	if errors.Is(err, errUnreadable) {
		s.setUnreadable(true)
	}
	if halt := (*TableError)(nil); errors.As(err, &halt) {
		if err := ses.haltAfterwards(parent, halt); err != nil {
			return err
		}
		return errRestart
	}
	return err
}

// run waits until this process is the one that applies, and applies.
func (s *session) run(ctx context.Context) error {
	w := newWatcher(s)
	watching, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		w.run(watching)
		close(ended)
	}()
	defer func() {
		stop()
		<-ended
	}()
	if err := s.awaitLock(ctx); err != nil {
		return err
	}
	if err := s.store.checkPublished(ctx); err != nil {
		return err
	}
	if err := s.store.checkOwnership(ctx); err != nil {
		return err
	}
	if err := s.findPosition(ctx); err != nil {
		return err
	}
	if err := s.takeKeys(ctx); err != nil {
		return err
	}
	accepted, err := acceptedNumber(ctx, s.store.conn)
	if err != nil {
		return err
	}
	s.accepted = accepted
	// From here on the server sees whether this process is alive, also while it loads.
	s.shared.ack.stored.Store(uint64(s.position))
	first, err := s.startStream(ctx)
	if err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		_ = first.stop() // there is a better reason
		return err
	}
	s.syncer.leaving.begin()
	s.syncer.mu.Lock()
	s.syncer.haltedRetried = true
	clear(s.syncer.removed)
	s.syncer.mu.Unlock()
	s.watch()
	s.progressed.epoch = s.store.epoch
	s.syncer.progress.Store(s.progressed)
	s.syncer.setState(Streaming, "", "")
	s.report(s.figures())
	s.tellKept()
	err = s.apply(ctx, w, first)
	if errors.Is(err, errReload) || errors.Is(err, errRestart) {
		s.handOver()
	}
	if err != nil {
		return fmt.Errorf("applying changes: %w", err)
	}
	return errors.New("applying changes: the replication stream ended")
}

// haltAfterwards rolls back the session's transaction, and halts the table that ended it or has it
// compared with its source.
func (s *session) haltAfterwards(ctx context.Context, halt *TableError) error {
	for _, conn := range s.store.connections() {
		if conn.PgConn().TxStatus() == 'I' {
			continue
		}
		if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
			return fmt.Errorf("ending a transaction: %w", err)
		}
	}
	halt, err := s.betterReason(ctx, halt)
	if err != nil {
		return err
	}
	if halt.resync {
		s.syncer.config.Logger.Info("a table is looked at afresh", "relation", halt.Table, "reason", halt.What)
		return s.store.recordHalt(ctx, s.store.conn, halt)
	}
	return s.halt(ctx, halt)
}

// betterReason returns the cause that the catalogs show for a table that cannot be applied,
// instead of its consequence.
func (s *session) betterReason(ctx context.Context, halt *TableError) (*TableError, error) {
	if halt.Err != nil {
		return halt, nil // the server refuses something, and would again
	}
	found, err := s.store.generations(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range s.policy {
		if t.layout.name() != halt.Table {
			continue
		}
		g := found[t.layout.name()]
		bound, err := s.store.accepted(ctx, t, g, true)
		var now definition
		if err == nil {
			now, _, err = t.layout.source().readDefinition(ctx, s.store.source, s.store.publication, bound)
		}
		better := (*TableError)(nil)
		switch {
		case errors.As(err, &better):
			return better, nil
		case err != nil:
			return nil, err
		case now.text() != g.definition:
			return t.layout.source().differs(now, g.definition), nil
		}
	}
	return halt, nil
}
