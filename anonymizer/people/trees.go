package people

import (
	"context"
	"math"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// trees releases for an outsider who knows all rows: classes of persons whose trees of rows are
// published with the same values. It divides blocks of similar persons, by features, according to
// what aligning their trees loses.
func (r *releasing) trees(ctx context.Context, _ int) error {
	blocks, err := r.group(ctx, r.features(), min(r.blockClasses()*r.k, r.data.Root.Len()))
	if err != nil {
		return err
	}
	r.release.Classes = blocks
	divided := make([][]anonymizer.EquivalenceClass, len(blocks))
	err = r.eachClass(ctx, func(w *worker, block int) {
		divided[block] = newClustering(w.trees, blocks[block]).classes()
	})
	if err != nil {
		return err
	}
	r.release.Classes = nil
	for _, classes := range divided {
		r.release.Classes = append(r.release.Classes, classes...)
	}
	r.release.Classes = r.unite(r.release.Classes)
	found := make([][]TableRelease, len(r.release.Classes))
	err = r.eachClass(ctx, func(w *worker, class int) {
		found[class] = make([]TableRelease, len(r.tables))
		for _, table := range r.roots() {
			w.trees.cells(table, int32(class), r.release.Classes[class], found[class])
		}
	})
	r.collect(found)
	return err
}

// mostClasses bounds the classes of a block, and workOfPerson the steps of alignments
// that comparing the persons of a block may take for each: some milliseconds.
const (
	mostClasses  = 12
	workOfPerson = 400_000
)

// blockClasses is how many classes a block of persons has whose trees are compared
// with each other: fewer where persons have many rows. One is compared with nothing.
func (r *releasing) blockClasses() int {
	steps := 0.0 // of aligning the trees of a class
	for i := range r.tables {
		rows := float64(r.tables[i].Rows.Len()) / float64(max(1, r.data.Root.Len()))
		lists := 1.0 // of this table, below a person
		if parent := r.tables[i].Parent; parent != Root {
			lists = max(1, float64(r.tables[parent].Rows.Len())/float64(max(1, r.data.Root.Len())))
		}
		inList := rows / lists
		steps += lists * float64(r.k) * (overhead + (1+refinements)*inList*(1+inList/3))
	}
	return max(1, min(mostClasses, int(workOfPerson/(comparisons*float64(r.k)*max(1, steps)))))
}

// overhead are the steps of aligning an empty list, and comparisons how often a
// person's tree is aligned for each person of a class, in a block.
const (
	overhead    = 4
	comparisons = 3
)

// features are what near persons have in common: their root values, and for each table
// log2(1 + rows) and the places in their order at a quarter, a half and three quarters
// of them.
func (r *releasing) features() *anonymizer.Table {
	columns := columnsOf(r.data.Root)
	shape := Shape{Root: r.data.Root.Attributes()}
	for i := range r.tables {
		b := &r.tables[i]
		shape.Tables = append(shape.Tables, TableShape{Parent: b.Parent, Order: b.Order, Unknown: b.Unknown})
		if b.Unknown {
			continue
		}
		positions := b.placesInOrder()
		features := make([][]float64, 0, featuresOfRows)
		for p, rows := range r.rowsOfPersons(i) {
			for f, value := range featuresOf(rows, positions) {
				if p == 0 {
					features = append(features, make([]float64, r.data.Root.Len()))
				}
				features[f][p] = value
			}
		}
		columns = append(columns, features...)
	}
	table, err := anonymizer.NewTable(featureAttributes(shape), columns, nil)
	if err != nil {
		panic(err) // all columns have one length
	}
	return table
}

// placesInOrder are the positions of rows in the order of a person's rows; nil where they
// have none, or hang on other rows, whose order they have.
func (b *branch) placesInOrder() []float64 {
	if b.Order < 0 || b.Parent != Root {
		return nil
	}
	return b.positions[b.Order]
}

// quartiles are where the rows of a person are looked at.
var quartiles = [...]float64{0.25, 0.5, 0.75}

const featuresOfRows = 1 + len(quartiles)

// featuresOf are the features of a person's rows of one table, which are in order where
// there are positions.
func featuresOf(rows []int32, positions []float64) []float64 {
	features := append(make([]float64, 0, featuresOfRows), math.Log2(1+float64(len(rows))))
	if positions != nil {
		for _, share := range quartiles {
			features = append(features, quantile(positions, rows, share))
		}
	}
	return features
}

// feature is an attribute of plain numbers.
func feature() anonymizer.Attribute {
	number, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
	if err != nil {
		panic(err) // the specification is a constant
	}
	return anonymizer.Attribute{Name: "feature", Hierarchy: number}
}

// featureAttributes are those of features.
func featureAttributes(shape Shape) []anonymizer.Attribute {
	attributes := append([]anonymizer.Attribute{}, shape.Root...)
	for _, t := range shape.Tables {
		if t.Unknown {
			continue
		}
		features := 1
		if t.Order >= 0 && t.Parent == Root {
			features = featuresOfRows
		}
		for range features {
			attributes = append(attributes, feature())
		}
	}
	return attributes
}

// rowsOfPersons lists the rows of each person in a table, at whatever depth, in order
// for tables that belong to persons directly.
func (r *releasing) rowsOfPersons(table int) [][]int32 {
	b := &r.tables[table]
	rows := make([][]int32, r.data.Root.Len())
	if b.Parent == Root {
		for p := range rows {
			rows[p] = b.below.of(int32(p))
		}
		return rows
	}
	for row, p := range b.person {
		if p != Nobody {
			rows[p] = append(rows[p], int32(row))
		}
	}
	return rows
}

// quantile interpolates between the positions of ordered rows; off the scale where
// there are none.
func quantile(positions []float64, rows []int32, share float64) float64 {
	if len(rows) == 0 {
		return hierarchy.OffScale()
	}
	place := share * float64(len(rows)-1)
	low := int(place)
	at := positions[rows[low]]
	if low+1 < len(rows) && place > float64(low) {
		at += (positions[rows[low+1]] - at) * (place - float64(low))
	}
	return at
}
