package sync

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// TestDigestCoversThePolicy changes one thing of a policy at a time.
func TestDigestCoversThePolicy(t *testing.T) {
	t.Parallel()
	publication := func(change func(*catalog.TablePolicy)) catalog.Publication {
		policy := visitsPolicy("visits", "rounded-partition", "", homes, persons, models["ordered"][0])
		change(&policy)
		return catalog.Publication{Policy: policy}
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*catalog.TablePolicy){
		"nothing":     func(*catalog.TablePolicy) {},
		"subject":     func(p *catalog.TablePolicy) { p.Subject = "person" },
		"suppression": func(p *catalog.TablePolicy) { p.Suppression = 0.07 },
		"method":      func(p *catalog.TablePolicy) { p.Method = "datafly" },
		"columns of a size": func(p *catalog.TablePolicy) {
			p.Constraints[0].Over = []string{"age"}
		},
		"t":        func(p *catalog.TablePolicy) { p.Constraints[2].T = 0.31 },
		"distance": func(p *catalog.TablePolicy) { p.Constraints[2].Distance = privacy.HierarchicalDistance },
		"values": func(p *catalog.TablePolicy) {
			p.Constraints[2] = models["alpha_one"][0]
		},
		"hierarchy": func(p *catalog.TablePolicy) { p.Columns[0].Hierarchy = &hierarchy.Spec{Kind: hierarchy.Prefix} },
		"order":     func(p *catalog.TablePolicy) { p.Columns[5].Hierarchy = nil },
	} {
		d, err := digest(publication(change), nil)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[d]; twice {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[d] = name
	}
}

// TestIdentifyingColumnsComeAndGo takes a column that nobody publishes out of the policy: a
// guarded table goes on, and so it does from a store that was made when it counted.
func TestIdentifyingColumnsComeAndGo(t *testing.T) {
	t.Parallel()
	with := visitsPolicy("visits", "rounded-partition", "", homes, persons, models["ordered"][0])
	without := with
	without.Columns = slices.Clone(with.Columns)
	with.Columns = append(slices.Clone(with.Columns), catalog.ColumnPolicy{Name: "telephone", Role: catalog.Identifying})
	var digests, former []string
	for _, policy := range []catalog.TablePolicy{with, without} {
		one, err := digest(catalog.Publication{Policy: policy}, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := formerDigest(catalog.Publication{Policy: policy}, nil)
		if err != nil {
			t.Fatal(err)
		}
		digests, former = append(digests, one), append(former, other)
	}
	if digests[0] != digests[1] || former[0] == former[1] {
		t.Errorf("digests %v, and %v formerly", digests, former)
	}
	if p := (&table{layout: layout{digest: digests[0], former: former[0]}}); !p.layout.fits(generation{digest: former[0]}) || p.layout.fits(generation{digest: "another"}) {
		t.Error("a store fits that was made for another policy, or its own does not")
	}
}

// TestDigestStays holds the digest of a guarded table against that of earlier versions:
// with another one it would be published afresh, which costs its lineage.
func TestDigestStays(t *testing.T) {
	t.Parallel()
	p := catalog.Publication{Policy: visitsPolicy("visits", "rounded-partition", "", homes, persons, models["ordered"][0])}
	p.Policy.Updates = catalog.Updates{Mode: catalog.Guarded}
	stored := []catalog.Column{{
		Name: "age", Number: 2, Type: "public.years", TypeOID: 16500, Modifier: -1, BaseFormat: "integer",
		BaseType: "int4", UserType: catalog.Name{Schema: "public", Relation: "years"}, Domain: true, Deterministic: true,
	}}
	const before = "03c8af6dd2f359831c566a585bf08497fd76e9210b52ce4ec8d36221880e1573"
	if d, err := digest(p, stored); err != nil || d != before {
		t.Errorf("digest %s, %v; it was %s", d, err, before)
	}
}
