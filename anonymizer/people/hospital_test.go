package people_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// method makes the classes and blocks.
var method = partition.RoundedPartition{}

const (
	days       = 1096 // of three years
	conditions = 40
)

// hospital generates persons with a birth date, a sex and a postcode, visits at
// independent dates, and conditions and prescriptions of visits. A visit has a
// department; a condition a code, which is sensitive; a prescription an offset in
// days.
type hospital struct {
	persons int
	visits  float64 // of a person, in the mean
	flat    bool    // visits alone
	windows int     // of equal length; 0 = one
}

func (h hospital) data(seed uint64) *people.Data {
	random := rand.New(rand.NewPCG(seed, 7))
	date := attribute("date", hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate})
	sex := attribute("sex", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{{Label: "F"}, {Label: "M"}}})
	number := attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	birth, sexes, postcodes := make([]float64, h.persons), make([]float64, h.persons), make([]float64, h.persons)
	var of []int32
	var dates []float64
	for p := range h.persons {
		birth[p] = float64(random.IntN(80*365) - 60*365)
		sexes[p] = sex.Hierarchy.Encode([]string{"F", "M"}[random.IntN(2)])
		postcodes[p] = float64(10000 + random.IntN(2000))
		// A gamma mixture of Poisson numbers: some persons come often.
		rate := h.visits * (random.ExpFloat64() + random.ExpFloat64() + random.ExpFloat64()) / 3
		for range poisson(random, rate) {
			of = append(of, int32(p))
			dates = append(dates, float64(8000+random.IntN(days)))
		}
	}
	root := table([]anonymizer.Attribute{date, sex, named(number, "postcode")}, [][]float64{birth, sexes, postcodes}, nil)
	visits := people.Table{Name: "visits", Parent: people.Root, Of: of, Order: 0}
	visits.Rows = table([]anonymizer.Attribute{date}, [][]float64{dates}, nil)
	if h.windows > 0 {
		visits.Window = make([]int32, len(of))
		for i, d := range dates {
			visits.Window[i] = int32(int(d-8000) * h.windows / days)
		}
	}
	d := &people.Data{Root: root, Tables: []people.Table{visits}}
	if !h.flat {
		d.Tables = append(d.Tables, h.below(random, "conditions", len(of), nil), h.below(random, "prescriptions", len(of), []anonymizer.Attribute{named(number, "offset")}))
	}
	return d
}

// below generates rows of visits, two for each on average, with a sensitive code and
// maybe an offset.
func (h hospital) below(random *rand.Rand, name string, visits int, attributes []anonymizer.Attribute) people.Table {
	t := people.Table{Name: name, Parent: 0, Order: -1}
	columns := make([][]float64, len(attributes))
	var codes []uint32
	for v := range visits {
		for range random.IntN(5) {
			t.Of = append(t.Of, int32(v))
			codes = append(codes, uint32(math.Floor(conditions*math.Pow(random.Float64(), 2))))
			for a := range columns {
				columns[a] = append(columns[a], float64(random.IntN(10)))
			}
		}
	}
	t.Rows = table(attributes, columns, [][]uint32{codes})
	return t
}

func poisson(random *rand.Rand, rate float64) int {
	n, product, limit := 0, random.Float64(), math.Exp(-rate)
	for product > limit {
		n++
		product *= random.Float64()
	}
	return n
}

func attribute(name string, spec hierarchy.Spec) anonymizer.Attribute {
	h, err := hierarchy.New(spec)
	if err != nil {
		panic(err)
	}
	return anonymizer.Attribute{Name: name, Hierarchy: h}
}

func named(a anonymizer.Attribute, name string) anonymizer.Attribute {
	a.Name = name
	return a
}

func table(attributes []anonymizer.Attribute, columns [][]float64, sensitive [][]uint32) *anonymizer.Table {
	t, err := anonymizer.NewTable(attributes, columns, sensitive)
	if err != nil {
		panic(err)
	}
	return t
}

// figures of a release.
type figures struct {
	root, date float64 // mean loss of records and of linked rows
	linked     float64 // share of rows that keep their keys
	width      float64 // mean width of a linked visit's range, in days
}

func measure(t testing.TB, d *people.Data, r *people.Release) figures {
	t.Helper()
	var f figures
	for _, class := range r.Classes {
		for a := range d.Root.Attributes() {
			f.root += loss(d.Root, a, class) * float64(len(class))
		}
	}
	f.root /= float64(len(d.Root.Attributes()) * d.Root.Len())
	visits, rows := d.Tables[0].Rows, 0
	for _, cell := range r.Tables[0].Cells {
		f.date += loss(visits, 0, cell.Rows) * float64(len(cell.Rows))
		rows += len(cell.Rows)
	}
	f.date /= float64(rows)
	f.width = f.date * days
	f.linked = float64(rows) / float64(visits.Len())
	return f
}

// loss is the width of a numeric attribute by its domain's, or for others 1 where the
// rows differ.
func loss(t *anonymizer.Table, attribute int, rows []int32) float64 {
	cells := t.Cells(attribute)
	low, high := extent(cells, rows)
	if t.Attributes()[attribute].Hierarchy.Kind() == hierarchy.Categorical {
		if low == high {
			return 0
		}
		return 1
	}
	least, greatest := domain(cells)
	return (high - low) / (greatest - least)
}

func extent(cells []float64, rows []int32) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		low, high = min(low, cells[row]), max(high, cells[row])
	}
	return low, high
}

var domains sync.Map // by the address of the first cell

func domain(cells []float64) (least, greatest float64) {
	if known, ok := domains.Load(&cells[0]); ok {
		d := known.([2]float64)
		return d[0], d[1]
	}
	d := [2]float64{slices.Min(cells), slices.Max(cells)}
	domains.Store(&cells[0], d)
	return d[0], d[1]
}
