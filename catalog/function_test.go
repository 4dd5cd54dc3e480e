package catalog

import (
	"slices"
	"testing"
)

func TestListedFunctionChanges(t *testing.T) {
	t.Parallel()
	name := Name{Schema: "public", Relation: "f"}
	accepted := ListedFunction{"integer": "a", "text": "b"}
	for _, c := range []struct {
		now  ListedFunction
		want []string
	}{
		{ListedFunction{"integer": "a", "text": "b"}, nil},
		{ListedFunction{"integer": "a"}, nil},
		{ListedFunction{"integer": "c", "text": "b"}, []string{"public.f(integer) has another definition, or another owner"}},
		{ListedFunction{"integer": "a", "text": "b", "": "d"}, []string{"public.f() was added"}},
	} {
		if got := accepted.Changes(name, c.now); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.now, got, c.want)
		}
	}
}

func TestWithoutFunctions(t *testing.T) {
	t.Parallel()
	f, g := Name{Schema: "public", Relation: "f"}, Name{Schema: "public", Relation: "g"}
	all := NewSnapshot(Policy{Functions: []Name{f, g}}, nil, nil)
	s := all.WithoutFunctions(map[Name]bool{f: true})
	if s.HasFunction("public", "f") || !s.HasFunction("public", "g") || !all.HasFunction("public", "f") {
		t.Error("another function than the withdrawn one is missing, or that one is not")
	}
	if !s.IsWithdrawn("public", "f") || !s.IsWithdrawn("", "f") || s.IsWithdrawn("other", "f") || s.IsWithdrawn("", "g") || all.IsWithdrawn("", "f") {
		t.Error("what is withdrawn is not told")
	}
}
