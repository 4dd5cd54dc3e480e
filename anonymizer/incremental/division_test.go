package incremental_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// coarse makes classes of fifteen records, or of all that are too few for two such classes:
// a partition divides them further.
var coarse = careless{anonymize: func(t *anonymizer.Table, c privacy.ConstraintSet, random *rand.Rand) (*anonymizer.Release, error) {
	size := min(15, max(c.K(), t.Len()/3))
	r := &anonymizer.Release{Classes: make([]anonymizer.EquivalenceClass, max(1, t.Len()/size))}
	for i, place := range random.Perm(t.Len()) {
		class := &r.Classes[i%len(r.Classes)]
		*class = append(*class, int32(place))
	}
	return r, nil
}}

// TestDivideIsTheFirstSettle compares the classes that are made at once, and their order, with
// those of a partition that settles for the first time.
func TestDivideIsTheFirstSettle(t *testing.T) {
	t.Parallel()
	all := maps.Clone(carelessMethods)
	all["coarse"] = coarse
	for _, name := range methods.Names() {
		all[name], _ = methods.Named(name)
	}
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 11))
		attributes, first, persons := 1+random.IntN(4), random.IntN(12), []int{0, 20}[seed%2]
		set := randomSet(random, attributes)
		if seed%4 == 0 {
			set = privacy.ConstraintSet{privacy.KAnonymity{K: 3}}
		}
		shape := workload.Shape{Attributes: attributes, Distinct: []int{2, 9, 300}[random.IntN(3)], Nulls: 0.05, Sensitive: historySensitive}
		source := anonymizertest.NewSource(random, shape, first, 2, persons)
		columns, records := drawn(source, []int{0, 2, 40, 200}[random.IntN(4)])
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if methods.Refusal(all[name], source.Data.Attributes, set) != nil {
				continue
			}
			if err := divideBothWays(source.Data.Attributes, columns, records, set, all[name]); err != nil {
				t.Errorf("seed %d, %s, %v, %d records: %v", seed, name, set, columns.Records, err)
			}
		}
	}
}

// drawn are some records, as columns and one by one.
func drawn(source *anonymizertest.Source, n int) (incremental.Columns, []incremental.Record) {
	columns := incremental.NewColumns(n, len(source.Data.Attributes), 2, source.Persons > 0)
	records := make([]incremental.Record, n)
	for i := range records {
		row := source.Row()
		records[i] = incremental.Record{ID: incremental.RecordID(i), Cells: source.Cells(row), Sensitive: row.Sensitive, Subject: row.Subject}
		columns.Set(i, records[i])
	}
	return columns, records
}

func divideBothWays(attributes []anonymizer.Attribute, columns incremental.Columns, records []incremental.Record, set privacy.ConstraintSet, method anonymizer.Method) error {
	o := incremental.Options{Seed: 3, Subjects: columns.Subjects != nil}
	p := incremental.New(attributes, set, method, o)
	for _, r := range records {
		if err := p.Insert(r); err != nil {
			return err
		}
	}
	p.Settle()
	classes, err := incremental.Divide(context.Background(), attributes, columns, set, method, o)
	if err != nil {
		return err
	}
	if len(classes) != p.Classes() {
		return fmt.Errorf("%d classes, %d expected", len(classes), p.Classes())
	}
	for at, places := range classes {
		var ids []incremental.RecordID
		for _, place := range places {
			ids = append(ids, incremental.RecordID(place))
		}
		slices.Sort(ids)
		if want := p.Members(p.ClassAt(at)); !slices.Equal(ids, want) {
			return fmt.Errorf("class %d has %v, %v expected", at, ids, want)
		}
	}
	return nil
}

// TestDivideUnitesWhatLooksAlike: two classes of the same values are one where constraints
// count what persons have.
func TestDivideUnitesWhatLooksAlike(t *testing.T) {
	t.Parallel()
	source := anonymizertest.NewSource(rand.New(rand.NewPCG(1, 1)), workload.Shape{Attributes: 1, Distinct: 1, Sensitive: 9}, 0, 2, 50)
	columns, records := drawn(source, 100)
	set := privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2, Name: "s"}}
	if err := divideBothWays(source.Data.Attributes, columns, records, set, coarse); err != nil {
		t.Error(err)
	}
}

// TestDivideWithoutColumns: records of which nothing is known, or only whose they are, are
// alike.
func TestDivideWithoutColumns(t *testing.T) {
	t.Parallel()
	set := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	for _, persons := range []bool{false, true} {
		columns, records := incremental.NewColumns(5, 0, 0, persons), make([]incremental.Record, 5)
		for i := range records {
			records[i] = incremental.Record{ID: incremental.RecordID(i), Subject: uint32(i)}
			columns.Set(i, records[i])
		}
		if err := divideBothWays(nil, columns, records, set, partition.RoundedPartition{}); err != nil {
			t.Errorf("persons %v: %v", persons, err)
		}
	}
}

// TestDivideEnds with its context.
func TestDivideEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	source := anonymizertest.NewSource(rand.New(rand.NewPCG(1, 1)), workload.Shape{Attributes: 2, Distinct: 9, Sensitive: 3}, 0, 2, 0)
	columns, _ := drawn(source, 50)
	set := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	if _, err := incremental.Divide(ctx, source.Data.Attributes, columns, set, partition.RoundedPartition{}, incremental.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
