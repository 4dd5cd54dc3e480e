package lineage_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestPatienceOfLargeClasses: the rows of the deleted vanish from a class that is too large to
// be looked at after each of them, and those of the changed are published anew, when a quarter
// more than would be enough are, at the latest, and never before there are enough.
func TestPatienceOfLargeClasses(t *testing.T) {
	t.Parallel()
	const size, k = 3000, 300
	l := bare(t, lineage.Options{Least: 1, Crowd: size / k, Batch: size}, privacy.KAnonymity{K: k})
	record := func(id incremental.RecordID, copied uint64) lineage.Record {
		r := ill(id, 0)
		r.Copied = []uint64{copied}
		return r
	}
	for id := range incremental.RecordID(size) {
		must(t, l.Insert(record(id, 0), began))
	}
	_, err := l.Publish(t.Context(), began)
	if must(t, err); l.Freshness().Classes != 1 {
		t.Fatalf("%+v", l.Freshness())
	}
	cuts, waited := 0, 0
	for id := range incremental.RecordID(size) {
		if cuts%2 == 0 {
			must(t, l.Modify(record(id, 1), began))
		} else {
			must(t, l.Delete(id))
		}
		c, err := l.Publish(t.Context(), began)
		must(t, err)
		if waited++; len(c.Gone) == 0 {
			continue
		}
		cuts++
		if last := int(id)+k >= size; len(c.Gone) != waited || !last && (waited < k || waited > k+k/4) {
			t.Errorf("cut %d: %d rows of %d vanish", cuts, len(c.Gone), waited)
		}
		waited = 0
	}
	if cuts < size/(k+k/4)-1 {
		t.Errorf("%d cuts: %+v", cuts, l.Freshness())
	}
}

// TestPatienceWithAllStale: a large class of which all rows are stale is published anew as soon
// as the same has changed of all of them.
func TestPatienceWithAllStale(t *testing.T) {
	t.Parallel()
	const size, k = 1201, 700
	l := bare(t, lineage.Options{Least: 1}, privacy.KAnonymity{K: k})
	record := func(id incremental.RecordID, copied ...uint64) lineage.Record {
		r := ill(id, 0)
		r.Copied = copied
		return r
	}
	for id := range incremental.RecordID(size) {
		must(t, l.Insert(record(id, 0, 0), began))
	}
	publish := func() lineage.Freshness {
		_, err := l.Publish(t.Context(), began)
		must(t, err)
		return l.Freshness()
	}
	publish()
	for _, changed := range []bool{false, true} { // one of the two values first, the other one then
		for id := range incremental.RecordID(size) {
			one, other := uint64(1), uint64(0)
			if id%2 == 0 {
				one, other = 0, 1
			}
			if changed {
				one, other = 1, 1
			}
			must(t, l.Modify(record(id, one, other), began))
			if f, last := publish(), changed && id == size-1; (f.Stale == 0) != last || f.Classes != 1 {
				t.Fatalf("after record %d of the round %v: %+v", id, changed, f)
			}
		}
	}
}

// TestQueuesOfMany: who waits, and whose row is stale, is known after thousands of others no
// longer are, of whom nothing is kept.
func TestQueuesOfMany(t *testing.T) {
	t.Parallel()
	const many, year = 6000, 365 * 24 * time.Hour
	at := func(id incremental.RecordID) time.Time { return began.Add(time.Duration(id) * time.Second) }
	for seed, stay := range []int{0, 1, 40, 1500} {
		random := rand.New(rand.NewPCG(uint64(seed), 31))
		l := bare(t, lineage.Options{Least: 1, Batch: 100 * many, Within: year}, privacy.KAnonymity{K: 2})
		for _, stale := range []bool{false, true} {
			if stale { // these are published, and then changed one by one
				for id := range incremental.RecordID(many) {
					if _, known := l.Record(id); !known {
						must(t, l.Insert(ill(id, 0), began))
					}
				}
				c, err := l.Publish(t.Context(), began.Add(2*year))
				if must(t, err); len(c.Rows) != many || l.Freshness().Waiting != 0 {
					t.Fatalf("%d of %d are published; %+v", len(c.Rows), many, l.Freshness())
				}
			}
			for id := range incremental.RecordID(many) {
				if stale {
					must(t, l.Modify(ill(id, 1), at(id)))
				} else {
					must(t, l.Insert(ill(id, 0), at(id)))
				}
			}
			left := map[incremental.RecordID]bool{}
			for id := range incremental.RecordID(many) {
				left[id] = true
			}
			every := []int{700, many}[seed%2] // so many of them are gone when it is asked for
			for i, id := range random.Perm(many)[stay:] {
				must(t, l.Delete(incremental.RecordID(id)))
				if delete(left, incremental.RecordID(id)); i%every != every-1 && len(left) > stay {
					continue
				}
				f := l.Freshness()
				count, oldest := f.Waiting, f.OldestWaiting
				if stale {
					count, oldest = f.Stale, f.OldestStale
				}
				var want time.Time
				if len(left) > 0 {
					want = at(slices.Min(slices.Collect(maps.Keys(left))))
				}
				if count != len(left) || !oldest.Equal(want) {
					t.Fatalf("%+v, of %d that are left since %v", f, len(left), want)
				}
				if queued := l.Queued(); queued > 2*len(left)+1024 {
					t.Fatalf("%d are kept in queues of %d", queued, len(left))
				}
			}
		}
	}
}
