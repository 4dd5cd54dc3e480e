package provision_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
)

// TestRolesOfOtherDatabasesAreNotTaken prepares a second database with roles of a first one: with those that have
// rights there, and with one that reads there by its membership alone.
func TestRolesOfOtherDatabasesAreNotTaken(t *testing.T) {
	t.Parallel()
	first, in := database(t)
	in.Readers = []provision.Login{{Name: in.Reader.Name + "_bi"}}
	apply(t, first, in)
	roles := "SELECT string_agg(concat_ws(' ', rolname, rolcanlogin, rolinherit, rolconfig, (SELECT string_agg(roleid::regrole::text, ' ' ORDER BY 1) FROM pg_auth_members WHERE member = r.oid)), ', ' ORDER BY rolname) FROM pg_roles r WHERE starts_with(rolname, '" + first.Config().Database + "_')"
	before := text(t, first, roles)
	admin, own := database(t)
	for _, taken := range []func(*provision.Input){
		func(other *provision.Input) { other.Owner = in.Owner },
		func(other *provision.Input) { other.Reader = in.Reader },
		func(other *provision.Input) { other.Reader = in.Owner },
		func(other *provision.Input) { other.Readers = in.Readers },
	} {
		other := own
		taken(&other)
		err := provision.Apply(t.Context(), admin, other)
		if err == nil || !strings.Contains(err.Error(), "SQLSTATE 55006") || !strings.Contains(err.Error(), "has rights in database "+first.Config().Database) {
			t.Errorf("a role is taken: %v", err)
		}
	}
	if after := text(t, first, roles); after != before {
		t.Errorf("the roles were %s and are %s", before, after)
	}
	apply(t, admin, own)
	apply(t, admin, own)
	apply(t, first, in)
}

// TestAudienceIsNotForgotten takes an audience away of which roles were: they do not come to the finest release by
// that, and keep what they have, until it is said what they are to read.
func TestAudienceIsNotForgotten(t *testing.T) {
	t.Parallel()
	admin, in, _ := walled(t)
	second, press := in.Reader.Name+"_second", in.Reader.Name+"_press"
	schemas := "SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM pg_namespace WHERE nspname ~ '^kproxy_audience_'"
	mayRead := func(role string) string {
		return text(t, admin, "SELECT concat_ws(' ', has_schema_privilege('"+role+"', 'kproxy_release_public', 'USAGE'), has_schema_privilege('"+role+"', 'kproxy_audience_research_public', 'USAGE'))")
	}
	whole := in.Policy.Audiences
	in.Policy.Audiences = []catalog.Audience{{Name: "research", Roles: whole[0].Roles[:1]}}
	err := provision.Apply(t.Context(), admin, in)
	if err == nil || !strings.Contains(err.Error(), "SQLSTATE 55000") || !strings.Contains(err.Error(), second+" of audience research") || !strings.Contains(err.Error(), press+" of audience press") {
		t.Errorf("it is prepared, or says: %v", err)
	}
	if got := mayRead(second); got != "f t" {
		t.Errorf("the second role of the audience may read: %s", got)
	}

	// The policy in force still has the audience.
	execute(t, admin, `INSERT INTO kproxy_store.policy (number, fingerprint, policy, place) VALUES (1, '', '{"Audiences": [{"Name": "research"}, {"Name": "press"}]}', '')`)
	in.Finest, in.Readers = []string{second}, in.Readers[:len(in.Readers)-1]
	apply(t, admin, in)
	if got := mayRead(second); got != "t f" {
		t.Errorf("who is meant to read the finest release may read: %s", got)
	}
	if got := text(t, admin, "SELECT rolcanlogin::text FROM pg_roles WHERE rolname = '"+press+"'"); got != "false" {
		t.Error("a role that is taken out logs in")
	}
	if got := text(t, admin, schemas); !strings.Contains(got, "press") {
		t.Errorf("the schemas are %s, and a process reads that of the press", got)
	}
	execute(t, admin, `INSERT INTO kproxy_store.policy (number, fingerprint, policy, place) VALUES (2, '', '{"Audiences": [{"Name": "research"}]}', '')`)
	apply(t, admin, in)
	if got := text(t, admin, schemas); got != "kproxy_audience_research_public" {
		t.Errorf("the schemas are %s", got)
	}
}
