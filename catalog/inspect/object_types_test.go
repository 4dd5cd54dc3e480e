package inspect_test

import (
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// TestObjectTypes finds names of objects at any depth of types, and says in which type readers
// get them. Protected tables cannot publish them, and clients cannot name such types.
func TestObjectTypes(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, `CREATE DOMAIN thing AS regclass; CREATE DOMAIN anything AS thing; CREATE DOMAIN many AS thing[]; CREATE DOMAIN right_of AS aclitem;
		CREATE TYPE pair AS (thing anything, n int); CREATE TYPE plain AS (a int, b text[]); CREATE TYPE deep AS (p pair[]);
		CREATE TYPE span AS RANGE (SUBTYPE = regclass); CREATE TYPE mood AS ENUM ('calm');
		CREATE TABLE things (id int PRIMARY KEY, name text, list int[], p plain, m mood, r int4range, x xml,
			c regclass, cs regclass[], y regtype, d thing, e anything, ds anything[], dm many, dms many[],
			a aclitem, ra right_of, "as" aclitem[], o pair, os pair[], oo deep, s span, row pg_class);
		CREATE TABLE rows (id int PRIMARY KEY, t things); CREATE TABLE objects (c regclass);
		DO $$ BEGIN IF current_setting('server_version_num')::int >= 140000 THEN ALTER TABLE things ADD ms span_multirange; END IF; END $$`)
	things, rows := public("things"), public("rows")
	p.in.Policy.Readable = append(p.in.Policy.Readable, things, rows, public("objects"))
	want := map[string]string{
		"c": "oid", "cs": "oid[]", "y": "oid", "d": "oid", "e": "oid", "ds": "oid[]", "dm": "oid[]", "dms": "text", "a": "text", "ra": "text", "as": "text",
		"o": "text", "os": "text", "oo": "text", "s": "text", "ms": "text", "row": "text", "t": "text",
	}
	found, err := inspect.Readables(t.Context(), p.owner, p.in.Policy, new(inspect.Definitions))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(found[things].Columns, found[rows].Columns...) {
		if c.Shown != want[c.Name] {
			t.Errorf("%s of type %s is shown as %q, want %q", c.Name, c.Type, c.Shown, want[c.Name])
		}
	}
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	protected := catalog.TablePolicy{Table: things, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}}
	for _, r := range relations {
		for _, c := range r.Columns {
			if (r.Name == things || r.Name == rows) && c.NamesObjects != (want[c.Name] != "") {
				t.Errorf("%s of type %s names objects: %t", c.Name, c.Type, c.NamesObjects)
			}
			if r.Name == things && c.Name != "id" {
				protected.Columns = append(protected.Columns, catalog.ColumnPolicy{Name: c.Name, Role: catalog.Insensitive})
			}
		}
	}
	_, problems, err := inspect.Publish(t.Context(), p.owner, catalog.Policy{Tables: []catalog.TablePolicy{protected}}, relations)
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for _, problem := range problems {
		refused[problem.Column] = true
	}
	for _, c := range protected.Columns {
		if refused[c.Name] != (want[c.Name] != "") {
			t.Errorf("column %s of a protected table is refused: %t: %v", c.Name, refused[c.Name], problems)
		}
	}
	snapshot := catalog.NewSnapshot(p.in.Policy, relations, nil)
	for name, may := range map[string]bool{
		"plain": true, "mood": true, "thing": false, "anything": false, "many": false, "right_of": false, "pair": false, "_pair": false, "deep": false, "span": false, "things": false, "rows": false, "objects": false,
	} {
		if _, is := snapshot.Type("public", name); is != may {
			t.Errorf("clients may name %s: %t", name, is)
		}
	}
}
