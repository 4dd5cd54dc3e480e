package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// partedSite has readable relations whose rows lie in others, and a view over such a one. The
// column hidden was added after they were accepted.
func partedSite(t *testing.T) *site {
	t.Helper()
	s := ready(t, sqlSite(`CREATE TABLE events (y int, t text, u text) PARTITION BY RANGE (y);
		CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO (10);
		CREATE TABLE events_2 (gone int, u text, t text, y int); ALTER TABLE events_2 DROP gone; ALTER TABLE events ATTACH PARTITION events_2 FOR VALUES FROM (10) TO (20);
		CREATE TABLE deep (y int, t text) PARTITION BY RANGE (y);
		CREATE TABLE deep_1 PARTITION OF deep FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (y); CREATE TABLE deep_11 PARTITION OF deep_1 FOR VALUES FROM (0) TO (10);
		CREATE TABLE kinds (y int, t text); CREATE TABLE kinds_1 (own int) INHERITS (kinds);
		CREATE TABLE under (y int, t text) PARTITION BY RANGE (y); CREATE TABLE under_1 PARTITION OF under FOR VALUES FROM (0) TO (10);
		CREATE VIEW over AS SELECT y, upper(t) AS t FROM under;
		INSERT INTO events VALUES (1, 'one', 'uno'), (11, 'eleven', 'undici'); INSERT INTO deep VALUES (1, 'one'); INSERT INTO kinds_1 VALUES (1, 'one'); INSERT INTO under VALUES (1, 'one');
		CREATE TABLE people (id int PRIMARY KEY, name text, age int);
		INSERT INTO people SELECT i, 'name ' || i, i % 50 FROM generate_series(1, 100) i;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 3}]
readable: [public.events, public.deep, public.kinds, public.over]
`))
	execute(t, connect(t, s.admin), `ALTER TABLE events ADD hidden text; ALTER TABLE deep ADD hidden text; ALTER TABLE kinds ADD hidden text; ALTER TABLE under ADD hidden text;
		UPDATE events SET hidden = 'qvzcanary'; UPDATE deep SET hidden = 'QVZcanary qvz'; UPDATE kinds SET hidden = 'qvzcanary'; UPDATE under SET hidden = 'qvzcanary'`, pgx.QueryExecModeSimpleProtocol)
	return s
}

// partSwaps take a part off, have its columns change their names, and put it back.
var partSwaps = []struct{ relation, part, off, on string }{
	{"events", "events_1", "ALTER TABLE events DETACH PARTITION events_1", "ALTER TABLE events ATTACH PARTITION events_1 FOR VALUES FROM (0) TO (10)"},
	{"events", "events_2", "ALTER TABLE events DETACH PARTITION events_2", "ALTER TABLE events ATTACH PARTITION events_2 FOR VALUES FROM (10) TO (20)"},
	{"deep", "deep_1", "ALTER TABLE deep DETACH PARTITION deep_1", "ALTER TABLE deep ATTACH PARTITION deep_1 FOR VALUES FROM (0) TO (10)"},
	{"kinds", "kinds_1", "ALTER TABLE kinds_1 NO INHERIT kinds", "ALTER TABLE kinds_1 INHERIT kinds"},
	{"over", "under_1", "ALTER TABLE under DETACH PARTITION under_1", "ALTER TABLE under ATTACH PARTITION under_1 FOR VALUES FROM (0) TO (10)"},
}

const swapHidden = "ALTER TABLE %T RENAME t TO x; ALTER TABLE %T RENAME hidden TO t; ALTER TABLE %T RENAME x TO hidden"

// TestReadablePartsSwaps has columns of partitions and of inheriting tables change their names
// while they are taken off, in one transaction and in several: nobody reads the other column at
// any moment, also under a snapshot from before, and the relation is refused until the columns
// have their names back, or what there is now is accepted.
func TestReadablePartsSwaps(t *testing.T) {
	t.Parallel()
	s := partedSite(t)
	admin := connect(t, s.admin)
	run := func(statements ...string) {
		t.Helper()
		execute(t, admin, strings.Join(statements, "; "), pgx.QueryExecModeSimpleProtocol)
	}
	served := func(relation, when string) {
		t.Helper()
		eventually(t, relation+" is served "+when, func() bool {
			found, err := s.attempt(t, "SELECT count(*) > 0 AND bool_and(t <> '') FROM "+relation)
			return err == nil && found
		})
	}
	for _, c := range partSwaps {
		served(c.relation, "at first")
		rename := strings.ReplaceAll(swapHidden, "%T", c.part)
		stop := s.canaryPolls(t, "SELECT lower(t::text) FROM "+c.relation+" t")
		older := connect(t, s.url())
		for _, sql := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM people"} {
			execute(t, older, sql)
		}
		run("BEGIN", c.off, rename, c.on, "COMMIT")
		var texts []string
		rows, err := older.Query(t.Context(), "SELECT t::text FROM "+c.relation+" t")
		if err == nil {
			texts, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err == nil || len(texts) > 0 {
			t.Errorf("%s of %s: an older snapshot shows %q", c.off, c.relation, texts)
		}
		refused := func(when string) {
			t.Helper()
			eventually(t, c.relation+" is refused "+when, func() bool {
				_, err := s.attempt(t, "SELECT count(*) > 0 FROM "+c.relation)
				return err != nil && strings.Contains(err.Error(), "55000")
			})
			eventually(t, "status tells of it", func() bool { // statements find it first
				out := s.kproxy(t, "status")
				return out.code == 3 && strings.Contains(out.stdout, "while it was taken off")
			})
		}
		refused("at once")
		run("BEGIN", c.off, rename, c.on, "COMMIT")
		served(c.relation, "when the names are back")
		run(c.off)
		eventually(t, c.part+" is missed", func() bool {
			gone, err := s.attempt(t, "SELECT count(*) < 2 AND count(*) FILTER (WHERE y = "+map[bool]string{true: "11", false: "1"}[c.part == "events_2"]+") = 0 FROM "+c.relation)
			return err == nil && gone
		})
		run(rename)
		run(c.on)
		refused("when the part is put back later")
		run("BEGIN", c.off, rename, c.on, "COMMIT")
		served(c.relation, "in the end")
		if shown := stop(); shown != "" {
			t.Errorf("%s: a reader of %s got %s", c.off, c.relation, shown)
		}
	}
	run("BEGIN", partSwaps[0].off, strings.ReplaceAll(swapHidden, "%T", "events_1"), partSwaps[0].on, "COMMIT")
	if o := s.kproxy(t, "accept", "public.events", "--yes"); o.code != 0 || !strings.Contains(o.stdout, "column hidden was added, and is not served") || !strings.Contains(o.stdout, "while it was taken off") {
		t.Errorf("accept ends with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	served("events", "as accepted")
}

// TestReadablePartsComeAndGo has partitions come and go as they do: they are served without
// being accepted, and kproxy is in nobody's way.
func TestReadablePartsComeAndGo(t *testing.T) {
	t.Parallel()
	s := partedSite(t)
	admin := connect(t, s.admin)
	for _, c := range []struct{ sql, shows string }{
		{"CREATE TABLE events_3 (t text, hidden text, y int, u text); INSERT INTO events_3 VALUES ('thirty', 'qvz', 30, 'x'); ALTER TABLE events ATTACH PARTITION events_3 FOR VALUES FROM (30) TO (40)", "eleven one thirty"},
		{"DROP TABLE events_2", "one thirty"},
		{"ALTER TABLE events DETACH PARTITION events_3", "one"},
		{"ALTER TABLE events ATTACH PARTITION events_3 FOR VALUES FROM (30) TO (40)", "one thirty"},
		{"TRUNCATE events_1", "thirty"},
	} {
		execute(t, admin, c.sql, pgx.QueryExecModeSimpleProtocol)
		eventually(t, c.sql+" shows "+c.shows, func() bool {
			found, err := s.attempt(t, "SELECT string_agg(t, ' ' ORDER BY t) = '"+c.shows+"' FROM events")
			return err == nil && found
		})
	}
	if o := s.kproxy(t, "accept", "public.events"); !strings.Contains(o.stdout, "column hidden was added") || strings.Contains(o.stdout, "taken off") {
		t.Errorf("accept says\n%s", o.stdout)
	}
}

// TestProtectedPartitionsStayProtected moves a partition of a protected table to a readable one,
// and detaches it under listed views: its rows are what they were, and are not served.
func TestProtectedPartitionsStayProtected(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(`CREATE TABLE people (id int, y int, name text, age int, PRIMARY KEY (id, y)) PARTITION BY RANGE (y);
		CREATE TABLE people_1 PARTITION OF people FOR VALUES FROM (0) TO (10);
		CREATE TABLE people_2 PARTITION OF people FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (y);
		CREATE TABLE people_21 PARTITION OF people_2 FOR VALUES FROM (10) TO (20);
		CREATE TABLE people_3 PARTITION OF people FOR VALUES FROM (20) TO (30);
		INSERT INTO people SELECT i, i % 30, 'qvzcanary', i % 50 FROM generate_series(1, 300) i;
		CREATE TABLE pub (id int, y int, name text, age int) PARTITION BY RANGE (y);
		CREATE TABLE pub_9 PARTITION OF pub FOR VALUES FROM (90) TO (99); INSERT INTO pub VALUES (1, 91, 'public', 1);
		CREATE VIEW over AS SELECT name, age FROM people_3; CREATE MATERIALIZED VIEW filled AS SELECT name, age FROM people_3;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, y: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 3}]
readable: [public.pub, public.over, public.filled]
`))
	admin := connect(t, s.admin)
	eventually(t, "the readable table is served", func() bool {
		found, err := s.attempt(t, "SELECT count(*) = 1 FROM pub")
		return err == nil && found
	})
	refused := func(relation string) {
		t.Helper()
		stop := s.canaryPolls(t, "SELECT lower(t::text) FROM "+relation+" t")
		eventually(t, relation+" is refused", func() bool {
			_, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
			return err != nil && strings.Contains(s.kproxy(t, "check").stdout, "shows rows of protected tables")
		})
		if shown := stop(); shown != "" {
			t.Errorf("%s showed %s", relation, shown)
		}
	}
	for _, part := range []string{"people_1", "people_2"} {
		bounds := map[string]string{"people_1": "(0) TO (10)", "people_2": "(10) TO (20)"}[part]
		execute(t, admin, "BEGIN; ALTER TABLE people DETACH PARTITION "+part+"; ALTER TABLE pub ATTACH PARTITION "+part+" FOR VALUES FROM "+bounds+"; COMMIT", pgx.QueryExecModeSimpleProtocol)
		refused("pub")
		execute(t, admin, "ALTER TABLE pub DETACH PARTITION "+part, pgx.QueryExecModeSimpleProtocol)
		eventually(t, "the readable table is served again", func() bool {
			found, err := s.attempt(t, "SELECT count(*) = 1 FROM pub")
			return err == nil && found
		})
	}
	execute(t, admin, "ALTER TABLE people DETACH PARTITION people_3; GRANT SELECT ON people_3, over, filled TO "+s.owner, pgx.QueryExecModeSimpleProtocol)
	refused("over")
	refused("filled")
	execute(t, admin, "ALTER TABLE people DROP COLUMN age; ALTER TABLE people ADD age int; UPDATE people SET age = id % 50", pgx.QueryExecModeSimpleProtocol)
	eventually(t, "another column is noticed", func() bool {
		return strings.Contains(s.kproxy(t, "status").stdout, "halted")
	})
	s.kproxy(t, "accept", "public.people", "--yes").must(t)
	refused("over")
	refused("filled")
	execute(t, admin, "ALTER TABLE people RENAME TO folk", pgx.QueryExecModeSimpleProtocol)
	s.replace(t, "public.people:", "public.folk:")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	refused("over")
	refused("filled")
}
