package views

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// TestLooksThatBeganBeforeADoubtDoNotSettleIt has a table published anew while the views
// are looked at.
func TestLooksThatBeganBeforeADoubtDoNotSettleIt(t *testing.T) {
	t.Parallel()
	table, over := catalog.Name{Schema: "public", Relation: "t"}, catalog.Name{Schema: "public", Relation: "over"}
	other := catalog.Name{Schema: "public", Relation: "other"}
	found := []catalog.View{
		{Name: over, Kind: catalog.KindView, Listed: true, Tables: []catalog.Name{table}},
		{Name: other, Kind: catalog.KindView, Listed: true},
	}
	brings := func() *Look {
		return &Look{config: new(config.Config), found: found, outcomes: viewOutcomes{{view: over}: {}, {view: other}: {}}}
	}
	withdrawn := func(v *Watcher) map[catalog.Name]string {
		names := make(map[catalog.Name]string)
		v.Withdraw(catalog.Policy{Tables: []catalog.TablePolicy{{Table: table}}}, names, nil)
		return names
	}
	v := NewWatcher(slog.New(slog.DiscardHandler))
	defer v.Close()
	v.take(brings())
	if got := withdrawn(v); len(got) != 0 || v.afresh {
		t.Errorf("after a look that found all well, withdrawn are %v", got)
	}
	v.looking, v.doubted = true, make(map[viewer]bool)
	v.Doubt("", table)
	for range 2 { // before the look ends, and then
		if got := withdrawn(v); len(got) != 1 || got[over] != BeingPublished {
			t.Errorf("after a doubt, withdrawn are %v", got)
		}
		v.looking = false
		v.take(brings())
	}
	v.doubted = make(map[viewer]bool)
	v.take(brings())
	if got := withdrawn(v); len(got) != 0 {
		t.Errorf("after another look, withdrawn are %v", got)
	}
}

// TestPoliciesAreFollowedOnce keeps the wish to drop what is not listed any more until a
// look of the process that publishes has come to its end.
func TestPoliciesAreFollowedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		look Look
		want bool
	}{
		"done":    {Look{}, false},
		"held":    {Look{kept: true}, true},
		"failed":  {Look{err: errors.New("out of reach")}, true},
		"follows": {Look{follows: true}, true},
	} {
		v := NewWatcher(slog.New(slog.DiscardHandler))
		c.look.config = new(config.Config)
		v.take(&c.look)
		if v.Close(); v.afresh != c.want {
			t.Errorf("%s: afresh is %t", name, v.afresh)
		}
	}
}
