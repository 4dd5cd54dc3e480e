package sync

import (
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// dying is a part of a Syncer's life, and the failpoints that it passes.
type dying struct {
	points []string
	// prepare brings the bench to where that part begins; it is called before each death.
	prepare func(b *bench)
	// spill has the last change be a large one.
	spill bool
}

var dyings = map[string]dying{
	"first publication": {
		points: []string{
			FailSlotCreated, FailPositionStored, FailSnapshotTaken, FailSnapshotCopied, FailBeforePublication, FailAfterPublication,
			FailBeforeJoin, FailAfterJoin, FailBeforeAcknowledge,
		},
	},
	"added table": {
		points: []string{
			FailSnapshotTaken, FailSnapshotCopied, FailBeforePublication, FailAfterPublication, FailBeforeJoin, FailAfterJoin,
			FailBeforeCommit, FailAfterCommit, FailBeforeAcknowledge,
		},
		prepare: func(b *bench) {
			all := b.config.Tables
			b.config.Tables = all[1:] // the guarded one would not come back by itself
			l := b.start()
			l.inStep()
			l.stop()
			b.config.Tables = all
		},
	},
	"comparison": {
		points: []string{FailSlotCreated, FailPositionStored, FailSnapshotTaken, FailBeforeJoin, FailAfterJoin, FailBeforeCommit},
		prepare: func(b *bench) {
			l := b.start()
			l.inStep()
			l.stop()
			b.alter()
			b.insistently("SELECT pg_drop_replication_slot($1)", b.config.Slot)
		},
	},
	"changes": {
		points: []string{FailBeforeCommit, FailAfterCommit, FailBeforeAcknowledge, FailSpilled},
		prepare: func(b *bench) {
			l := b.start()
			l.inStep()
			l.stop()
		},
		spill: true,
	},
}

// TestDeathAtFailpoints ends a Syncer at every failpoint of every part of its life,
// while tables change: canceled in this process, and killed in one of its own.
func TestDeathAtFailpoints(t *testing.T) {
	t.Parallel()
	for part, d := range dyings {
		for _, how := range []string{"canceled", "killed"} {
			t.Run(part+"/"+how, func(t *testing.T) {
				if how == "killed" && testing.Short() {
					t.Skip("a process for each failpoint takes long; the canceled ones go the same ways")
				}
				t.Parallel()
				server := pgtest.Shared(t)
				var b *bench
				for _, point := range d.points {
					if testing.Short() && (point == FailSpilled || part == "added table" && slices.Contains(dyings["changes"].points, point)) {
						continue // long, or passed in another part as well
					}
					if b == nil || d.prepare == nil {
						b = newWard(t, server)
						b.quiet()
					}
					b.config.Failpoint = nil
					if d.prepare != nil {
						d.prepare(b)
						b.ownerGone()
					}
					before := b.versions()
					if how == "canceled" {
						b.cancelAt(point, d)
					} else {
						b.killAt(point, d)
					}
					b.config.Failpoint = nil
					l := b.start()
					l.inStep()
					if d.prepare != nil {
						b.compareVersions("visits", ofSize.K, before, b.shownRows("visits"))
					}
					b.alter()
					l.inStep()
					l.stop()
					if t.Failed() {
						t.Fatalf("at failpoint %s", point)
					}
				}
			})
		}
	}
}

// versions are the guarded table's rows, if it is published.
func (b *bench) versions() map[int64]shown {
	b.t.Helper()
	if !scanned[bool](b, "SELECT EXISTS (SELECT FROM kproxy_store.generation WHERE table_name = 'visits')") {
		return nil
	}
	return b.shownRows("visits")
}

// disturb changes the tables until something is closed.
func (b *bench) disturb(d dying, point string, until <-chan struct{}) {
	b.t.Helper()
	if d.spill && point == FailSpilled {
		b.script("UPDATE ward SET age = (age + 1) % 80; INSERT INTO ward SELECT " + visit("i") + " FROM generate_series(100000, 102500) i; DELETE FROM ward WHERE id > 102000")
	}
	for start := time.Now(); ; {
		select {
		case <-until:
			return
		case <-time.After(100 * time.Millisecond):
			b.alter()
		}
		if time.Since(start) > patience {
			b.t.Fatalf("failpoint %s is not passed", point)
		}
	}
}

func (b *bench) cancelAt(point string, d dying) {
	b.t.Helper()
	h := b.holdAt(point)
	l := b.start()
	b.disturb(d, point, h.reached)
	l.cancel()
	h.free()
	<-l.done
}

func (b *bench) killAt(point string, d dying) {
	b.t.Helper()
	c := b.spawn(errand{Die: point})
	b.disturb(d, point, c.exited)
	c.dies()
}
