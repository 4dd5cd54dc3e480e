package methods

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// narrow accepts a single numeric attribute alone.
type narrow struct{}

func (narrow) Name() string { return "narrow" }

func (narrow) Accepts(attributes []anonymizer.Attribute, _ privacy.ConstraintSet) error {
	if len(attributes) != 1 || attributes[0].Hierarchy.Kind() != hierarchy.Numeric {
		return errors.New("takes one number")
	}
	return nil
}

func (narrow) Anonymize(context.Context, *anonymizer.Table, privacy.ConstraintSet, anonymizer.Options) (*anonymizer.Release, error) {
	return &anonymizer.Release{}, nil
}

func TestPartsAreAcceptedApart(t *testing.T) {
	t.Parallel()
	var attributes []anonymizer.Attribute
	for _, kind := range []hierarchy.Kind{hierarchy.Numeric, hierarchy.Numeric, hierarchy.Prefix} {
		h, err := hierarchy.New(hierarchy.Spec{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		attributes = append(attributes, anonymizer.Attribute{Hierarchy: h})
	}
	over := func(attributes ...int) privacy.Constraint { return privacy.KAnonymity{K: 2, Over: attributes} }
	for name, test := range map[string]struct {
		attributes int
		set        privacy.ConstraintSet
		accepted   bool
	}{
		"one":           {1, privacy.ConstraintSet{over(0)}, true},
		"together":      {2, privacy.ConstraintSet{over(0, 1)}, false},
		"all":           {2, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, false},
		"apart":         {2, privacy.ConstraintSet{over(0), over(1)}, true},
		"one no number": {3, privacy.ConstraintSet{over(0), over(1), over(2)}, false},
	} {
		if err := Refusal(narrow{}, attributes[:test.attributes], test.set); (err == nil) != test.accepted {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Contains(Accepting(attributes[:test.attributes], test.set), Names()[0]) {
			t.Errorf("%s: the recommended method is not among those that accept it", name)
		}
	}
}
