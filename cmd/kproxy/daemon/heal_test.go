package daemon

import (
	"context"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestShapes: whatever a release depends on shows in a table's shape, in that of no other
// table, and no more when it is taken back. Rows and comments do not show.
func TestShapes(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(sql, err)
		}
	}
	run(`CREATE TABLE visits (id int PRIMARY KEY, name text, diag text NOT NULL, note varchar(9)); CREATE TABLE others (id int PRIMARY KEY);
		CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.visits (a int)`)
	const reader = "shapes_reader"
	run("CREATE ROLE " + reader + "; GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + reader)
	defer run("DROP OWNED BY " + reader + "; DROP ROLE " + reader)
	visits, others, gone := catalog.Name{Schema: "public", Relation: "visits"}, catalog.Name{Schema: "public", Relation: "others"}, catalog.Name{Schema: "public", Relation: "gone"}
	look := func() shapes {
		t.Helper()
		run("SET ROLE " + reader)
		defer run("RESET ROLE")
		found, err := readShapes(t.Context(), conn, []catalog.Name{visits, others, gone})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	const swap = "ALTER TABLE visits RENAME name TO x; ALTER TABLE visits RENAME diag TO name; ALTER TABLE visits RENAME x TO diag"
	first := look()
	if len(first) != 3 || first[visits] == "" || first[others] == "" || first[gone] != "" {
		t.Fatalf("the shapes are %q", first)
	}
	for _, c := range []struct {
		what, do, undo string
		same           bool
	}{
		{"swapped", swap, swap, false},
		{"renamed column", "ALTER TABLE visits RENAME note TO remark", "ALTER TABLE visits RENAME remark TO note", false},
		{"renamed table", "ALTER TABLE visits RENAME TO away", "ALTER TABLE away RENAME TO visits", false},
		{"longer values", "ALTER TABLE visits ALTER note TYPE varchar(10)", "ALTER TABLE visits ALTER note TYPE varchar(9)", false},
		{"another type", "ALTER TABLE visits ALTER note TYPE int USING 1", "ALTER TABLE visits ALTER note TYPE varchar(9)", false},
		{"another collation", `ALTER TABLE visits ALTER name TYPE text COLLATE "C"`, `ALTER TABLE visits ALTER name TYPE text COLLATE "default"`, false},
		{"optional", "ALTER TABLE visits ALTER diag DROP NOT NULL", "ALTER TABLE visits ALTER diag SET NOT NULL", false},
		{"one column more", "ALTER TABLE visits ADD more int", "ALTER TABLE visits DROP more", false},
		{"another identity", "CREATE UNIQUE INDEX by_diag ON visits (diag); ALTER TABLE visits REPLICA IDENTITY USING INDEX by_diag", "DROP INDEX by_diag", false},
		{"row security", "ALTER TABLE visits ENABLE ROW LEVEL SECURITY", "ALTER TABLE visits DISABLE ROW LEVEL SECURITY", false},
		{"unlogged", "ALTER TABLE visits SET UNLOGGED", "ALTER TABLE visits SET LOGGED", false},
		{"not readable", "REVOKE SELECT ON visits FROM " + reader, "GRANT SELECT ON visits TO " + reader, false},
		{"rows", "INSERT INTO visits VALUES (1, 'a', 'b', 'c')", "DELETE FROM visits", true},
		{"comment", "COMMENT ON COLUMN visits.diag IS 'words'", "COMMENT ON COLUMN visits.diag IS NULL", true},
		{"another table", "ALTER TABLE elsewhere.visits ADD b int", "ALTER TABLE elsewhere.visits DROP b", true},
	} {
		run(c.do)
		during := look()
		if during[others] != first[others] || (during[visits] == first[visits]) != c.same {
			t.Errorf("%s: the shapes are %q, and were %q", c.what, during, first)
		}
		run(c.undo)
		if after := look(); !maps.Equal(after, first) {
			t.Errorf("%s and taken back: the shapes are %q, and were %q", c.what, after, first)
		}
	}
	run("DROP TABLE visits; CREATE TABLE visits (id int PRIMARY KEY, name text, diag text NOT NULL, note varchar(9))")
	if look()[visits] == first[visits] {
		t.Error("another table in its place has its shape")
	}
}

// TestShapesTakeTooLong: a look that the server ends is an error, not a look at fewer tables.
func TestShapesTakeTooLong(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t))+"&statement_timeout=1ms")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if found, err := readShapes(t.Context(), conn, make([]catalog.Name, 100_000)); err == nil {
		t.Errorf("%d shapes were read within a millisecond", len(found))
	}
}

// TestChangedWhileHalted: an audit is due for a table that no audit has seen as it is, and
// for no other.
func TestChangedWhileHalted(t *testing.T) {
	t.Parallel()
	a, b := catalog.Name{Schema: "public", Relation: "a"}, catalog.Name{Schema: "public", Relation: "b"}
	u := newUnserved()
	for i, c := range []struct {
		found shapes
		due   bool
	}{
		{shapes{a: "swapped"}, true}, // it was halted just now
		{shapes{a: "swapped"}, false},
		{nil, false}, // the server did not answer
		{shapes{a: "swapped"}, false},
		{shapes{a: "right"}, true},
		{shapes{a: "right"}, false},
		{shapes{a: "right", b: ""}, true},
		{shapes{a: "right", b: ""}, false},
		{shapes{a: "right", b: "back"}, true},
		{shapes{b: "back"}, false}, // a has healed
		{shapes{a: "right", b: "back"}, true},
	} {
		u.looking = true
		if due := u.takeIn(c.found); due != c.due || u.looking {
			t.Errorf("look %d at %v: an audit is due: %t, want %t; one is under way: %t", i, c.found, due, c.due, u.looking)
		}
	}
}
