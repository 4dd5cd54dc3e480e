package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

func TestGuardedAmong(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	policy := catalog.Policy{Tables: []catalog.TablePolicy{
		{Table: name("visits")},
		{Table: name("patients"), Updates: catalog.Updates{Mode: catalog.Guarded}},
		{Table: name("staff"), Updates: catalog.Updates{Mode: catalog.Guarded}},
		{Table: name("persons"), Updates: catalog.Updates{Mode: catalog.Guarded}},
		{Table: name("stays"), Updates: catalog.Updates{Mode: catalog.Guarded}},
	}, People: []catalog.People{{Root: name("persons"), Tables: []catalog.PeopleTable{{Table: name("stays")}}}}}
	for _, test := range []struct {
		named []catalog.Name
		want  []string
	}{
		{nil, []string{"public.patients", "public.staff", "public.persons", "public.stays"}},
		{[]catalog.Name{name("stays")}, []string{"public.persons", "public.stays"}},
		{[]catalog.Name{name("visits")}, nil},
		{[]catalog.Name{name("staff"), name("visits")}, []string{"public.staff"}},
	} {
		if got := guardedAmong(policy, test.named); !slices.Equal(got, test.want) {
			t.Errorf("among %v: %v", test.named, got)
		}
	}
}

func TestNewLineagesWantAYes(t *testing.T) {
	t.Parallel()
	guarded := []string{"public.patients"}
	if err := permitLineages(t.Context(), nil, terminal{strings.NewReader(""), io.Discard, false}); err != nil {
		t.Errorf("without guarded tables: %v", err)
	}
	if err := permitLineages(t.Context(), guarded, terminal{strings.NewReader("yes\n"), io.Discard, false}); !errors.As(err, &usageError{}) || !strings.Contains(err.Error(), "--new-lineage") {
		t.Errorf("where nobody can be asked: %v", err)
	}
	for answer, permitted := range map[string]bool{"yes\n": true, "yes": true, "y\n": false, "\n": false, "": false} {
		var asked strings.Builder
		err := permitLineages(t.Context(), guarded, terminal{strings.NewReader(answer), &asked, true})
		if (err == nil) != permitted || !strings.Contains(asked.String(), "public.patients") {
			t.Errorf("the answer %q: %v, asked %q", answer, err, asked.String())
		}
		if refused := (failure{}); err != nil && (!errors.As(err, &refused) || refused.code != codeRefused) {
			t.Errorf("the answer %q: %v", answer, err)
		}
	}
}
