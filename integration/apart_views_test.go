package integration

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// The views of the source that the configuration of apartViewsSite lists, or not, and two relations of the
// database of the release.
const (
	apartViews = audienceSchema + `;
CREATE SCHEMA reports;
CREATE TABLE plain (id int);
CREATE FUNCTION own(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE VIEW everything AS SELECT * FROM folk;
CREATE VIEW reports.by_age AS SELECT age, count(*) AS n FROM everything GROUP BY age;
CREATE VIEW near AS SELECT f.age, t.size FROM folk f CROSS JOIN towns t;
CREATE VIEW big AS SELECT town FROM towns WHERE size > 0;
CREATE VIEW by_town AS SELECT town, count(*) AS n FROM folk GROUP BY town;
CREATE VIEW named AS SELECT f.age FROM folk f, plain;
CREATE VIEW calls AS SELECT own(age) AS age FROM folk;
CREATE VIEW steals AS SELECT age, (SELECT count(*) FROM pg_authid) AS n FROM folk;
CREATE MATERIALIZED VIEW copy AS SELECT age FROM folk;
CREATE VIEW no_table AS SELECT id FROM plain;
CREATE VIEW twice AS SELECT age FROM folk;
CREATE VIEW over_twice AS SELECT age FROM twice;
CREATE VIEW unlisted AS SELECT age FROM folk`
	apartViewNames = "everything, reports.by_age, near, big, by_town, named, calls, steals, copy, over_twice"
)

func apartViewsSite(t *testing.T) *site {
	t.Helper()
	o := sqlSite(apartViews, strings.Replace(audiencePolicy, "readable: [towns, ages]", "readable: ["+apartViewNames+", here]\nmirrored:\n  towns: {columns: [town, size]}", 1))
	o.apart = ownServer(t, pgserver.Options{})
	s := siteWithReaders(t, o, "researchers", "more", "press", "bi")
	execute(t, connect(t, s.release), "CREATE TABLE here (id int); INSERT INTO here VALUES (1)")
	s.kproxy(t, "setup").must(t)
	return s
}

// sourceViews are the views that can be published, with what each shows of what the user sees, and why press does
// not see it.
var sourceViews = map[string]struct{ query, press string }{
	"everything":     {"SELECT %s FROM folk", ""},
	"reports.by_age": {"SELECT age, count(*) FROM folk GROUP BY age", ""},
	"near":           {"SELECT f.age, t.size FROM folk f CROSS JOIN towns t", ""},
	"big":            {"SELECT town FROM towns WHERE size > 0", ""},
	"by_town":        {"SELECT town, count(*) FROM folk GROUP BY town", "computes with column town"},
}

// refusedSourceViews are those that cannot be published, with why.
var refusedSourceViews = map[string]string{
	"named":      "it reads public.plain, which is at the source and neither protected nor mirrored",
	"calls":      "permission denied for function public.own",
	"steals":     "permission denied for table pg_authid",
	"copy":       "it is a materialized view, which holds copies of protected rows",
	"over_twice": "it reads view public.twice, which shows protected rows and is not listed under readable",
}

// TestApartViews publishes views of the source in the database of the release, which is on another server, for
// all readers, and follows their definitions. What was published stays while the source is away, after a start, too.
func TestApartViews(t *testing.T) {
	t.Parallel()
	s := apartViewsSite(t)
	check := s.kproxy(t, "check").must(t).stdout
	for view, why := range refusedSourceViews {
		if !strings.Contains(check, why) {
			t.Errorf("check does not say of %s that %q:\n%s", view, why, check)
		}
	}
	p := s.serve(t)
	s.showsViews(t)
	s.catalogsShowViews(t)
	s.refusesViews(t)

	source := connect(t, s.admin)
	execute(t, source, "CREATE OR REPLACE VIEW big AS SELECT town FROM towns WHERE size > 1; DROP VIEW near; ALTER VIEW by_town RENAME TO other")
	eventually(t, "another definition is published", func() bool { return psql(t, s.url(), "TABLE big").stdout == "Ulm\n" })
	for _, gone := range []string{"near", "by_town"} {
		eventually(t, gone+" is gone", func() bool { return !s.reads(t, gone) })
	}
	execute(t, source, "CREATE VIEW near AS SELECT f.age, t.size FROM folk f CROSS JOIN towns t; ALTER VIEW other RENAME TO by_town")
	execute(t, source, "CREATE OR REPLACE VIEW big AS SELECT town FROM towns WHERE size > 0")
	eventually(t, "all are published again", func() bool {
		return s.reads(t, "near") && s.reads(t, "by_town") && strings.Count(psql(t, s.url(), "TABLE big").stdout, "\n") == 2
	})

	s.viewsStayWhileAway(t, p)
	s.refusesTakenNames(t)
}

// reads says whether the client reads a view. Sessions that have read one that is withdrawn are ended.
func (s *site) reads(t *testing.T, view string) bool {
	t.Helper()
	return psql(t, s.url(), "TABLE "+view).code == 0
}

// showsViews compares each view, as each user sees it, with its query over what the user sees of tables.
func (s *site) showsViews(t *testing.T) {
	t.Helper()
	for user, columns := range map[string]string{clientUser: "age, town, illness", "bi": "age, town, illness", "press": "age"} {
		conn := connect(t, s.of(user))
		for view, of := range sourceViews {
			if user == "press" && of.press != "" {
				if refused := refusal(t, conn, "TABLE "+view); refused.Code != "55000" {
					t.Errorf("%s reads %s: %v", user, view, refused)
				}
				continue
			}
			eventually(t, user+" reads "+view, func() bool { _, err := conn.Exec(t.Context(), "TABLE "+view); return sqlState(t, err) != "55000" })
			if got, want := texts(t, conn, "TABLE "+view), texts(t, conn, strings.Replace(of.query, "%s", columns, 1)); len(got) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s sees %d rows of %s, not %d", user, len(got), view, len(want))
			}
		}
	}
}

// catalogsShowViews looks for the views in the catalogs, and by commands.
func (s *site) catalogsShowViews(t *testing.T) {
	t.Helper()
	conn := connect(t, s.url())
	for what, sql := range map[string]string{
		"pg_views":           "SELECT viewname::text FROM pg_views WHERE schemaname IN ('public', 'reports')",
		"information_schema": "SELECT table_name::text FROM information_schema.tables WHERE table_type = 'VIEW' AND table_schema IN ('public', 'reports')",
	} {
		got := texts(t, conn, sql)
		for view := range sourceViews {
			if !slices.Contains(got, strconv.Quote(strings.TrimPrefix(view, "reports."))) {
				t.Errorf("%s lacks %s: %v", what, view, got)
			}
		}
		if slices.ContainsFunc(got, func(view string) bool {
			return refusedSourceViews[strings.Trim(view, `"`)] != "" || view == `"unlisted"`
		}) {
			t.Errorf("%s has views that cannot be read: %v", what, got)
		}
	}
	if out := psql(t, s.url(), `\d reports.by_age`).must(t); !strings.Contains(out.stdout, "age|int4range") {
		t.Errorf("psql describes reports.by_age as %s", out.stdout)
	}
	if out := s.kproxy(t, "explain", "SELECT * FROM near").must(t); !strings.Contains(out.stdout, "near") || !strings.Contains(out.stdout, "view") {
		t.Errorf("explain says %s", out.stdout)
	}
	s.kproxy(t, "verify").must(t)
	s.kproxy(t, "reload").must(t)
	s.kproxy(t, "accept", "--yes").must(t)
}

// refusesViews: what cannot be published is refused, with the reason for the operator alone.
func (s *site) refusesViews(t *testing.T) {
	t.Helper()
	conn, status := connect(t, s.url()), s.kproxy(t, "status").stdout
	for view, why := range refusedSourceViews {
		refused := refusal(t, conn, "TABLE "+view)
		if refused.Code != "55000" || strings.Contains(refused.Message+refused.Hint, "plain") {
			t.Errorf("of %s a reader is told: %v", view, refused)
		}
		if !strings.Contains(status, why) {
			t.Errorf("status does not say of %s that %q:\n%s", view, why, status)
		}
	}
	for _, unknown := range []string{"twice", "unlisted", "plain", "no_table"} {
		if refused := refusal(t, conn, "TABLE "+unknown); refused.Code != "42P01" {
			t.Errorf("%s of the source is known to clients: %v", unknown, refused)
		}
	}
}

// viewsStayWhileAway locks kproxy out of the source, and starts it anew.
func (s *site) viewsStayWhileAway(t *testing.T, p *process) {
	t.Helper()
	source := connect(t, s.admin)
	execute(t, source, "ALTER ROLE source_"+s.database+" NOLOGIN; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'kproxy' AND usename = 'source_"+s.database+"'")
	p.awaitLog(t, "the views of the source could not be looked at")
	s.showsViews(t)
	execute(t, connect(t, s.release), "ALTER TABLE here RENAME TO there")
	eventually(t, "what is readable is looked at", func() bool { return !s.reads(t, "here") })
	execute(t, connect(t, s.release), "ALTER TABLE there RENAME TO here")
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	execute(t, source, "DROP VIEW near")
	p = s.serve(t)
	p.awaitLog(t, "the source is away; serving what was published before")
	s.showsViews(t)
	s.refusesViews(t)
	execute(t, source, "ALTER ROLE source_"+s.database+" LOGIN")
	p.awaitLog(t, "the views of the source are looked at again")
	eventually(t, "what was dropped meanwhile is gone", func() bool { return !s.reads(t, "near") })
	eventually(t, "all else is read", func() bool { return s.reads(t, "everything") })
}

// refusesTakenNames: a view's name, and names that mean something else at the source.
func (s *site) refusesTakenNames(t *testing.T) {
	t.Helper()
	release := connect(t, s.release)
	execute(t, release, "CREATE TABLE big (town text); INSERT INTO big VALUES ('own')")
	eventually(t, "both of the name are refused", func() bool { return !s.reads(t, "big") })
	if out := s.kproxy(t, "check"); out.code == 0 || !strings.Contains(out.stdout, "the database of the release has a relation of its name, too") {
		t.Errorf("check ends with %d: %s", out.code, out.stdout)
	}
	execute(t, release, "DROP TABLE big")
	eventually(t, "the view is read again", func() bool { return s.reads(t, "big") })
	s.replace(t, "over_twice, ", "over_twice, no_table, plain, ")
	out := s.kproxy(t, "check")
	for _, want := range []string{"it is a view of the source that reads no protected or mirrored table", "it is a table of the source"} {
		if out.code == 0 || !strings.Contains(out.stdout, want) {
			t.Errorf("check ends with %d, and does not say %q: %s", out.code, want, out.stdout)
		}
	}
}
