package sync

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	gosync "sync"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog"
)

// A reload ends the session at a commit boundary, where memory and store agree. The tables in
// memory are handed over to the next session, which applies those on that the new configuration
// leaves as they were, without reading their stores. A session that ends otherwise hands nothing
// over: its memory may be ahead of the store.

// leaving has a session end because of a reload: one that applies at the next commit boundary, if
// that comes soon, and any other one at once.
type leaving struct {
	mu       gosync.Mutex
	applies  bool
	once     gosync.Once
	boundary chan struct{} // closed where the applier is to end the session at a boundary
	cancel   context.CancelCauseFunc
	patience time.Duration
}

// handoverPatience is how long a reload waits for a commit boundary. Then the session ends amid a
// transaction, and stores are loaded.
const handoverPatience = 10 * time.Second

func newLeaving(cancel context.CancelCauseFunc) *leaving {
	return &leaving{boundary: make(chan struct{}), cancel: cancel, patience: handoverPatience}
}

// ask ends the session. Any goroutine may ask, any number of times.
func (l *leaving) ask() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.applies {
		l.cancel(errReload)
		return
	}
	l.once.Do(func() {
		close(l.boundary)
		time.AfterFunc(l.patience, func() { l.cancel(errReload) })
	})
}

// begin says that from here on the applier looks at boundary.
func (l *leaving) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.applies = true
}

// handover is what a session leaves for the next one: its tables, and at which state of the store
// they agree with it.
type handover struct {
	system   string
	timeline int64
	home     storeServer
	epoch    int64
	policy   int64 // the number of the policy in force
	position pglogrepl.LSN
	tables   tables
}

// acceptedNumber is the number of the policy in force, 0 for none.
func acceptedNumber(ctx context.Context, on querier) (number int64, err error) {
	if err = on.QueryRow(ctx, "SELECT coalesce(max(number), 0) FROM kproxy_store.policy").Scan(&number); err != nil {
		err = fmt.Errorf("reading which policy is in force: %w", err)
	}
	return number, err
}

// handOver notes what the session leaves, after it has ended at a boundary.
func (s *session) handOver() {
	h := &handover{
		system: s.store.system, timeline: s.store.timeline, home: s.store.home,
		epoch: s.store.epoch, policy: s.accepted, position: s.position,
	}
	for _, t := range s.tables {
		if t.group != nil && !s.isWhole(t.group) {
			continue
		}
		h.tables = append(h.tables, t)
	}
	s.syncer.handover = h
	s.syncer.config.Failpoint(FailHandedOver)
}

// isWhole reports whether the memory of tables that are released together is that of all of them, and
// nothing is being prepared that changes it.
func (s *session) isWhole(g *linkedGroup) bool {
	applied := 0
	for _, t := range s.tables {
		if t.group == g {
			applied++
		}
	}
	return applied == g.size() && !slices.ContainsFunc(s.jobs, func(j job) bool { return j.group == g })
}

// isOf reports whether nobody has written the store since. Each process that begins to apply raises the
// epoch, and so does each policy that is accepted, which changes no table.
func (h *handover) isOf(s *session) bool {
	begun := s.store.epoch - h.epoch - (s.accepted - h.policy)
	return begun == 1 && s.position == h.position && // this session alone has begun
		s.store.system == h.system && s.store.timeline == h.timeline && s.store.home == h.home
}

// takeHandover has the session go on with the tables that its predecessor has left in memory, where
// their stores and policies are as they were. It comes after the position was taken over.
func (s *session) takeHandover(found map[catalog.Name]generation) {
	h := s.syncer.handover
	s.syncer.handover = nil
	if h == nil || !h.isOf(s) {
		return
	}
	left := make(map[catalog.Name]*table)
	for _, t := range h.tables {
		if t.agreesWith(found[t.layout.name()]) {
			left[t.layout.name()] = t
		}
	}
	s.kept = make(map[*table]bool)
	for i, t := range s.policy {
		of := left[t.layout.name()]
		if of == nil || !reflect.DeepEqual(of.layout.publication, t.layout.publication) || t.group != nil && !s.canKeep(t.group, left) {
			continue
		}
		s.policy[i], s.kept[of] = of, true
	}
	for t := range s.kept {
		if t.group != nil {
			t.group.found = foundGroup{}
		}
	}
}

// canKeep reports whether all tables of a group were left as the configuration has them. They are kept
// together.
func (s *session) canKeep(g *linkedGroup, left map[catalog.Name]*table) bool {
	for _, number := range g.numbers() {
		p := g.people.Of(number)
		of := left[p.Policy.Table]
		if of == nil || of.group == nil || !reflect.DeepEqual(of.layout.publication, p) {
			return false
		}
	}
	return true
}

// agreesWith reports whether the store has the generation that is in memory, with nothing noted that
// has it looked at otherwise.
func (t *table) agreesWith(g generation) bool {
	return t.layout.fits(g) && g.number == t.release.generation && g.lsn != 0 && g.lsn <= t.release.position &&
		g.shows == t.release.showAt && g.previous == t.release.previous && g.halted == "" && g.asked == "" && g.noted == ""
}

// checkKept ends a session that has kept the memory of a group of which it does not apply a table. The
// next one makes the group anew.
func (s *session) checkKept() error {
	for t := range s.kept {
		if t.group != nil && s.tables.find(t.layout.name()) != t {
			return errRestart
		}
	}
	return nil
}

// tellKept tells the log what was not read again.
func (s *session) tellKept() {
	kept := 0
	for _, t := range s.tables {
		if s.kept[t] {
			kept++
		}
	}
	if kept > 0 {
		s.syncer.config.Logger.Info("tables are applied on from memory; their stores were not loaded again", "tables", kept)
	}
}
