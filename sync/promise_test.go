package sync

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// TestPromises holds the release of one policy against changed ones: it stands where it promises as
// much, and where weaker ones may stand also if it has the same columns.
func TestPromises(t *testing.T) {
	t.Parallel()
	diverse := privacy.Spec{Model: privacy.DistinctL, L: 3, Of: "illness"}
	before := func() catalog.TablePolicy {
		return visitsPolicy("visits", "rounded-partition", "", privacy.Spec{Model: privacy.K, K: 5}, diverse)
	}
	for name, test := range map[string]struct {
		change       func(*catalog.TablePolicy)
		covers, form bool
	}{
		"the same":          {func(*catalog.TablePolicy) {}, true, true},
		"a smaller k":       {func(p *catalog.TablePolicy) { p.Constraints[0].K = 4 }, true, true},
		"a constraint less": {func(p *catalog.TablePolicy) { p.Constraints = p.Constraints[:1] }, true, true},
		"another method":    {func(p *catalog.TablePolicy) { p.Method = "lookahead-partition" }, true, true},
		"another effort":    {func(p *catalog.TablePolicy) { p.Method, p.Effort = "lookahead-partition", anonymizer.Best }, true, true},
		"more suppression":  {func(p *catalog.TablePolicy) { p.Suppression = 0.2 }, true, true},
		"another order":     {func(p *catalog.TablePolicy) { p.Columns[4], p.Columns[5] = p.Columns[5], p.Columns[4] }, true, true},
		"an identifying column": {func(p *catalog.TablePolicy) {
			p.Columns = append(p.Columns, catalog.ColumnPolicy{Name: "person", Role: catalog.Identifying})
		}, true, true},
		"a larger k": {func(p *catalog.TablePolicy) { p.Constraints[0].K = 6 }, false, true},
		"a larger l": {func(p *catalog.TablePolicy) { p.Constraints[1].L = 4 }, false, true},
		"a constraint more": {func(p *catalog.TablePolicy) {
			p.Constraints = append(p.Constraints, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.9, Of: "cost"})
		}, false, true},
		"over other columns": {func(p *catalog.TablePolicy) {
			p.Constraints[0].Over = []string{"age", "zip"}
			p.Constraints = append(p.Constraints, privacy.Spec{Model: privacy.K, K: 5, Over: []string{"sex", "job"}})
		}, false, true},
		"persons": {func(p *catalog.TablePolicy) { p.Subject = "person" }, false, true},
		"steps": {func(p *catalog.TablePolicy) {
			p.Columns[0].Hierarchy = &hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{10}}
		}, false, true},
		"a column less": {func(p *catalog.TablePolicy) { p.Columns = p.Columns[:5] }, false, false},
		"generalized": {func(p *catalog.TablePolicy) {
			p.Columns[5] = catalog.ColumnPolicy{Name: "cost", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}, Publish: catalog.FormValue}
		}, false, false},
		"another form":           {func(p *catalog.TablePolicy) { p.Columns[0].Publish = catalog.FormValue }, false, false},
		"guarded":                {func(p *catalog.TablePolicy) { p.Updates, p.Suppression = catalog.Updates{Mode: catalog.Guarded}, 0 }, false, false},
		"insensitive, sensitive": {func(p *catalog.TablePolicy) { p.Columns[5].Role = catalog.Insensitive }, false, true},
	} {
		changed := before()
		test.change(&changed)
		one, other := memoryTable(t, before()), memoryTable(t, changed)
		promise, err := one.layout.promise.text()
		if err != nil {
			t.Fatal(err)
		}
		publications := [2]catalog.Publication{one.layout.publication, other.layout.publication}
		for by, want := range map[Superseded]bool{KeepStrong: test.covers, KeepAny: test.form, KeepNone: false} {
			if got, _ := mayStand(publications[0], publications[1], by); got != want {
				t.Errorf("%s, superseded %d: the publication %t", name, by, got)
			}
			stored := generation{number: 3, digest: one.layout.digest, promise: promise}
			if got := other.layout.visible(stored, by); got != (want || other.layout.fits(stored)) {
				t.Errorf("%s, superseded %d: the generation %t", name, by, got)
			}
			// That of the new policy is being made; whether the one before stays was decided as it joined.
			making := generation{number: 4, digest: other.layout.digest, promise: promise, shows: 9, previous: 3}
			if got := other.layout.visible(making, by); got != (want || by == KeepNone && test.covers) {
				t.Errorf("%s, superseded %d: the generation before %t", name, by, got)
			}
			making.previous = 0
			stored.number = markNumber
			if other.layout.visible(making, by) || other.layout.visible(stored, by) {
				t.Errorf("%s, superseded %d: what is not there is visible", name, by)
			}
		}
	}
}

// TestPromisesAreBoundToColumns: under a name that is another column's now, or one of another type,
// readers have had something else.
func TestPromisesAreBoundToColumns(t *testing.T) {
	t.Parallel()
	before := memoryTable(t, sizeOnly(3)).layout.publication
	for name, change := range map[string]func(*catalog.Column){
		"another column":   func(c *catalog.Column) { c.Number = 77 },
		"another type":     func(c *catalog.Column) { c.TypeOID, c.Type = 1043, "character varying" },
		"another modifier": func(c *catalog.Column) { c.Modifier = 9 },
	} {
		after := before
		after.Relation.Columns = slices.Clone(before.Relation.Columns)
		change(&after.Relation.Columns[slices.IndexFunc(after.Relation.Columns, func(c catalog.Column) bool { return c.Name == "illness" })])
		strong, _ := mayStand(before, after, KeepStrong)
		if weak, _ := mayStand(before, after, KeepAny); strong || weak {
			t.Errorf("%s: the release before stands", name)
		}
	}
	if stands, _ := mayStand(before, before, KeepStrong); !stands {
		t.Error("of the same columns it does not stand")
	}
}

// TestPromisesOfEarlierStores: where a store says nothing of what its release promises, one that was
// made for the policy is visible, and no other.
func TestPromisesOfEarlierStores(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	for _, promise := range []string{"", "{}", "something else", `{"Form":"f"}`} {
		for digest, want := range map[string]bool{of.layout.digest: true, of.layout.former: true, "another": false} {
			if got := of.layout.visible(generation{number: 3, digest: digest, promise: promise}, KeepAny); got != want {
				t.Errorf("promise %q, digest %q: %t", promise, digest, got)
			}
		}
	}
}
