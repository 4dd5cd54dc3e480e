package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// censusAttributes are those of the experiment of Yang, Liu, Wang and Yu 2006
// (table 1), with domains and hierarchies that the paper does not print.
var censusAttributes = []struct {
	name  string
	spec  hierarchy.Spec
	value func(random *rand.Rand) string
}{
	{"Race", categories(3, 3), leaf(9)},
	{
		"Birth",
		hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Month, hierarchy.Year, hierarchy.Decade}},
		func(random *rand.Rand) string {
			return time.Date(1940, 1, 1+random.IntN(60*365), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		},
	},
	{"Sex", categories(2, 1), leaf(2)},
	{
		"ZIP",
		hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText},
		func(random *rand.Rand) string { return fmt.Sprintf("02%03d", random.IntN(1000)) },
	},
	{"Height", steps(1, 5, 10, 20), wholeNumbers(150, 200)},
	{"Weight", steps(1, 5, 10, 20, 40), wholeNumbers(40, 120)},
	{"Work_Hrs", steps(1, 5, 10, 20), wholeNumbers(10, 70)},
	{"Salary", steps(100, 500, 1000, 5000), func(random *rand.Rand) string { return strconv.Itoa(1000 + 100*random.IntN(190)) }},
	{"Edu", categories(4, 4), leaf(16)},
}

// categories is a taxonomy of groups with as many leaves each, "v0" and so on;
// one leaf a group is a flat taxonomy.
func categories(groups, leaves int) hierarchy.Spec {
	s := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}
	for g := range groups {
		if leaves == 1 {
			s.Taxonomy = append(s.Taxonomy, hierarchy.Node{Label: fmt.Sprintf("v%d", g)})
			continue
		}
		group := hierarchy.Node{Label: fmt.Sprintf("group %d", g)}
		for l := range leaves {
			group.Children = append(group.Children, hierarchy.Node{Label: fmt.Sprintf("v%d", g*leaves+l)})
		}
		s.Taxonomy = append(s.Taxonomy, group)
	}
	return s
}

func leaf(leaves int) func(*rand.Rand) string {
	return func(random *rand.Rand) string { return fmt.Sprintf("v%d", random.IntN(leaves)) }
}

func steps(widths ...float64) hierarchy.Spec {
	return hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: widths}
}

// wholeNumbers makes whole numbers from low to below high.
func wholeNumbers(low, high int) func(*rand.Rand) string {
	return func(random *rand.Rand) string { return strconv.Itoa(low + random.IntN(high-low)) }
}

// Census makes the data of the experiment of Yang, Liu, Wang and Yu 2006: nine
// attributes Race, Birth, Sex, ZIP, Height, Weight, Work_Hrs, Salary and Edu,
// uniformly random and independent, with hierarchies of heights 2 to 5, and a
// sensitive attribute of ten values. The same seed and n give the same, and the
// first records do not depend on n.
func Census(seed uint64, n int) *Data {
	d := &Data{}
	for a, attribute := range censusAttributes {
		random := rand.New(rand.NewPCG(seed, uint64(a)))
		d.Specs = append(d.Specs, attribute.spec)
		d.Attributes = append(d.Attributes, Attribute(attribute.name, attribute.spec))
		raw, cells := make([]string, n), make([]hierarchy.Cell, n)
		for i := range raw {
			raw[i] = attribute.value(random)
			cells[i] = d.Attributes[a].Hierarchy.Encode(raw[i])
		}
		d.Raw, d.Cells = append(d.Raw, raw), append(d.Cells, cells)
	}
	random := rand.New(rand.NewPCG(seed, uint64(len(censusAttributes))))
	codes := make([]uint32, n)
	for i := range codes {
		codes[i] = random.Uint32N(10)
	}
	d.Sensitive = [][]uint32{codes}
	return d
}

// CensusConstraints are {C1..Cm} of the experiment (tables 2 and 3), 2 <= m <= 8,
// over the attributes of Census; m beyond this means the nearest.
func CensusConstraints(m int) privacy.ConstraintSet {
	const race, birth, sex, zip, height, weight, hours, salary, edu = 0, 1, 2, 3, 4, 5, 6, 7, 8
	all := privacy.ConstraintSet{
		privacy.KAnonymity{K: 5, Over: []int{race, birth, sex}},
		privacy.KAnonymity{K: 3, Over: []int{birth, sex, zip}},
		privacy.KAnonymity{K: 5, Over: []int{sex, zip}},
		privacy.KAnonymity{K: 3, Over: []int{zip, height}},
		privacy.KAnonymity{K: 6, Over: []int{weight, hours, salary}},
		privacy.KAnonymity{K: 3, Over: []int{hours, salary, edu}},
		privacy.KAnonymity{K: 4, Over: []int{race, birth, edu}},
		privacy.KAnonymity{K: 8, Over: []int{zip, weight}},
	}
	return all[:min(max(m, 2), len(all))]
}

// Cover leaves out the attributes of which none of the constraints, all <QI, K>,
// speaks, and numbers those in the constraints anew.
func (d *Data) Cover(constraints privacy.ConstraintSet) (*Data, privacy.ConstraintSet) {
	place := map[int]int{}
	covered := &Data{Sensitive: d.Sensitive, Subjects: d.Subjects}
	for a := range d.Attributes {
		for _, c := range constraints {
			for _, over := range c.(privacy.KAnonymity).Over {
				if _, known := place[a]; over != a || known {
					continue
				}
				place[a] = len(place)
				covered.Specs, covered.Attributes = append(covered.Specs, d.Specs[a]), append(covered.Attributes, d.Attributes[a])
				covered.Raw, covered.Cells = append(covered.Raw, d.Raw[a]), append(covered.Cells, d.Cells[a])
			}
		}
	}
	var mapped privacy.ConstraintSet
	for _, c := range constraints {
		k := privacy.KAnonymity{K: c.(privacy.KAnonymity).K, Over: []int{}}
		for _, a := range c.(privacy.KAnonymity).Over {
			k.Over = append(k.Over, place[a])
		}
		mapped = append(mapped, k)
	}
	return covered, mapped
}
