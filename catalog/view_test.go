package catalog

import (
	"reflect"
	"slices"
	"testing"
)

func TestOrderedPutsWhatIsReadFirst(t *testing.T) {
	t.Parallel()
	name := func(relation string) Name { return Name{"public", relation} }
	view := func(relation string, reads ...string) View {
		v := View{Name: name(relation)}
		for _, r := range reads {
			v.Reads = append(v.Reads, name(r))
		}
		return v
	}
	ordered := Ordered([]View{
		view("a", "b", "c"), view("b", "c", "patients"), view("d"), view("c", "patients"), view("e", "a", "d"),
	})
	var got []string
	for _, v := range ordered {
		got = append(got, v.Name.Relation)
	}
	if want := []string{"c", "b", "a", "d", "e"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestViewsOverProtectedTablesResolve(t *testing.T) {
	t.Parallel()
	name := func(relation string) Name { return Name{"public", relation} }
	var relations []Relation
	for _, r := range []string{"patients", "wards", "listed", "broken", "unlisted", "stored", "copies"} {
		relations = append(relations, Relation{Name: name(r)})
	}
	policy := Policy{
		Tables:   []TablePolicy{{Table: name("patients")}},
		Readable: []Name{name("wards"), name("listed"), name("broken"), name("stored")},
	}
	before := NewSnapshot(policy, relations, nil)
	s := before.WithViews([]View{
		{Name: name("listed"), Kind: KindView, Listed: true},
		{Name: name("broken"), Kind: KindView, Listed: true},
		{Name: name("unlisted"), Kind: KindView},
		{Name: name("stored"), Kind: KindMaterializedView, Listed: true},
		{Name: name("copies"), Kind: KindMaterializedView},
	}, map[Name]string{name("broken"): "why"})
	for _, c := range []struct {
		relation string
		want     Resolution
	}{
		{"patients", Resolution{Disposition: Protected, Target: Published(name("patients"))}},
		{"wards", Resolution{Disposition: Readable, Target: Published(name("wards")), FormAlone: true}},
		{"listed", Resolution{Disposition: Protected, Target: Published(name("listed"))}},
		{"broken", Resolution{Disposition: Withdrawn, Reason: "why"}},
		{"unlisted", Resolution{Disposition: Forbidden, Reason: unlistedView}},
		{"stored", Resolution{Disposition: Withdrawn, Reason: materializedView}},
		{"copies", Resolution{Disposition: Forbidden, Reason: materializedView}},
		{"none", Resolution{Disposition: Missing}},
	} {
		c.want.Source = name(c.relation)
		if got := s.Resolve("public", c.relation); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.relation, got, c.want)
		}
	}
	if got := before.Resolve("public", "listed").Disposition; got != Readable {
		t.Errorf("the snapshot that it was made of has changed: %v", got)
	}
}

// TestViewsApartAreFound adds views of a source in a database of its own to the relations of the release's: those alone, and
// what holds the relations stays as it was.
func TestViewsApartAreFound(t *testing.T) {
	t.Parallel()
	name := func(relation string) Name { return Name{"public", relation} }
	held := append(make([]Relation, 0, 4), Relation{OID: 7, Name: name("wards"), Kind: KindTable})
	views := []View{
		{OID: 7, Name: name("over"), Kind: KindView, Apart: true, Columns: []string{"a", "b"}},
		{OID: 8, Name: name("here"), Kind: KindView, Columns: []string{"a"}},
		{OID: 9, Name: name("copy"), Kind: KindMaterializedView, Apart: true},
	}
	want := []Relation{
		held[0],
		{OID: 7, Name: name("over"), Kind: KindView, Columns: []Column{{Name: "a"}, {Name: "b"}}},
		{OID: 9, Name: name("copy"), Kind: KindMaterializedView},
	}
	if got := WithApart(held, views); !reflect.DeepEqual(got, want) {
		t.Errorf("found are %+v", got)
	}
	if beyond := held[:2][1]; !reflect.DeepEqual(beyond, Relation{}) {
		t.Errorf("%s is written into the relations of somebody else", beyond.Name)
	}
}
