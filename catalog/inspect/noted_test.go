package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestRolesAreJudgedByWhatSetupGave has a configuration give reader roles other parts than set-up did. It is told
// of these roles alone: no fix takes rights from those that others read by, and real ways to what is released for others are found.
func TestRolesAreJudgedByWhatSetupGave(t *testing.T) {
	t.Parallel()
	p, fill := withAudiences(t)
	reader := p.in.Reader
	bi, research, second, press := reader+"_bi", reader+"_research", reader+"_second", reader+"_press"
	of := func(inResearch, inPress []string) []catalog.Audience {
		return []catalog.Audience{{Name: "research", Roles: inResearch}, {Name: "press", Roles: inPress}, {Name: "nobody"}}
	}
	for name, c := range map[string]struct {
		audiences []catalog.Audience
		finest    []string
		want      []string
	}{
		"as it was set up":       {of([]string{research, second}, []string{press}), nil, nil},
		"one is in none":         {of([]string{research}, []string{press}), nil, []string{"former-audience role {second} belonged to audience research"}},
		"and is meant to be":     {of([]string{research}, []string{press}), []string{second}, []string{"further-reader role {second} has the rights of audience research, and is to read as upstream.reader"}},
		"audiences are no more":  {nil, []string{bi}, []string{"former-audience role {research}", "former-audience role {second}", "former-audience role {press} belonged to audience press"}},
		"one joins":              {of([]string{research, second, bi}, []string{press}), nil, []string{"further-reader role {bi} has the rights of upstream.reader, and is to read as audience research"}},
		"one goes to another":    {of([]string{research, second, press}, nil), nil, []string{"further-reader role {press} has the rights of audience press"}},
		"another comes first":    {of([]string{second, research}, []string{press}), nil, []string{"further-reader role {research} has another place", "further-reader role {second} has another place"}},
		"one that joins is head": {of([]string{bi, research, second}, []string{press}), nil, []string{"further-reader role {bi}", "further-reader role {research} has another place"}},
	} {
		p.in.Policy.Audiences, p.in.Finest = c.audiences, c.finest
		var found []string
		for _, f := range p.check().Errors() {
			found = append(found, f.Code+" "+f.What)
			if strings.Contains(f.Fix, "REVOKE") || strings.Contains(f.Fix, "GRANT") {
				t.Errorf("%s: a fix is %s", name, f.Fix)
			}
		}
		if len(found) != len(c.want) {
			t.Errorf("%s: it finds %q", name, found)
		}
		for _, want := range c.want {
			if !slices.ContainsFunc(found, func(what string) bool { return strings.HasPrefix(what, fill(want)) }) {
				t.Errorf("%s: it finds %q, not %s", name, found, fill(want))
			}
		}
	}
	p.in.Policy.Audiences, p.in.Finest = of([]string{research, second, bi}, []string{press}), nil
	execute(t, p.admin, fill("GRANT SELECT ON kproxy_release_public.patients TO {press}"))
	if report := p.check(); !contains(report, "raw-grant", fill(`"{press}" has SELECT on it`)) {
		t.Errorf("no way is found while a role is to move:\n%s", report)
	}
}
