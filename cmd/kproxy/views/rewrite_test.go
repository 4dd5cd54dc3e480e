package views

import (
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/rewrite"
)

// TestDefinitionsAreRewrittenAgainWhenTheyChange counts what is kept: what was asked for
// last, under the rewriter and the snapshot of the time.
func TestDefinitionsAreRewrittenAgainWhenTheyChange(t *testing.T) {
	t.Parallel()
	rewriter, snapshot := rewrite.New(gate.Options(&config.Config{})), &catalog.Snapshot{}
	rewriter.SetSnapshot(snapshot)
	table := catalog.Name{Schema: "public", Relation: "t"}
	view := func(definition string) catalog.View {
		return catalog.View{Definition: definition, Columns: []string{"a"}, Reads: []catalog.Name{table}}
	}
	reads := func(columns ...string) map[catalog.Name]rewrite.ViewRelation {
		return map[catalog.Name]rewrite.ViewRelation{table: {Target: catalog.Published(table), Columns: []string{"a"}, Published: columns}}
	}
	const all, some = "SELECT a FROM public.t", "SELECT a FROM public.t WHERE a > 0"
	r := rewritings{}.under(rewriter, snapshot)
	asked := func(v catalog.View, relations map[catalog.Name]rewrite.ViewRelation) (rewrite.PublishedView, error) {
		got, err := r.rewrite(v, relations)
		want, wanted := rewriter.RewriteView(v.Definition, v.Columns, relations)
		if !reflect.DeepEqual(got, want) || (err == nil) != (wanted == nil) {
			t.Errorf("%s: %+v, %v; want %+v, %v", v.Definition, got, err, want, wanted)
		}
		return got, err
	}
	if got, err := asked(view(all), reads("a")); err != nil || got.SQL == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	kept := func(what string, want int) {
		t.Helper()
		if r.forget(); len(r.last) != want {
			t.Errorf("%s: %d are kept, want %d", what, len(r.last), want)
		}
	}
	for range 2 {
		_, _ = asked(view(all), reads("a"))
		_, _ = asked(view(all), reads())
		_, _ = asked(view(some), reads("a"))
		kept("three", 3)
	}
	for key := range r.last { // what is kept is what is given
		r.last[key] = rewriting{published: rewrite.PublishedView{SQL: "kept"}}
	}
	if got, _ := r.rewrite(view(all), reads("a")); got.SQL != "kept" {
		t.Errorf("a definition was rewritten again: %+v", got)
	}
	kept("what was asked for last", 1)
	if r = r.under(rewriter, snapshot); len(r.last) != 1 {
		t.Error("what holds is forgotten")
	}
	if r = r.under(rewriter, &catalog.Snapshot{}); len(r.last) != 0 {
		t.Error("under another snapshot, earlier rewritings are kept")
	}
}
