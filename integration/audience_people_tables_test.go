package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Partners see patients and visits, and the press visits and prescriptions without their patients.
const someTablesAudiences = `audiences:
  partners:
    readers: partner
    people:
      patient: {constraints: [{k: 10}], hide: [public.prescriptions, public.labs]}
  press:
    readers: press
    people:
      patient: {constraints: [{k: 20}], hide: [public.patients, public.visits.ward, public.labs]}
readable: [stays, taken]
`

// unseenTables are the tables that each user does not see.
var unseenTables = map[string][]string{"partner": {"prescriptions", "labs"}, "press": {"patients", "labs"}}

func someTablesSite(t *testing.T) *site {
	t.Helper()
	s := siteWithReaders(t, sqlSite(hospitalSQL+`;
CREATE TABLE unlisted (id int);
CREATE VIEW stays AS SELECT p.sex, v.admitted FROM patients p JOIN visits v USING (patient_id);
CREATE VIEW taken AS SELECT v.admitted, r.drug FROM visits v JOIN prescriptions r USING (visit_id)`, hospitalTables+someTablesAudiences), "partner", "press")
	s.serve(t)
	return s
}

// TestAudiencesSeeSomeTablesOfPeople has users of two audiences read the tables of people that they see, and look for the
// others: these are to them like a table that nobody listed.
func TestAudiencesSeeSomeTablesOfPeople(t *testing.T) {
	t.Parallel()
	s := someTablesSite(t)
	_, number := s.asks(t)
	for user, joined := range map[string]string{"partner": "visits JOIN patients USING (patient_id)", "press": "prescriptions JOIN visits USING (visit_id)", clientUser: "labs JOIN visits USING (visit_id) JOIN patients USING (patient_id)"} {
		if n := number(user, "SELECT count(*) FROM "+joined); n == 0 {
			t.Errorf("%s joins nothing", user)
		}
	}
	for user, k := range map[string]int{"partner": 10, "press": 20} {
		if n := number(user, "SELECT min(n) FROM (SELECT count(DISTINCT patient_id) AS n FROM visits WHERE patient_id IS NOT NULL GROUP BY admitted_range) a"); n < k {
			t.Errorf("%s can tell %d persons from others", user, n)
		}
		s.unseenIsUnknown(t, user)
	}
	s.unseenIsNotMade(t)
	s.viewsOverUnseen(t)
	s.toldOfSomeTables(t)
	s.unseenValuesDoNotMatter(t)
}

// unseenIsUnknown compares what a user gets who names a table that is not seen with what one gets who names one that
// nobody listed.
func (s *site) unseenIsUnknown(t *testing.T, user string) {
	t.Helper()
	conn := connect(t, s.of(user))
	for _, table := range unseenTables[user] {
		for _, sql := range []string{
			"TABLE %s", "SELECT count(*) FROM public.%s", "SELECT '%s'::regclass", "SELECT to_regclass('public.%s')", "SELECT NULL::%s", "SELECT NULL::%s[]", "EXPLAIN TABLE %s",
			"SELECT has_table_privilege('%s', 'SELECT')", "SELECT count(*) FROM pg_class WHERE relname = '%s'", "SELECT count(*) FROM pg_type WHERE typname = '%s'",
			"SELECT count(*) FROM information_schema.columns WHERE table_name = '%s'", "SELECT * FROM kproxy.describe('%s')", "SELECT * FROM kproxy.labels('%s')", "SELECT * FROM kproxy.keys('%s')",
			"PREPARE p AS TABLE %s", "DECLARE c CURSOR WITH HOLD FOR TABLE %s", "CREATE TEMP TABLE t AS TABLE %s", "COPY %s TO STDOUT", "LOCK TABLE %s", "SELECT count(%[1]s.*) FROM %[1]s",
		} {
			answer := func(name string) string {
				rows, err := conn.Query(t.Context(), strings.ReplaceAll(strings.ReplaceAll(sql, "%[1]s", name), "%s", name), pgx.QueryExecModeSimpleProtocol)
				if err == nil {
					var all [][]any
					all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
					if err == nil {
						return fmt.Sprint(all)
					}
				}
				_ = sqlState(t, err)
				return strings.ReplaceAll(err.Error(), name, "NAME")
			}
			if got, want := answer(table), answer("unlisted"); got != want {
				t.Errorf("%s, %s of %s: %s, and of a table that nobody listed: %s", user, sql, table, got, want)
			}
		}
	}
	// What psql shows of the database, and what errors and hints say, has no word of them.
	words := append(slices.Clone(unseenTables[user]), map[string][]string{"partner": {"drug", "lab_id"}, "press": {"postcode", "ward", "lab_id"}}[user]...)
	for _, commands := range []string{
		`\d`, `\d+`, `\dp`, `\di`, `\d visits`, `\d+ visits`, `\dv+`, `\dT+`, "TABLE kproxy.tables", "SELECT * FROM kproxy.tables()", "SELECT * FROM kproxy.describe('visits')", "SELECT * FROM kproxy.counts('visits')",
		"SELECT * FROM information_schema.tables", "SELECT * FROM information_schema.columns WHERE table_schema = 'public'", "SELECT * FROM information_schema.table_constraints", "SELECT * FROM pg_constraint",
		"SELECT relname FROM pg_class", "SELECT attname FROM pg_attribute", "SELECT typname FROM pg_type", "SELECT description FROM pg_description", "SELECT * FROM pg_views WHERE schemaname = 'public'", "SELECT relname FROM pg_stat_user_tables",
		"TABLE prescription", "TABLE lab", "TABLE patient", "SELECT dru FROM visits", "SELECT pg_get_viewdef('stays'::regclass)", "EXPLAIN (VERBOSE) TABLE visits", "SELECT * FROM pg_stats WHERE schemaname = 'public'",
	} {
		o := run(t, commands+"\n", nil, "psql", "-X", s.of(user))
		for _, word := range words {
			if !strings.Contains(commands, word) && strings.Contains(o.stdout+o.stderr, word) && (word != "ward" || !strings.Contains(o.stdout, "forward")) {
				t.Errorf("%s, %s tells of %s:\n%s%s", user, commands, word, o.stdout, o.stderr)
			}
		}
	}
}

// unseenIsNotMade looks into the database: there is nothing that the audience's role could read, with or without kproxy.
func (s *site) unseenIsNotMade(t *testing.T) {
	t.Helper()
	admin := connect(t, s.admin)
	for audience, want := range map[string]string{"partners": "patients stays visits", "press": "prescriptions taken visits"} {
		if got := strings.Join(texts(t, admin, "SELECT relname::text FROM pg_class WHERE relnamespace = 'kproxy_audience_"+audience+"_public'::regnamespace ORDER BY 1"), " "); strings.ReplaceAll(got, `"`, "") != want {
			t.Errorf("%s has the relations %s, not %s", audience, got, want)
		}
	}
	for _, user := range []string{"partner", "press"} {
		direct := connect(t, strings.Replace(s.readerURL(), s.reader+":", s.database+"_"+user+":", 1))
		for _, table := range unseenTables[user] {
			if n := scalar[int](t, direct, "SELECT count(*) FROM pg_class c WHERE relname ~ $1 AND has_schema_privilege(relnamespace, 'USAGE') AND relkind IN ('r', 'v') AND has_any_column_privilege(c.oid, 'SELECT')", table); n > 0 {
				t.Errorf("the role of %s may read %s", user, table)
			}
		}
	}
}

// viewsOverUnseen: a view over a table that an audience does not see is withheld from it.
func (s *site) viewsOverUnseen(t *testing.T) {
	t.Helper()
	for user, withheld := range map[string]string{"partner": "taken", "press": "stays"} {
		conn := connect(t, s.of(user))
		for _, view := range []string{"stays", "taken"} {
			if view == withheld {
				refused := refusal(t, conn, "TABLE "+view)
				if told := refused.Message + refused.Detail + refused.Hint; refused.Code != "55000" || strings.Contains(told, unseenTables[user][0]) {
					t.Errorf("%s is told of %s: %v", user, view, refused)
				}
			} else if n := scalar[int](t, conn, "SELECT count(*) FROM "+view); n == 0 {
				t.Errorf("%s reads nothing of %s", user, view)
			}
		}
	}
}

// toldOfSomeTables: what operators are told says who sees what.
func (s *site) toldOfSomeTables(t *testing.T) {
	t.Helper()
	check := s.kproxy(t, "check").must(t).stdout
	for _, want := range []string{
		"  partners sees public.visits by 10-anonymity\n", "  partners does not see public.labs\n", "  press does not see public.patients\n", "  press sees public.visits by 20-anonymity, without ward\n",
		"  public.prescriptions: its own readers with press: 5-anonymity\n", "  public.prescriptions: partners with press: 10-anonymity; they join the table (of press)\n",
		"  public.patients: its own readers with partners: 5-anonymity\n", "  public.visits: its own readers with any of partners, press: 5-anonymity\n",
		"for partners: the view cannot be published: it reads table public.prescriptions, which the audience does not see", "for press: the view cannot be published: it reads table public.patients, which the audience does not see",
	} {
		if !strings.Contains(check, want) {
			t.Errorf("check does not say %q:\n%s", want, check)
		}
	}
	if strings.Contains(check, "  public.labs: ") {
		t.Errorf("nobody pools anything of laboratory values:\n%s", check)
	}
	verify := s.kproxy(t, "verify").must(t).stdout
	if strings.Contains(verify, "FAIL") || strings.Count(verify, "rows that it does not see") != 4 || strings.Count(verify, "classes are unions of the finer ones") != 8 {
		t.Errorf("verify says:\n%s", verify)
	}
	status := s.kproxy(t, "status").must(t).stdout
	if !strings.Contains(status, "public.visits shows audience press ") || strings.Contains(status, "public.labs shows") || strings.Contains(status, "public.patients shows audience press") {
		t.Errorf("status says:\n%s", status)
	}
	o := s.kproxy(t, "explain", "--user", "press", "TABLE patients")
	if !strings.Contains(o.stdout+o.stderr, "audience press does not see table public.patients ("+s.config+":") {
		t.Errorf("explain says:\n%s%s", o.stdout, o.stderr)
	}
	s.kproxy(t, "export", "patients", "--audience", "press", "--out", s.dir+"/refused.csv").speaks(t, 1, 2, "audience press does not see table public.patients: it sees public.visits, public.prescriptions")
	report := s.kproxy(t, "report", "--out", s.dir+"/dossier").must(t).stdout
	for _, unseen := range []string{"public.labs for ", "public.patients for press", "public.prescriptions for partners"} {
		if strings.Contains(report, unseen) || !strings.Contains(report, "public.patients for partners: risk at most ") || !strings.Contains(report, "public.visits for press: ") {
			t.Errorf("the report tells of %s:\n%s", unseen, report)
		}
	}
}

// unseenValuesDoNotMatter: databases that differ in values of tables that an audience does not see alone show it the same, but
// for keys, which are drawn anew where rows of a person change.
func (s *site) unseenValuesDoNotMatter(t *testing.T) {
	t.Helper()
	partner, press := connect(t, s.of("partner")), connect(t, s.of("press"))
	shown := func() []string {
		return texts(t, partner, "SELECT concat_ws('|', born_range, sex, postcode_range, NULL) FROM patients UNION ALL SELECT concat_ws('|', admitted, admitted_range, ward, patient_id IS NULL, visit_id IS NULL) FROM visits ORDER BY 1")
	}
	before := shown()
	execute(t, connect(t, s.admin), "UPDATE prescriptions SET drug = drug || ' forte'; UPDATE labs SET value = value + 1")
	eventually(t, "the press sees the change", func() bool {
		return scalar[int](t, press, "SELECT count(*) FROM prescriptions WHERE drug !~ 'forte$'") == 0
	})
	if after := shown(); len(before) == 0 || !slices.Equal(after, before) {
		t.Error("what partners see depends on tables that they do not see")
	}
}

// TestTablesOfAudiencesChange takes a table from an audience, whose sessions that have read it end, and gives it another.
func TestTablesOfAudiencesChange(t *testing.T) {
	t.Parallel()
	s := someTablesSite(t)
	partner, press, own := connect(t, s.of("partner")), connect(t, s.of("press")), connect(t, s.url())
	for _, conn := range []*pgx.Conn{partner, press, own} {
		execute(t, conn, "PREPARE ask AS SELECT count(*) > 0 FROM visits; EXECUTE ask")
	}
	stays := connect(t, s.of("partner"))
	execute(t, stays, "PREPARE ask AS SELECT count(*) > 0 FROM patients; EXECUTE ask")
	s.replace(t, "hide: [public.prescriptions, public.labs]", "hide: [public.visits, public.labs]")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	if _, err := partner.Exec(t.Context(), "EXECUTE ask"); sqlState(t, err) != "57P01" {
		t.Errorf("a session of partners that has read visits goes on: %v", err)
	}
	for name, conn := range map[string]*pgx.Conn{"press": press, "partner": stays, "own": own} {
		if !scalar[bool](t, conn, "EXECUTE ask", pgx.QueryExecModeSimpleProtocol) {
			t.Errorf("%s reads nothing", name)
		}
	}
	if refused := refusal(t, connect(t, s.of("partner")), "TABLE visits"); refused.Code != "42501" {
		t.Errorf("partners are told of visits: %v", refused)
	}
	eventually(t, "partners read prescriptions", func() bool {
		conn, err := pgx.Connect(t.Context(), s.of("partner"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), "SELECT count(*) FROM prescriptions")
		return sqlState(t, err) == ""
	})
	if verify := s.kproxy(t, "verify").must(t).stdout; strings.Contains(verify, "FAIL") {
		t.Error(verify)
	}
	if got := strings.Join(texts(t, connect(t, s.admin), "SELECT relname::text FROM pg_class WHERE relnamespace = 'kproxy_audience_partners_public'::regnamespace ORDER BY 1"), " "); strings.Contains(got, "visits") {
		t.Errorf("partners have %s", got)
	}
}
