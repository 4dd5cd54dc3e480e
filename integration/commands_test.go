package integration

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// decoded reads what a command printed as JSON.
func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return v
}

// failed is an error in the form that all commands have with --json.
type failed struct {
	Error struct{ Code, Message, Hint string }
}

// TestCommands asks a served database, as people and as scripts do.
func TestCommands(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema+"; ALTER TABLE people ADD name text DEFAULT 'x'; CREATE TABLE hidden (a int)",
		countedPolicy+"      name: identifying\nreadable: [public.wards]\n"))
	testUnprepared(t, s)
	s.kproxy(t, "setup", "--json").must(t)
	if sql := decoded[struct{ SQL string }](t, s.kproxy(t, "setup", "--print", "--json").must(t).stdout).SQL; !strings.Contains(sql, "CREATE ROLE") {
		t.Errorf("setup --print --json prints %q", sql)
	}
	s.serve(t)
	testExplain(t, s)
	testUserIsLetIn(t, s)
	if o := s.kproxy(t, "check", "--json").must(t); !strings.Contains(o.stdout, `"ok": true`) {
		t.Errorf("check prints %s", o.stdout)
	}
	rebuilt := decoded[struct {
		Waited   bool
		Outcomes []struct {
			Table string
			Done  bool
		}
	}](t, s.kproxy(t, "rebuild", "--json", "-q", "public.people").must(t).stdout)
	if !rebuilt.Waited || len(rebuilt.Outcomes) != 1 || !rebuilt.Outcomes[0].Done {
		t.Errorf("rebuild prints %+v", rebuilt)
	}
}

// testUnprepared asks before there is anything.
func testUnprepared(t *testing.T, s *site) {
	t.Helper()
	o := s.kproxy(t, "status", "--json")
	if f := decoded[failed](t, o.stderr); o.code != 1 || f.Error.Code != "connection" || f.Error.Hint == "" || o.stdout != "" {
		t.Errorf("status ends with %d: %+v", o.code, f)
	}
	if o := s.kproxy(t, "reload", "--json", "surplus"); o.code != 2 || decoded[failed](t, o.stderr).Error.Code != "usage" {
		t.Errorf("reload ends with %d: %s", o.code, o.stderr)
	}
}

// testExplain asks for what only a database knows.
func testExplain(t *testing.T, s *site) {
	t.Helper()
	type explained struct {
		Statements []struct {
			Allowed bool
			Sent    string
			Plan    []string
			Reads   []struct{ Relation, As, Place string }
			Refusal struct {
				By, SQLState, Message, Why string
				Position                   int
			}
		}
	}
	ask := func(code int, arguments ...string) explained {
		t.Helper()
		o := s.kproxy(t, append([]string{"explain", "--json"}, arguments...)...)
		if o.code != code {
			t.Fatalf("%q ends with %d:\n%s%s", arguments, o.code, o.stdout, o.stderr)
		}
		return decoded[explained](t, o.stdout)
	}
	good := ask(0, "--plan", "SELECT count(*) FROM people").Statements[0]
	if !good.Allowed || good.Reads[0].As != "protected" || !strings.Contains(good.Reads[0].Place, "kproxy.yaml:") || len(good.Plan) == 0 {
		t.Errorf("it says %+v", good)
	}
	if plan := strings.Join(good.Plan, "\n"); strings.Contains(plan, "kproxy_") {
		t.Errorf("the plan has names of kproxy's own:\n%s", plan)
	}
	all := ask(1, "SELECT name FROM people; SELECT * FROM pg_shadow; SELECT * FROM hidden; SELECT nothing FROM wards").Statements
	for i, want := range []struct{ by, state, why string }{
		{"server", "42703", "identifying"}, {"kproxy", "42501", ""}, {"kproxy", "42", "listed neither under tables nor under readable"}, {"server", "42703", "publishes"},
	} {
		r := all[i].Refusal
		if all[i].Allowed || r.By != want.by || !strings.HasPrefix(r.SQLState, want.state) || !strings.Contains(r.Why, want.why) || r.Position == 0 {
			t.Errorf("statement %d: %+v", i, all[i])
		}
	}
	if o := s.kproxy(t, "explain", "SELECT name FROM people"); o.code != 1 || !strings.Contains(o.stdout, "\n         ^\n") {
		t.Errorf("the place is not marked:\n%s", o.stdout)
	}
}

// testUserIsLetIn adds a user who can then log in, and removes the user.
func testUserIsLetIn(t *testing.T, s *site) {
	t.Helper()
	before, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	run(t, "ann's secret\n", nil, program, "user", "add", "ann", "-c", s.config, "--password-stdin").must(t)
	s.kproxy(t, "reload", "--json").must(t)
	login := connConfig(t, s.url())
	login.User, login.Password = "ann", "ann's secret"
	ann, err := pgx.ConnectConfig(t.Context(), login)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ann.Close(t.Context()) }()
	if n := scalar[int](t, ann, "SELECT 1"); n != 1 {
		t.Errorf("ann gets %d", n)
	}
	s.kproxy(t, "user", "remove", "ann").must(t)
	if after, err := os.ReadFile(s.config); err != nil || string(after) != string(before) {
		t.Errorf("the configuration is another one: %v", err)
	}
	s.kproxy(t, "reload").must(t)
	if _, err := ann.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("the session of a user who is gone goes on")
	}
}
