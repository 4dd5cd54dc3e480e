package lineage_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestRelative: constraints that compare with the whole table are refused, alone and
// beside others, restricted or not.
func TestRelative(t *testing.T) {
	t.Parallel()
	for _, c := range []privacy.Constraint{
		privacy.TCloseness{T: 0.9},
		privacy.BetaLikeness{Beta: 9},
		privacy.DeltaDisclosurePrivacy{Delta: 9},
		privacy.Restricted{Constraint: privacy.TCloseness{T: 0.9}, Over: []int{0}},
	} {
		for _, set := range []privacy.ConstraintSet{{c}, {privacy.KAnonymity{K: 2}, c}} {
			if _, err := lineage.New(nil, set, partition.RoundedPartition{}, lineage.Options{}); !errors.Is(err, lineage.ErrRelative) {
				t.Errorf("%v: %v", set, err)
			}
		}
	}
	restricted := privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.Restricted{Constraint: privacy.AlphaBound{Alpha: 0.5}, Over: []int{0}}}
	if _, err := lineage.New(nil, restricted, partition.RoundedPartition{}, lineage.Options{}); err != nil {
		t.Errorf("%v: %v", restricted, err)
	}
}

// bare is a lineage without attributes: every record is like every other.
func bare(t *testing.T, o lineage.Options, set ...privacy.Constraint) *lineage.Lineage {
	t.Helper()
	l, err := lineage.New(nil, set, partition.RoundedPartition{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func ill(id incremental.RecordID, code uint32) lineage.Record {
	return lineage.Record{Record: incremental.Record{ID: id, Sensitive: []uint32{code}}}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestErrors: what is refused leaves everything as it was.
func TestErrors(t *testing.T) {
	t.Parallel()
	l := bare(t, lineage.Options{}, privacy.KAnonymity{K: 2})
	must(t, l.Insert(ill(1, 0), began), l.Insert(ill(2, 0), began))
	copied := ill(3, 0)
	copied.Copied = []uint64{1}
	cells := ill(3, 0)
	cells.Cells = []float64{1}
	known := ill(1, 0)
	known.Sensitive = nil
	for what, err := range map[string]error{
		"twice": l.Insert(ill(1, 1), began), "copied": l.Insert(copied, began), "cells": l.Insert(cells, began), "changed shape": l.Modify(known, began),
	} {
		if err == nil || what == "twice" != errors.Is(err, incremental.ErrDuplicate) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{"delete": l.Delete(9), "modify": l.Modify(ill(9, 0), began)} {
		if !errors.Is(err, incremental.ErrUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if f := l.Freshness(); f.Waiting != 2 || l.Len() != 2 {
		t.Errorf("%+v, %d records", f, l.Len())
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Publish(canceled, began); !errors.Is(err, context.Canceled) {
		t.Errorf("published with %v", err)
	}
}

// TestShape: the first record says how many values of either kind all have, none included.
func TestShape(t *testing.T) {
	t.Parallel()
	plain := incremental.RecordID(1)
	for what, change := range map[string]func(*lineage.Record){
		"sensitive": func(r *lineage.Record) { r.Sensitive = []uint32{1} },
		"copied":    func(r *lineage.Record) { r.Copied = []uint64{1} },
	} {
		l := bare(t, lineage.Options{}, privacy.KAnonymity{K: 2})
		first, second := ill(plain, 0), ill(plain+1, 0)
		first.Sensitive, second.Sensitive = nil, nil
		must(t, l.Insert(first, began))
		change(&second)
		if l.Insert(second, began) == nil {
			t.Errorf("%s: a record has more values than the first one", what)
		}
		third := ill(plain+2, 0)
		third.Sensitive = nil
		must(t, l.Insert(third, began))
		if c, err := l.Publish(t.Context(), began); err != nil || len(c.Rows) != 2 {
			t.Errorf("%+v, %v: two records without values", c, err)
		}
	}
}

// TestLoadRefuses what does not fit together.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	row := func(id lineage.RowID, class incremental.ClassID, codes ...uint32) lineage.StoredRow {
		return lineage.StoredRow{ID: id, Class: class, Sensitive: codes}
	}
	record := func(id incremental.RecordID, place lineage.Place) lineage.StoredRecord {
		return lineage.StoredRecord{Record: ill(id, 0), Place: place}
	}
	for what, c := range map[string]struct {
		rows    []lineage.StoredRow
		records []lineage.StoredRecord
	}{
		"row 0":                {rows: []lineage.StoredRow{row(0, 1, 0)}},
		"class 0":              {rows: []lineage.StoredRow{row(1, 0, 0)}},
		"row twice":            {rows: []lineage.StoredRow{row(1, 1, 0), row(1, 1, 0)}},
		"values":               {rows: []lineage.StoredRow{row(1, 1, 0), row(2, 1)}},
		"record twice":         {records: []lineage.StoredRecord{record(1, lineage.Place{}), record(1, lineage.Place{})}},
		"no such row":          {records: []lineage.StoredRecord{record(1, lineage.Place{Class: 1, Row: 7})}},
		"a class below 0":      {records: []lineage.StoredRecord{record(1, lineage.Place{Class: -1})}},
		"a row below 0":        {[]lineage.StoredRow{row(1, 1, 0)}, []lineage.StoredRecord{record(1, lineage.Place{Class: 1, Row: -1})}},
		"no such class":        {[]lineage.StoredRow{row(1, 1, 0)}, []lineage.StoredRecord{record(1, lineage.Place{Class: 2, Row: 1})}},
		"row of no class":      {[]lineage.StoredRow{row(1, 1, 0)}, []lineage.StoredRecord{record(1, lineage.Place{Row: 1})}},
		"other class":          {[]lineage.StoredRow{row(1, 1, 0), row(2, 2, 0)}, []lineage.StoredRecord{record(1, lineage.Place{Class: 2, Row: 1})}},
		"row of two":           {[]lineage.StoredRow{row(1, 1, 0)}, []lineage.StoredRecord{record(1, lineage.Place{Class: 1, Row: 1}), record(2, lineage.Place{Class: 1, Row: 1})}},
		"record's values":      {[]lineage.StoredRow{row(1, 1, 0, 0)}, []lineage.StoredRecord{record(1, lineage.Place{})}},
		"rows of no values":    {[]lineage.StoredRow{row(1, 1)}, []lineage.StoredRecord{record(1, lineage.Place{})}},
		"records of no values": {[]lineage.StoredRow{row(1, 1, 0)}, []lineage.StoredRecord{{Record: lineage.Record{Record: incremental.Record{ID: 1}}}}},
		"changed columns":      {records: []lineage.StoredRecord{record(1, lineage.Place{Changed: "x"})}},
	} {
		if bare(t, lineage.Options{}, privacy.KAnonymity{K: 2}).Load(c.rows, nil, c.records) == nil {
			t.Errorf("%s: loaded", what)
		}
	}
	l := bare(t, lineage.Options{}, privacy.KAnonymity{K: 2})
	must(t, l.Insert(ill(1, 0), began))
	if l.Load(nil, nil, nil) == nil {
		t.Error("loaded what is not empty")
	}
	must(t, l.Insert(ill(2, 0), began))
	_, err := l.Publish(t.Context(), began)
	must(t, err, l.Delete(1), l.Delete(2))
	if f := l.Freshness(); f.Classes != 1 || l.Len() != 0 || l.Load(nil, nil, nil) == nil {
		t.Errorf("loaded beside rows of nobody: %+v", f)
	}
}

// TestReinserted: a record that comes again while it waits is one record, and waits from
// now on.
func TestReinserted(t *testing.T) {
	t.Parallel()
	l := bare(t, lineage.Options{}, privacy.KAnonymity{K: 2})
	must(t, l.Insert(ill(1, 0), began), l.Delete(1), l.Insert(ill(1, 1), began.Add(5)))
	if f := l.Freshness(); f.Waiting != 1 || !f.OldestWaiting.Equal(began.Add(5)) {
		t.Errorf("%+v", f)
	}
	must(t, l.Insert(ill(2, 0), began.Add(6)))
	c, err := l.Publish(t.Context(), began.Add(6))
	if must(t, err); len(c.Rows) != 2 {
		t.Errorf("%+v", c)
	}
}

// TestOnce: a batch that fails is withheld for good, and neither a change nor more
// records have it tried again: who made it possible would be known.
func TestOnce(t *testing.T) {
	t.Parallel()
	l := bare(t, lineage.Options{Least: 1}, privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2})
	publish := func() lineage.Changes {
		c, err := l.Publish(t.Context(), began)
		must(t, err)
		return c
	}
	must(t, l.Insert(ill(1, 0), began), l.Insert(ill(2, 0), began))
	if c := publish(); len(c.Rows) > 0 || !c.Place(1).Withheld || !c.Place(2).Withheld || l.Freshness().Withheld != 2 {
		t.Fatalf("%+v", c)
	}
	must(t, l.Modify(ill(1, 1), began), l.Insert(ill(3, 2), began))
	if c := publish(); len(c.Rows) > 0 || c.Place(3).Withheld {
		t.Errorf("%+v", c)
	}
	must(t, l.Insert(ill(4, 3), began))
	if c := publish(); len(c.Rows) != 2 || l.Freshness().Withheld != 2 {
		t.Errorf("%+v", c)
	}
	must(t, l.Delete(1), l.Insert(ill(1, 1), began)) // another record
	if publish(); l.Freshness().Withheld != 1 || l.Freshness().Waiting != 1 {
		t.Errorf("%+v", l.Freshness())
	}
}

// TestBatchIsAwaited: without a time within which it is published, a batch waits for its size,
// however long that takes.
func TestBatchIsAwaited(t *testing.T) {
	t.Parallel()
	const size = 10
	l := bare(t, lineage.Options{Least: 1, Batch: size}, privacy.KAnonymity{K: 2})
	must(t, l.Insert(ill(1, 0), began), l.Insert(ill(2, 0), began))
	if c, err := l.Publish(t.Context(), began); err != nil || len(c.Rows) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	for n := 1; n <= size; n++ {
		must(t, l.Insert(ill(incremental.RecordID(100+n), 0), began))
		c, err := l.Publish(t.Context(), began.Add(1000*time.Hour))
		if must(t, err); len(c.Rows) > 0 != (n == size) {
			t.Errorf("of a batch of %d, %d are published when there are %d", size, len(c.Rows), n)
		}
	}
	if due := l.Due(); !due.IsZero() {
		t.Errorf("something is due at %v", due)
	}
}

// TestLeast: fewer records than that are not tried as a batch, however long they wait,
// where constraints count values, for a refusal would tell of these.
func TestLeast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options lineage.Options
		set     []privacy.Constraint
		least   int
	}{
		{lineage.Options{}, []privacy.Constraint{privacy.KAnonymity{K: 3}}, 3},
		{lineage.Options{Crowd: 4}, []privacy.Constraint{privacy.KAnonymity{K: 3}}, 12},
		{lineage.Options{}, []privacy.Constraint{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2}}, 20},
		{lineage.Options{Least: 7}, []privacy.Constraint{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2}}, 7},
		{lineage.Options{Least: 7, Batch: 9}, []privacy.Constraint{privacy.KAnonymity{K: 3}}, 7},
		{lineage.Options{Least: 1, Crowd: 2}, []privacy.Constraint{privacy.KAnonymity{K: 3}}, 6},
	} {
		c.options.Within = time.Minute
		l := bare(t, c.options, c.set...)
		for n := 1; n <= c.least; n++ {
			must(t, l.Insert(ill(incremental.RecordID(n), uint32(n)), began))
			changes, err := l.Publish(t.Context(), began.Add(time.Hour))
			if must(t, err); len(changes.Rows) > 0 != (n == c.least) {
				t.Fatalf("%+v: %d of %d records are published", c.options, len(changes.Rows), n)
			}
		}
	}
}

// TestSameSeedSameHistory, restarts among it.
func TestSameSeedSameHistory(t *testing.T) {
	t.Parallel()
	history := func() *journal {
		random := rand.New(rand.NewPCG(4, 4))
		s := randomSetting(random, sets["distinct"], 12)
		s.method = partition.RoundedPartition{}
		m := newModel(t, random, s)
		m.operate(60)
		return m.journal
	}
	one, two := history(), history()
	if one.version != two.version || !reflect.DeepEqual(one.places, two.places) || len(one.classes) != len(two.classes) {
		t.Fatal("the same operations gave different histories")
	}
	for id, r := range one.rows {
		if o := two.rows[id]; o == nil || o.record != r.record || o.class != r.class || o.person != r.person {
			t.Fatalf("row %d differs", id)
		}
	}
}
