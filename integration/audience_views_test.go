package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// viewedAudiences is audienceSchema with views of all kinds, which the policy lists.
const (
	viewedAudiences = audienceSchema + `;
CREATE SCHEMA reports;
CREATE VIEW everything AS SELECT * FROM folk;
CREATE VIEW by_age AS SELECT age, count(*) AS n FROM everything GROUP BY age;
CREATE VIEW reports.most AS SELECT max(n) AS n FROM by_age;
CREATE VIEW near AS SELECT f.age, t.size FROM folk f CROSS JOIN towns t;
CREATE VIEW guarded WITH (security_barrier) AS SELECT illness FROM folk WHERE illness > 'illness 3';
CREATE VIEW by_town AS SELECT town, count(*) AS n FROM folk GROUP BY town;
CREATE VIEW sized AS SELECT f.age, t.size FROM folk f JOIN towns t USING (town);
CREATE VIEW over_town AS SELECT n FROM by_town;
CREATE VIEW stays AS SELECT day FROM visits;
CREATE VIEW crossed AS SELECT f.age, v.day FROM folk f CROSS JOIN visits v;
CREATE VIEW older AS SELECT age + 1 AS age FROM folk;
CREATE VIEW rows_of AS SELECT to_jsonb(w.whole) AS whole FROM (SELECT f AS whole FROM folk f) w;
CREATE VIEW keys_of AS SELECT to_jsonb(jsonb_populate_record(NULL::folk, '{}')) AS keys FROM folk f;
CREATE VIEW unlisted AS SELECT age FROM folk`
	viewedNames = `everything, by_age, reports.most, near, guarded, by_town, sized, over_town, stays, crossed, older, rows_of, keys_of`
)

func viewedAudienceSite(t *testing.T) *site {
	t.Helper()
	s := audienceSiteOf(t, viewedAudiences, strings.Replace(audiencePolicy, "readable: [towns, ages]", "readable: [towns, ages, "+viewedNames+"]", 1), "")
	s.serve(t)
	return s
}

// unreadViews are what each user cannot read of the views, with why.
var unreadViews = map[string]map[string]string{
	clientUser:    {"older": "operator"},
	"researchers": {"older": "operator", "by_town": "operator", "sized": "operator", "over_town": "operator", "stays": "cannot read", "crossed": "cannot read"},
	"press":       {"older": "operator", "by_town": "operator", "sized": "operator", "over_town": "operator", "stays": "cannot read", "crossed": "cannot read", "guarded": "operator"},
}

// TestAudiencesSeeViewsOverTheirReleases compares each view, as each user sees it, with its query over
// what the user sees of tables.
func TestAudiencesSeeViewsOverTheirReleases(t *testing.T) {
	t.Parallel()
	s := viewedAudienceSite(t)
	unreadViews["bi"], unreadViews["more"] = unreadViews[clientUser], unreadViews["researchers"]
	columns := map[string]string{clientUser: "age, town, illness", "bi": "age, town, illness", "researchers": "age, illness", "more": "age, illness", "press": "age"}
	for user, unread := range unreadViews {
		conn := connect(t, s.of(user))
		for view, query := range map[string]string{
			"ages": "SELECT age FROM folk", "everything": "SELECT " + columns[user] + " FROM folk",
			"by_age": "SELECT age, count(*) FROM folk GROUP BY age", "reports.most": "SELECT max(n) FROM (SELECT count(*) AS n FROM folk GROUP BY age) c",
			"near": "SELECT f.age, t.size FROM folk f CROSS JOIN towns t", "guarded": "SELECT illness FROM folk WHERE illness > 'illness 3'",
			"by_town": "SELECT town, count(*) FROM folk GROUP BY town", "sized": "SELECT f.age, t.size FROM folk f JOIN towns t USING (town)",
			"over_town": "SELECT count(*) FROM folk GROUP BY town", "stays": "SELECT day FROM visits", "crossed": "SELECT f.age, v.day FROM folk f CROSS JOIN visits v", "older": "",
			"rows_of": "SELECT to_jsonb(f) FROM folk f", "keys_of": "SELECT to_jsonb(jsonb_populate_record(NULL::folk, '{}')) FROM folk f",
		} {
			if why, not := unread[view]; not {
				refused := refusal(t, conn, "TABLE "+view)
				if refused.Code != "55000" || !strings.Contains(refused.Hint, why) || strings.Contains(refused.Message+refused.Hint+refused.Detail, "visits") {
					t.Errorf("%s is told of %s: %s %s (%s)", user, view, refused.Code, refused.Message, refused.Hint)
				}
				continue
			}
			eventually(t, user+" reads "+view, func() bool { _, err := conn.Exec(t.Context(), "TABLE "+view); return sqlState(t, err) != "55000" })
			if got, want := texts(t, conn, "TABLE "+view), texts(t, conn, query); len(got) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s sees %d rows of %s, not %d", user, len(got), view, len(want))
			}
		}
		if refused := refusal(t, conn, "TABLE unlisted"); refused.Code != "42501" {
			t.Errorf("%s reads a view that is not listed: %v", user, refused)
		}
		got := texts(t, conn, `SELECT schemaname || '.' || viewname FROM pg_views WHERE schemaname IN ('public', 'reports')`)
		if len(unread) > 1 && (len(got) != 15-len(unread) || strings.Contains(strings.Join(got, " "), "town")) {
			t.Errorf("%s finds the views %v", user, got)
		}
	}
	s.viewsStayInside(t)
	check, status := s.kproxy(t, "check").must(t).stdout, s.kproxy(t, "status").stdout
	for _, want := range []string{
		"for research, press: the view cannot be published: it reads table public.visits, which the audience does not see",
		"for research, press: the view cannot be published: it computes with column town of public.folk, which is not published",
		"for research, press: the view could not be published when kproxy tried last: operator does not exist",
	} {
		if !strings.Contains(check, want) {
			t.Errorf("check does not say %q:\n%s", want, check)
		}
	}
	for _, want := range []string{
		"\npublic.by_town shows audience press nothing: it computes with column town of public.folk, which is not published\n",
		"\npublic.sized shows audience press nothing: it computes with column town of public.folk, which is not published\n",
		"\npublic.stays shows audience research nothing: it reads table public.visits, which the audience does not see\n",
		"\npublic.everything shows audience research all but 2 columns\n",
	} {
		if !strings.Contains(status, want) {
			t.Errorf("status does not say %q:\n%s", want, status)
		}
	}
	s.viewsInStatus(t)
}

// viewsInStatus: the status tells of each audience which views it does not see, in JSON, too, and calls for nothing.
func (s *site) viewsInStatus(t *testing.T) {
	t.Helper()
	var told struct {
		Needs []struct{ What string }
		Views []struct {
			View, State string
			Audiences   []struct{ Audience, State, Problem string }
		}
	}
	if err := json.Unmarshal([]byte(s.kproxy(t, "status", "--json").stdout), &told); err != nil {
		t.Fatal(err)
	}
	for _, need := range told.Needs {
		if strings.Contains(need.What, "audience") {
			t.Errorf("status has a need that is none: %s", need.What)
		}
	}
	user := map[string]string{"research": "researchers", "press": "press"}
	for _, v := range told.Views {
		name := strings.TrimPrefix(v.View, "public.")
		for _, a := range v.Audiences {
			if _, not := unreadViews[user[a.Audience]][name]; not != (a.State == "withdrawn") || not != (a.Problem != "") {
				t.Errorf("%s is told to be %+v", v.View, a)
			}
		}
		if all := name == "towns"; len(v.Audiences) != 2 && !all || len(v.Audiences) > 0 && all {
			t.Errorf("%s is told of for %+v", v.View, v.Audiences)
		}
	}
}

// viewsStayInside reads, as the role of each audience and without kproxy, all views that it can read, and
// tries what it must not.
func (s *site) viewsStayInside(t *testing.T) {
	t.Helper()
	for _, reader := range []string{"researchers", "more", "press"} {
		conn := connect(t, strings.Replace(s.readerURL(), s.reader+":", s.database+"_"+reader+":", 1))
		own := map[bool]string{true: "press", false: "research"}[reader == "press"]
		var readable []string
		for _, quoted := range texts(t, conn, `SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relkind IN ('v', 'r', 'm') AND c.oid >= 16384
			AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') AND nspname NOT IN ('kproxy_catalog', 'kproxy')`) {
			var view string
			if _, err := fmt.Sscanf(quoted, "%q", &view); err != nil {
				t.Fatal(err)
			}
			readable = append(readable, view)
			if !strings.HasPrefix(view, "kproxy_audience_"+own+"_") {
				t.Errorf("%s may read %s", reader, view)
			}
			for _, column := range texts(t, conn, "SELECT attname FROM pg_attribute WHERE attrelid = '"+view+"'::regclass AND attnum > 0") {
				if column == `"id"` || column == `"day"` || column == `"town"` && !strings.HasSuffix(view, ".towns") {
					t.Errorf("%s reads %s of %s", reader, column, view)
				}
			}
		}
		if len(readable) < 6 {
			t.Errorf("%s may read only %v", reader, readable)
		}
		for _, sql := range []string{"TABLE kproxy_release_public.ages", "TABLE kproxy_release_public.by_town", "TABLE public.ages", "TABLE public.everything", "TABLE kproxy_store.audience_view"} {
			if _, err := conn.Exec(t.Context(), sql); sqlState(t, err) != "42501" {
				t.Errorf("%s runs %s: %v", reader, sql, err)
			}
		}
		s.triesViews(t, connect(t, s.of(reader)), s.of(reader))
	}
}

// triesViews tries to reach by views what is released for others, through kproxy.
func (s *site) triesViews(t *testing.T, conn *pgx.Conn, url string) {
	t.Helper()
	for _, sql := range []string{
		"TABLE kproxy_release_public.by_age", "TABLE kproxy_audience_press_public.by_age", "TABLE kproxy_audience_research_public.by_age", "SELECT town FROM everything",
		"SELECT everything.town FROM everything", "SELECT id FROM everything", "SELECT 'kproxy_release_public.by_age'::regclass", "SELECT 'stays'::regclass",
		"SELECT NULL::kproxy_release_public.by_age", "SELECT (everything).town FROM everything", "SELECT NULL::by_town", "SELECT tableoid FROM by_age", "SELECT ctid FROM ages",
	} {
		if _, err := conn.Exec(t.Context(), sql); sqlState(t, err) == "" {
			t.Errorf("%s is not refused", sql)
		}
	}
	for _, commands := range []string{
		`\d everything`, `\dv+`, `\d+ reports.*`, "EXPLAIN (VERBOSE) TABLE everything", "EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM by_age", "SELECT age::text::int FROM ages",
		"SELECT nothing FROM by_age", "TABLE sized", "TABLE stays", "SELECT pg_get_viewdef('everything'::regclass)", "SELECT definition FROM pg_views", "SELECT to_jsonb(e) FROM everything e",
	} {
		o := run(t, commands+"\n", nil, "psql", "-X", url)
		for _, word := range []string{"kproxy_", "release", "audience", "research_", "press_", "packed", "town\"", "town ", "visits", "Kiel"} {
			if strings.Contains(o.stdout+o.stderr, word) && !strings.Contains(s.database, word) {
				t.Errorf("%s tells of %s:\n%s%s", commands, word, o.stdout, o.stderr)
			}
		}
	}
}

// TestViewsOfAudiencesFollow changes definitions and the policy, and takes an audience away.
func TestViewsOfAudiencesFollow(t *testing.T) {
	t.Parallel()
	s := viewedAudienceSite(t)
	admin := connect(t, s.admin)
	// A session of its own: those that have read what is withdrawn end.
	state := func(user, sql string) string {
		conn, err := pgx.Connect(t.Context(), s.of(user))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), sql)
		return sqlState(t, err)
	}
	eventually(t, "all read the view", func() bool { return state("press", "TABLE by_age") == "" && state("researchers", "TABLE by_age") == "" })
	execute(t, admin, "CREATE OR REPLACE VIEW by_age AS SELECT age, count(*) AS n FROM everything WHERE illness > 'i' GROUP BY age")
	eventually(t, "press loses what computes with a column that it does not see", func() bool {
		return state("press", "TABLE by_age") == "55000"
	})
	if got := state("researchers", "TABLE by_age"); got != "" {
		t.Errorf("research has lost the view as well: %s", got)
	}
	execute(t, admin, "CREATE OR REPLACE VIEW by_age AS SELECT age, count(*) AS n FROM everything GROUP BY age")
	eventually(t, "press has it again", func() bool { return state("press", "TABLE by_age") == "" })

	s.replace(t, "folk: {constraints: [{k: 25}], hide: [town]}", "folk: {constraints: [{k: 25}], hide: [town, illness]}")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "research loses what shows a column that is hidden now", func() bool {
		return state("researchers", "TABLE guarded") == "55000" && state("researchers", "TABLE everything") == ""
	})
	if got := texts(t, connect(t, s.of("researchers")), "SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'everything'::regclass AND attnum > 0"); !slices.Equal(got, []string{`"age"`}) {
		t.Errorf("research sees the columns %v", got)
	}
	eventually(t, "others go on", func() bool { return state(clientUser, "TABLE by_town") == "" })

	s.replace(t, "readers: [press]\n    tables:\n      folk: {constraints: [{k: 100}], hide: [town, illness]}\n", "readers: [press]\n    tables:\n      visits: {constraints: [{k: 100}]}\n")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "press sees the views over its other table", func() bool {
		return state("press", "TABLE stays") == "" && state("press", "TABLE ages") == "55000" && state("press", "TABLE everything") == "55000"
	})
	eventually(t, "what it saw is gone", func() bool {
		return scalar[bool](t, admin, "SELECT to_regclass('kproxy_audience_press_public.everything') IS NULL")
	})
}
