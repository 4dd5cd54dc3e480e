package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

var clinic = catalog.Name{Schema: "public", Relation: "clinic"}

// column is a column of a built-in type that is no domain.
func column(name, base string) catalog.Column {
	return catalog.Column{Name: name, Type: base, BaseFormat: base, BaseType: base, Deterministic: true}
}

func clinicTable(sensitive catalog.Column) catalog.Relation {
	return catalog.Relation{
		Name: clinic, Kind: catalog.KindTable, Key: []string{"id"}, ReplicaIdentity: 'd',
		Columns: []catalog.Column{column("id", "int8"), column("age", "int4"), sensitive},
	}
}

func clinicPolicy(sensitive string) catalog.TablePolicy {
	return catalog.TablePolicy{
		Table:  clinic,
		Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 2}, {Model: privacy.DistinctL, L: 2, Of: sensitive}},
		Columns: []catalog.ColumnPolicy{
			{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}},
			{Name: sensitive, Role: catalog.Sensitive},
		},
	}
}

func TestDiversityNeedsCountableValues(t *testing.T) {
	t.Parallel()
	for _, base := range []string{
		"text", "varchar", "bpchar", "name", "bool", "int2", "int4", "int8", "numeric", "float4", "float8",
		"date", "timestamp", "timestamptz", "uuid",
	} {
		if _, problems := catalog.Publish(clinicPolicy("value"), clinicTable(column("value", base))); len(problems) > 0 {
			t.Errorf("%s: %v", base, problems)
		}
	}
	enum := column("value", "public.mood")
	enum.Enum = true
	if _, problems := catalog.Publish(clinicPolicy("value"), clinicTable(enum)); len(problems) > 0 {
		t.Errorf("an enumeration: %v", problems)
	}
	loose := column("value", "text")
	loose.Deterministic = false
	for name, c := range map[string]catalog.Column{
		"jsonb": column("value", "jsonb"), "json": column("value", "json"), "interval": column("value", "interval"),
		"citext": column("value", "public.citext"), "a user's date": column("value", "public.date"), "array": column("value", "_text"),
		"timetz": column("value", "timetz"), "inet": column("value", "inet"), "composite": column("value", "public.pair"),
		"range": column("value", "numrange"), "not deterministic": loose,
	} {
		_, problems := catalog.Publish(clinicPolicy("value"), clinicTable(c))
		if len(problems) != 1 || problems[0].Column != "value" || problems[0].Table != clinic || problems[0].Fix == "" {
			t.Errorf("%s: %v", name, problems)
		}
		without := clinicPolicy("value")
		without.Constraints = without.Constraints[:1]
		if _, problems := catalog.Publish(without, clinicTable(c)); len(problems) > 0 {
			t.Errorf("%s without a diversity constraint: %v", name, problems)
		}
	}
}

func TestRelationsThatCannotBeFollowedAreRefused(t *testing.T) {
	t.Parallel()
	for words, change := range map[string]func(*catalog.Relation){
		"or is a partition":     func(r *catalog.Relation) { r.Kind, r.HasParents = catalog.KindPartitionedTable, true },
		"is not a table":        func(r *catalog.Relation) { r.Kind = catalog.KindMaterializedView },
		"rows would be missed":  func(r *catalog.Relation) { r.HasChildren = true },
		"it inherits from":      func(r *catalog.Relation) { r.HasParents = true },
		"cannot be identified":  func(r *catalog.Relation) { r.Key = nil },
		"longer than 63 bytes":  func(r *catalog.Relation) { r.Name.Schema = strings.Repeat("s", 49) },
		"is a generated column": func(r *catalog.Relation) { r.Columns[1].Generated = true },
	} {
		relation := clinicTable(column("value", "text"))
		change(&relation)
		_, problems := catalog.Publish(clinicPolicy("value"), relation)
		if len(problems) != 1 || !strings.Contains(problems[0].What, words) || problems[0].Fix == "" {
			t.Errorf("%s: %v", words, problems)
		}
	}
	relation := clinicTable(column("value", "text"))
	relation.Name.Schema = strings.Repeat("s", 48)
	if _, problems := catalog.Publish(clinicPolicy("value"), relation); len(problems) > 0 {
		t.Errorf("a schema's name of 48 bytes: %v", problems)
	}
}

func TestDomainsAreGeneralizedAsTheirBase(t *testing.T) {
	t.Parallel()
	relation := clinicTable(catalog.Column{Name: "word", Type: "public.word", BaseFormat: "text", BaseType: "text", Domain: true, Deterministic: true})
	relation.Columns[1] = catalog.Column{
		Name: "age", Type: "public.years", BaseFormat: "numeric(5,1)", BaseType: "numeric", Domain: true, NotNull: true, Deterministic: true,
	}
	for form, want := range map[catalog.Form][]string{
		catalog.FormBoth:  {"age numeric(5,1)", "age_range numrange", "word public.word"},
		catalog.FormValue: {"age numeric(5,1)", "word public.word"},
		catalog.FormRange: {"age numrange", "word public.word"},
	} {
		policy := clinicPolicy("word")
		policy.Columns[0].Publish = form
		publication, problems := catalog.Publish(policy, relation)
		var got []string
		for _, c := range publication.Columns {
			got = append(got, c.Name+" "+c.Type)
		}
		if len(problems) > 0 || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q", form, got, problems, want)
		}
	}
}
