package provision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

func named(schema string, relations ...string) []catalog.Name {
	names := make([]catalog.Name, len(relations))
	for i, relation := range relations {
		names[i] = catalog.Name{Schema: schema, Relation: relation}
	}
	return names
}

// warned connects as the administrator anew and keeps the warnings, with their hints.
func warned(t *testing.T, admin *pgx.Conn) (*pgx.Conn, *[]string) {
	t.Helper()
	var warnings []string
	config := admin.Config().Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			warnings = append(warnings, n.Message+" / "+n.Hint)
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn, &warnings
}

// TestSetupNeverGrantsRawRows lists every kind of relation that shows rows of protected
// tables, and some that do not. Each has been granted by hand before.
func TestSetupNeverGrantsRawRows(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	execute(t, admin, `CREATE SCHEMA s;
		CREATE TABLE s.parent (id bigint PRIMARY KEY); CREATE TABLE s.person (name text, PRIMARY KEY (id)) INHERITS (s.parent);
		CREATE TABLE s.child () INHERITS (s.person); CREATE TABLE s.sibling () INHERITS (s.parent);
		CREATE TABLE s.root (id int NOT NULL) PARTITION BY RANGE (id);
		CREATE TABLE s.part PARTITION OF s.root FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
		CREATE TABLE s.leaf PARTITION OF s.part FOR VALUES FROM (0) TO (5); ALTER TABLE s.leaf REPLICA IDENTITY FULL;
		CREATE EXTENSION postgres_fdw; CREATE SERVER away FOREIGN DATA WRAPPER postgres_fdw;
		CREATE FOREIGN TABLE s.far PARTITION OF s.root FOR VALUES FROM (20) TO (30) SERVER away;
		CREATE MATERIALIZED VIEW s.copy AS SELECT * FROM patients;
		CREATE VIEW s.view AS SELECT age FROM patients; CREATE MATERIALIZED VIEW s.copy2 AS SELECT * FROM s.view;
		CREATE MATERIALIZED VIEW s.copy3 AS SELECT * FROM s.copy2; CREATE VIEW s.over AS SELECT * FROM s.copy3;
		CREATE MATERIALIZED VIEW s.copy4 AS SELECT * FROM s.leaf;
		CREATE FUNCTION s.ages() RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT age FROM public.patients';
		CREATE VIEW s.called AS SELECT * FROM s.ages(); CREATE VIEW s.called2 AS SELECT * FROM s.called;
		CREATE MATERIALIZED VIEW s.filled AS SELECT * FROM s.ages();
		CREATE VIEW s.beds AS SELECT beds FROM wards; CREATE MATERIALIZED VIEW s.bedcopy AS SELECT * FROM s.beds`)
	in.Policy.Tables = append(in.Policy.Tables, catalog.TablePolicy{Table: named("s", "person")[0]}, catalog.TablePolicy{Table: named("s", "root")[0]})
	raw := named("s", "parent", "child", "part", "leaf", "far", "copy", "copy2", "copy3", "copy4", "called", "called2", "filled")
	views := named("s", "view", "over")
	open := named("s", "sibling", "beds", "bedcopy")
	in.Policy.Readable = slices.Concat(in.Policy.Readable, raw, views, open)
	granted := func() string {
		return text(t, admin, `SELECT string_agg(c.oid::regclass::text || CASE WHEN has_any_column_privilege('`+in.Reader.Name+`', c.oid, 'SELECT') THEN ' (reads)' ELSE '' END, ' ' ORDER BY relname) FROM pg_class c
			WHERE relnamespace = 's'::regnamespace AND has_any_column_privilege('`+in.Reader.Name+`', c.oid, 'SELECT, REFERENCES')`)
	}
	want := "s.bedcopy s.beds s.sibling"
	conn, warnings := warned(t, admin)
	apply(t, conn, in)
	if got := granted(); got != want {
		t.Errorf("the reader reads %s, want %s", got, want)
	}
	for _, name := range raw {
		if !slices.ContainsFunc(*warnings, func(w string) bool {
			return strings.Contains(w, name.String()+": ") && !strings.HasSuffix(w, "/ ")
		}) {
			t.Errorf("no warning about %s in %q", name, *warnings)
		}
	}
	// What earlier versions granted is taken away, by the printed script, too.
	for _, again := range []func(){func() { apply(t, admin, in) }, func() { runPrinted(t, admin, in) }} {
		execute(t, admin, `GRANT SELECT (id) ON s.child TO "`+in.Reader.Name+`"; GRANT SELECT ON ALL TABLES IN SCHEMA s TO "`+in.Reader.Name+`"`)
		again()
		if got := granted(); got != want {
			t.Errorf("after grants by hand, the reader reads %s, want %s", got, want)
		}
	}
	// What is not listed any more is not marked any more.
	in.Policy.Readable = slices.DeleteFunc(in.Policy.Readable, func(name catalog.Name) bool { return name.Relation == "bedcopy" })
	apply(t, admin, in)
	if got := granted(); got != "s.beds s.sibling" {
		t.Errorf("with one taken off the list, the reader reads %s", got)
	}
	in.Policy.Readable = nil
	apply(t, admin, in)
	if got := text(t, admin, "SELECT count(*)::text FROM pg_class WHERE relnamespace IN ('s'::regnamespace, 'public'::regnamespace) AND has_table_privilege('"+in.Reader.Name+"', oid, 'REFERENCES')"); got != "0" {
		t.Errorf("with nothing listed, the reader has REFERENCES on %s relations", got)
	}
}

// TestSetupGrantsWhatThereIs: a name that is not there keeps nothing else from being
// granted.
func TestSetupGrantsWhatThereIs(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	execute(t, admin, `CREATE SCHEMA calls; CREATE TABLE calls.codes (code text); CREATE SEQUENCE calls.numbers;
		CREATE FUNCTION calls.good(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
		CREATE FUNCTION calls.good(text) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1';
		CREATE AGGREGATE calls.total(int) (SFUNC = int4pl, STYPE = int);
		CREATE FUNCTION calls.reads() RETURNS text LANGUAGE sql STABLE AS 'SELECT max(code) FROM calls.codes';
		CREATE VIEW calls.inner AS SELECT calls.reads() AS code; CREATE VIEW calls.outer AS SELECT code FROM calls.inner; CREATE MATERIALIZED VIEW calls.filled AS SELECT code FROM calls.outer;
		CREATE FUNCTION calls.definer() RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT 1';
		REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA calls FROM PUBLIC`)
	in.Policy.Readable = slices.Concat(named("none", "a"), named("calls", "numbers", "gone"), in.Policy.Readable, named("calls", "codes", "outer", "filled"))
	in.Policy.Functions = slices.Concat(named("none", "f"), named("calls", "gone", "definer", "total", "good"))
	conn, warnings := warned(t, admin)
	for range 2 {
		*warnings = nil
		apply(t, conn, in)
		var about []string
		for _, w := range *warnings {
			about = append(about, strings.SplitN(w, ": ", 2)[0])
		}
		slices.Sort(about)
		want := "function calls.definer(), function calls.gone, function none.f, readable calls.filled, readable calls.gone, readable calls.numbers, readable none.a"
		if got := strings.Join(about, ", "); got != want {
			t.Errorf("warnings about %s, want %s", got, want)
		}
	}
	reader := login(t, admin, in.Reader)
	for _, sql := range []string{"SELECT (1 / has_table_privilege('calls.codes', 'REFERENCES')::int)::text", "SELECT calls.good(1)::text", "SELECT calls.good('a')", "SELECT calls.total(1)::text"} {
		text(t, reader, sql)
	}
	if text(t, reader, "SELECT has_table_privilege('calls.outer', 'REFERENCES')::text || has_table_privilege('calls.filled', 'REFERENCES')") != "truefalse" {
		t.Error("a materialized view that a function fills is granted, or a view over that is not")
	}
	if _, err := reader.Exec(t.Context(), "SELECT calls.definer()"); err == nil {
		t.Error("the reader may call what runs with its owner's rights")
	}
}
