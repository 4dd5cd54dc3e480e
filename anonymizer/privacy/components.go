package privacy

import "slices"

// Component is an independent constraint subset: constraints that are tied
// together by common attributes, and these attributes. Yang, Liu, Wang and Yu
// 2006 show for constraints <QI, K> that components can be anonymized apart from
// each other. It is true of those on sensitive attributes as far as each speaks of
// the attributes of one component only: what a combination of attributes of
// several components tells of a sensitive value is bounded by none of them.
type Component struct {
	// Attributes are ascending indexes into those of the table.
	Attributes []int
	// Constraints name attributes by their index into Attributes. None is
	// Restricted: classes are alike in all of Attributes, which hold those of the
	// restriction, and so satisfy at least what it asks for.
	Constraints ConstraintSet
}

// Components divides the set over a table with so many attributes into its
// independent subsets, which is unique, in the order of their first attributes.
// A constraint ties together the attributes that it is over: k-anonymity and
// Restricted constraints those of their Over, all others every attribute, so that
// a set with one of these has one component. Contained k-anonymity constraints are
// dropped: <QI, K> with QI part of another one's and K not above its.
//
// Uncovered are the attributes that no k-anonymity constraint of the set
// speaks; they are in no component. Without any such constraint all attributes are
// one component. A table without attributes is one component.
func (cs ConstraintSet) Components(attributes int) (components []Component, uncovered []int) {
	if attributes == 0 {
		whole := Component{Attributes: []int{}}
		for _, c := range cs {
			whole.Constraints = append(whole.Constraints, bare(c))
		}
		return []Component{whole}, nil
	}
	var ks []KAnonymity
	var others []Restricted
	var ties []tie
	for _, c := range cs {
		switch c := c.(type) {
		case KAnonymity:
			c.Over = spelledOut(c.Over, attributes)
			ks, ties = append(ks, c), append(ties, tie{c.Over, true})
		case Restricted:
			others = append(others, c)
		default:
			others = append(others, Restricted{Constraint: c})
		}
	}
	for i := range others {
		if len(others[i].Over) == 0 {
			others[i].Over = upTo(attributes)
		}
		ties = append(ties, tie{others[i].Over, false})
	}
	root := connect(ties, attributes)
	ks = dropContained(ks)
	for a := range attributes {
		switch root[a] {
		case -1:
			uncovered = append(uncovered, a)
		case a:
			components = append(components, component(a, root, ks, others))
		}
	}
	return components, uncovered
}

// Divide is what ConstraintSet.Components finds for the constraints that such
// specifications describe over attributes of these names: the attributes of each
// component, and those uncovered. Names of other attributes are passed over; a
// specification that names no others says nothing.
func Divide(specs []Spec, attributes []string) (components [][]int, uncovered []int) {
	if len(attributes) == 0 {
		return [][]int{{}}, nil
	}
	var ties []tie
	for _, s := range specs {
		over := upTo(len(attributes))
		if len(s.Over) > 0 {
			over = slices.DeleteFunc(over, func(a int) bool { return !slices.Contains(s.Over, attributes[a]) })
		}
		if len(over) > 0 {
			ties = append(ties, tie{over, s.Model == K})
		}
	}
	root := connect(ties, len(attributes))
	for a, r := range root {
		switch r {
		case -1:
			uncovered = append(uncovered, a)
		case a:
			components = append(components, members(a, root))
		}
	}
	return components, uncovered
}

// spelledOut names every attribute where nil stands for all, each once, ascending.
func spelledOut(over []int, attributes int) []int {
	if over == nil {
		return upTo(attributes)
	}
	over = slices.Clone(over)
	slices.Sort(over)
	return slices.Compact(over)
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// dropContained keeps of equal constraints the first.
func dropContained(ks []KAnonymity) []KAnonymity {
	var kept []KAnonymity
	for i, c := range ks {
		contained := false
		for j, other := range ks {
			if i != j && c.containedIn(other) && (j < i || !other.containedIn(c)) {
				contained = true
			}
		}
		if !contained {
			kept = append(kept, c)
		}
	}
	return kept
}

func (c KAnonymity) containedIn(other KAnonymity) bool {
	if c.MinRecords() > other.MinRecords() {
		return false
	}
	for _, a := range c.Over {
		if !slices.Contains(other.Over, a) {
			return false
		}
	}
	return true
}

// tie is what a constraint makes of attributes: they are in one component.
type tie struct {
	over   []int
	counts bool // and covered, by k-anonymity
}

// connect gives for each attribute the least one of its component, -1 for an
// attribute that is not covered. Attributes are tied by those uncovered, too.
func connect(ties []tie, attributes int) []int {
	group := upTo(attributes)
	covered := make([]bool, attributes)
	counted := false
	for _, t := range ties {
		counted = counted || t.counts
		for _, a := range t.over {
			covered[a] = covered[a] || t.counts
			if from, to := group[a], group[t.over[0]]; from != to {
				for b := range group {
					if group[b] == from {
						group[b] = to
					}
				}
			}
		}
	}
	if !counted {
		return make([]int, attributes)
	}
	root := slices.Repeat([]int{-1}, attributes)
	least := slices.Repeat([]int{-1}, attributes) // by group
	for a, g := range group {
		if !covered[a] {
			continue
		}
		if least[g] < 0 {
			least[g] = a
		}
		root[a] = least[g]
	}
	return root
}

// members are the attributes of the component with that least one.
func members(first int, root []int) []int {
	var attributes []int
	for a, r := range root {
		if r == first {
			attributes = append(attributes, a)
		}
	}
	return attributes
}

func component(first int, root []int, ks []KAnonymity, others []Restricted) Component {
	c := Component{Attributes: members(first, root)}
	within := func(a int) bool { return root[a] == first }
	for _, k := range ks {
		if !slices.ContainsFunc(k.Over, within) {
			continue
		}
		mapped := KAnonymity{K: k.K}
		if len(k.Over) < len(c.Attributes) {
			for _, a := range k.Over {
				place, _ := slices.BinarySearch(c.Attributes, a)
				mapped.Over = append(mapped.Over, place)
			}
		}
		c.Constraints = append(c.Constraints, mapped)
	}
	for _, other := range others {
		if slices.ContainsFunc(other.Over, within) {
			c.Constraints = append(c.Constraints, other.Constraint)
		}
	}
	return c
}
