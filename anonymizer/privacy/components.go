package privacy

import "slices"

// Component is an independent constraint subset: constraints that are tied
// together by common attributes, and these attributes. Yang, Liu, Wang and Yu
// 2006 show that components can be anonymized apart from each other.
type Component struct {
	// Attributes are ascending indexes into those of the table.
	Attributes []int
	// Constraints name attributes by their index into Attributes.
	Constraints ConstraintSet
}

// Components divides the set over a table with so many attributes into its
// independent subsets, which is unique, in the order of their first attributes.
// Contained k-anonymity constraints are dropped: <QI, K> with QI part of another
// one's and K not above its. What does not speak of attributes belongs to every
// component. Uncovered are the attributes of which a set with k-anonymity
// constraints does not speak; without any such constraint all attributes are one
// component. A table without attributes is one component.
func (cs ConstraintSet) Components(attributes int) (components []Component, uncovered []int) {
	var ks []KAnonymity
	var others ConstraintSet
	for _, c := range cs {
		if k, ok := c.(KAnonymity); ok {
			ks = append(ks, k.spelledOut(attributes))
		} else {
			others = append(others, c)
		}
	}
	if len(ks) == 0 || attributes == 0 {
		return []Component{{Attributes: upTo(attributes), Constraints: slices.Clone(cs)}}, nil
	}
	ks = dropContained(ks)
	root := connect(ks, attributes)
	for a := range attributes {
		switch {
		case root[a] < 0:
			uncovered = append(uncovered, a)
		case root[a] == a:
			components = append(components, component(a, root, ks, others))
		}
	}
	return components, uncovered
}

// spelledOut has Over name every attribute where nil stands for all.
func (c KAnonymity) spelledOut(attributes int) KAnonymity {
	if c.Over == nil {
		return KAnonymity{K: c.K, Over: upTo(attributes)}
	}
	over := slices.Clone(c.Over)
	slices.Sort(over)
	return KAnonymity{K: c.K, Over: slices.Compact(over)}
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

// connect gives for each attribute the least one of its component, -1 for an
// attribute in no constraint.
func connect(ks []KAnonymity, attributes int) []int {
	root := slices.Repeat([]int{-1}, attributes)
	for _, c := range ks {
		least := attributes
		for _, a := range c.Over {
			least = min(least, a)
			if root[a] >= 0 {
				least = min(least, root[a])
			}
		}
		for _, a := range c.Over {
			if old := root[a]; old >= 0 {
				for b := range root {
					if root[b] == old {
						root[b] = least
					}
				}
			}
			root[a] = least
		}
	}
	return root
}

func component(first int, root []int, ks []KAnonymity, others ConstraintSet) Component {
	c := Component{}
	place := map[int]int{}
	for a, r := range root {
		if r == first {
			place[a] = len(c.Attributes)
			c.Attributes = append(c.Attributes, a)
		}
	}
	for _, k := range ks {
		if len(k.Over) == 0 || root[k.Over[0]] != first {
			continue
		}
		mapped := KAnonymity{K: k.K}
		if len(k.Over) < len(c.Attributes) {
			for _, a := range k.Over {
				mapped.Over = append(mapped.Over, place[a])
			}
		}
		c.Constraints = append(c.Constraints, mapped)
	}
	c.Constraints = append(c.Constraints, others...)
	return c
}
