package lookahead

import (
	"context"
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/loss"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// division is the state of a run. Classes are neighbors in records.
type division struct {
	table       *anonymizer.Table
	constraints privacy.ConstraintSet
	options     anonymizer.Options
	effort      anonymizer.Effort
	sizeDecides bool
	k           int
	scales      []loss.Scale
	rows        []int32 // ranks by record and attribute
	records     []int32
	begins      []bool // of each place, whether a class begins there
	placed      *anonymizer.Tracker
}

// newDivision shuffles the records, so that the first ones of every class are a random sample:
// cuts keep the order.
func newDivision(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, effort anonymizer.Effort, o anonymizer.Options) *division {
	d := &division{
		table: t, constraints: c, options: o, effort: effort,
		sizeDecides: partition.SizeDecides(t, c), k: max(1, c.K()),
		records: make([]int32, t.Len()), begins: make([]bool, t.Len()+1), placed: o.Track(t.Len()),
	}
	d.scales, d.rows = loss.Scales(ctx, t)
	for i, place := range rand.New(rand.NewPCG(o.Seed, 0)).Perm(t.Len()) {
		d.records[i] = int32(place)
	}
	return d
}

func (d *division) row(record int32) []int32 {
	n := len(d.scales)
	return d.rows[int(record)*n : int(record)*n+n]
}

func (d *division) satisfied(records []int32) bool {
	if d.sizeDecides {
		return len(records) >= d.k
	}
	return d.constraints.Satisfied(d.table.Summarize(records), d.table.Population())
}

// end makes a class of the records from a place on. Where the constraints are more than a size, and
// so no cut was found, RoundedPartition divides it if it can.
func (d *division) end(ctx context.Context, from int, records []int32) {
	d.begins[from] = true
	d.placed.Add(len(records))
	if d.sizeDecides || len(records) < 2*d.k {
		return
	}
	r, err := partition.RoundedPartition{}.Anonymize(ctx, d.table.Pick(records).ComparedWith(d.table.Population()), d.constraints, anonymizer.Options{Seed: d.options.Seed})
	if err != nil || len(r.Withheld) > 0 {
		return // the context's, or there are no other classes
	}
	divided := make([]int32, 0, len(records))
	for _, class := range r.Classes {
		d.begins[from+len(divided)] = true
		for _, i := range class {
			divided = append(divided, records[i])
		}
	}
	copy(records, divided)
}

func (d *division) classes() []anonymizer.EquivalenceClass {
	var classes []anonymizer.EquivalenceClass
	from := 0
	for place := 1; place <= len(d.records); place++ {
		if place == len(d.records) || d.begins[place] {
			classes = append(classes, d.records[from:place:place])
			from = place
		}
	}
	return classes
}
