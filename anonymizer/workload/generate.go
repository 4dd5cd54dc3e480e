// Package workload generates tables for tests, benchmarks and experiments: of
// every kind of attribute, like the Adult census, and those of the Classfly+ paper.
// The same seed gives the same table.
package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Data is a generated table together with the texts it was made of.
type Data struct {
	Specs      []hierarchy.Spec
	Attributes []anonymizer.Attribute
	Raw        [][]string // attribute, record; Null for NULL
	Cells      [][]hierarchy.Cell
	Sensitive  [][]uint32
	Subjects   []uint32 // the person of each record; nil = each record another one
}

// Null stands for NULL among the texts of Data.
const Null = "\x00null"

// Shape says what Generate makes.
type Shape struct {
	Records    int
	Attributes int     // their kinds take turns
	Distinct   int     // about how many distinct values an attribute has
	Nulls      float64 // share of NULLs, 0 to 1
	Sensitive  int     // number of distinct sensitive values, 0 for no attribute
}

// Generate makes a table; the same seed and shape give the same.
func Generate(seed uint64, s Shape) *Data {
	random := rand.New(rand.NewPCG(seed, 1))
	d := &Data{}
	for a := range s.Attributes {
		spec := specs[a%len(specs)]
		d.Specs = append(d.Specs, spec)
		d.Attributes = append(d.Attributes, Attribute(fmt.Sprintf("%v%d", spec.Kind, a), spec))
		raw := make([]string, s.Records)
		cells := make([]hierarchy.Cell, s.Records)
		for i := range raw {
			raw[i] = Value(random, spec, s)
			cells[i] = Encode(d.Attributes[a].Hierarchy, raw[i])
		}
		d.Raw, d.Cells = append(d.Raw, raw), append(d.Cells, cells)
	}
	if s.Sensitive > 0 {
		codes := make([]uint32, s.Records)
		for i := range codes {
			codes[i] = SensitiveValue(random, s)
		}
		d.Sensitive = [][]uint32{codes}
	}
	return d
}

// Table makes the table; Data that Generate gave is always valid.
func (d *Data) Table() *anonymizer.Table {
	t, err := anonymizer.NewTable(d.Attributes, d.Cells, d.Sensitive)
	if err == nil && d.Subjects != nil {
		t, err = t.WithSubjects(d.Subjects)
	}
	if err != nil {
		panic(err)
	}
	return t
}

// Attribute makes an attribute of a specification that must be valid.
func Attribute(name string, s hierarchy.Spec) anonymizer.Attribute {
	h, err := hierarchy.New(s)
	if err != nil {
		panic(err)
	}
	return anonymizer.Attribute{Name: name, Hierarchy: h}
}

// Encode is Hierarchy.Encode that knows Null.
func Encode(h hierarchy.Hierarchy, raw string) hierarchy.Cell {
	if raw == Null {
		return hierarchy.OffScale()
	}
	return h.Encode(raw)
}

// specs are the hierarchies of generated attributes, one after the other.
var specs = []hierarchy.Spec{
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger},
	{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
		{Label: "plants", Children: []hierarchy.Node{{Label: "v0"}, {Label: "v1"}, {Label: "v2"}}},
		{Label: "animals", Children: []hierarchy.Node{
			{Label: "birds", Children: []hierarchy.Node{{Label: "v3"}, {Label: "v4"}}},
			{Label: "v5"},
		}},
	}},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainDate},
	{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText},
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal},
	{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ},
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{5, 10, 50}, Origin: 1},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Month, hierarchy.Year, hierarchy.Century}},
	{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{4, 2}},
	{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"}},
	{Kind: hierarchy.Suppression, Domain: hierarchy.DomainText},
	{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{0.5, 1, 10}, Origin: -0.25},
	{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Quarter, hierarchy.Decade}},
}

// Value makes a value of an attribute of the specification.
func Value(random *rand.Rand, spec hierarchy.Spec, s Shape) string {
	if random.Float64() < s.Nulls {
		return Null
	}
	// The lesser of two: small values are frequent.
	n := min(random.IntN(max(1, s.Distinct)), random.IntN(max(1, s.Distinct)))
	switch {
	case spec.Kind == hierarchy.Categorical || spec.Kind == hierarchy.Suppression:
		return fmt.Sprintf("v%d", n)
	case spec.Kind == hierarchy.Ordered:
		return spec.Order[n%len(spec.Order)]
	case spec.Kind == hierarchy.Prefix:
		return fmt.Sprintf("%05d", n*7919%100_000)
	case spec.Domain == hierarchy.DomainDecimal:
		return strconv.FormatFloat(float64(n)/10-3, 'f', -1, 64)
	case spec.Domain == hierarchy.DomainDate:
		return fmt.Sprintf("%04d-%02d-%02d", 1950+n/336%200, 1+n/28%12, 1+n%28)
	case spec.Domain == hierarchy.DomainTimestampTZ:
		return fmt.Sprintf("%04d-%02d-%02d %02d:30:00.25+00", 1950+n/8064%200, 1+n/672%12, 1+n/24%28, n%24)
	default:
		return strconv.Itoa(n - s.Distinct/2)
	}
}

// SensitiveValue makes a sensitive value code; small ones are frequent.
func SensitiveValue(random *rand.Rand, s Shape) uint32 {
	return uint32(min(random.IntN(s.Sensitive), random.IntN(s.Sensitive)))
}
