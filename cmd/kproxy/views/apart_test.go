package views

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// TestDefinitionsOfTheSourceReadNothingOfTheRelease: whatever the database of the release has under a name, and
// whether it is listed or not, a view of the source reads protected and mirrored tables and listed views of the
// source, or it is refused.
func TestDefinitionsOfTheSourceReadNothingOfTheRelease(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	view := func(relation string, kind catalog.Kind, listed bool) catalog.View {
		return catalog.View{Name: name(relation), Kind: kind, Listed: listed, Apart: true, Columns: []string{"a"}, Unread: "no definition here"}
	}
	p := &planner{
		apart: true, protected: map[catalog.Name]bool{name("folk"): true, name("new"): true}, seen: map[catalog.Name]bool{name("folk"): true, name("new"): true},
		listed:    map[catalog.Name]bool{name("towns"): true, name("taken"): true, name("inner"): true},
		readables: map[catalog.Name]catalog.ReadableRelation{name("towns"): {}, name("taken"): {}},
		sources: map[catalog.Name]inspect.ViewSource{
			name("folk"): {OID: 1, Columns: []string{"a", "b"}}, name("towns"): {OID: 2}, name("plain"): {OID: 3},
			catalog.Published(name("folk")): {OID: 1, Columns: []string{"a"}, Readable: true}, catalog.Published(name("towns")): {OID: 4, Readable: true},
		},
		others: []catalog.View{view("taken", catalog.KindView, true), view("unlisted", catalog.KindView, false)},
	}
	p.plan([]catalog.View{view("inner", catalog.KindView, true), view("copy", catalog.KindMaterializedView, true)})
	p.plans[name("inner")] = viewPlan{}
	p.plans[name("towns")], p.plans[name("taken")] = viewPlan{standIn: true}, viewPlan{standIn: true}
	for relation, want := range map[string]string{
		"folk": "", "inner": "", "new": "which is not published now", "towns": "neither protected nor mirrored", "plain": "neither protected nor mirrored",
		"taken": "has a relation of that name, too", "unlisted": "is not listed under readable", "copy": "holds copies",
	} {
		reads, problem := p.relation(name(relation))
		switch {
		case want == "" && (problem != nil || reads.Target != catalog.Published(name(relation))):
			t.Errorf("of %s it reads %+v, and is refused: %+v", relation, reads, problem)
		case want != "" && (problem == nil || reads != nil || !strings.Contains(problem.what, want) || problem.fix == ""):
			t.Errorf("of %s it reads %+v, and is refused: %+v", relation, reads, problem)
		}
	}
}

// TestViewsStayWhileTheSourceIsAway: what was published of views that the store has kept is planned anew by nobody,
// and dropped by nobody; what the policy does not list any more is.
func TestViewsStayWhileTheSourceIsAway(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	over := &catalog.Identity{OverProtected: true}
	p := &planner{
		apart: true, away: true, listed: map[catalog.Name]bool{name("kept"): true, name("unknown"): true},
		stored: map[catalog.Name]storedView{name("kept"): {accepted: over, made: true}, name("unknown"): {accepted: over, made: true}, name("former"): {accepted: over, made: true}},
	}
	if plans := p.plan([]catalog.View{{Name: name("kept"), Kind: catalog.KindView, Listed: true, Apart: true}}); len(plans) > 0 {
		t.Errorf("planned is %+v", plans)
	}
	for view, want := range map[string]bool{"kept": false, "unknown": true, "former": true} {
		if gone := p.gone(name(view), true); gone != want {
			t.Errorf("that %s is gone is %t", view, gone)
		}
	}
	if p.away = false; !p.gone(name("kept"), false) {
		t.Error("a view that nothing is planned of stays while the source is asked")
	}
}
