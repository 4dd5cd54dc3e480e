package inspect_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestCheckFunctions tells functions that compute from those that may do more.
func TestCheckFunctions(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, p.fill(`CREATE SCHEMA calls; GRANT USAGE ON SCHEMA calls TO {reader};
		CREATE FUNCTION calls.good(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
		CREATE FUNCTION calls.good(text) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1';
		CREATE AGGREGATE calls.total(int) (SFUNC = int4pl, STYPE = int);
		CREATE FUNCTION calls.both(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
		CREATE FUNCTION calls.both(text) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT $1';
		CREATE FUNCTION calls.definer() RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT 1';
		REVOKE EXECUTE ON FUNCTION calls.definer FROM PUBLIC;
		CREATE FUNCTION calls.speaking(x text) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN EXECUTE x; RETURN 1; END';
		CREATE FUNCTION calls.naming(regclass) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1::text';
		CREATE FUNCTION calls.denied() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
		REVOKE EXECUTE ON FUNCTION calls.denied FROM PUBLIC;
		CREATE PROCEDURE calls.doing() LANGUAGE sql AS 'SELECT 1'`))
	for _, name := range strings.Fields("good total both definer speaking naming denied doing none") {
		p.in.Policy.Functions = append(p.in.Policy.Functions, catalog.Name{Schema: "calls", Relation: name})
	}
	var got []string
	for _, f := range p.check() {
		if strings.HasPrefix(f.Code, "function-") && f.Table.Schema == "calls" {
			got = append(got, strings.TrimPrefix(f.Code, "function-")+" "+f.Table.Relation)
		}
	}
	want := "missing none, unsafe both, unsafe definer, grant denied, unsafe doing, unsafe naming, unsafe speaking"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
