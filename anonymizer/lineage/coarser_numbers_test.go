package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestCoarserNumbersGoOnAfterThoseLoaded: where a store has not kept the next number, no group gets the number of one that is loaded.
func TestCoarserNumbersGoOnAfterThoseLoaded(t *testing.T) {
	t.Parallel()
	loaded := 0
	for seed := range uint64(4) {
		m, readers := coarsened(t, rand.New(rand.NewPCG(seed, 17)), plainSetting(), stricter["k"], false)
		m.operate(30)
		m.lineage = m.newLineage(m.setting.options)
		m.must(m.lineage.Load(m.journal.stored(m.members, m.record)))
		for _, o := range readers {
			last := incremental.ClassID(0)
			for _, r := range o.rows {
				last = max(last, r.group)
			}
			o.add()
			o.load()
			if next := o.release.NextGroup(); next <= last {
				t.Errorf("seed %d, level %d: group %d is the next, and %d is there", seed, o.level, next, last)
			}
			loaded += len(o.rows)
		}
	}
	if loaded == 0 {
		t.Error("no rows were loaded")
	}
}

// TestCoarserNumbersBeginAfterThoseOfTheLineage: a store of earlier versions has counted all classes together, and tells the lineage.
func TestCoarserNumbersBeginAfterThoseOfTheLineage(t *testing.T) {
	t.Parallel()
	s := plainSetting()
	s.options.FirstClass = 100
	_, readers := coarsened(t, rand.New(rand.NewPCG(1, 23)), s, stricter["k"], false)
	for _, o := range readers {
		if next := o.release.NextGroup(); next < 100 {
			t.Errorf("level %d: group %d is the next", o.level, next)
		}
	}
}

// TestCoarserOfLimitedIsLimited: a release that follows one of limited attributes shows no more of them than that.
func TestCoarserOfLimitedIsLimited(t *testing.T) {
	t.Parallel()
	const k = 5
	spec := hierarchy.Spec{Kind: hierarchy.Numeric}
	numeric, err := hierarchy.New(spec)
	must(t, err)
	limited, err := hierarchy.Coarser(numeric, spec, hierarchy.Coarseness{Steps: []float64{10, 1000}})
	must(t, err)
	l, err := lineage.New([]anonymizer.Attribute{{Name: "age", Hierarchy: numeric}}, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, partition.RoundedPartition{}, lineage.Options{Crowd: 1})
	must(t, err)
	first, err := l.AddLimited([]anonymizer.Attribute{{Name: "age", Hierarchy: limited}}, privacy.ConstraintSet{privacy.KAnonymity{K: 2 * k}})
	must(t, err)
	second, err := l.AddCoarser(privacy.ConstraintSet{privacy.KAnonymity{K: 4 * k}})
	must(t, err)
	now := time.Unix(0, 0)
	for i := range 4 * k {
		age := fmt.Sprint([]int{22, 27, 42, 47}[i/k])
		must(t, l.Insert(lineage.Record{Record: incremental.Record{ID: incremental.RecordID(i + 1), Cells: []hierarchy.Cell{numeric.Encode(age)}}}, now))
	}
	_, err = l.Publish(t.Context(), now)
	must(t, err)
	if finer := first.Changes().Classes; len(finer) != 2 {
		t.Fatalf("the first release shows %+v", finer)
	}
	coarser := second.Changes().Classes
	for _, labels := range coarser {
		if labels[0].Lower != "0" || labels[0].Upper != "999" {
			t.Errorf("the second release shows %+v", labels[0])
		}
	}
	if len(coarser) != 1 {
		t.Errorf("%d groups are shown", len(coarser))
	}
}

func plainSetting() setting {
	s := setting{attributes: 3, constraints: sets["k"], method: partition.RoundedPartition{}, sensitive: 2}
	s.options = lineage.Options{Crowd: 3, Least: 1}
	return s
}
