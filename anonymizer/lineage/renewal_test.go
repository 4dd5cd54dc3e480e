package lineage_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
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

// TestRenewedOnce: changed rows whose new values cannot be published stay as they were for
// good, after a restart too; those of others who change later do not.
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
	change(0, 3, func(id incremental.RecordID) uint32 { return 30 + uint32(id) })
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
