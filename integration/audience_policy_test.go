package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// policySchema has a table with a column that only the press sees, and labels of three levels.
const policySchema = `CREATE TABLE folk (id int PRIMARY KEY, age int NOT NULL, zip text NOT NULL, job text NOT NULL, town text NOT NULL, illness text NOT NULL, cost int NOT NULL);
INSERT INTO folk SELECT i, i * 7 % 90, (10000 + i * 13 % 500)::text, 'job' || i % 4, CASE i % 2 WHEN 0 THEN 'Kiel' ELSE 'Ulm' END, 'illness ' || i % 11, i % 7 FROM generate_series(1, 600) i`

const ownPolicy = `tables:
  folk:
    updates: immediate
    constraints: [{k: 5}, {l: 2, of: cost}]
    hide: [cost]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      zip: {role: quasi-identifying, hierarchy: prefix}
      job: {role: quasi-identifying, hierarchy: {kind: categorical, taxonomy: [care: [job0, job1], craft: [job2, job3]]}}
      town: insensitive
      illness: sensitive
      cost: sensitive
audiences:
  research:
    readers: [researchers, more]
    tables:
      folk:
        constraints: [{k: 15}]
        columns:
          age: {steps: [10, 50, 100], publish: range}
          job: {depth: 1}
  press:
    readers: [press]
    tables:
      folk:
        constraints: [{k: 60}]
        hide: [town, job]
        show: [cost]
        columns:
          age: {steps: [50, 100], publish: value}
          zip: {keep: [2]}
`

// policySite is served under the policy, with a user of each reader; updates is how the table's are written.
func policySite(t *testing.T, updates string) *site {
	t.Helper()
	s := newSite(t, sqlSite(policySchema, strings.Replace(ownPolicy, "updates: immediate", "updates: "+updates, 1)))
	readers, users := "  readers:\n", "users:\n"
	for _, name := range []string{"researchers", "more", "press"} {
		readers += fmt.Sprintf("    %s: {user: %q, password_file: reader.password}\n", name, s.database+"_"+name)
		users += fmt.Sprintf("  - {name: %s, reader: %[1]s, verifier: %s}\n", name, clientVerifier(t))
	}
	s.replace(t, "users:\n", users, "slot: ", readers+"slot: ")
	s.kproxy(t, "setup").must(t)
	return s
}

// TestAudiencesHaveColumnsOfTheirOwn has psql ask as a user of each audience: columns, types and labels are those of
// the audience, and check says what readers hold who pool what they have.
func TestAudiencesHaveColumnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, updates := range []string{"immediate", "{mode: guarded, crowd: 1}"} {
		t.Run(updates, func(t *testing.T) {
			t.Parallel()
			testOwnColumns(t, policySite(t, updates), updates != "immediate")
		})
	}
}

func testOwnColumns(t *testing.T, s *site, guarded bool) {
	t.Helper()
	s.serve(t)
	psql := func(user, sql string) string {
		o := run(t, sql+"\n", nil, "psql", "-X", "-A", "-t", "-q", s.of(user))
		return strings.TrimSpace(o.stdout + o.stderr)
	}
	const shape = "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'folk'"
	for user, want := range map[string]string{
		clientUser:    "age integer, age_range int4range, zip text, job text, town text, illness text",
		"researchers": "age int4range, zip text, job text, town text, illness text",
		"press":       "age integer, zip text, illness text, cost integer",
	} {
		columns := want
		if guarded {
			columns += ", kproxy_class bigint, kproxy_weight real"
		}
		if got := psql(user, shape); got != columns {
			t.Errorf("%s sees %s, not %s", user, got, columns)
		}
		if got := psql(user, "SELECT count(*) FROM folk"); got != "600" {
			t.Errorf("%s counts %s", user, got)
		}
		eventually(t, user+" is told of the columns", func() bool {
			return strings.HasPrefix(want, psql(user, `SELECT string_agg("column" || ' ' || type, ', ') FROM kproxy.describe('folk') WHERE "column" = 'age'`))
		})
	}
	described := "6"
	if guarded {
		described = "8" // with the two columns above
	}
	for _, c := range [][3]string{
		{"researchers", "SELECT count(*) FROM folk WHERE upper(age) - lower(age) NOT IN (10, 50, 100) OR lower(age) % 10 <> 0", "0"},
		{"researchers", "SELECT string_agg(DISTINCT job, ' ') FROM folk WHERE job NOT IN ('care', 'craft', '*')", ""},
		{"researchers", "SELECT count(*) > 0 FROM folk WHERE age @> 7", "t"},
		{"researchers", "SELECT string_agg(label, ' ') FROM kproxy.labels('folk', 'job')", "* care craft"},
		{"researchers", "SELECT string_agg(label || ' ' || overlap, ', ') FROM kproxy.labels('folk', 'job', 'job1')", "* 0.25, care 0.5, craft 0"},
		{clientUser, "SELECT count(*) FROM kproxy.labels('folk', 'job')", "7"},
		{clientUser, "SELECT count(*) FROM kproxy.describe('kproxy_release_public.folk')", described},
		{"press", "SELECT string_agg(DISTINCT age::text, ' ') FROM folk WHERE age NOT IN (24, 49, 74)", ""},
		{"press", "SELECT count(*) FROM folk WHERE length(rtrim(zip, '*')) > 2", "0"},
		{"press", "SELECT sum(cost) FROM folk", "1800"},
	} {
		if got := psql(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
	for _, user := range []string{clientUser, "researchers"} {
		if got := psql(user, "SELECT cost FROM folk"); !strings.Contains(got, `column "cost" does not exist`) {
			t.Errorf("%s asks for a column of the press: %s", user, got)
		}
		for _, command := range []string{`\d folk`, `\d+`, "SELECT * FROM kproxy.describe('folk')", "SELECT * FROM kproxy.tables()", "EXPLAIN (VERBOSE) TABLE folk", "SELECT folk FROM folk LIMIT 1"} {
			if got := psql(user, command); strings.Contains(got, "cost") && !strings.Contains(got, "cost=") {
				t.Errorf("%s is told of a column of the press by %s:\n%s", user, command, got)
			}
		}
	}
	if o := s.kproxy(t, "verify"); o.code != 0 || !strings.Contains(o.stdout, "distinct 2-diversity of cost, with hidden columns") {
		t.Errorf("verify:\n%s%s", o.stdout, o.stderr)
	}
	s.checkTellsOfCoalitions(t)
}

// checkTellsOfCoalitions reads what check says of readers who pool what they have, and has it refuse a policy by
// which they would hold more than each may.
func (s *site) checkTellsOfCoalitions(t *testing.T) {
	t.Helper()
	o := s.kproxy(t, "check")
	if want := "public.folk: its own readers with any of research, press: 5-anonymity, distinct 2-diversity of cost; they join cost (of press)"; o.code != 0 || !strings.Contains(o.stdout, want) {
		t.Errorf("check does not say %q:\n%s%s", want, o.stdout, o.stderr)
	}
	var report struct {
		Coalitions []struct {
			Finest string
			With   []string
			Holds  []string
			Joined []struct {
				Column string
				Of     []string
			}
		}
	}
	if err := json.Unmarshal([]byte(s.kproxy(t, "check", "--json").stdout), &report); err != nil {
		t.Fatal(err)
	}
	want := "[{ [research press] [5-anonymity distinct 2-diversity of cost] [{cost [press]}]} {research [press] [distinct 2-diversity of cost 15-anonymity] [{cost [press]}]}]"
	if got := fmt.Sprint(report.Coalitions); got != want {
		t.Errorf("check says %s, not %s", got, want)
	}
	s.replace(t, "constraints: [{k: 60}]", "constraints: [{k: 60}, {l: 4, of: cost}]")
	if o := s.kproxy(t, "check"); o.code == 0 || !strings.Contains(o.stdout+o.stderr, "who pools both releases joins them") {
		t.Errorf("check lets the press be promised what a coalition is not:\n%s%s", o.stdout, o.stderr)
	}
}
