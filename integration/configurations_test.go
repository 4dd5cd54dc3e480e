package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// twoTables are for two configurations.
const twoTables = `CREATE TABLE folk (id int PRIMARY KEY, age int NOT NULL);
CREATE TABLE visits (id int PRIMARY KEY, day int NOT NULL);
INSERT INTO folk SELECT i, i % 40 FROM generate_series(1, 200) i;
INSERT INTO visits SELECT i, i % 28 FROM generate_series(1, 300) i`

const folkPolicy = `tables:
  folk:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
`

const daysPolicy = `tables:
  visits:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      day: {role: quasi-identifying, hierarchy: numeric}
`

// goesOn changes the source of a site's folk, and wants its readers to see that.
func (s *site) goesOn(t *testing.T, during string) {
	t.Helper()
	source := connect(t, s.admin)
	execute(t, source, "INSERT INTO folk SELECT max(id) + 1, 7 FROM folk")
	want := scalar[int](t, source, "SELECT count(*) FROM folk")
	eventually(t, "the first configuration publishes changes, "+during, func() bool {
		conn, err := pgx.Connect(t.Context(), s.url())
		if err != nil {
			return false
		}
		defer conn.Close(context.Background())
		var got int
		return conn.QueryRow(t.Context(), "SELECT count(*) FROM folk").Scan(&got) == nil && got == want
	})
	if o := s.kproxy(t, "check", "--quiet"); o.code != 0 {
		t.Errorf("%s, the first configuration's check says:\n%s%s", during, o.stdout, o.stderr)
	}
	if o := s.kproxy(t, "status"); o.code != 0 {
		t.Errorf("%s, the first configuration's status says:\n%s%s", during, o.stdout, o.stderr)
	}
}

// second is another configuration for the same server, with changes, and other roles if told so.
func (s *site) second(t *testing.T, name string, otherRoles bool, oldNew ...string) *site {
	t.Helper()
	of := *s
	of.address = freeAddress(t)
	changes := []string{s.address, of.address, folkPolicy, daysPolicy}
	if otherRoles {
		of.owner, of.reader = s.owner+name, s.reader+name
		changes = append(changes, "user: "+s.owner, "user: "+of.owner, "user: "+s.reader, "user: "+of.reader)
	}
	oldNew = append(changes, oldNew...)
	of.config = s.edit(t, name+".yaml", oldNew...)
	t.Cleanup(func() { of.dropRoles(t) })
	return &of
}

// isRefused wants setup, check and serve to refuse a configuration with a fix that says to leave the first one
// alone, and that one to go on.
func (s *site) isRefused(t *testing.T, first *site, what, why string) {
	t.Helper()
	o := s.kproxy(t, "setup")
	if o.code == 0 || !strings.Contains(o.stderr, "55006") || !strings.Contains(o.stderr, why) || !strings.Contains(strings.ToLower(o.stderr), "leave ") {
		t.Errorf("%s: setup ends with %d and says:\n%s", what, o.code, o.stderr)
	}
	for _, command := range [][]string{{"check", "--quiet"}, {"serve"}} {
		o := s.kproxy(t, command...)
		if o.code == 0 {
			t.Errorf("%s: %s takes it", what, command[0])
		}
		for _, harm := range []string{"ALTER ", "DROP ", "RENAME", "DELETE ", "REVOKE "} {
			if strings.Contains(o.stdout+o.stderr, harm) {
				t.Errorf("%s: %s recommends %s:\n%s%s", what, command[0], harm, o.stdout, o.stderr)
			}
		}
	}
	first.goesOn(t, what)
}

// TestSecondConfiguration brings further configurations to the database and the server of one that serves.
// What would harm it is refused, and what would not works beside it.
func TestSecondConfiguration(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(twoTables, folkPolicy))
	for _, of := range []struct {
		what, why string
		second    *site
	}{
		{"the same names, another table", "has no table of this one", s.second(t, "same", false)},
		{"another slot", "has replication slot ", s.second(t, "slot", false, "slot: "+s.slot, "slot: "+s.slot+"_2\npublication: other")},
		{"other roles", "whose owner is role " + s.owner, s.second(t, "roles", true, "slot: "+s.slot, "slot: "+s.slot+"_3\npublication: another")},
	} {
		of.second.isRefused(t, s, of.what, of.why)
	}

	elsewhere := pgtest.Database(t, s.server)
	execute(t, connect(t, elsewhere), twoTables)
	database := connConfig(t, elsewhere).Database
	for _, of := range []struct {
		what, why string
		second    *site
	}{
		{"another database with the same roles", "role " + s.owner + " has rights in database " + s.database, s.second(t, "owner", false, "database: "+s.database, "database: "+database, "slot: "+s.slot, "slot: "+s.slot+"_4")},
		{"another database with the same slot", "replication slot " + s.slot + " belongs to something else", s.second(t, "taken", true, "database: "+s.database, "database: "+database)},
	} {
		of.second.admin, of.second.release = elsewhere, elsewhere
		of.second.isRefused(t, s, of.what, of.why)
	}
	beside := s.second(t, "beside", true, "database: "+s.database, "database: "+database, "slot: "+s.slot, "slot: "+s.slot+"_5")
	beside.admin, beside.release, beside.database = elsewhere, elsewhere, database
	beside.servesBeside(t, s, "another database, with roles and a slot of its own")
}

// servesBeside has a second configuration serve visits while a first one serves folk.
func (s *site) servesBeside(t *testing.T, first *site, what string) {
	t.Helper()
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	source := connect(t, s.admin)
	execute(t, source, "DELETE FROM visits WHERE id <= 10")
	conn := connect(t, s.url())
	eventually(t, what+": the second one follows", func() bool { return scalar[int](t, conn, "SELECT count(*) FROM visits") == 290 })
	first.goesOn(t, what)
	s.kproxy(t, "check", "--quiet").must(t)
}

// TestSecondConfigurationOfOneSource publishes another table of the same database elsewhere, as the refusal
// advises. Publication, slot and role of the first one are not taken.
func TestSecondConfigurationOfOneSource(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(twoTables, folkPolicy))
	release := pgtest.Database(t, s.server)
	database := connConfig(t, release).Database
	source := func(user string) string {
		return fmt.Sprintf("source: {host: 127.0.0.1, port: %d, database: %s, user: %s, password_file: owner.password, sslmode: disable}\n", s.server.Port(), s.database, user)
	}
	for _, of := range []struct{ what, why, name, user, slot, publication string }{
		{"the slot of the first", "are of another configuration", "slot", "source_" + s.database, s.slot, "second"},
		{"the publication of the first", "are of another configuration", "publication", "source_" + s.database, s.slot + "_2", "kproxy"},
		{"the role of the first", "whose owner is role " + s.owner, "role", s.owner, s.slot + "_2", "second"},
		{"", "", "own", "source_" + s.database, s.slot + "_2", "second"},
	} {
		second := s.second(t, of.name, true, "upstream:\n", source(of.user)+"upstream:\n", "database: "+s.database+"\n    user", "database: "+database+"\n    user",
			"slot: "+s.slot, "slot: "+of.slot+"\npublication: "+of.publication)
		second.release = release
		if of.what == "" {
			second.servesBeside(t, s, "of the same source")
			continue
		}
		o := second.kproxy(t, "setup")
		if o.code == 0 || !strings.Contains(o.stderr, "55006") || !strings.Contains(o.stderr, of.why) {
			t.Errorf("%s: setup ends with %d and says:\n%s", of.what, o.code, o.stderr)
		}
		s.goesOn(t, of.what)
		second.dropRoles(t)
	}
}

// TestOwnConfigurationIsEdited changes a configuration where it is, and sets it up from another place: neither is
// another configuration.
func TestOwnConfigurationIsEdited(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(twoTables, folkPolicy))
	const both = folkPolicy + `  visits:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      day: {role: quasi-identifying, hierarchy: numeric}
`
	elsewhere := *s
	elsewhere.config = s.edit(t, "elsewhere.yaml", folkPolicy, both)
	if o := elsewhere.kproxy(t, "setup"); o.code != 0 || !strings.Contains(o.stderr, "is the one of") || !strings.Contains(o.stderr, elsewhere.config) {
		t.Errorf("a further table, from another file: setup ends with %d and says\n%s", o.code, o.stderr)
	}
	s.goesOn(t, "after a further table from another file")
	s.replace(t, folkPolicy, both)
	s.kproxy(t, "reload").must(t)
	s.replace(t, both, folkPolicy)
	s.kproxy(t, "setup").must(t) // the file in force may take a table away
	s.kproxy(t, "reload").must(t)
	s.goesOn(t, "after a table was taken away")
	if o := elsewhere.kproxy(t, "setup"); o.code != 0 {
		t.Errorf("a further table from another file: %s", o.stderr)
	}
	elsewhere.config = s.edit(t, "fewer.yaml", folkPolicy, daysPolicy)
	if o := elsewhere.kproxy(t, "check"); !strings.Contains(o.stdout, "lacks its table public.folk") || strings.Contains(o.stdout, "store of another configuration") {
		t.Errorf("a table taken away from another file: check says\n%s%s", o.stdout, o.stderr)
	}
	if o := elsewhere.kproxy(t, "setup"); o.code == 0 || !strings.Contains(o.stderr, "kproxy reload") {
		t.Errorf("a table taken away from another file: %d, %s", o.code, o.stderr)
	}
	s.kproxy(t, "setup").must(t)
	s.goesOn(t, "at the end")
}
