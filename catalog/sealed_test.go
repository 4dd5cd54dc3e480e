package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// TestSealedPublications: what of a table could not be sealed, or not be compared with its source, is a problem where the
// store is sealed, and none where it is not.
func TestSealedPublications(t *testing.T) {
	t.Parallel()
	quasi := func(name string) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}
	}
	mood := catalog.Name{Schema: "public", Relation: "mood"}
	for name, test := range map[string]struct {
		alter   func(*catalog.TablePolicy, *catalog.Relation)
		problem string // empty where the table can be sealed
	}{
		"as it is":    {func(*catalog.TablePolicy, *catalog.Relation) {}, ""},
		"without key": {func(_ *catalog.TablePolicy, r *catalog.Relation) { r.Key, r.KeyRepeats = []string{"id", "age"}, true }, "has no key"},
		"divided in several ways": {func(p *catalog.TablePolicy, _ *catalog.Relation) {
			p.Constraints = []privacy.Spec{{Model: privacy.K, K: 2, Over: []string{"age"}}, {Model: privacy.K, K: 3, Over: []string{"weight"}}}
		}, "several ways"},
		"of an enumeration": {func(_ *catalog.TablePolicy, r *catalog.Relation) {
			r.Columns[3].Type, r.Columns[3].BaseType, r.Columns[3].UserType = "mood", "mood", mood
		}, "is of type mood"},
		"mirrored": {func(p *catalog.TablePolicy, r *catalog.Relation) {
			*p = catalog.MirrorTable(r.Name, []string{"id", "mood"})
		}, ""},
		"mirrored without its key": {
			func(p *catalog.TablePolicy, r *catalog.Relation) { *p = catalog.MirrorTable(r.Name, []string{"mood"}) },
			"tells rows apart and is not shown",
		},
	} {
		relation := catalog.Relation{
			OID: 7, Name: catalog.Name{Schema: "public", Relation: "people"}, Kind: catalog.KindTable, Key: []string{"id"}, ReplicaIdentity: 'd',
			Columns: []catalog.Column{
				{Name: "id", Number: 1, Type: "bigint", BaseType: "int8"},
				{Name: "age", Number: 2, Type: "integer", BaseType: "int4"},
				{Name: "weight", Number: 3, Type: "integer", BaseType: "int4"},
				{Name: "mood", Number: 4, Type: "text", BaseType: "text"},
			},
		}
		policy := catalog.TablePolicy{
			Table: relation.Name, Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{Model: privacy.K, K: 2}},
			Columns: []catalog.ColumnPolicy{quasi("age"), quasi("weight"), {Name: "mood", Role: catalog.Insensitive}},
		}
		test.alter(&policy, &relation)
		plain := texts(publishProblems(policy, relation))
		policy.Sealed = true
		added := slices.DeleteFunc(texts(publishProblems(policy, relation)), func(p string) bool { return slices.Contains(plain, p) })
		if test.problem == "" && len(added) > 0 || test.problem != "" && (len(added) != 1 || !strings.Contains(added[0], test.problem) || !strings.Contains(added[0], "release.seal")) {
			t.Errorf("%s: sealing adds the problems %q", name, added)
		}
	}
}

func publishProblems(policy catalog.TablePolicy, relation catalog.Relation) []catalog.Problem {
	_, problems := catalog.Publish(policy, relation)
	return problems
}

func texts(problems []catalog.Problem) (all []string) {
	for _, p := range problems {
		all = append(all, p.Error())
	}
	return all
}
