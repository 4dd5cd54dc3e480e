package anonymizertest

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// CheckRelease proves by brute force that a release of the data is sound: every
// record stands in one place, every class satisfies the constraints, and what
// is published for it holds for the texts of all its members.
func CheckRelease(d *Data, r *anonymizer.Release, constraints privacy.ConstraintSet) error {
	records := 0
	if len(d.Raw) > 0 {
		records = len(d.Raw[0])
	}
	seen := make([]int, records)
	var errs []error
	for number, class := range append([]anonymizer.EquivalenceClass{r.Withheld}, r.Classes...) {
		for _, i := range class {
			if i < 0 || int(i) >= records {
				return fmt.Errorf("record %d does not exist", i)
			}
			seen[i]++
		}
		if number > 0 {
			errs = append(errs, CheckClass(d, class, constraints))
		}
	}
	for i, times := range seen {
		if times != 1 {
			errs = append(errs, fmt.Errorf("record %d stands in %d places", i, times))
		}
	}
	return errors.Join(errs...)
}

// CheckClass proves that a class satisfies the constraints and that what is
// published for it holds for the texts of its members.
func CheckClass(d *Data, class anonymizer.EquivalenceClass, constraints privacy.ConstraintSet) error {
	sensitive := make([][]uint32, len(d.Sensitive))
	for a, column := range d.Sensitive {
		for _, i := range class {
			sensitive[a] = append(sensitive[a], column[i])
		}
	}
	if err := CheckConstraints(len(class), sensitive, constraints); err != nil {
		return err
	}
	for a, attribute := range d.Attributes {
		var texts []string
		var cells []hierarchy.Cell
		for _, i := range class {
			texts, cells = append(texts, d.Raw[a][i]), append(cells, d.Cells[a][i])
		}
		if err := CheckGeneralization(d.Specs[a], texts, attribute.Hierarchy.Generalize(cells)); err != nil {
			return fmt.Errorf("attribute %s: %w", attribute.Name, err)
		}
	}
	return nil
}

// CheckConstraints counts anew, for each kind of constraint that it knows.
func CheckConstraints(records int, sensitive [][]uint32, constraints privacy.ConstraintSet) error {
	for _, constraint := range constraints {
		switch c := constraint.(type) {
		case privacy.KAnonymity:
			if records < c.K {
				return fmt.Errorf("class of %d records violates k = %d", records, c.K)
			}
		case privacy.DistinctDiversity:
			distinct := map[uint32]bool{}
			for _, code := range sensitive[c.Attribute] {
				distinct[code] = true
			}
			if len(distinct) < c.L {
				return fmt.Errorf("class with %d distinct values violates l = %d", len(distinct), c.L)
			}
		default:
			return fmt.Errorf("no brute-force check for %v", constraint)
		}
	}
	return nil
}

// CheckGeneralization proves that a generalization holds for every text of a
// class. Dates are compared as texts, so years must have four digits and
// offsets be equal.
func CheckGeneralization(spec hierarchy.Spec, texts []string, g hierarchy.Generalization) error {
	hidden := false
	for _, text := range texts {
		hidden = hidden || text == Null
	}
	if hidden != g.Hidden {
		return fmt.Errorf("hidden is %v, %v expected", g.Hidden, hidden)
	}
	if hidden {
		return nil
	}
	for _, text := range texts {
		holds := false
		switch spec.Kind {
		case hierarchy.Numeric:
			holds = between(rational(g.Lower), rational(text), rational(g.Upper)) &&
				between(rational(g.Lower), rational(g.Value), rational(g.Upper))
		case hierarchy.Date:
			holds = g.Lower <= text && text <= g.Upper && g.Lower <= g.Value && g.Value <= g.Upper
		case hierarchy.Categorical:
			holds = g.Value == "*" || g.Value == text || below(spec.Taxonomy, g.Value, text)
		case hierarchy.Prefix:
			holds = g.Value == text || strings.HasPrefix(text, strings.TrimRight(g.Value, "*"))
		}
		if !holds {
			return fmt.Errorf("%+v does not hold for %q", g, text)
		}
	}
	return nil
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return r
}

func between(low, x, high *big.Rat) bool { return low.Cmp(x) <= 0 && x.Cmp(high) <= 0 }

// below reports whether the label stands somewhere under the node named top.
func below(nodes []hierarchy.Node, top, label string) bool {
	for _, n := range nodes {
		if n.Label == top {
			return stands(n.Children, label)
		}
		if below(n.Children, top, label) {
			return true
		}
	}
	return false
}

func stands(nodes []hierarchy.Node, label string) bool {
	for _, n := range nodes {
		if n.Label == label || stands(n.Children, label) {
			return true
		}
	}
	return false
}
