package people_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

func TestTooFewPersonsAreWithheld(t *testing.T) {
	t.Parallel()
	d := hospital{persons: 4, visits: 3}.data(1)
	r := release(t, d, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, people.Knows{})
	if len(r.Withheld) != 4 || len(r.Classes) > 0 {
		t.Errorf("%d persons are withheld, and %d classes released", len(r.Withheld), len(r.Classes))
	}
	if err := verify(d, r, 5, false, 1); err != nil {
		t.Error(err)
	}
	if risk := people.Attack(d, r, 1, 5, 10, 1); risk.Targets != 0 || risk.Mean != 0 {
		t.Errorf("nobody is published, and an outsider finds %+v", risk)
	}
}

// TestValuesThatAllHave: no class can hide a value that everybody has.
func TestValuesThatAllHave(t *testing.T) {
	t.Parallel()
	d := hospital{persons: 60, visits: 3}.data(1)
	first := d.SensitiveOf(1)
	for code := range d.Tables[1].Rows.Sensitive(0) {
		d.Tables[1].Rows.Sensitive(0)[code] = 7
	}
	r := release(t, d, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.AlphaBound{Attribute: first, Alpha: 0.5}}, people.Knows{})
	if len(r.Withheld) != 60 {
		t.Errorf("%d of 60 persons are withheld", len(r.Withheld))
	}
}

func TestSameSeedSameRelease(t *testing.T) {
	d := hospital{persons: 200, visits: 3, windows: 2}.data(1)
	k := privacy.ConstraintSet{privacy.KAnonymity{K: 3}}
	for _, knows := range []people.Knows{{}, {All: true}} {
		first := release(t, d, k, knows)
		before := runtime.GOMAXPROCS(1)
		second := release(t, d, k, knows)
		runtime.GOMAXPROCS(before)
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%+v: one processor gives another release than %d", knows, before)
		}
	}
}

func TestInvalidDataAndConstraints(t *testing.T) {
	t.Parallel()
	k := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	for name, test := range map[string]struct {
		change      func(d *people.Data)
		constraints privacy.ConstraintSet
		want        string
	}{
		"parent behind":     {func(d *people.Data) { d.Tables[0].Parent = 1 }, k, "parent has to stand before it"},
		"parents missing":   {func(d *people.Data) { d.Tables[1].Of = d.Tables[1].Of[1:] }, k, "parents of"},
		"no such parent":    {func(d *people.Data) { d.Tables[0].Of[0] = 1000 }, k, "belongs to row 1000"},
		"windows below":     {func(d *people.Data) { d.Tables[1].Window = make([]int32, d.Tables[1].Rows.Len()) }, k, "have windows"},
		"windows missing":   {func(d *people.Data) { d.Tables[0].Window = []int32{} }, k, "0 windows"},
		"negative window":   {func(d *people.Data) { d.Tables[0].Window[1] = -1 }, k, "window -1"},
		"no such order":     {func(d *people.Data) { d.Tables[0].Order = 1 }, k, "attribute 1"},
		"some attributes":   {func(*people.Data) {}, privacy.ConstraintSet{privacy.KAnonymity{K: 2, Over: []int{0}}}, "not supported"},
		"restricted values": {func(*people.Data) {}, privacy.ConstraintSet{privacy.Restricted{Constraint: k[0], Over: []int{0}}}, "not supported"},
	} {
		d := hospital{persons: 50, visits: 2, windows: 2}.data(1)
		test.change(d)
		_, err := people.Anonymize(t.Context(), d, test.constraints, people.Knows{}, people.Options{Method: method})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestCanceledContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, knows := range []people.Knows{{}, {All: true}} {
		_, err := people.Anonymize(ctx, hospital{persons: 50, visits: 2}.data(1), privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, knows, people.Options{Method: method})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: error %v", knows, err)
		}
	}
}

// TestAliasesAreExchanged: rows of different windows do not carry one person's
// pseudonym, and those of one window do.
func TestAliasesAreExchanged(t *testing.T) {
	t.Parallel()
	k := privacy.ConstraintSet{privacy.KAnonymity{K: 5}}
	for windows, others := range map[int]bool{0: false, 3: true} {
		d := hospital{persons: 300, visits: 3, windows: windows}.data(1)
		r := release(t, d, k, people.Knows{})
		moved := 0
		for _, of := range r.Aliases {
			for p, alias := range of {
				if int32(p) != alias {
					moved++
				}
			}
		}
		if len(r.Aliases) != max(1, windows) || (moved > 0) != others {
			t.Errorf("%d windows: %d of aliases, which exchange %d persons", windows, len(r.Aliases), moved)
		}
		if others && moved < 3*300*9/10 {
			t.Errorf("%d of 900 pseudonyms are exchanged", moved)
		}
	}
}

// TestOptionsMatter: a larger crowd makes rows more precise and the root less, and so
// does a smaller weight of the root where all is known.
func TestOptionsMatter(t *testing.T) {
	t.Parallel()
	d := hospital{persons: 1000, visits: 3, flat: true}.data(1)
	k := privacy.ConstraintSet{privacy.KAnonymity{K: 5}}
	run := func(knows people.Knows, weight float64) figures {
		r, err := people.Anonymize(t.Context(), d, k, knows, people.Options{Options: anonymizer.Options{Seed: 1}, Method: method, RootWeight: weight})
		if err != nil {
			t.Fatal(err)
		}
		return measure(t, d, r)
	}
	for name, pair := range map[string][2]figures{
		"crowd":  {run(people.Knows{Crowd: 2}, 0), run(people.Knows{Crowd: 8}, 0)},
		"weight": {run(people.Knows{All: true}, 8), run(people.Knows{All: true}, 0.5)},
	} {
		if precise, blurred := pair[0], pair[1]; precise.root >= blurred.root || precise.date <= blurred.date {
			t.Errorf("%s: %+v, and then %+v", name, precise, blurred)
		}
	}
}
