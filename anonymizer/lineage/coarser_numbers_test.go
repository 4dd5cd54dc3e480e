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
		m, readers := coarsened(t, rand.New(rand.NewPCG(seed, 17)), plainSetting(), stricter["k"], [2]bool{})
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

// TestCoarserNumbersTellNothingOfTheLineage: groups are counted from 1, however many classes finer readers have had.
func TestCoarserNumbersTellNothingOfTheLineage(t *testing.T) {
	t.Parallel()
	s := plainSetting()
	s.options.FirstClass = 100
	m, readers := coarsened(t, rand.New(rand.NewPCG(1, 23)), s, stricter["k"], [2]bool{})
	m.operate(30)
	for _, o := range readers {
		if next := o.release.NextGroup(); next < 2 || next >= 100 || next != o.last+1 {
			t.Errorf("level %d: group %d is the next after %d", o.level, next, o.last)
		}
	}
}

// secondOfLimited is what two releases show, the second over the first, which shows intervals of 10 or of 1,000 of one attribute: of five records
// of each value, which the lineage shows as they are.
func secondOfLimited(t *testing.T, domain hierarchy.Domain, values [4]int) (first, second map[incremental.ClassID][]hierarchy.Generalization) {
	t.Helper()
	const k = 5
	spec := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: domain}
	numeric, err := hierarchy.New(spec)
	must(t, err)
	limited, err := hierarchy.Coarser(numeric, spec, hierarchy.Coarseness{Steps: []float64{10, 1000}})
	must(t, err)
	l, err := lineage.New([]anonymizer.Attribute{{Name: "age", Hierarchy: numeric}}, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, partition.RoundedPartition{}, lineage.Options{Crowd: 1})
	must(t, err)
	one, err := l.AddLimited([]anonymizer.Attribute{{Name: "age", Hierarchy: limited}}, privacy.ConstraintSet{privacy.KAnonymity{K: 2 * k}})
	must(t, err)
	other, err := l.AddCoarser(privacy.ConstraintSet{privacy.KAnonymity{K: 4 * k}})
	must(t, err)
	now := time.Unix(0, 0)
	for i := range 4 * k {
		must(t, l.Insert(lineage.Record{Record: incremental.Record{ID: incremental.RecordID(i + 1), Cells: []hierarchy.Cell{numeric.Encode(fmt.Sprint(values[i/k]))}}}, now))
	}
	_, err = l.Publish(t.Context(), now)
	must(t, err)
	return one.Changes().Classes, other.Changes().Classes
}

// shownOnce checks that one group is shown, with these bounds.
func shownOnce(t *testing.T, groups map[incremental.ClassID][]hierarchy.Generalization, lower, upper string) {
	t.Helper()
	for _, labels := range groups {
		if labels[0].Lower != lower || labels[0].Upper != upper {
			t.Errorf("the second release shows %+v", labels[0])
		}
	}
	if len(groups) != 1 {
		t.Errorf("%d groups are shown", len(groups))
	}
}

// TestCoarserOfLimitedIsLimited: a release that follows one of limited attributes shows no more of them than that.
func TestCoarserOfLimitedIsLimited(t *testing.T) {
	t.Parallel()
	first, second := secondOfLimited(t, hierarchy.DomainInteger, [4]int{22, 27, 42, 47})
	if len(first) != 2 {
		t.Fatalf("the first release shows %+v", first)
	}
	shownOnce(t, second, "0", "999")
}

// TestCoarserLimitsOnce: a release without limits of its own shows what the one that it follows has limited as that does. The upper bound of
// an interval of decimals is in the next one: limited again, it would be shown in a wider one.
func TestCoarserLimitsOnce(t *testing.T) {
	t.Parallel()
	_, second := secondOfLimited(t, hierarchy.DomainDecimal, [4]int{31, 32, 33, 34})
	shownOnce(t, second, "30", "40")
}

func plainSetting() setting {
	s := setting{attributes: 3, constraints: sets["k"], method: partition.RoundedPartition{}, sensitive: 2}
	s.options = lineage.Options{Crowd: 3, Least: 1}
	return s
}
