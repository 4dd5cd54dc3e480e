package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// audienceSchema has a table that audiences see, one that they do not, and what is readable.
const audienceSchema = `CREATE TABLE folk (id int PRIMARY KEY, age int NOT NULL, town text NOT NULL, illness text NOT NULL);
CREATE TABLE visits (id int PRIMARY KEY, day int NOT NULL);
CREATE TABLE towns (town text PRIMARY KEY, size int);
CREATE VIEW ages AS SELECT age FROM folk;
COMMENT ON TABLE folk IS 'remark of the source';
INSERT INTO towns VALUES ('Kiel', 1), ('Ulm', 2);
INSERT INTO folk SELECT i, i % 90, CASE i % 2 WHEN 0 THEN 'Kiel' ELSE 'Ulm' END, 'illness ' || i % 11 FROM generate_series(1, 600) i;
INSERT INTO visits SELECT i, i % 28 FROM generate_series(1, 200) i`

const audiencePolicy = `tables:
  folk:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      town: insensitive
      illness: sensitive
  visits:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      day: {role: quasi-identifying, hierarchy: numeric, publish: range}
readable: [towns, ages]
audiences:
  research:
    readers: [researchers, more]
    tables:
      folk: {constraints: [{k: 25}], hide: [town]}
  press:
    readers: [press]
    tables:
      folk: {constraints: [{k: 100}], hide: [town, illness]}
`

// audienceSite is served, with a user of each reader.
func audienceSite(t *testing.T, settings string) *site {
	t.Helper()
	return audienceSiteOf(t, audienceSchema, audiencePolicy, settings)
}

func audienceSiteOf(t *testing.T, schema, policy, settings string) *site {
	t.Helper()
	o := sqlSite(schema, policy)
	o.settings = settings
	return siteWithReaders(t, o, "researchers", "more", "press", "bi")
}

// siteWithReaders is set up with further readers, and a user of each.
func siteWithReaders(t *testing.T, o siteOptions, names ...string) *site {
	t.Helper()
	s := newSite(t, o)
	readers, users := "  readers:\n", "users:\n"
	for _, name := range names {
		reads := ""
		if name == "bi" {
			reads = ", reads: tables"
		}
		readers += fmt.Sprintf("    %s: {user: %q, password_file: reader.password%s}\n", name, s.database+"_"+name, reads)
		users += fmt.Sprintf("  - {name: %s, reader: %[1]s, verifier: %s}\n", name, clientVerifier(t))
	}
	s.replace(t, "users:\n", users, "slot: ", readers+"slot: ")
	s.kproxy(t, "setup").must(t)
	return s
}

// of is where a user connects.
func (s *site) of(user string, parameters ...string) string {
	return strings.Replace(s.url(parameters...), clientUser+":", user+":", 1)
}

// sqlState is that of an error of the server, or of kproxy; empty for none.
func sqlState(t *testing.T, err error) string {
	t.Helper()
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return refused.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

// TestAudiencesSeeTheirOwnReleases has users of several audiences name one table.
func TestAudiencesSeeTheirOwnReleases(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	s.serve(t)
	classes := make(map[string]int)
	columns := map[string]string{clientUser: "age town illness", "researchers": "age illness", "press": "age"}
	columns["bi"], columns["more"] = columns[clientUser], columns["researchers"]
	for user, want := range columns {
		conn := connect(t, s.of(user))
		classes[user] = scalar[int](t, conn, "SELECT count(DISTINCT age) FROM folk")
		if rows := scalar[int](t, conn, "SELECT count(*) FROM public.folk"); rows != 600 {
			t.Errorf("%s sees %d rows", user, rows)
		}
		for _, sql := range []string{
			"SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'folk'::regclass AND attnum > 0",
			"SELECT string_agg(column_name, ' ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'folk'",
			"SELECT string_agg(\"column\", ' ') FROM kproxy.describe('folk')",
		} {
			if strings.Contains(sql, "kproxy.describe") {
				eventually(t, user+" is told of the columns", func() bool { return scalar[*string](t, conn, sql) != nil })
			}
			if got := scalar[string](t, conn, sql); got != want {
				t.Errorf("%s, %s: %s, not %s", user, sql, got, want)
			}
		}
		if n := scalar[int](t, conn, "SELECT sum(size) FROM towns"); n != 3 {
			t.Errorf("%s reads %d of what is readable", user, n)
		}
		fine := map[bool]string{true: "", false: "42501"}[want == columns[clientUser]]
		if _, err := conn.Exec(t.Context(), "TABLE visits"); sqlState(t, err) != fine {
			t.Errorf("%s reads visits: %v", user, err)
		}
		eventually(t, user+" reads a view", func() bool { _, err := conn.Exec(t.Context(), "TABLE ages"); return sqlState(t, err) == "" })
	}
	t.Logf("values of age: %v", classes)
	if classes[clientUser] <= classes["researchers"] || classes["researchers"] <= classes["press"] || classes["press"] < 1 ||
		classes["bi"] != classes[clientUser] || classes["more"] != classes["researchers"] {
		t.Error("audiences do not see what is theirs")
	}
	for _, user := range []string{"researchers", "more", "press"} {
		t.Run(user, func(t *testing.T) { s.staysInside(t, user) })
	}
	if o := s.kproxy(t, "check"); o.code != 0 {
		t.Errorf("check:\n%s%s", o.stdout, o.stderr)
	}
	for statement, want := range map[string]string{"TABLE visits": "audience press does not see table public.visits", "TABLE crossed": "no such relation"} {
		if o := s.kproxy(t, "explain", "--user", "press", statement); !strings.Contains(o.stdout, want) {
			t.Errorf("explain does not say of %s that %s:\n%s", statement, want, o.stdout)
		}
	}
	for _, line := range []string{"researchers", clientUser} {
		o := s.kproxy(t, "explain", "--user", line, "TABLE folk").must(t)
		t.Log(o.stdout)
	}
}

// staysInside tries to reach, as a user of an audience, what is released for others.
func (s *site) staysInside(t *testing.T, user string) {
	t.Helper()
	conn := connect(t, s.of(user))
	for sql, want := range map[string]string{
		"TABLE kproxy_release_public.folk": "42P01", "TABLE kproxy_audience_press_public.folk": "42P01", "TABLE kproxy_audience_research_public.folk": "42P01",
		"TABLE kproxy_store.release_1": "42P01", "SELECT town FROM folk": "42703", "SELECT folk.town FROM folk": "42703", "SELECT id FROM folk": "42703",
		"SELECT 'kproxy_release_public.folk'::regclass": "42P01", "SELECT NULL::kproxy_release_public.folk": "42704",
		"SELECT 'visits'::regclass": "42P01",
		"SELECT has_table_privilege('kproxy_release_public.folk', 'SELECT')": "42P01", "SET ROLE " + s.reader: "42501",
		"SET SESSION AUTHORIZATION " + s.reader: "42501",
	} {
		if _, err := conn.Exec(t.Context(), sql); sqlState(t, err) == "" || want == "42P01" && sqlState(t, err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
	execute(t, conn, "SET search_path = kproxy_release_public, kproxy_audience_press_public, public")
	for sql, want := range map[string]string{
		"SELECT to_regclass('kproxy_release_public.folk') IS NULL AND to_regclass('visits') IS NULL AND to_regclass('kproxy_audience_press_public.folk') IS NULL": "true",
		"SELECT count(*) FROM pg_class WHERE relname ~ 'folk|visits|ages'":                                                                                        "2",
		"SELECT count(*) FROM information_schema.tables WHERE table_name ~ 'folk|visits|ages'":                                                                    "2",
		"SELECT count(*) FROM pg_namespace WHERE nspname ~ 'kproxy_'":                                                                                             "0",
		"SELECT count(*) FROM pg_roles WHERE rolname ~ '" + s.database + "' AND rolname <> current_user AND rolname <> '" + s.owner + "'":                         "0",
		"SELECT count(*) FROM pg_description WHERE description ~ 'remark of the source'":                                                                          "0",
		"SELECT count(*) FROM pg_type WHERE typname ~ 'folk|visits|ages'":                                                                                         "2",
		"SELECT count(*) FROM pg_stats":                                                                         "0",
		"SELECT reltuples::int FROM pg_class WHERE relname = 'folk'":                                            "-1",
		"SELECT (jsonb_populate_record(NULL::folk, '{\"age\": null}') IS NULL)":                                 "true",
		"SELECT count(*) FROM kproxy.tables()":                                                                  "1",
		"SELECT count(*) FROM kproxy.describe('visits')":                                                        "0",
		"SELECT count(*) FROM pg_depend WHERE refobjid >= 16384 AND refobjid NOT IN (SELECT oid FROM pg_class)": "0",
	} {
		if got := scalar[string](t, conn, "SELECT ("+sql+")::text"); got != want {
			t.Errorf("%s: %s, not %s", sql, got, want)
		}
	}
	for _, commands := range []string{
		`\d folk`, `\d+`, `\dn+`, `\dp`, `\du`, "EXPLAIN (VERBOSE) TABLE folk", "EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM folk WHERE age @> 3",
		"EXPLAIN (FORMAT XML, VERBOSE) SELECT count(*) FROM folk", "SELECT age::text::int FROM folk", "SELECT nothing FROM folk", "TABLE visits", "SELECT pg_get_viewdef('folk'::regclass)",
	} {
		o := run(t, commands+"\n", nil, "psql", "-X", s.of(user))
		for _, word := range []string{"kproxy_", "release", "audience", "research_", "press_", "packed", "town "} {
			if strings.Contains(o.stdout+o.stderr, word) && !strings.Contains(s.database, word) {
				t.Errorf("%s tells of %s:\n%s%s", commands, word, o.stdout, o.stderr)
			}
		}
	}
}

// TestKeptAnswersOfAudiences: the answer to a text that is kept for one is nobody's of another.
func TestKeptAnswersOfAudiences(t *testing.T) {
	t.Parallel()
	metrics := freeAddress(t)
	s := audienceSite(t, fmt.Sprintf("answers: {size: 64MB}\nmetrics: {listen: %s}\n", metrics))
	s.serve(t)
	const dear = "SELECT count(DISTINCT a.age) FROM (TABLE folk) a, folk b" // of the release: of summaries it would take too little time
	want, users := make(map[string]int64), []string{clientUser, "researchers", "press", "more", "bi"}
	conns := make(map[string]*pgx.Conn)
	for _, user := range users {
		conns[user] = connect(t, s.of(user))
		want[user] = scalar[int64](t, conns[user], "SELECT count(DISTINCT age) FROM folk")
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec, pgx.QueryExecModeCacheStatement} {
		for range 4 {
			for _, user := range users {
				if got := scalar[int64](t, conns[user], dear, mode); got != want[user] {
					t.Fatalf("%s is told %d, not %d", user, got, want[user])
				}
			}
		}
	}
	if kept := hits(t, metrics); kept < float64(len(users)) {
		t.Errorf("%v answers were kept, which says nothing", kept)
	}
}

// TestAudiencesChange: who belongs to another audience, or to none, after a reload goes on with nothing
// of before, not even with what the session has prepared.
func TestAudiencesChange(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	p := s.serve(t)
	fine := connect(t, s.of("bi"))
	coarse := connect(t, s.of("press"))
	stays := connect(t, s.of("researchers"))
	for _, conn := range []*pgx.Conn{fine, coarse, stays} {
		execute(t, conn, "PREPARE ask AS SELECT count(DISTINCT age) FROM folk; BEGIN; DECLARE c CURSOR FOR TABLE folk")
	}
	before := scalar[int](t, coarse, "EXECUTE ask", pgx.QueryExecModeSimpleProtocol)
	s.replace(t, "readers: [press]", "readers: [bi]", ", reads: tables", "", s.database+"_press\"", s.database+"_press\", reads: tables")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	for name, conn := range map[string]*pgx.Conn{"bi": fine, "press": coarse} {
		if _, err := conn.Exec(t.Context(), "FETCH ALL FROM c"); sqlState(t, err) != "57P01" {
			t.Errorf("a session of %s goes on: %v", name, err)
		} else if want := "reads other releases now"; !strings.Contains(err.Error(), want) {
			t.Errorf("a session of %s is told %v", name, err)
		}
	}
	if n := scalar[int](t, stays, "EXECUTE ask", pgx.QueryExecModeSimpleProtocol); n <= before {
		t.Errorf("who stays sees %d", n)
	}
	if n := scalar[int](t, connect(t, s.of("bi")), "SELECT count(DISTINCT age) FROM folk"); n != before {
		t.Errorf("the coarsest release has %d values for who has joined, and had %d", n, before)
	}
	if n := scalar[int](t, connect(t, s.of("press")), "SELECT count(DISTINCT age) FROM folk"); n <= before {
		t.Errorf("who has left sees %d values", n)
	}
	if !p.running() {
		t.Error("kproxy has ended")
	}
}
