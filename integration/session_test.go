package integration

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Tables of one name in several schemas; each row tells where it is.
const (
	placedSchema = `
CREATE SCHEMA west;
CREATE SCHEMA "Far East";
CREATE TABLE people (id int PRIMARY KEY, age int, place text);
CREATE TABLE west.people (LIKE people INCLUDING ALL);
CREATE TABLE "Far East".people (LIKE people INCLUDING ALL);
CREATE TABLE west.rivers (name text);
INSERT INTO people SELECT i, i % 7, 'public' FROM generate_series(1, 30) i;
INSERT INTO west.people SELECT i, i % 7, 'west' FROM generate_series(1, 30) i;
INSERT INTO "Far East".people SELECT i, i % 7, 'east' FROM generate_series(1, 30) i;
INSERT INTO west.rivers VALUES ('west');`

	placedPolicy = `
    updates: immediate
    constraints: [{k: 3}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      place: insensitive
`
	placedTables = "tables:\n  public.people:" + placedPolicy + "  west.people:" + placedPolicy + "  'Far East.people':" + placedPolicy +
		"readable: [west.rivers]\n"

	// place tells where people is.
	place = "SELECT min(place) FROM people"
)

// TestSession follows sessions through everything that changes what a name means.
func TestSession(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(placedSchema, placedTables))
	for name, test := range map[string]func(*testing.T, *site){
		"psql":             testPathInPsql,
		"execution modes":  testPathInModes,
		"startup":          testPathAtStartup,
		"side by side":     testSideBySide,
		"pipeline":         testPathInPipeline,
		"batch":            testPathInBatch,
		"carets":           testCarets,
		"positions":        testPositions,
		"plans":            testPlansInFormats,
		"like PostgreSQL":  testLikePostgreSQL,
		"random pipelines": testRandomPipelines,
		"plans by names":   testPlansByNames,
		"effects by names": testEffectsByNames,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

func testPathInPsql(t *testing.T, s *site) {
	got := psql(t, s.url(),
		place+";",
		"SET search_path = west, public;", place+";", "SHOW search_path;",
		"BEGIN;", `SET search_path = "Far East";`, place+";", "SAVEPOINT a;", "SET LOCAL search_path TO public;", place+";",
		"ROLLBACK TO a;", place+";", "ROLLBACK;", place+";",
		"BEGIN;", "SET LOCAL search_path TO public;", "COMMIT;", place+";",
		"RESET search_path;", place+";",
		"SET search_path = west; SELECT * FROM rivers;",
		`SET search_path = "Far East"\; `+place+`\; SET search_path = west\; `+place+";",
		"DISCARD ALL;", place+";").must(t).stdout
	want := "public west | west, public | east public | east west | west | public west | east west | public"
	if got := strings.Join(strings.Fields(got), " "); got != strings.Join(strings.Fields(strings.ReplaceAll(want, "|", "")), " ") {
		t.Errorf("psql was answered %q", got)
	}
}

func testPathInModes(t *testing.T, s *site) {
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		conn := connect(t, s.url())
		for _, step := range []struct{ sql, want string }{
			{"SET search_path TO west", "west"},
			{"BEGIN", "west"},
			{`SET search_path TO "Far East"`, "east"},
			{"ROLLBACK", "west"},
			{"SET search_path TO public", "public"},
		} {
			if _, err := conn.Exec(t.Context(), step.sql, mode); err != nil {
				t.Fatal(err)
			}
			var got string
			// The same text each time, which is prepared once.
			err := conn.QueryRow(t.Context(), place, mode).Scan(&got)
			if err != nil || got != step.want {
				t.Errorf("%v, after %s: %q, %v; want %q", mode, step.sql, got, err, step.want)
			}
		}
	}
}

func testPathAtStartup(t *testing.T, s *site) {
	for parameters, want := range map[string]string{
		"search_path=west":                            "west",
		"options=-csearch_path%3Dwest%2Cpublic":       "west",
		"options=--search-path%3D%22Far%5C%20East%22": "east",
		"search_path=nowhere%2Cpublic":                "public",
	} {
		conn := connect(t, s.url(parameters))
		if got := scalar[string](t, conn, place); got != want {
			t.Errorf("%s: %q, want %q", parameters, got, want)
		}
		// RESET leads back to it.
		execute(t, conn, "SET search_path = public")
		execute(t, conn, "RESET search_path")
		if got := scalar[string](t, conn, place+" /* again */"); got != want {
			t.Errorf("%s, after RESET: %q, want %q", parameters, got, want)
		}
	}
	_, err := pgx.Connect(t.Context(), s.url("search_path=a%2C%2Cb"))
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Severity != "FATAL" || refused.Message == "" {
		t.Errorf("an invalid path: %v", err)
	}
}

// testSideBySide lets two sessions take turns with the same texts.
func testSideBySide(t *testing.T, s *site) {
	one, two := connect(t, s.url()), connect(t, s.url("search_path=west"))
	for range 3 {
		for _, c := range []struct {
			conn *pgx.Conn
			sql  string
			want string
		}{
			{one, "SELECT 1", "public"},
			{two, "SELECT 1", "west"},
			{one, `SET search_path TO "Far East"`, "east"},
			{two, "SELECT 1", "west"},
			{two, "BEGIN; SET LOCAL search_path TO public", "public"},
			{one, "RESET search_path", "public"},
			{two, "COMMIT", "west"},
			{one, "SELECT 1", "public"},
		} {
			if _, err := c.conn.PgConn().Exec(t.Context(), c.sql).ReadAll(); err != nil {
				t.Fatal(err)
			}
			rows, err := queryTexts(t, c.conn, place)
			if err != nil || len(rows) != 1 || rows[0] != fmt.Sprintf("%q", c.want) {
				t.Errorf("after %s: %q, %v; want %q", c.sql, rows, err, c.want)
			}
		}
	}
}

// testPathInPipeline sends everything before it reads anything.
func testPathInPipeline(t *testing.T, s *site) {
	conn := connect(t, s.url()).PgConn()
	pipeline := conn.StartPipeline(context.Background())
	send := func(sql string) { pipeline.SendQueryParams(sql, nil, nil, nil, nil) }
	send("SET search_path TO west")
	send(place)
	if err := pipeline.Sync(); err != nil {
		t.Fatal(err)
	}
	send(`SET search_path TO "Far East"`)
	send(place)
	send("SELECT 1 / 0")
	send(place) // skipped
	if err := pipeline.Sync(); err != nil {
		t.Fatal(err)
	}
	send(place)
	send("BEGIN")
	send("SET LOCAL search_path TO public")
	if err := pipeline.Sync(); err != nil {
		t.Fatal(err)
	}
	send(place)
	send("COMMIT")
	send(place)
	if err := pipeline.Sync(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for synced := 0; synced < 4; {
		result, err := pipeline.GetResults()
		var failed *pgconn.PgError
		switch {
		case errors.As(err, &failed):
			got = append(got, failed.Code)
		case err != nil:
			t.Fatal(err)
		}
		switch result := result.(type) {
		case *pgconn.ResultReader:
			if all := result.Read(); len(all.Rows) > 0 {
				got = append(got, string(all.Rows[0][0]))
			} else if errors.As(all.Err, &failed) {
				got = append(got, failed.Code)
			}
		case *pgconn.PipelineSync:
			got = append(got, "|")
			synced++
		}
	}
	if err := pipeline.Close(); err != nil {
		t.Error(err)
	}
	if want := "west | east 22012 | west | public west |"; strings.Join(got, " ") != want {
		t.Errorf("the pipeline was answered %q, want %q", got, want)
	}
}

func testPathInBatch(t *testing.T, s *site) {
	conn := connect(t, s.url("default_query_exec_mode=exec"))
	batch := &pgx.Batch{}
	for _, sql := range []string{"SET search_path TO west", place, `SET search_path TO "Far East"`, place} {
		batch.Queue(sql)
	}
	results := conn.SendBatch(t.Context(), batch)
	for _, want := range []string{"", "west", "", "east"} {
		if want == "" {
			if _, err := results.Exec(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var got string
		if err := results.QueryRow().Scan(&got); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if err := results.Close(); err != nil {
		t.Error(err)
	}
}

// testCarets has psql point into the client's own text.
func testCarets(t *testing.T, s *site) {
	for sql, want := range map[string]string{
		"SELECT p.place, p.name FROM people p":             "LINE 1: SELECT p.place, p.name FROM people p\n                        ^",
		"SELECT 'grüße', nope(place) FROM people":          "LINE 1: SELECT 'grüße', nope(place) FROM people\n                        ^",
		"SELECT place\nFROM people\nWHERE place = nowhere": "LINE 3: WHERE place = nowhere\n                      ^",
		"SELECT age + 1 FROM west.people":                  "LINE 1: SELECT age + 1 FROM west.people\n                   ^",
		"SELECT 1 FROM people, people":                     "",
		"SELECT place FROM people GROUP BY age":            "LINE 1: SELECT place FROM people GROUP BY age\n               ^",
		"SELECT * FROM nowhere":                            "LINE 1: SELECT * FROM nowhere\n                      ^",
		"SELEC 1":                                          "LINE 1: SELEC 1\n        ^",
	} {
		o := run(t, "", nil, "psql", "-X", "-q", "-A", "-t", "-c", sql, s.url())
		if !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "ERROR") || strings.Contains(o.stderr, "kproxy_") {
			t.Errorf("%s:\n%swant\n%s", sql, o.stderr, want)
		}
	}
}

// testPositions compares the positions of errors with those that the text begins with,
// in the simple and the extended protocol and behind other statements.
func testPositions(t *testing.T, s *site) {
	conn := connect(t, s.url())
	execute(t, conn, "SET search_path TO west")
	for _, marked := range []string{
		"SELECT ^nope FROM people",
		"SELECT 'äöü', p.place, ^p.nope FROM people AS p",
		"SELECT place FROM people WHERE age ^= 1",
		"SELECT 1; SELECT 2; SELECT ^nope FROM people",
	} {
		before, after, _ := strings.Cut(marked, "^")
		sql, at := before+after, utf8.RuneCountInString(before)+1
		modes := []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol}
		if !strings.Contains(sql, ";") {
			modes = append(modes, pgx.QueryExecModeExec, pgx.QueryExecModeDescribeExec)
		}
		for _, mode := range modes {
			_, err := conn.Exec(t.Context(), sql, mode)
			var failed *pgconn.PgError
			if !errors.As(err, &failed) || failed.Position != int32(at) {
				t.Errorf("%v, %s: %v at %d, want position %d", mode, sql, err, failed.Position, at)
			}
		}
	}
}

// inside are names that only kproxy knows, and estimates of tables that it keeps.
var inside = regexp.MustCompile(`kproxy|release_|packed|records_[0-9]`)

func testPlansInFormats(t *testing.T, s *site) {
	conn := connect(t, s.url())
	for _, format := range []string{"text", "json", "xml", "yaml"} {
		for _, sql := range []string{
			"EXPLAIN (FORMAT " + format + ") " + place,
			"EXPLAIN (ANALYZE, TIMING off, FORMAT " + format + ") SELECT p.place, count(*) FROM west.people p JOIN people USING (place) GROUP BY 1",
		} {
			for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec, pgx.QueryExecModeCacheStatement} {
				for _, result := range []int16{0, 1} {
					rows, err := conn.Query(t.Context(), sql, mode, pgx.QueryResultFormats{result})
					if err != nil {
						t.Fatal(err)
					}
					var plan strings.Builder
					for rows.Next() {
						plan.Write(rows.RawValues()[0])
						plan.WriteByte('\n')
					}
					if found := inside.FindString(plan.String()); found != "" || rows.Err() != nil || !strings.Contains(plan.String(), "people") {
						t.Errorf("%s, %v, %d: %q, %v in\n%s", sql, mode, result, found, rows.Err(), plan.String())
					}
				}
			}
		}
	}
}
