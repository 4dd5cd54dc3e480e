package lineage_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// A new record waits until a batch of two can be published together.
func Example() {
	age, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric})
	if err != nil {
		panic(err)
	}
	l, err := lineage.New([]anonymizer.Attribute{{Name: "age", Hierarchy: age}},
		privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, lineage.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	now := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	for id, years := range []string{"23", "27", "31"} {
		record := lineage.Record{Record: incremental.Record{ID: incremental.RecordID(id), Cells: []hierarchy.Cell{age.Encode(years)}}}
		if err := l.Insert(record, now); err != nil {
			panic(err)
		}
		changes, err := l.Publish(context.Background(), now)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d rows published, %d waiting\n", len(changes.Rows), l.Freshness().Waiting)
		now = now.Add(time.Minute)
	}
	// Output:
	// 0 rows published, 1 waiting
	// 2 rows published, 0 waiting
	// 0 rows published, 1 waiting
}
