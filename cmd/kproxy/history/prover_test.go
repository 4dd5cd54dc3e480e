package history

import (
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestProofsTakeTheirTime: the interval that metrics tell is one that can be kept.
func TestProofsTakeTheirTime(t *testing.T) {
	t.Parallel()
	var r Proofs
	if r.Of(catalog.Name{}) != nil || r.Interval(0) != 0 || r.Interval(time.Hour) != time.Hour {
		t.Error("something is known before the first proof")
	}
	r.taken.Store(int64(10 * time.Minute))
	if got := r.Interval(time.Hour); got != 110*time.Minute {
		t.Errorf("proofs of ten minutes are made every %v", got)
	}
	if r.Interval(0) != 0 {
		t.Error("they are made though they are off")
	}
}

// TestProofsAreDue: the proof of an earlier release says nothing of the present one.
func TestProofsAreDue(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		generation int64
		now        ksync.TableStatus
		every      time.Duration
		due        bool
	}{
		{3, ksync.TableStatus{Generation: 3}, 2 * time.Hour, false},
		{2, ksync.TableStatus{Generation: 3}, 2 * time.Hour, true},
		{2, ksync.TableStatus{Generation: 3, Preparing: true}, 2 * time.Hour, false},
		{2, ksync.TableStatus{Generation: 2}, time.Hour, true},
	} {
		for _, passed := range []bool{true, false} {
			proof := Proof{At: at.Add(-time.Hour), Passed: passed, Report: verify.TableReport{Generation: c.generation}}
			if due := proof.isDue(at, c.now, c.every); due != c.due {
				t.Errorf("%+v: another proof is due: %v", c, due)
			}
		}
	}
}

func TestLossesAreRecordedForAReason(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	last := lastLoss{at: now.Add(-time.Minute), generation: 3, renewed: 0.2}
	published := ksync.TableStatus{State: ksync.Published, Generation: 3, Loss: 0.2, Drift: 1}
	for what, c := range map[string]struct {
		last   lastLoss
		status ksync.TableStatus
		want   string
	}{
		"nothing new":         {last, published, ""},
		"first seen":          {lastLoss{}, published, lossPublished},
		"published afresh":    {last, ksync.TableStatus{State: ksync.Published, Generation: 4}, lossPublished},
		"made anew":           {last, ksync.TableStatus{State: ksync.Published, Generation: 3, Loss: 0.1, Drift: 1}, lossReanonymized},
		"compared, not taken": {last, ksync.TableStatus{State: ksync.Published, Generation: 3, Loss: 0.1, Drift: 1.1}, ""},
		"an hour later":       {lastLoss{at: now.Add(-time.Hour), generation: 3, renewed: 0.2}, published, lossHourly},
		"halted":              {lastLoss{}, ksync.TableStatus{State: ksync.Halted, Generation: 3}, ""},
	} {
		if got := c.last.cause(now, c.status); got != c.want {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}
