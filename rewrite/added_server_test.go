package rewrite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// strangers are overloads in pg_catalog that raise an error when they are called.
const strangers = `
	CREATE FUNCTION public.ran(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE ''a stranger ran''; END';
	CREATE FUNCTION public.ran(text, text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE ''a stranger ran''; END';
	CREATE FUNCTION public.differs(json, json) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE ''a stranger ran''; END';
	CREATE FUNCTION pg_catalog.abs(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT public.ran($1)';
	CREATE FUNCTION pg_catalog.jsonpath(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT public.ran($1)';
	CREATE AGGREGATE pg_catalog.avg(text) (sfunc = public.ran, stype = text, initcond = '');
	CREATE FUNCTION information_schema._pg_expandarray(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT public.ran($1)';
	CREATE OPERATOR pg_catalog.- (leftarg = text, rightarg = text, function = public.ran);
	CREATE OPERATOR pg_catalog.@ (rightarg = text, function = public.ran);
	CREATE OPERATOR pg_catalog.~~ (leftarg = json, rightarg = json, function = public.differs);
	CREATE OPERATOR pg_catalog.= (leftarg = json, rightarg = json, function = public.differs);
	CREATE OPERATOR pg_catalog.<> (leftarg = json, rightarg = json, function = public.differs);
	CREATE OPERATOR pg_catalog.>= (leftarg = json, rightarg = json, function = public.differs);
	CREATE OPERATOR pg_catalog.<= (leftarg = json, rightarg = json, function = public.differs);
	CREATE OPERATOR pg_catalog.< (leftarg = json, rightarg = json, function = public.differs);
	CREATE OPERATOR pg_catalog.> (leftarg = json, rightarg = json, function = public.differs)`

// strangerForms call one of them each.
var strangerForms = []string{
	"SELECT abs('a'::text)", "SELECT pg_catalog.abs('a'::text)", "SELECT ('a'::text).abs", "SELECT x.abs FROM unnest(ARRAY['a'::text]) x",
	"SELECT (x).abs FROM (SELECT 'a'::text) y(x)", "SELECT * FROM abs('a'::text)", "SELECT 1 ORDER BY abs('a'::text)", "SELECT ('a'::text).jsonpath",
	"SELECT x.jsonpath FROM unnest(ARRAY['a'::text]) x",
	"SELECT avg(x) FROM (VALUES ('a'::text)) v(x)", "SELECT avg(x) OVER () FROM (VALUES ('a'::text)) v(x)", "SELECT (x).avg FROM (VALUES ('a'::text)) v(x)",
	"SELECT information_schema._pg_expandarray('a'::text)",
	"SELECT 'a'::text - 'b'::text", "SELECT 'a'::text OPERATOR(pg_catalog.-) 'b'::text", "SELECT @ 'a'::text",
	"SELECT '1'::json LIKE '1'::json", "SELECT '1'::json = '1'::json", "SELECT '1'::json IN ('1'::json, '2'::json)",
	"SELECT '1'::json NOT IN ('1'::json, '2'::json)", "SELECT '1'::json = ANY (ARRAY['1'::json])", "SELECT '1'::json = ANY (SELECT '1'::json)",
	"SELECT '1'::json IN (SELECT '1'::json)", "SELECT '1'::json <> ALL (SELECT '1'::json)", "SELECT '1'::json NOT IN (SELECT '1'::json)",
	"SELECT '1'::json BETWEEN '1'::json AND '2'::json", "SELECT '1'::json NOT BETWEEN '1'::json AND '2'::json",
	"SELECT '1'::json BETWEEN SYMMETRIC '1'::json AND '2'::json", "SELECT '1'::json NOT BETWEEN SYMMETRIC '1'::json AND '2'::json",
	"SELECT '1'::json IS DISTINCT FROM '1'::json", "SELECT '1'::json IS NOT DISTINCT FROM '1'::json", "SELECT NULLIF('1'::json, '2'::json)",
	"SELECT CASE '1'::json WHEN '1'::json THEN 1 END", "SELECT 1 FROM (SELECT '1'::json AS a) x JOIN (SELECT '1'::json AS a) y USING (a)",
	"SELECT 1 FROM (SELECT '1'::json AS a) x NATURAL JOIN (SELECT '1'::json AS a) y",
}

// TestStrangersAreNotCalled runs what calls functions and operators in pg_catalog that
// initdb did not make: once their names are known it is refused, and before it does run,
// so that the forms are right.
func TestStrangersAreNotCalled(t *testing.T) {
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	if result, err := conn.Exec(t.Context(), strangers).ReadAll(); err != nil {
		t.Fatalf("%v: %v", result, err)
	}
	names := clinicNames
	names.Added = catalog.Added{
		Functions: words("abs avg jsonpath _pg_expandarray"), Operators: words("- @ ~~ = <> >= <= < >"),
	}
	before, after := clinicRewriter(), New(Options{})
	after.SetSnapshot(clinic().WithNames(names))
	for _, sql := range strangerForms {
		text, err := before.text(sql)
		if err == nil {
			_, err = conn.Exec(t.Context(), text).ReadAll()
			if err == nil || !strings.Contains(err.Error(), "a stranger ran") {
				t.Errorf("%s calls none: %v", sql, err)
			}
		} else if !strings.Contains(sql, ".") {
			t.Errorf("%s is refused in any case: %v", sql, err)
		}
		refusal := (*Refusal)(nil)
		if text, err := after.text(sql); !errors.As(err, &refusal) {
			t.Errorf("passes: %s\n%s", sql, text)
		} else if refusal.SQLState() != statePrivilege && refusal.SQLState() != stateUndefinedColumn {
			t.Errorf("%s: %s %v", sql, refusal.SQLState(), err)
		}
	}
	for _, sql := range []string{
		"SELECT lower('a'), 1 + 2, 'a' ~ 'b'", "SELECT sum(1)", "SELECT CASE WHEN true THEN 1 END", "SELECT 1 FROM wards a, wards b",
		"SELECT '{}'::jsonb", "SELECT x.abs FROM (SELECT 1 AS abs) x", "SET datestyle = 'ISO'",
	} {
		if _, err := after.text(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestTypesBesidePostgreSQLsAreRefused(t *testing.T) {
	t.Parallel()
	r, names := New(Options{}), clinicNames
	names.Added = catalog.Added{Types: words("datemultirange")}
	r.SetSnapshot(clinic().WithNames(names))
	for _, sql := range []string{
		"SELECT '{}'::datemultirange", "SELECT '{}'::datemultirange[]", "SELECT '{}'::_datemultirange", "SELECT pg_catalog.datemultirange '{}'",
		"SELECT (x).datemultirange FROM (SELECT '{}'::text) y(x)",
	} {
		if text, err := r.text(sql); err == nil {
			t.Errorf("passes: %s\n%s", sql, text)
		}
	}
}

// TestNothingIsComputedBesideImplicitStrangers has a cast that any statement may use.
func TestNothingIsComputedBesideImplicitStrangers(t *testing.T) {
	t.Parallel()
	r, names := New(Options{}), clinicNames
	names.Added = catalog.Added{Implicit: "cast (text AS integer)"}
	r.SetSnapshot(clinic().WithNames(names))
	for _, sql := range []string{"SELECT 1", "TABLE wards", "EXPLAIN SELECT 1", "COPY (SELECT 1) TO STDOUT", "PREPARE p AS SELECT 1", "DECLARE c CURSOR FOR SELECT 1", "VALUES (1)", "EXECUTE p", "FETCH c"} {
		_, err := r.text(sql)
		refusal := (*Refusal)(nil)
		if !errors.As(err, &refusal) || refusal.SQLState() != stateNotPublished || refusal.hint == "" || strings.Contains(fmt.Sprint(err, refusal.hint), "integer") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{"BEGIN", "ROLLBACK", "SET datestyle = 'ISO'", "SHOW datestyle", "DEALLOCATE ALL", "RESET ALL", "DISCARD ALL"} {
		if _, err := r.text(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
