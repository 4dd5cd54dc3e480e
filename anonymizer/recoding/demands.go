package recoding

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// demands is a constraint set divided by what its parts look at.
type demands struct {
	// counted are constraints <QI, K> in ascending order of K. Over names
	// attributes in ascending order and is nil where it is all of them.
	counted []privacy.KAnonymity
	// whole are the constraints over what the records alike in all attributes
	// have.
	whole privacy.ConstraintSet
	// least is the number of records that an equivalence class needs to satisfy
	// what looks at all attributes.
	least int
	// most is the largest number of records that any of the constraints needs.
	most int
}

// newDemands divides a set over a table of so many attributes.
func newDemands(c privacy.ConstraintSet, attributes int) demands {
	d := demands{least: 1, most: c.K()}
	for _, constraint := range c {
		k, counts := constraint.(privacy.KAnonymity)
		if !counts {
			d.whole = append(d.whole, constraint)
			d.least = max(d.least, constraint.MinRecords())
			continue
		}
		k = privacy.KAnonymity{K: k.MinRecords(), Over: slices.Clone(k.Over)}
		slices.Sort(k.Over)
		if k.Over = slices.Compact(k.Over); len(k.Over) == attributes {
			k.Over = nil
		}
		if k.Over == nil {
			d.least = max(d.least, k.K)
		}
		d.counted = append(d.counted, k)
	}
	slices.SortStableFunc(d.counted, func(a, b privacy.KAnonymity) int { return cmp.Compare(a.K, b.K) })
	return d
}

// joint replaces all constraints <QI, K> by the one over all attributes with the
// largest K, which implies them: the joint constraint of Yang et al. 2006.
func (d demands) joint() demands {
	if len(d.counted) > 0 {
		d.counted = []privacy.KAnonymity{{K: d.counted[len(d.counted)-1].K}}
		d.least = max(d.least, d.counted[0].K)
	}
	return d
}

// within is what the demands say of the table with some of its attributes only,
// ascending: the counted ones over the attributes that are left of theirs, if
// any are.
func (d demands) within(attributes []int) demands {
	part := demands{whole: d.whole, least: 1, most: d.most}
	for _, c := range d.whole {
		part.least = max(part.least, c.MinRecords())
	}
	for _, k := range d.counted {
		left := privacy.KAnonymity{K: k.K}
		if k.Over != nil {
			left.Over = []int{}
			for i, a := range attributes {
				if slices.Contains(k.Over, a) {
					left.Over = append(left.Over, i)
				}
			}
			switch len(left.Over) {
			case len(attributes):
				left.Over = nil
			case 0:
				continue // all records together
			}
		}
		if left.Over == nil {
			part.least = max(part.least, left.K)
		}
		part.counted = append(part.counted, left)
	}
	return part
}

// known returns nil if every constraint is over attributes of the table.
func known(attributes []anonymizer.Attribute, c privacy.ConstraintSet) error {
	for _, constraint := range c {
		k, counts := constraint.(privacy.KAnonymity)
		for _, a := range k.Over {
			if counts && (a < 0 || a >= len(attributes)) {
				return fmt.Errorf("cannot apply %v to attribute %d of %d", k, a, len(attributes))
			}
		}
	}
	return nil
}
