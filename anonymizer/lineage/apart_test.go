package lineage_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestRenewedApart: people who have all moved, to two places, are published anew as a class of
// each place if these are large enough, but for those whose values were corrected before: they
// stay one class, whatever moves.
func TestRenewedApart(t *testing.T) {
	t.Parallel()
	const people = 12
	for _, c := range []struct {
		crowd, least, most int // classes
		corrected          bool
	}{{1, 2, 6, false}, {people / 4, 2, 2, false}, {people/4 + 1, 1, 1, false}, {1, 1, 1, true}} {
		m := newModel(t, rand.New(rand.NewPCG(1, 1)), setting{
			attributes: 1, constraints: sets["distinct"], method: partition.RoundedPartition{}, sensitive: 2,
			options: lineage.Options{Crowd: people / 2, Least: 1},
		})
		row := func(i int, place string, plus uint32) anonymizertest.Row {
			return anonymizertest.Row{Raw: []string{place}, Sensitive: []uint32{uint32(i) + plus, uint32(i)}, Copied: []uint64{0, 0}}
		}
		for i := range people {
			m.insert(incremental.RecordID(i), row(i, "1", 0))
		}
		m.publish()
		plus := uint32(0)
		if c.corrected {
			plus = 100
			for i := range people {
				m.modify(incremental.RecordID(i), row(i, "1", plus))
			}
			m.publish()
		}
		m.setting.options.Crowd = c.crowd
		m.restart()
		for i := range people {
			m.modify(incremental.RecordID(i), row(i, strconv.Itoa(2+900*(i%2)), plus))
		}
		m.publish()
		m.must(m.reader.checkHistory())
		if f := m.lineage.Freshness(); f.Stale != 0 || f.Rows != people || f.Classes < c.least || f.Classes > c.most {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

// TestLeastChanged: values that constraints count are published anew when so many persons of
// a class have others, and what they do not count when as many have as make a class.
func TestLeastChanged(t *testing.T) {
	t.Parallel()
	counted := func(r *lineage.Record) { r.Sensitive[0] += 1000 }
	person := func(r *lineage.Record) { r.Subject += 1000 }
	copied := func(r *lineage.Record) { r.Copied[0]++ }
	valued := []privacy.Constraint{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2}}
	for what, c := range map[string]struct {
		change func(*lineage.Record)
		set    []privacy.Constraint
		least  int // of the options
		want   int
	}{
		"a value":                         {counted, valued, 0, 10},
		"the person":                      {person, valued, 0, 10},
		"a value nobody counts":           {copied, valued, 0, 3},
		"a value, of sizes":               {counted, []privacy.Constraint{privacy.KAnonymity{K: 4}}, 0, 4},
		"a value, of at least five":       {counted, valued, 5, 5},
		"a value, of at least one":        {counted, valued, 1, 3},
		"a value, of sizes, of five":      {counted, []privacy.Constraint{privacy.KAnonymity{K: 2}}, 5, 5},
		"what is not counted, of five":    {copied, valued, 5, 3},
		"a value, where a restriction is": {counted, []privacy.Constraint{privacy.KAnonymity{K: 3}, privacy.Restricted{Constraint: privacy.DistinctDiversity{L: 2}, Over: []int{0}}}, 0, 10},
	} {
		const people = 40
		l := bare(t, lineage.Options{Least: c.least, Crowd: 24 / privacy.ConstraintSet(c.set).K(), Subjects: true}, c.set...)
		record := func(id incremental.RecordID) lineage.Record {
			r := ill(id, uint32(id))
			r.Subject, r.Copied = uint32(id), []uint64{0}
			return r
		}
		for id := range incremental.RecordID(people) {
			must(t, l.Insert(record(id), began))
		}
		_, err := l.Publish(t.Context(), began)
		must(t, err)
		if f := l.Freshness(); f.Classes != 1 {
			t.Fatalf("%s: %+v", what, f)
		}
		for n := 1; n <= c.want; n++ {
			r := record(incremental.RecordID(n))
			c.change(&r)
			must(t, l.Modify(r, began))
			changes, err := l.Publish(t.Context(), began)
			if must(t, err); len(changes.Rows) > 0 != (n == c.want) || len(changes.Rows) > 0 && len(changes.Rows) != n {
				t.Errorf("%s: of %d with another one, %d are published anew, all of %d expected", what, n, len(changes.Rows), c.want)
			}
		}
	}
}

// TestNumbersTellNothing of who came first: rows and persons have the same numbers whichever
// order their records come in. Who does not know the seed cannot compute them.
func TestNumbersTellNothing(t *testing.T) {
	t.Parallel()
	const people = 30
	publish := func(seed uint64, order []int) map[incremental.RecordID]lineage.NewRow {
		l := bare(t, lineage.Options{Seed: seed, Crowd: 5, Subjects: true}, privacy.KAnonymity{K: 5})
		for _, i := range order {
			r := ill(incremental.RecordID(i), uint32(i))
			r.Subject = uint32(i)
			must(t, l.Insert(r, began))
		}
		c, err := l.Publish(t.Context(), began)
		must(t, err)
		rows := map[incremental.RecordID]lineage.NewRow{}
		for _, r := range c.Rows {
			rows[r.Record] = r
		}
		return rows
	}
	random := rand.New(rand.NewPCG(1, 6))
	first := publish(5, random.Perm(people))
	if len(first) != people {
		t.Fatalf("%d rows", len(first))
	}
	for range 5 {
		if other := publish(5, random.Perm(people)); !maps.Equal(first, other) {
			t.Fatalf("rows %v, and %v of another order", first, other)
		}
	}
	if maps.Equal(first, publish(6, random.Perm(people))) {
		t.Error("rows have the same numbers with another seed")
	}
	ascending := 0
	for id, r := range first {
		if next, is := first[id+1]; is && next.ID > r.ID {
			ascending++
		}
	}
	if ascending > 2*people/3 || ascending < people/3 {
		t.Errorf("%d rows of %d have a greater number than that of the record before", ascending, people)
	}
}

// interrupted ends the context as soon as classes are made.
type interrupted struct {
	partition.RoundedPartition
	cancel context.CancelFunc
}

func (i interrupted) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	i.cancel()
	return i.RoundedPartition.Anonymize(ctx, t, c, o)
}

// TestInterrupted: a Publish that is interrupted says so, wherever it is.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	var rows []lineage.StoredRow
	var records []lineage.StoredRecord
	for id := range incremental.RecordID(8) {
		rows = append(rows, lineage.StoredRow{ID: lineage.RowID(id) + 1, Class: 1, Person: uint32(id), Sensitive: []uint32{0}})
		records = append(records, lineage.StoredRecord{Record: ill(id, 0), Place: lineage.Place{Class: 1, Row: lineage.RowID(id) + 1}})
	}
	for what, prepare := range map[string]func(l *lineage.Lineage, cancel func()){
		"a batch": func(l *lineage.Lineage, _ func()) {
			must(t, l.Insert(ill(8, 0), began), l.Insert(ill(9, 0), began))
		},
		"a renewal": func(l *lineage.Lineage, _ func()) {
			for id := range incremental.RecordID(8) {
				must(t, l.Modify(ill(id, 1), began))
			}
		},
		"a cut": func(l *lineage.Lineage, cancel func()) {
			must(t, l.Delete(1), l.Delete(2))
			cancel()
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		l, err := lineage.New(nil, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, interrupted{cancel: cancel}, lineage.Options{Least: 1})
		must(t, err, l.Load(rows, nil, records))
		prepare(l, cancel)
		if _, err := l.Publish(ctx, began); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
}
