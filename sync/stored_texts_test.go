package sync

import (
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// TestTextsOfTheStoreStay holds what is stored of tables against what earlier versions have
// stored: with another text, every table would be made anew.
func TestTextsOfTheStoreStay(t *testing.T) {
	t.Parallel()
	d := definition{root: 1000, leaves: []uint32{1000, 1001}, states: []string{"file 1", "file 2"}, labels: []string{"calm", `"wild"`}, rest: "rest"}
	const text = `a11142ce8c30004b5165621c08f7774c/1000 ["calm","\"wild\""]`
	if got := d.text(); got != text {
		t.Errorf("a definition is stored as %s", got)
	}
	guarded := sizeOnly(3)
	guarded.Suppression, guarded.Updates = 0, catalog.Updates{Mode: catalog.Guarded}
	for name, test := range map[string]struct {
		policy catalog.TablePolicy
		digest string
	}{
		"packed":  {sizeOnly(3), "f16add9660af0ad47b40bc95d8739232f726d23c66b4136382fce905d9408ce8"},
		"parts":   {visitsPolicy("visits", "rounded-partition", "", homes, persons), "7a1e5b4e9e41d9d47a3bc7af4458489cdaa030cad7ada5cb06091cde93a0481d"},
		"guarded": {guarded, "8457668e73e26bb12985fbb9d82cf1923ba0de5eb8e7bdfde0ea70b573fec30e"},
	} {
		if got := memoryTable(t, test.policy).layout.digest; got != test.digest {
			t.Errorf("%s: the digest is %s", name, got)
		}
	}
}

// TestDigestsLeaveOut changes what neither store nor release depend on, and how they are updated.
func TestDigestsLeaveOut(t *testing.T) {
	t.Parallel()
	before := memoryTable(t, sizeOnly(3))
	for name, test := range map[string]struct {
		change func(p *catalog.TablePolicy)
		same   bool
	}{
		"when it is made anew": {func(p *catalog.TablePolicy) { p.Reanonymize = 0.5 }, true},
		"what may be joined":   {func(p *catalog.TablePolicy) { p.Joinable = []string{"id"} }, true},
		"when it is published": {func(p *catalog.TablePolicy) { p.Updates.Within, p.Updates.Crowd = time.Hour, 5 }, true},
		"how it is updated":    {func(p *catalog.TablePolicy) { p.Updates.Mode = catalog.Guarded }, false},
		"its size":             {func(p *catalog.TablePolicy) { p.Constraints[0].K = 4 }, false},
	} {
		p := before.layout.publication
		p.Policy.Constraints = append(p.Policy.Constraints[:0:0], p.Policy.Constraints...)
		test.change(&p.Policy)
		if got, err := digest(p, before.layout.columns); err != nil || (got == before.layout.digest) != test.same {
			t.Errorf("%s: the digest is the same: %t, %v", name, !test.same, err)
		}
		if same := samePublication(before.layout.publication, p); same != test.same || samePublication(p, before.layout.publication) != same {
			t.Errorf("%s: the publications are the same: %t", name, same)
		}
	}
	unknown, other := before.layout.publication, before.layout.publication
	unknown.Relation.OID = 0
	other.Relation.OID++
	unfit := before.layout.publication
	unfit.Policy.Method = "no such method"
	for i, test := range []struct {
		a, b catalog.Publication
		same bool
	}{
		{unknown, unknown, true},
		{unknown, before.layout.publication, false},
		{before.layout.publication, unknown, false},
		{before.layout.publication, before.layout.publication, true},
		{other, before.layout.publication, false},
		{unfit, before.layout.publication, false},
		{before.layout.publication, unfit, false},
		{unfit, unfit, false},
	} {
		if samePublication(test.a, test.b) != test.same {
			t.Errorf("%d: the publications are the same: %t", i, !test.same)
		}
	}
	of := &table{layout: layout{digest: "now", former: "formerly"}}
	for made, want := range map[string]bool{"now": true, "formerly": true, "": false, "other": false} {
		if of.layout.fits(generation{digest: made}) != want {
			t.Errorf("a store that was made for %q fits: %t", made, !want)
		}
	}
}
