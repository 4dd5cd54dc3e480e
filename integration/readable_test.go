package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// referredSite has protected tables that refer to readable ones, and views over those.
func referredSite() siteOptions {
	return sqlSite(`CREATE TABLE codes (code text PRIMARY KEY, meaning text, chapter int);
		INSERT INTO codes SELECT 'code ' || i, 'meaning ' || i, i % 3 FROM generate_series(0, 9) i;
		CREATE TABLE hidden (code text, note text); INSERT INTO hidden SELECT code, 'qvznote' FROM codes;
		CREATE VIEW short AS SELECT c.code, c.chapter FROM codes c JOIN hidden h USING (code);
		CREATE VIEW nested AS SELECT code, count(*) AS n FROM short GROUP BY code;
		CREATE MATERIALIZED VIEW stored AS SELECT code FROM codes;
		CREATE TABLE years (y int, v text) PARTITION BY RANGE (y);
		CREATE TABLE years_1 PARTITION OF years FOR VALUES FROM (0) TO (10); INSERT INTO years VALUES (1, 'one');
		CREATE TABLE people (id int PRIMARY KEY, name text, age int, code text REFERENCES codes);
		INSERT INTO people SELECT i, 'qvzcanary ' || i, i % 50, 'code ' || i % 10 FROM generate_series(1, 100) i;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}, code: sensitive}
    constraints: [{k: 3}]
readable: [public.codes, public.short, public.nested, public.stored, public.years]
`)
}

// TestReadableStandIns reads readable relations of every kind, none of which has system
// columns or lets the reader role read it past its stand-in.
func TestReadableStandIns(t *testing.T) {
	t.Parallel()
	s := ready(t, referredSite())
	client, admin := connect(t, s.url()), connect(t, s.admin)
	for sql, want := range map[string]string{
		"SELECT count(*) || ' ' || min(meaning) FROM codes": "10 meaning 0",
		"SELECT count(*) || ' ' || sum(chapter) FROM short": "10 9",
		"SELECT sum(n)::text FROM nested":                   "10",
		"SELECT count(*)::text FROM stored":                 "10",
		"SELECT string_agg(y || v, ',') FROM years":         "1one",
		"SELECT string_agg(relname || relkind::text, ' ' ORDER BY 1) FROM (SELECT relname || ':', relkind FROM pg_class WHERE relname IN ('codes', 'short', 'stored', 'years')) c (relname, relkind)": "codes:r short:v stored:m years:p",
		"SELECT string_agg(table_type, ',' ORDER BY table_name) FROM information_schema.tables WHERE table_name IN ('codes', 'short', 'years')":                                                       "BASE TABLE,VIEW,BASE TABLE",
		"SELECT string_agg(conname, ',') FROM pg_constraint WHERE conrelid = 'codes'::regclass":                                                                                                       "codes_pkey",
		"SELECT has_table_privilege('codes', 'SELECT')::text || has_table_privilege('codes'::regclass, 'SELECT') || has_column_privilege('public.codes', 'code', 'SELECT')":                           "truetruetrue",
		"SELECT c::text FROM codes c WHERE code = 'code 1'":                                       `("code 1","meaning 1",1)`,
		"SELECT row_to_json(c)::text FROM codes c WHERE code = 'code 1'":                          `{"code":"code 1","meaning":"meaning 1","chapter":1}`,
		"SELECT ((c).meaning) || pg_typeof(c) FROM codes c WHERE code = 'code 1'":                 "meaning 1codes",
		"SELECT (NULL::codes IS NULL)::text":                                                      "true",
		"SELECT count(*)::text FROM people p JOIN codes USING (code) WHERE meaning = 'meaning 1'": "10",
	} {
		if got := scalar[string](t, client, sql); got != want {
			t.Errorf("%s gives %q, want %q", sql, got, want)
		}
	}
	// Two codes that one transaction refers to have one xmax.
	execute(t, admin, "INSERT INTO people VALUES (200, 'x', 20, 'code 3'), (201, 'y', 20, 'code 4')")
	direct := connect(t, s.readerURL())
	for _, column := range []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"} {
		for _, relation := range []string{"codes", "short", "nested", "stored", "years"} {
			for _, sql := range []string{"SELECT r." + column + "::text FROM %s r", "SELECT (r)." + column + " FROM %s r", "SELECT " + column + " FROM %s"} {
				for from, conn := range map[string]*pgx.Conn{relation: client, "kproxy_release_public." + relation: direct} {
					refused := (*pgconn.PgError)(nil)
					if _, err := conn.Exec(t.Context(), strings.ReplaceAll(sql, "%s", from)); !errors.As(err, &refused) || refused.Code != "42703" {
						t.Errorf("%s of %s: %v", sql, from, err)
					}
				}
			}
		}
	}
	for _, relation := range []string{"codes", "short", "nested", "stored", "years", "years_1", "hidden"} {
		refused := (*pgconn.PgError)(nil)
		if _, err := direct.Exec(t.Context(), "TABLE public."+relation); !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("the reader role reads %s: %v", relation, err)
		}
	}
}

// TestReadableSwaps has readers poll readable relations while others take their names, or
// come under them: no raw row is read at any moment, and what differs is refused until it
// is put back.
func TestReadableSwaps(t *testing.T) {
	t.Parallel()
	s := ready(t, referredSite())
	admin := connect(t, s.admin)
	const raw = "SELECT name AS code, name AS meaning, age AS chapter FROM people"
	for _, c := range []struct{ relation, swap, back string }{
		{
			"codes", "ALTER TABLE codes RENAME TO codes_old; CREATE VIEW codes AS " + raw + "; GRANT SELECT ON codes TO PUBLIC",
			"DROP VIEW codes; ALTER TABLE codes_old RENAME TO codes",
		},
		{
			"codes", "ALTER TABLE codes RENAME TO codes_old; CREATE TABLE codes AS " + raw + "; GRANT SELECT ON codes TO PUBLIC",
			"DROP TABLE codes; ALTER TABLE codes_old RENAME TO codes",
		},
		{
			"codes", "ALTER TABLE codes RENAME TO codes_old; CREATE MATERIALIZED VIEW codes AS " + raw + "; GRANT SELECT ON codes TO PUBLIC",
			"DROP MATERIALIZED VIEW codes; ALTER TABLE codes_old RENAME TO codes",
		},
		{"codes", "ALTER TABLE codes RENAME meaning TO m; ALTER TABLE codes RENAME code TO meaning", "ALTER TABLE codes RENAME meaning TO code; ALTER TABLE codes RENAME m TO meaning"},
		{
			"short", "CREATE OR REPLACE VIEW short AS SELECT name AS code, age AS chapter FROM people; GRANT SELECT ON short TO PUBLIC",
			"CREATE OR REPLACE VIEW short AS SELECT c.code, c.chapter FROM codes c JOIN hidden h USING (code); REVOKE SELECT ON short FROM PUBLIC",
		},
		{
			"nested", "CREATE OR REPLACE VIEW short AS SELECT note AS code, 1 AS chapter FROM hidden",
			"CREATE OR REPLACE VIEW short AS SELECT c.code, c.chapter FROM codes c JOIN hidden h USING (code)",
		},
		{
			"stored", "ALTER MATERIALIZED VIEW stored RENAME TO stored_old; CREATE VIEW stored AS SELECT name AS code FROM people; GRANT SELECT ON stored TO PUBLIC",
			"DROP VIEW stored; ALTER MATERIALIZED VIEW stored_old RENAME TO stored",
		},
		{
			"years", "CREATE TABLE years_2 (y int, v text); INSERT INTO years_2 SELECT 20, name FROM people; ALTER TABLE years RENAME TO years_old; ALTER TABLE years_2 RENAME TO years",
			"DROP TABLE years; ALTER TABLE years_old RENAME TO years",
		},
	} {
		stop := s.canaryPolls(t, "SELECT t::text FROM "+c.relation+" t")
		execute(t, admin, "BEGIN; "+c.swap+"; COMMIT", pgx.QueryExecModeSimpleProtocol)
		eventually(t, c.swap+" is refused", func() bool {
			_, err := s.attempt(t, "SELECT count(*) > 0 FROM "+c.relation)
			return err != nil && (strings.Contains(err.Error(), "55000") || strings.Contains(err.Error(), "42501") || strings.Contains(err.Error(), "57P03"))
		})
		execute(t, admin, "BEGIN; "+c.back+"; COMMIT", pgx.QueryExecModeSimpleProtocol)
		eventually(t, c.back+" heals", func() bool {
			found, err := s.attempt(t, "SELECT count(*) > 0 FROM "+c.relation)
			return err == nil && found
		})
		if shown := stop(); shown != "" {
			t.Errorf("%s: a reader got %s", c.swap, shown)
		}
	}
}

// hidingSite has listed views over a table that is not listed, of which they show some rows,
// and over one that is; loose and kept may become views.
func hidingSite() siteOptions {
	return sqlSite(`CREATE TABLE ledger (id int, title text, flag text);
		INSERT INTO ledger SELECT i, 'qvzcanary ' || i, CASE WHEN i > 5 THEN 'closed' ELSE 'Open' END FROM generate_series(1, 100) i;
		UPDATE ledger SET title = 'title ' || id WHERE id < 6;
		CREATE TABLE codes (code int, title text); INSERT INTO codes SELECT i, 'code ' || i FROM generate_series(1, 10) i;
		CREATE VIEW opened AS SELECT id, title FROM ledger WHERE lower(flag) = 'open';
		CREATE VIEW joined AS SELECT l.id, l.title FROM ledger l WHERE EXISTS (SELECT FROM codes c WHERE c.code = l.id AND l.id < 6);
		CREATE VIEW outer_opened AS SELECT id, title FROM opened WHERE id > 0;
		CREATE VIEW some_codes AS SELECT code AS id, title FROM codes WHERE code < 6;
		CREATE TABLE loose (id int, title text); CREATE TABLE kept (id int, title text);
		CREATE VIEW over_loose AS SELECT id, title FROM loose; CREATE VIEW over_kept AS SELECT id, title FROM kept;
		CREATE TABLE people (id int PRIMARY KEY, name text, age int, code text);
		INSERT INTO people SELECT i, 'qvzcanary ' || i, i % 50, 'code ' || i % 10 FROM generate_series(1, 100) i;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}, code: sensitive}
    constraints: [{k: 3}]
readable: [public.codes, public.opened, public.joined, public.outer_opened, public.some_codes, public.loose, public.over_loose, public.over_kept]
`)
}

// TestViewsHideWhatTheyDoNotShow asks listed views for rows that they do not show: by conditions
// that fail on a row, and by plans, which tell of rows that were removed and of estimates.
func TestViewsHideWhatTheyDoNotShow(t *testing.T) {
	t.Parallel()
	s := ready(t, hidingSite())
	client, admin := connect(t, s.url()), connect(t, s.admin)
	for _, view := range []string{"opened", "joined", "outer_opened", "some_codes"} {
		if got := scalar[int64](t, client, "SELECT count(*) FROM "+view+" WHERE title LIKE '% _'"); got != 5 {
			t.Errorf("%s has %d rows", view, got)
		}
		for _, condition := range []string{"title::bool", "title::int > 0", "1 / (id - 7) > 0", "(title::xml) IS NOT NULL", "sqrt(6 - id) > 0"} {
			if _, err := client.Exec(t.Context(), "SELECT * FROM "+view+" WHERE id = 7 AND "+condition); err != nil {
				t.Errorf("%s: %s sees a hidden row: %v", view, condition, err)
			}
		}
		refused := (*pgconn.PgError)(nil)
		if _, err := client.Exec(t.Context(), "EXPLAIN ANALYZE SELECT * FROM "+view+" WHERE id = 7"); !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("%s: a plan tells of removed rows: %v", view, err)
		}
		for _, format := range []string{"TEXT", "JSON", "XML", "YAML"} {
			if plan := scalar[string](t, client, "EXPLAIN (FORMAT "+format+") SELECT * FROM "+view+" WHERE title = 'qvzcanary 7'"); strings.Contains(strings.ToLower(plan), "rows") {
				t.Errorf("a plan has estimates:\n%s", plan)
			}
		}
	}
	// What hides nothing is planned with the statement around it.
	for view, want := range map[string]bool{"opened": true, "joined": true, "outer_opened": true, "some_codes": false, "codes": false} {
		if got := scalar[bool](t, admin, "SELECT reloptions::text LIKE '%security_barrier=true%' FROM pg_class WHERE oid = 'kproxy_release_public."+view+"'::regclass"); got != want {
			t.Errorf("%s is a security barrier: %v", view, got)
		}
	}
}

// TestReadableTurnsIntoView has rules make views over raw rows of a readable table and of one
// under a view, which keep their numbers: no reader sees a row of them, and they are refused.
func TestReadableTurnsIntoView(t *testing.T) {
	t.Parallel()
	s := ready(t, hidingSite())
	admin := connect(t, s.admin)
	const rule = `CREATE RULE "_RETURN" AS ON SELECT TO %s DO INSTEAD SELECT id, name AS title FROM people`
	if s.server.Version().Major > 15 {
		if _, err := admin.Exec(t.Context(), fmt.Sprintf(rule, "loose")); err == nil {
			t.Error("a rule makes a view of a table, which stand-ins are not bound against")
		}
		return
	}
	for table, readers := range map[string][]string{"loose": {"loose", "over_loose"}, "kept": {"over_kept"}} {
		var stops []func() string
		for _, reader := range readers {
			stops = append(stops, s.canaryPolls(t, "SELECT t::text FROM "+reader+" t"))
		}
		execute(t, admin, fmt.Sprintf(rule, table))
		for _, reader := range readers {
			if _, err := s.attempt(t, "SELECT count(*) > 0 FROM "+reader); err == nil || !strings.Contains(err.Error(), "55000") {
				t.Errorf("at once, %s gives %v", reader, err)
			}
		}
		for i, reader := range readers {
			eventually(t, reader+" is refused", func() bool {
				_, err := s.attempt(t, "SELECT count(*) > 0 FROM "+reader)
				return err != nil && strings.Contains(err.Error(), "55000")
			})
			if shown := stops[i](); shown != "" {
				t.Errorf("a reader of %s got %s", reader, shown)
			}
		}
	}
}

// TestReadableAccepted accepts what has become of readable relations: columns that were added
// and have changed places, another definition, and another relation.
func TestReadableAccepted(t *testing.T) {
	t.Parallel()
	s := ready(t, referredSite())
	admin := connect(t, s.admin)
	accept := func(code int, says string, arguments ...string) {
		t.Helper()
		if o := s.kproxy(t, append([]string{"accept"}, arguments...)...); o.code != code || !strings.Contains(o.stdout, says) {
			t.Errorf("accept %v ends with %d:\n%s%s\nwanted: %d, %q", arguments, o.code, o.stdout, o.stderr, code, says)
		}
	}
	accept(0, "nothing to accept")
	execute(t, admin, "ALTER TABLE codes ADD extra text DEFAULT 'more'")
	accept(2, "column extra was added, and is not served", "public.codes")
	if _, err := s.attempt(t, "SELECT min(extra) = 'more' FROM codes"); err == nil {
		t.Error("a column that is not accepted is served")
	}
	for _, c := range []struct{ change, differs, served string }{
		{"", "readable public.codes:\n  column extra was added, and is not served", "SELECT min(extra) = 'more' FROM codes"},
		{"ALTER TABLE codes RENAME meaning TO m; ALTER TABLE codes RENAME extra TO meaning", "column meaning is called m", "SELECT min(m) = 'meaning 0' AND min(meaning) = 'more' FROM codes"},
		{"CREATE OR REPLACE VIEW short AS SELECT code, 7 AS chapter FROM codes", "readable public.short:\n  its definition is another one", "SELECT min(chapter) = 7 FROM short"},
		{"DROP VIEW nested CASCADE; CREATE TABLE nested AS SELECT 'code' AS code, 8 AS n", "has its name", "SELECT n = 8 FROM nested"},
		{"DROP MATERIALIZED VIEW stored CASCADE; CREATE VIEW stored AS SELECT code FROM people", "a view over protected tables has its name", "SELECT count(*) = 100 FROM stored"},
	} {
		if c.change != "" {
			execute(t, admin, "BEGIN; "+c.change+"; COMMIT", pgx.QueryExecModeSimpleProtocol)
		}
		s.kproxy(t, "setup").must(t)
		accept(0, c.differs, "--yes")
		eventually(t, c.served, func() bool {
			found, err := s.attempt(t, c.served)
			return err == nil && found
		})
		accept(0, "nothing to accept")
	}
}

// TestReadableBecomesProtected moves a readable table into the policy's tables and back: its
// stand-in makes way for the release.
func TestReadableBecomesProtected(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(`CREATE TABLE people (id int PRIMARY KEY, age int); INSERT INTO people SELECT i, i % 5 FROM generate_series(1, 50) i;
		CREATE TABLE guests (id int PRIMARY KEY, name text, age int); INSERT INTO guests SELECT i, 'guest ' || i, i % 5 FROM generate_series(1, 50) i`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric, publish: value}}
    constraints: [{k: 3}]
readable: [public.guests]
`))
	const readable, protected = "readable: [public.guests]", `  public.guests:
    updates: immediate
    columns: {id: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric, publish: value}}
    constraints: [{k: 3}]`
	served := func(columns string) {
		t.Helper()
		eventually(t, "guests has columns "+columns, func() bool {
			found, err := s.attempt(t, "SELECT string_agg(attname, ' ' ORDER BY attnum) = '"+columns+"' AND (SELECT count(*) = 50 FROM guests) FROM pg_attribute WHERE attrelid = 'guests'::regclass AND attnum > 0")
			return err == nil && found
		})
	}
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	served("id name age")
	turns := []func(){
		func() { s.kproxy(t, "reload").must(t) },
		func() {
			p.end(t, syscall.SIGTERM)
			s.kproxy(t, "accept", "--yes").must(t) // a policy that was in use before
			p = s.serve(t)
		},
	}
	for _, turn := range turns {
		s.replace(t, readable, protected)
		s.kproxy(t, "setup").must(t)
		if out := s.kproxy(t, "check"); out.code == 0 || !strings.Contains(out.stdout, "which drops it") {
			t.Errorf("the check says\n%s", out.stdout)
		}
		turn()
		served("age")
		s.replace(t, protected, readable)
		s.kproxy(t, "setup").must(t)
		turn()
		served("id name age")
	}
}

// canaryPolls reads until stop is called, which gives the first raw value that was read. It reads
// without a pause, and rests only after it has read the same many times. Statements are sent by the simple protocol, or in the manner given.
func (s *site) canaryPolls(t *testing.T, sql string, manner ...any) (stop func() string) {
	t.Helper()
	if manner == nil {
		manner = []any{pgx.QueryExecModeSimpleProtocol}
	}
	const many = 300
	ctx, cancel := context.WithCancel(t.Context())
	var shown string
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			conn, err := pgx.ConnectConfig(ctx, connConfig(t, s.url()))
			if err != nil {
				pause(ctx)
				continue
			}
			var before []string
			for same := 0; !conn.IsClosed() && ctx.Err() == nil && shown == ""; same++ {
				began := time.Now()
				rows, err := conn.Query(ctx, sql, manner...)
				if err != nil {
					pause(ctx)
					same = 0
					continue
				}
				texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
				for _, text := range texts {
					if strings.Contains(text, "qvz") {
						shown = text
					}
				}
				if err != nil || !slices.Equal(texts, before) {
					before, same = texts, 0
				}
				switch {
				case err != nil:
					pause(ctx)
				case same > many:
					rest(ctx, began)
				}
			}
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	})
	return func() string { cancel(); all.Wait(); return shown }
}

// attempt asks for a truth on a connection of its own, which may be refused.
func (s *site) attempt(t *testing.T, sql string) (found bool, err error) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), connConfig(t, s.url()))
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	err = conn.QueryRow(t.Context(), sql).Scan(&found)
	return found, err
}

// TestReadableObjects reads columns of types whose values are names of objects: a client's
// number or name beside them tells nothing of what is hidden.
func TestReadableObjects(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(`CREATE TABLE qvzhidden (x int); CREATE TABLE codes (code text);
		CREATE DOMAIN thing AS regclass; CREATE DOMAIN anything AS thing; CREATE DOMAIN things_of AS regclass[];
		CREATE TYPE pair AS (thing regclass, n int); CREATE TYPE deep AS (p pair, n int);
		CREATE TYPE span AS RANGE (SUBTYPE = regclass);
		CREATE TABLE things (r regclass, rs regclass[], d anything, ds anything[], da things_of, p pair, ps pair[], pp deep, s span, f regproc, n regnamespace, a aclitem);
		INSERT INTO things SELECT c, ARRAY[c], c, ARRAY[c]::anything[], ARRAY[c], ROW(c, 1)::pair, ARRAY[ROW(c, 1)::pair], ROW(ROW(c, 1)::pair, 1)::deep, span(c, NULL), 'now'::regproc, 'public'::regnamespace, relacl[1]
			FROM (SELECT 'codes'::regclass AS c, '{postgres=r/postgres}'::aclitem[] AS relacl) c;
		CREATE VIEW shown (r, d, first, name) AS SELECT r, d, rs[1], r::text FROM things WHERE r::text LIKE '%codes' AND d = 'codes'::regclass;
		CREATE MATERIALIZED VIEW stored AS SELECT r, d, s FROM things;
		CREATE TABLE people (id int PRIMARY KEY, name text, age int, code text);
		INSERT INTO people SELECT i, 'qvzcanary ' || i, i % 50, 'code ' || i % 10 FROM generate_series(1, 100) i`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}, code: sensitive}
    constraints: [{k: 3}]
readable: [public.codes, public.things, public.shown, public.stored]
`))
	client, admin := connect(t, s.url()), connect(t, s.admin)
	hidden, shown := scalar[uint32](t, admin, "SELECT 'qvzhidden'::regclass::oid"), scalar[uint32](t, admin, "SELECT 'codes'::regclass::oid")
	for sql, want := range map[string]string{
		"SELECT concat_ws(' ', r, rs, d, ds, da) FROM things":                                       strings.ReplaceAll("N {N} N {N} {N}", "N", strconv.Itoa(int(shown))),
		"SELECT concat_ws(' ', r::regclass, p, s, n::regnamespace) FROM things":                     "codes (public.codes,1) [public.codes,) public",
		"SELECT concat_ws(' ', r::regclass, first = 'codes'::regclass, first = d, name) FROM shown": "codes t t public.codes",
		"SELECT concat_ws(' ', r::regclass, s) FROM stored":                                         "codes [public.codes,)",
		"SELECT count(*)::text FROM things t JOIN pg_class c ON c.oid = t.r AND c.oid = rs[1]":      "1",
		"SELECT string_agg(DISTINCT a, ' ') FROM (SELECT a::text FROM things) AS x (a)":             "postgres=r/postgres",
		"SELECT (row_to_json(t) ->> 'p') || (SELECT count(*) FROM shown WHERE r = d) FROM things t": "(public.codes,1)1",
	} {
		if got := scalar[string](t, client, sql); got != want {
			t.Errorf("%s gives %q, want %q", sql, got, want)
		}
	}
	said := func(sql, about string) string {
		var text strings.Builder
		results, err := client.PgConn().Exec(t.Context(), strings.ReplaceAll(sql, "$V", about)).ReadAll()
		for _, r := range results {
			for _, row := range r.Rows {
				fmt.Fprintf(&text, "%q\n", row)
			}
		}
		return strings.ReplaceAll(fmt.Sprint(text.String(), err), about, "$V")
	}
	answered := 0
	for _, relation := range []string{"things", "shown", "stored"} {
		for _, column := range scalar[[]string](t, client, "SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = '"+relation+"'::regclass") {
			for _, sql := range []string{
				"SELECT CASE WHEN random() < 2 THEN $V ELSE %c END FROM %r", "SELECT coalesce(nullif(%c, %c), $V) FROM %r", "SELECT greatest(%c, $V), least($V, %c) FROM %r",
				"SELECT %c FROM %r UNION ALL SELECT $V", "SELECT $V UNION SELECT %c FROM %r", "SELECT * FROM (VALUES ($V), ((SELECT %c FROM %r))) v", "SELECT %c = $V FROM %r",
				"SELECT ARRAY[%c, $V] FROM %r", "SELECT %c || $V FROM %r", "SELECT array_append(%c, $V), array_replace(%c, $V, $V) FROM %r", "SELECT lead(%c, 1, $V) OVER () FROM %r",
				"SELECT (%c).thing FROM %r", "SELECT CASE WHEN random() < 2 THEN ROW($V, 1) ELSE %c END FROM %r", "SELECT %c FROM %r UNION ALL SELECT ROW(ROW($V, 1), 1)", "SELECT %c = '{$V}' FROM %r",
				"SELECT CASE WHEN random() < 2 THEN '($V,1)' ELSE %c END FROM %r", "SELECT CASE WHEN random() < 2 THEN '[$V,)' ELSE %c END FROM %r", "SELECT CASE WHEN random() < 2 THEN '{$V}' ELSE %c END FROM %r",
				"SELECT CASE WHEN random() < 2 THEN '$V' ELSE %c END FROM %r", "SELECT %c = '$V' FROM %r", "SELECT jsonb_populate_record(t, '{\"%c\": \"$V\"}') FROM %r t", "SELECT json_populate_record(t, '{\"%c\": [\"$V\"]}') FROM %r t", "SELECT '[$V,)'::public.span", "SELECT '($V,1)'::public.pair", "SELECT $V::public.anything", "SELECT '$V=r/$V'::aclitem",
			} {
				sql = strings.NewReplacer("%c", column, "%r", relation).Replace(sql)
				answer := said(sql, fmt.Sprint(hidden))
				if strings.Contains(answer, "qvz") {
					t.Errorf("%s: %s", sql, answer)
				}
				if strings.HasSuffix(answer, "<nil>") {
					answered++
				}
				for _, names := range [][2]string{{"qvzhidden", "qvznothin"}, {"public.qvzhidden", "public.qvznothin"}} {
					if is, not := said(sql, names[0]), said(sql, names[1]); is != not {
						t.Errorf("%s: %s of what is hidden, %s of what is not there", sql, is, not)
					}
				}
			}
		}
	}
	if answered < 50 {
		t.Errorf("only %d statements were answered", answered)
	}
}
