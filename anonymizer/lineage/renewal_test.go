package lineage_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestRenewedStoodTogether changes all records of a class so that two classes would be
// the best, of which one would have had the same value for everybody before: they stay
// one.
func TestRenewedStoodTogether(t *testing.T) {
	t.Parallel()
	const people = 12
	m := newModel(t, rand.New(rand.NewPCG(1, 1)), setting{
		attributes: 1, constraints: sets["distinct"], method: partition.RoundedPartition{}, sensitive: 2,
		options: lineage.Options{Crowd: people / 2, Least: 1},
	})
	half := func(i int) uint32 { return uint32(i / (people / 2)) }
	for i := range people {
		m.insert(incremental.RecordID(i), anonymizertest.Row{Raw: []string{strconv.Itoa(i)}, Sensitive: []uint32{half(i), uint32(i % 2)}, Copied: []uint64{0, 0}})
	}
	m.publish()
	m.setting.options.Crowd = 1
	m.restart()
	for i := range people {
		m.modify(incremental.RecordID(i), anonymizertest.Row{
			Raw: []string{strconv.Itoa(i + 900*int(half(i)))}, Sensitive: []uint32{2 + uint32(i%2), uint32(i % 2)}, Copied: []uint64{0, 0},
		})
	}
	m.publish()
	m.must(m.reader.checkHistory())
	if f := m.lineage.Freshness(); f.Classes != 1 || f.Stale != 0 {
		t.Errorf("%+v", f)
	}
}

// TestRenewedOnce: changed rows whose new values cannot be published stay as they were, after
// a restart too, as long as one of them has its value; those of others do not.
func TestRenewedOnce(t *testing.T) {
	t.Parallel()
	m := newModel(t, rand.New(rand.NewPCG(2, 2)), setting{
		attributes: 1, constraints: sets["distinct"], method: partition.RoundedPartition{}, sensitive: 2,
		options: lineage.Options{Crowd: 5, Least: 1},
	})
	values := func(code uint32) anonymizertest.Row {
		return anonymizertest.Row{Raw: []string{"1"}, Sensitive: []uint32{code, code % 7}, Copied: []uint64{0, 0}}
	}
	change := func(from, to incremental.RecordID, code func(incremental.RecordID) uint32) {
		for id := from; id <= to; id++ {
			m.modify(id, values(code(id)))
		}
		m.publish()
	}
	for id := range incremental.RecordID(10) {
		m.insert(id, values(uint32(id)))
	}
	m.publish()
	change(0, 3, func(incremental.RecordID) uint32 { return 20 })
	change(0, 2, func(id incremental.RecordID) uint32 { return 30 + uint32(id) })
	m.restart()
	m.publish()
	if f := m.lineage.Freshness(); f.Stale != 4 || f.Classes != 1 {
		t.Errorf("after values that cannot be published: %+v", f)
	}
	change(4, 7, func(id incremental.RecordID) uint32 { return 40 + uint32(id) })
	if f := m.lineage.Freshness(); f.Stale != 4 || f.Classes != 2 {
		t.Errorf("after values that can be: %+v", f)
	}
	m.must(m.reader.checkHistory())
}

// TestOnlyGhostsAreNotLeft: once corrections and moves are out of a class, the deleted are
// all that is left, and go with them.
func TestOnlyGhostsAreNotLeft(t *testing.T) {
	t.Parallel()
	l := bare(t, lineage.Options{Crowd: 5, Least: 1}, privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2})
	sick := func(id incremental.RecordID, code uint32, copied uint64) lineage.Record {
		r := ill(id, code)
		r.Copied = []uint64{copied}
		return r
	}
	for i, code := range []uint32{1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8} {
		must(t, l.Insert(sick(incremental.RecordID(i), code, 0), began))
	}
	c, err := l.Publish(t.Context(), began)
	if must(t, err); len(c.Classes) != 1 {
		t.Fatalf("%d classes", len(c.Classes))
	}
	for id := range incremental.RecordID(11) {
		switch {
		case id < 5:
			must(t, l.Modify(sick(id, 20+uint32(id), 0), began))
		case id < 8:
			must(t, l.Modify(sick(id, uint32(id)-2, 9), began))
		default:
			must(t, l.Delete(id))
		}
	}
	c, err = l.Publish(t.Context(), began)
	must(t, err)
	if f := l.Freshness(); f.Ghosts != 0 || f.Stale != 0 || f.Rows != 8 || len(c.Weights) != 0 {
		t.Errorf("%+v, weights %v", f, c.Weights)
	}
}

// TestPatience: whole classes of people who change or leave one by one are told of, whatever
// their size.
func TestPatience(t *testing.T) {
	t.Parallel()
	for size := 5; size < 40; size++ {
		l := bare(t, lineage.Options{Least: 1, Crowd: size / 5, Batch: size}, privacy.KAnonymity{K: 5})
		for id := range incremental.RecordID(size) {
			must(t, l.Insert(ill(id, uint32(id)), began))
		}
		publish := func() lineage.Freshness {
			_, err := l.Publish(t.Context(), began)
			must(t, err)
			return l.Freshness()
		}
		if f := publish(); f.Classes != 1 {
			t.Fatalf("%+v", f)
		}
		var last lineage.Freshness
		for id := range incremental.RecordID(size) {
			must(t, l.Modify(ill(id, 100+uint32(id)), began))
			last = publish()
		}
		if last.Stale >= 5 {
			t.Errorf("of %d, %d stay stale", size, last.Stale)
		}
		for id := range incremental.RecordID(size) {
			must(t, l.Delete(id))
			last = publish()
		}
		if last.Rows != 0 {
			t.Errorf("of %d, %d rows stay of nobody", size, last.Rows)
		}
	}
}

// TestChangedBack: what was refused is not tried again with one other value, though all
// have changed since.
func TestChangedBack(t *testing.T) {
	t.Parallel()
	l := bare(t, lineage.Options{Crowd: 3, Least: 1}, privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2})
	change := func(code func(incremental.RecordID) uint32) lineage.Freshness {
		for id := range incremental.RecordID(6) {
			must(t, l.Modify(ill(id, code(id)), began))
		}
		_, err := l.Publish(t.Context(), began)
		must(t, err)
		return l.Freshness()
	}
	for id := range incremental.RecordID(6) {
		must(t, l.Insert(ill(id, uint32(id)), began))
	}
	change(func(id incremental.RecordID) uint32 { return uint32(id) })
	change(func(incremental.RecordID) uint32 { return 10 })
	change(func(incremental.RecordID) uint32 { return 11 })
	if f := change(func(id incremental.RecordID) uint32 { return 10 + uint32(id)/5 }); f.Stale != 6 {
		t.Errorf("who has 11 is known: %+v", f)
	}
}
