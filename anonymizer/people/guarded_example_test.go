package people_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Visits of two patients wait for others, until four are there.
func ExampleGuarded() {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	number, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	must(err)
	shape := people.Shape{
		Root:   []anonymizer.Attribute{{Name: "born", Hierarchy: number}},
		Tables: []people.TableShape{{Name: "visits", Attributes: []anonymizer.Attribute{{Name: "day", Hierarchy: number}}, Parent: people.Root, Order: 0}},
	}
	pseudonym := uint64(100) // in earnest, a random number that no row of the table has
	g, err := people.NewGuarded(shape, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, people.Knows{Crowd: 2}, people.GuardedOptions{
		MaintainedOptions: people.MaintainedOptions{
			Method: partition.RoundedPartition{}, Random: rand.New(rand.NewPCG(1, 2)), // in earnest, nobody can compute it
			Pseudonym: func(int) uint64 { pseudonym++; return pseudonym },
		},
		RowsWithin: 90 * 24 * time.Hour,
	})
	must(err)
	now := time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)
	for p := range 4 {
		must(g.Insert(people.Root, people.Row{ID: incremental.RecordID(p + 1), Key: people.Key{byte(p + 1)}, Cells: []hierarchy.Cell{float64(1950 + p)}}, now))
	}
	for i, patient := range []int{0, 2, 1, 3} {
		must(g.Insert(0, people.Row{ID: incremental.RecordID(i + 1), Of: people.Key{byte(patient + 1)}, Cells: []hierarchy.Cell{float64(10 + i)}}, now))
		changes, err := g.Publish(context.Background(), now)
		must(err)
		fmt.Printf("visit %d: %d patients and %d cells of visits appear, %d visits wait\n",
			i+1, len(changes.Root.Cells)*4, len(changes.Tables[0].Cells), g.Freshness(0).Waiting)
	}
	// Output:
	// visit 1: 4 patients and 0 cells of visits appear, 1 visits wait
	// visit 2: 0 patients and 0 cells of visits appear, 2 visits wait
	// visit 3: 0 patients and 0 cells of visits appear, 3 visits wait
	// visit 4: 0 patients and 2 cells of visits appear, 0 visits wait
}
