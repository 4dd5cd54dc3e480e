package anonymizertest

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// Group is what a constraint looks at: the records of a class, or of a whole
// table.
type Group struct {
	Records   int
	Sensitive [][]uint32 // sensitive attribute, record
	Subjects  []uint32   // the person of each record; nil = each record another one

	counted *counted // nil = not counted in advance
}

// counted is what Counted has found.
type counted struct {
	persons int
	values  []map[uint32]int // of each sensitive attribute, see counts
}

// Counted counts the group in advance. A whole table that many classes are compared with is counted once
// instead of for each of them. Its records may not change afterwards.
func (g Group) Counted() Group {
	g.counted = nil
	c := &counted{persons: g.persons()}
	for attribute := range g.Sensitive {
		c.values = append(c.values, g.counts(attribute))
	}
	g.counted = c
	return g
}

// group takes some of the records, all of them for nil.
func group(d *workload.Data, class anonymizer.EquivalenceClass) Group {
	if class == nil {
		return Group{Records: records(d), Sensitive: d.Sensitive, Subjects: d.Subjects}
	}
	g := Group{Records: len(class), Sensitive: make([][]uint32, len(d.Sensitive))}
	for _, i := range class {
		for a, column := range d.Sensitive {
			g.Sensitive[a] = append(g.Sensitive[a], column[i])
		}
		if d.Subjects != nil {
			g.Subjects = append(g.Subjects, d.Subjects[i])
		}
	}
	return g
}

func records(d *workload.Data) int {
	switch {
	case len(d.Cells) > 0:
		return len(d.Cells[0])
	case len(d.Sensitive) > 0:
		return len(d.Sensitive[0])
	default:
		return 0
	}
}

// CheckConstraints counts anew what the class must satisfy, compared with the
// whole table, from the definitions of the models and in exact arithmetic
// wherever a bound is rational. The error names a constraint that does not hold,
// or that it has no definition of.
func CheckConstraints(class, whole Group, constraints privacy.ConstraintSet) error {
	for _, constraint := range constraints {
		holds := false
		switch c := constraint.(type) {
		case privacy.KAnonymity:
			holds = class.persons() >= max(1, c.K)
		case privacy.DistinctDiversity:
			holds = class.fewest(c.Attribute) >= max(1, c.L)
		case privacy.EntropyDiversity:
			holds = class.everyChoice(c.Attribute, func(counts []int) bool { return entropyHolds(counts, c.L) })
		case privacy.RecursiveDiversity:
			holds = class.everyChoice(c.Attribute, func(counts []int) bool { return recursiveHolds(counts, c.C, c.L) })
		case privacy.AlphaBound:
			holds = alphaHolds(c, class.shares(c.Attribute))
		case privacy.TCloseness:
			holds = closenessHolds(c, class, whole)
		case privacy.BetaLikeness:
			holds = likenessHolds(c, class.shares(c.Attribute), whole.shares(c.Attribute))
		case privacy.DeltaDisclosurePrivacy:
			holds = disclosureHolds(c.Delta, class.shares(c.Attribute), whole.shares(c.Attribute))
		default:
			return fmt.Errorf("no brute-force check for %v", constraint)
		}
		if !holds {
			return fmt.Errorf("class of %d records violates %v", class.Records, constraint)
		}
	}
	return nil
}

func (g Group) persons() int {
	if g.counted != nil {
		return g.counted.persons
	}
	if g.Subjects == nil {
		return g.Records
	}
	different := map[uint32]bool{}
	for _, subject := range g.Subjects {
		different[subject] = true
	}
	return len(different)
}

// counts are the persons who have each value. The caller does not change them.
func (g Group) counts(attribute int) map[uint32]int {
	if g.counted != nil {
		return g.counted.values[attribute]
	}
	type pair struct{ person, code uint32 }
	seen, counts := map[pair]bool{}, map[uint32]int{}
	for i, code := range g.Sensitive[attribute] {
		person := uint32(i)
		if g.Subjects != nil {
			person = g.Subjects[i]
		}
		if !seen[pair{person, code}] {
			seen[pair{person, code}] = true
			counts[code]++
		}
	}
	return counts
}

// shares are the counts by the number of persons.
func (g Group) shares(attribute int) map[uint32]*big.Rat {
	shares, persons := map[uint32]*big.Rat{}, int64(g.persons())
	for code, count := range g.counts(attribute) {
		shares[code] = big.NewRat(int64(count), persons)
	}
	return shares
}

// exact is the number that a person wrote.
func exact(bound float64) *big.Rat { return rational(strconv.FormatFloat(bound, 'f', -1, 64)) }

// entropyHolds is sum -p ln p >= ln l as a product of powers, for up to 100,000
// persons, and with floats beyond.
func entropyHolds(counts []int, l float64) bool {
	n := int64(0)
	for _, count := range counts {
		n += int64(count)
	}
	if n == 0 {
		return false
	}
	if n > 100_000 {
		entropy := 0.0
		for _, count := range counts {
			entropy -= float64(count) / float64(n) * math.Log(float64(count)/float64(n))
		}
		return entropy > math.Log(l)-1e-9
	}
	power := func(base *big.Int, exponent int64) *big.Int {
		return new(big.Int).Exp(base, big.NewInt(exponent), nil)
	}
	bound := exact(max(1, l))
	left, right := power(bound.Num(), n), power(big.NewInt(n), n)
	for _, count := range counts {
		left.Mul(left, power(big.NewInt(int64(count)), int64(count)))
	}
	return left.Cmp(right.Mul(right, power(bound.Denom(), n))) <= 0
}

func recursiveHolds(counts []int, c float64, l int) bool {
	if len(counts) == 0 {
		return false
	}
	tail := 0
	for i, count := range counts {
		if i+1 >= l {
			tail += count
		}
	}
	bound := new(big.Rat).Mul(exact(c), big.NewRat(int64(tail), 1))
	return big.NewRat(int64(counts[0]), 1).Cmp(bound) < 0
}

func alphaHolds(c privacy.AlphaBound, shares map[uint32]*big.Rat) bool {
	for code, share := range shares {
		if (c.Values == nil || slices.Contains(c.Values, code)) && share.Cmp(exact(c.Alpha)) > 0 {
			return false
		}
	}
	return len(shares) > 0
}

func likenessHolds(c privacy.BetaLikeness, class, whole map[uint32]*big.Rat) bool {
	for code, q := range class {
		p, known := whole[code]
		if !known {
			return false
		}
		gain := new(big.Rat).Sub(q, p)
		if gain.Sign() <= 0 {
			continue
		}
		gain.Quo(gain, p)
		float, _ := gain.Float64()
		overall, _ := p.Float64()
		if gain.Cmp(exact(c.Beta)) > 0 || c.Enhanced && float > -math.Log(overall) {
			return false
		}
	}
	return len(class) > 0
}

func disclosureHolds(delta float64, class, whole map[uint32]*big.Rat) bool {
	for code := range class {
		if whole[code] == nil {
			return false
		}
	}
	for code, p := range whole {
		q, present := class[code]
		if !present {
			return false
		}
		ratio, _ := new(big.Rat).Quo(q, p).Float64()
		if math.Abs(math.Log(ratio)) >= delta {
			return false
		}
	}
	return len(class) > 0
}

// closenessHolds compares Q * EMD + |Q - P| with t, where Q and P are the mean
// numbers of different values of a person: 1 where records are counted.
func closenessHolds(c privacy.TCloseness, class, whole Group) bool {
	if class.Records == 0 {
		return false
	}
	q, classValues := class.distribution(c.Attribute)
	p, wholeValues := whole.distribution(c.Attribute)
	for code := range q {
		if p[code] == nil {
			return false
		}
	}
	var distance *big.Rat
	switch c.Distance {
	case privacy.OrderedDistance:
		distance = orderedDistance(q, p, c.Scale)
	case privacy.HierarchicalDistance:
		distance = hierarchicalDistance(q, p, c.Scale)
	default:
		distance = equalDistance(q, p)
	}
	surplus := new(big.Rat).Sub(classValues, wholeValues)
	distance.Mul(distance, classValues).Add(distance, surplus.Abs(surplus))
	return distance.Cmp(exact(c.T)) <= 0
}

// distribution adds up to 1; values is the mean number of different values of a
// person.
func (g Group) distribution(attribute int) (shares map[uint32]*big.Rat, values *big.Rat) {
	counts := g.counts(attribute)
	sum := 0
	for _, count := range counts {
		sum += count
	}
	shares = map[uint32]*big.Rat{}
	for code, count := range counts {
		shares[code] = big.NewRat(int64(count), int64(sum))
	}
	return shares, big.NewRat(int64(sum), int64(g.persons()))
}

// gap is q - p of a value of the whole table.
func gap(q, p map[uint32]*big.Rat, code uint32) *big.Rat {
	difference := new(big.Rat).Neg(p[code])
	if share, present := q[code]; present {
		difference.Add(difference, share)
	}
	return difference
}

func equalDistance(q, p map[uint32]*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for code := range p {
		difference := gap(q, p, code)
		sum.Add(sum, difference.Abs(difference))
	}
	return sum.Quo(sum, big.NewRat(2, 1))
}

// orderedDistance adds up, over the values in their order, what must pass from
// each to the next one.
func orderedDistance(q, p map[uint32]*big.Rat, scale *privacy.Scale) *big.Rat {
	at, offScale := map[float64]*big.Rat{}, new(big.Rat)
	for code := range p {
		position, difference := scale.Position(code), gap(q, p, code)
		switch {
		case math.IsNaN(position):
			offScale.Add(offScale, difference)
		case at[position] == nil:
			at[position] = difference
		default:
			at[position].Add(at[position], difference)
		}
	}
	passed, sum := new(big.Rat), new(big.Rat)
	for _, position := range slices.Sorted(maps.Keys(at)) {
		passed.Add(passed, at[position])
		sum.Add(sum, new(big.Rat).Abs(passed))
	}
	// The last has no next one; what it passes on goes beyond the scale.
	sum.Sub(sum, new(big.Rat).Abs(passed))
	sum.Quo(sum, big.NewRat(max(1, int64(len(at))-1), 1))
	return sum.Add(sum, offScale.Abs(offScale))
}

// hierarchicalDistance is the recursive form of Li et al. 2007: each node
// exchanges what its children have too much and too little, at the cost of its
// height, here the whole height less its depth. Nodes are named by the way to
// them from the root.
func hierarchicalDistance(q, p map[uint32]*big.Rat, scale *privacy.Scale) *big.Rat {
	codes := slices.Sorted(maps.Keys(p))
	var cells []hierarchy.Cell
	for _, code := range codes {
		cells = append(cells, scale.Cell(code))
	}
	levels := hierarchy.LevelsOf(scale.Hierarchy(), cells)
	children := map[string]map[string]*big.Rat{}
	depths := map[string]int64{}
	for i, code := range codes {
		way := ""
		for depth, step := range wayTo(levels, scale.Hierarchy().Kind(), cells[i]) {
			node := way
			way += "/" + step
			if children[node] == nil {
				children[node], depths[node] = map[string]*big.Rat{}, int64(depth)
			}
			if children[node][way] == nil {
				children[node][way] = new(big.Rat)
			}
			children[node][way].Add(children[node][way], gap(q, p, code))
		}
	}
	height, sum := int64(levels.Height()), new(big.Rat)
	for node, extras := range children {
		much, little := new(big.Rat), new(big.Rat)
		for _, extra := range extras {
			if extra.Sign() > 0 {
				much.Add(much, extra)
			} else {
				little.Sub(little, extra)
			}
		}
		if little.Cmp(much) < 0 {
			much = little
		}
		sum.Add(sum, new(big.Rat).Mul(much, big.NewRat(height-depths[node], height)))
	}
	return sum
}

// wayTo names the nodes from below the root down to the value.
func wayTo(levels hierarchy.Levels, kind hierarchy.Kind, cell hierarchy.Cell) []string {
	var up []string
	for level := range levels.Height() {
		node := levels.Node(cell, level)
		if kind == hierarchy.Categorical && level > 0 && node == levels.Node(cell, levels.Height()) {
			break
		}
		up = append(up, fmt.Sprintf("%d:%v", node, level == 0))
	}
	slices.Reverse(up)
	return up
}
