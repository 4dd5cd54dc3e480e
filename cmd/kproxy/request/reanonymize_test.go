package request

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

func TestRenewable(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	table := func(relation string, mode catalog.UpdateMode) catalog.TablePolicy {
		return catalog.TablePolicy{Table: name(relation), Updates: catalog.Updates{Mode: mode}}
	}
	both := catalog.Policy{Tables: []catalog.TablePolicy{table("a", catalog.Immediate), table("b", catalog.Guarded), table("c", catalog.Immediate)}}
	guarded := catalog.Policy{Tables: []catalog.TablePolicy{table("b", catalog.Guarded)}}
	for _, test := range []struct {
		policy  catalog.Policy
		named   []catalog.Name
		want    []catalog.Name
		problem string
	}{
		{both, nil, []catalog.Name{name("a"), name("c")}, ""},
		{both, []catalog.Name{name("c")}, []catalog.Name{name("c")}, ""},
		{both, []catalog.Name{name("a"), name("b")}, nil, "kproxy rebuild"},
		{both, []catalog.Name{name("d")}, nil, "no table public.d"},
		{guarded, nil, nil, "every table is guarded"},
	} {
		got, err := renewable(test.policy, test.named)
		if !slices.Equal(got, test.want) || (err != nil) != (test.problem != "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%v: %v, %v", test.named, got, err)
		}
	}
}
