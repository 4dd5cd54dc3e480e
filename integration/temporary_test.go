package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestTemporaryTables has sessions make temporary tables, as BI tools do.
func TestTemporaryTables(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(placedSchema, placedTables+"temporary_tables: allow\n"))
	got := psql(t, s.url(),
		"CREATE TEMPORARY TABLE kept AS SELECT place, count(*) AS n FROM people GROUP BY place;",
		"INSERT INTO kept SELECT 'west', count(*) FROM west.people;", "UPDATE kept SET n = n + 1 WHERE place = 'west';",
		"CREATE INDEX ON kept (n);", "ANALYZE kept;", "SELECT string_agg(place || n, ' ' ORDER BY n) FROM kept;",
		"SELECT relname FROM pg_class WHERE relname LIKE 'kept%' AND pg_table_is_visible(oid) ORDER BY 1;",
		"CREATE TEMP TABLE people (place text);", "INSERT INTO people VALUES ('temporary');", place+";",
		"SET search_path = west, pg_temp;", place+";", "SELECT * FROM pg_temp.people;", "RESET search_path;",
		"BEGIN;", "DROP TABLE people;", place+";", "ROLLBACK;", place+";",
		"BEGIN;", "SELECT place INTO TEMP gone FROM people;", "ROLLBACK;", "DROP TABLE IF EXISTS gone;",
		"DISCARD TEMP;", place+";", "DROP TABLE IF EXISTS kept;").must(t).stdout
	want := "SELECT 1 INSERT 0 1 UPDATE 1 CREATE INDEX ANALYZE public30 west31 kept kept_n_idx CREATE TABLE INSERT 0 1 temporary " +
		"SET west temporary RESET BEGIN DROP TABLE public ROLLBACK temporary BEGIN SELECT 1 ROLLBACK DROP TABLE DISCARD TEMP public DROP TABLE"
	// psql may be told to be quiet about tags.
	answers := strings.Join(strings.Fields(got), " ")
	quiet := "public30 west31 kept kept_n_idx temporary west temporary public temporary public"
	if answers != want && answers != quiet {
		t.Errorf("psql was answered %q", answers)
	}
	maker, other := connect(t, s.url()), connect(t, s.url())
	for _, sql := range []string{"CREATE TEMP TABLE mine (a int PRIMARY KEY)", "INSERT INTO mine VALUES (1)", "SELECT a FROM mine"} {
		if _, err := maker.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for sql, state := range map[string]string{
		"SELECT * FROM mine": "42P01", "DROP TABLE mine": "42P01", "INSERT INTO people VALUES (1)": "42501", "CREATE TABLE t (a int)": "42501",
		"DROP TABLE people": "42501", "CREATE TABLE public.t AS SELECT 1": "42501", "DELETE FROM west.rivers": "42501",
	} {
		_, err := other.Exec(t.Context(), sql)
		var failure *pgconn.PgError
		if !errors.As(err, &failure) || failure.Code != state {
			t.Errorf("another session, %s: %v; want %s", sql, err, state)
		}
	}
	var seen int
	err := other.QueryRow(t.Context(), "SELECT count(*) FROM pg_class WHERE relname LIKE 'mine%'").Scan(&seen)
	if err != nil || seen != 0 {
		t.Errorf("another session sees %d relations of the table, %v", seen, err)
	}
}
