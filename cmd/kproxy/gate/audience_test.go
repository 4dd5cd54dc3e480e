package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// coarse is a configuration with an audience research, of a reader second, that sees one table of two
// and what is readable, but no view over protected tables.
func coarse() (*config.Config, func() Snapshots) {
	of := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	c := &config.Config{Limits: config.Limits{StatementCacheBytes: 1 << 20}}
	c.Upstream.Readers = []config.Reader{
		{Name: "first", Connection: config.Connection{User: "bi"}}, {Name: "second", Connection: config.Connection{User: "researchers"}},
	}
	c.Users = []config.User{{Name: "ann"}, {Name: "eve", Reader: "second"}}
	c.Policy = catalog.Policy{
		Tables: []catalog.TablePolicy{
			{Table: of("patients"), Audiences: []catalog.AudiencePolicy{{Audience: "research"}}, Columns: []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying}}},
			{Table: of("visits")},
		},
		Readable:  []catalog.Name{of("wards"), of("summary"), of("stays")},
		Audiences: []catalog.Audience{{Name: "research", Roles: []string{"researchers"}}},
	}
	var relations []catalog.Relation
	for i, name := range []string{"patients", "visits", "wards", "summary", "stays", "others"} {
		relations = append(relations, catalog.Relation{OID: catalog.OID(i + 1), Name: of(name), Columns: []catalog.Column{{Name: "age", Type: "integer", BaseType: "int4"}}})
	}
	views := []catalog.View{{Name: of("summary"), Kind: catalog.KindView, Listed: true, Tables: []catalog.Name{of("patients")}, Reads: []catalog.Name{of("patients")}}}
	views = append(views, catalog.View{Name: of("stays"), Kind: catalog.KindView, Listed: true, Tables: []catalog.Name{of("patients"), of("visits")}})
	return c, func() Snapshots {
		seen, _ := c.Policy.For("research")
		return Snapshots{
			Own:       catalog.NewSnapshot(c.Policy, relations, nil).WithViews(views, nil),
			Audiences: map[string]*catalog.Snapshot{"research": catalog.NewSnapshot(seen, relations, nil).WithViews(views, nil)},
		}
	}
}

func TestSessionsOfAnAudienceResolveItsNames(t *testing.T) {
	t.Parallel()
	c, snapshots := coarse()
	var g Gate
	g.SetLimits(c, snapshots())
	for reader, want := range map[string]map[string]string{
		"": {
			"TABLE patients": "kproxy_release_public.patients", "TABLE public.wards": "kproxy_release_public.wards", "TABLE visits": "kproxy_release_public.visits",
			"TABLE summary": "kproxy_release_public.summary", "TABLE others": "42501", "TABLE stays": "kproxy_release_public.stays", "SELECT 'patients'::regclass": "kproxy_release_public",
		},
		"second": {
			"TABLE patients": "kproxy_audience_research_public.patients", "TABLE public.wards": "kproxy_audience_research_public.wards", "TABLE visits": "42501",
			"TABLE summary": "kproxy_audience_research_public.summary", "TABLE others": "42501", "TABLE stays": "55000", "TABLE kproxy_release_public.patients": "42P01", "TABLE kproxy_audience_research_public.patients": "42P01",
			"SET search_path = kproxy_release_public; TABLE patients": "42P01", "SELECT 'kproxy_release_public.patients'::regclass": "42P01",
			"SELECT NULL::kproxy_release_public.patients": "42704", "EXPLAIN TABLE patients": "kproxy_audience_research_public.patients",
			"SELECT age FROM patients WHERE age > 3": "kproxy_audience_research_public.patients",
		},
	} {
		in, _, err := g.Open("ann", reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		for sql, want := range want {
			for range 2 { // of what is new, and of what is known
				s, err := g.Rewrite(sql, in)
				got := s.SQL
				if state := (interface{ SQLState() string })(nil); errors.As(err, &state) {
					got = state.SQLState()
				}
				if !strings.Contains(got, want) || reader != "" && strings.Contains(s.SQL+s.Look, "kproxy_release_") {
					t.Errorf("%q, %s: %s, %v", reader, sql, got, err)
				}
			}
		}
		s, err := g.Rewrite("SELECT count(*) FROM patients", in)
		if published := catalog.PublishedFor(AudienceOf(c, reader), c.Policy.Tables[0].Table).SQL(); err != nil || !strings.Contains(s.Look, "has_table_privilege('"+published+"'") {
			t.Errorf("%q looks by %q, %v", reader, s.Look, err)
		}
	}
	if s := g.CacheStats(); s.Entries < 10 {
		t.Errorf("there are %d entries", s.Entries)
	}
}

// TestSessionsWhoseReaderChangesItsAudienceAreRefused: also those that become what all others are.
func TestSessionsWhoseReaderChangesItsAudienceAreRefused(t *testing.T) {
	t.Parallel()
	c, snapshots := coarse()
	var g Gate
	g.SetLimits(c, snapshots())
	open := func(reader string) State {
		in, _, err := g.Open("ann", reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		return in.(State)
	}
	own, first, second := open(""), open("first"), open("second")
	next, _ := coarse()
	next.Policy.Audiences[0].Roles = []string{"bi"}
	if moved := Moved(c, next); !slices.Equal(moved, []string{"first", "second"}) {
		t.Errorf("%q have moved", moved)
	}
	g.SetLimits(next, snapshots())
	g.SetSnapshots(snapshots())
	for _, of := range []struct {
		session State
		refused bool
	}{{own, false}, {first, true}, {second, true}, {open("first"), false}, {open("second"), false}} {
		_, err := g.Rewrite("TABLE patients", of.session)
		_, _, recalled := g.Recall("TABLE patients", of.session)
		if (err != nil) != of.refused || (recalled != nil) != of.refused {
			t.Errorf("%v: %v, %v", of.session.reader, err, recalled)
		}
	}
	none, _ := coarse()
	none.Policy.Audiences = nil
	last := open("first")
	g.SetLimits(none, Snapshots{Own: snapshots().Own})
	if _, err := g.Rewrite("TABLE patients", last); err == nil {
		t.Error("a session of an audience that is no more goes on")
	}
}

func TestReadersOfUsers(t *testing.T) {
	t.Parallel()
	c, _ := coarse()
	c.AuthQuery.Reader = "first"
	for user, want := range map[string]string{"ann": "", "eve": "second", "stranger": "first"} {
		if got := ReaderOf(c, user); got != want {
			t.Errorf("%s has reader %q", user, got)
		}
	}
	for reader, want := range map[string]string{"": "", "first": "", "second": "research", "third": ""} {
		if got := AudienceOf(c, reader); got != want {
			t.Errorf("reader %q belongs to %q", reader, got)
		}
	}
}
