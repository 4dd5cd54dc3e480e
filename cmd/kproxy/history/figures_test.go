package history

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestFiguresAreKept: what is counted of a release is kept until the release or its position is another one.
func TestFiguresAreKept(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, fmt.Sprintf(storedVisits, 10))
	execute := func(sql string) { t.Helper(); pgtest.Execute(t, conn, sql) }
	if known, err := LastFigures(t.Context(), conn); err != nil || len(known) != 0 {
		t.Errorf("before there is a table, %+v, %v", known, err)
	}
	execute(`CREATE TABLE kproxy_store.generation (table_schema text, table_name text, generation bigint, previous bigint, lsn pg_lsn, updates text);
		INSERT INTO kproxy_store.generation VALUES ('public', 'visits', 7, NULL, '0/A', 'guarded'), ('public', 'never', 0, NULL, '0/0', NULL)`)
	if err := createTables(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	p := publishedVisits(catalog.Guarded)
	name := p.Policy.Table
	changed := func(want bool) {
		t.Helper()
		found, err := changedTables(t.Context(), conn)
		if err != nil || found[name] != want || len(found) > 1 {
			t.Errorf("changed are %v, %v", found, err)
		}
	}
	take := func() {
		t.Helper()
		f, err := measureFigures(t.Context(), conn, p)
		if err != nil || f == nil {
			t.Fatalf("the figures are %+v, %v", f, err)
		}
		if err := storeFigures(t.Context(), conn, name, *f); err != nil {
			t.Fatal(err)
		}
	}
	changed(true)
	take()
	changed(false)
	known, err := LastFigures(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	got := known[name]
	if want := (Counts{Records: 5, Withheld: 1, Rows: 4, Classes: 2}); got.Counts != want || got.Generation != 7 || got.Position != "0/A" || got.At.IsZero() ||
		!reflect.DeepEqual(got.Sizes, [][]Size{{{Rows: 2, Classes: 2}}}) || got.Losses == nil || got.Losses.Columns["day"] == 0 {
		t.Errorf("the figures are %+v", got)
	}
	for _, change := range []string{"lsn = '0/B'", "previous = 6", "generation = 8"} {
		execute("UPDATE kproxy_store.generation SET previous = NULL, lsn = '0/A', generation = 7 WHERE table_name = 'visits'")
		changed(false)
		execute("UPDATE kproxy_store.generation SET " + change + " WHERE table_name = 'visits'")
		changed(true)
	}
	if _, err := measureFigures(t.Context(), conn, p); err == nil {
		t.Error("a release that is not there is counted")
	}
}
