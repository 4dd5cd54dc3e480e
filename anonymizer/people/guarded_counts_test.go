package people_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/people"
)

var countedPersons = flag.Int("people.counted", 800, "persons whose rows are deleted and counted")

// TestCounts deletes persons with their visits, or single visits, until six of ten rows are gone, and compares
// the sums of weights with the rows that stand for somebody, after each publication: of the whole
// table, and of neighboring classes with the rows of 200 persons and more.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, leaves := range []string{"persons", "visits", "old visits"} {
		t.Run(leaves, func(t *testing.T) {
			t.Parallel()
			counts(t, leaves)
		})
	}
}

func counts(t *testing.T, leaves string) {
	const visits, publications = 6, 300
	d := hospital{persons: *countedPersons, visits: visits, windows: 2, flat: true}.data(1)
	g := guard(t, d, people.Knows{Crowd: 8}, people.GuardedOptions{RowsWithin: time.Hour})
	random := rand.New(rand.NewPCG(8, 9))
	now := guardedStart
	tables := []*countedTable{newCountedTable(people.Root, 1), newCountedTable(0, visits)}
	publish := func() {
		now = now.Add(2 * time.Hour)
		changes, err := g.Publish(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		tables[0].follow(&changes.Root)
		tables[1].follow(&changes.Tables[0])
	}
	publish()
	publish() // with what has waited for too long, in the pool
	order := d.Tables[0].Rows.Len()
	perm := random.Perm(order)
	if leaves == "old visits" {
		for i := range perm {
			perm[i] = i
		}
	}
	persons := random.Perm(*countedPersons)
	for step := range publications {
		from, to := step*6*order/10/publications, (step+1)*6*order/10/publications
		gone := perm[from:to]
		if leaves == "persons" {
			gone = nil
			for _, person := range persons[step*6**countedPersons/10/publications : (step+1)*6**countedPersons/10/publications] {
				for row := range order {
					if d.Tables[0].Of[row] == int32(person) {
						gone = append(gone, row)
					}
				}
				tables[0].delete(t, g, person, now)
			}
		}
		for _, row := range gone {
			tables[1].delete(t, g, row, now)
		}
		publish()
		for _, of := range tables {
			of.compare(t)
		}
	}
	for _, of := range tables {
		t.Logf("%s leave: %s", leaves, of)
		if of.sum > 0.02 || of.groups > 0.09 || of.mean > 0.025*float64(of.compared) {
			t.Errorf("%s leave: %s", leaves, of)
		}
	}
}

// countedTable is a table as it is published, beside what there is.
type countedTable struct {
	number int
	class  map[incremental.RecordID]int64 // by published row
	cell   map[incremental.RecordID]int64
	share  map[int64]float64 // by cell
	left   map[incremental.RecordID]bool
	each   int // rows of a person
	// sum and groups are by how much of the rows there the table's weights are off at worst, and
	// those of groups of classes with the rows of 200 persons and more.
	sum, groups float64
	least       int     // rows there, when sum was that
	mean        float64 // of all groups; their sum
	compared    int
}

func newCountedTable(number, each int) *countedTable {
	return &countedTable{number: number, each: each, class: map[incremental.RecordID]int64{}, cell: map[incremental.RecordID]int64{}, share: map[int64]float64{}, left: map[incremental.RecordID]bool{}}
}

func (c *countedTable) String() string {
	of := "of visits"
	if c.number == people.Root {
		of = "of the root"
	}
	return fmt.Sprintf("%s, weights are off by %.2f %% at most (with %d rows there), those of 200 neighboring persons by %.1f %%, and %.1f %% on average",
		of, 100*c.sum, c.least, 100*c.groups, 100*c.mean/float64(max(1, c.compared)))
}

func (c *countedTable) follow(changes *people.GuardedTable) {
	for _, id := range changes.Gone {
		delete(c.class, id)
		delete(c.cell, id)
	}
	for _, cell := range changes.Cells {
		for _, r := range cell.Rows {
			c.class[r.ID], c.cell[r.ID] = cell.Class, cell.ID
		}
	}
	for _, w := range changes.Weights {
		for _, cell := range w.Cells {
			c.share[cell] = w.Share
		}
	}
}

func (c *countedTable) delete(t *testing.T, g *people.Guarded, row int, now time.Time) {
	t.Helper()
	id := incremental.RecordID(row + 1)
	if err := g.Delete(c.number, id, now); err != nil {
		t.Fatal(err)
	}
	c.left[id] = true
}

func (c *countedTable) weight(cell int64) float64 {
	own, whole := 1.0, 1.0
	if w, known := c.share[cell]; known {
		own = w
	}
	if w, known := c.share[0]; known {
		whole = w
	}
	return lineage.Rated(own, whole)
}

func (c *countedTable) compare(t *testing.T) {
	t.Helper()
	weighed, there := map[int64]float64{}, map[int64]int{}
	all, rows := 0.0, 0
	for id, cell := range c.cell {
		w := c.weight(cell)
		all += w
		weighed[c.class[id]] += w
		if !c.left[id] {
			rows++
			there[c.class[id]]++
		}
	}
	if off := math.Abs(all-float64(rows)) / float64(max(1, rows)); off > c.sum {
		c.sum, c.least = off, rows
	}
	told, is := 0.0, 0
	for class := int64(1); class <= 2000; class++ {
		if told, is = told+weighed[class], is+there[class]; is >= 200*c.each {
			off := math.Abs(told-float64(is)) / float64(is)
			c.groups, c.mean, c.compared = max(c.groups, off), c.mean+off, c.compared+1
			told, is = 0, 0
		}
	}
}
