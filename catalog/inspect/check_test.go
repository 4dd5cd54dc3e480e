package inspect_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

func TestRelationsDescribeTheDatabase(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	// A type of the same name on the caller's path must not be confused with it.
	execute(t, p.owner, "SET search_path = public")
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	byName := map[string]catalog.Relation{}
	for _, r := range relations {
		names = append(names, fmt.Sprintf("%s:%c", r.Name, r.Kind))
		byName[r.Name.String()] = r
	}
	want := "public.patients:r public.visits:p public.visits_1:r public.visits_2:r public.wards:r"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	columns := []catalog.Column{
		{Name: "id", Type: "bigint", BaseType: "int8", NotNull: true},
		{Name: "name", Type: "text", BaseType: "text", NotNull: true},
		{Name: "age", Type: "public.small", BaseType: "int4"},
		{Name: "sex", Type: "public.sex", BaseType: "sex"},
		{Name: "cost", Type: "numeric(10,2)", BaseType: "numeric"},
		{Name: "diagnosis", Type: "character varying(8)", BaseType: "varchar"},
		{Name: "tags", Type: "text[]", BaseType: "_text"},
		{Name: "doubled", Type: "numeric", BaseType: "numeric", Generated: true},
	}
	if got := byName["public.patients"].Columns; !reflect.DeepEqual(got, columns) {
		t.Errorf("columns\n got %+v\nwant %+v", got, columns)
	}
	if got := byName["public.visits_2"].Key; !slices.Equal(got, []string{"visited", "id"}) {
		t.Errorf("the key of a partition in index order is %v", got)
	}
	if byName["public.patients"].ReadableByReader || !byName["public.wards"].ReadableByReader {
		t.Error("what the reader may read is told wrongly")
	}
}

func TestKeyFollowsTheReplicaIdentity(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, `
		CREATE TABLE a_default (a int, b int, c int NOT NULL, PRIMARY KEY (b, a));
		CREATE TABLE b_full (LIKE a_default INCLUDING ALL); ALTER TABLE b_full REPLICA IDENTITY FULL;
		CREATE TABLE c_index (LIKE a_default INCLUDING ALL); CREATE UNIQUE INDEX c_c ON c_index (c) INCLUDE (a);
		ALTER TABLE c_index REPLICA IDENTITY USING INDEX c_c;
		CREATE TABLE d_nothing (LIKE a_default INCLUDING ALL); ALTER TABLE d_nothing REPLICA IDENTITY NOTHING;
		CREATE TABLE e_none (a int); ALTER TABLE e_none REPLICA IDENTITY FULL;
		GRANT SELECT (a) ON e_none TO PUBLIC`)
	relations, err := inspect.Relations(t.Context(), p.owner, p.in.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range relations[:5] {
		got = append(got, fmt.Sprintf("%s %c %v %v", r.Name.Relation, r.ReplicaIdentity, r.Key, r.ReadableByReader))
	}
	want := []string{"a_default d [b a] false", "b_full f [b a] false", "c_index i [c] false", "d_nothing n [] false", "e_none f [] true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := inspect.Relations(t.Context(), p.owner, "nobody"); err == nil {
		t.Error("no error for a reader that does not exist")
	}
}

func TestServerFacts(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	facts, err := inspect.Server(t.Context(), p.owner)
	if err != nil {
		t.Fatal(err)
	}
	if facts.VersionNum < inspect.MinVersionNum || facts.WalLevel != "logical" || facts.Database != p.admin.Config().Database ||
		facts.SystemIdentifier == "" || facts.MaxReplicationSlots < 1 || facts.ServerEncoding != "UTF8" {
		t.Errorf("%+v", facts)
	}
}

func TestPreparedDatabasePassesTheCheck(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	if errs := p.check().Errors(); len(errs) > 0 {
		t.Errorf("findings:\n%s", errs)
	}
}

// Each of these is planted in a prepared database; the fix, where it is SQL, is
// run by the administrator.
var obstacles = []struct {
	planted
	sqlFix bool
}{
	{planted{"no publication", "DROP PUBLICATION kproxy", "publication", "does not exist"}, true},
	{planted{"a table not published", "ALTER PUBLICATION kproxy DROP TABLE visits", "publication", "public.visits publication kproxy does not hold"}, true},
	{planted{"a table too many", "ALTER PUBLICATION kproxy ADD TABLE wards", "publication", "public.wards"}, true},
	{planted{"operations left out", "ALTER PUBLICATION kproxy SET (publish = 'insert, update')", "publication", "operations"}, true},
	{planted{"partitions apart", "ALTER PUBLICATION kproxy SET (publish_via_partition_root = false)", "publication", "partitions"}, true},
	{planted{"row filter", "ALTER PUBLICATION kproxy SET TABLE patients WHERE (id > 5), visits", "publication", "row filter"}, true},
	{planted{"column list", "ALTER PUBLICATION kproxy SET TABLE patients (id, age), visits", "publication", "column list"}, true},
	{planted{"all tables", "DROP PUBLICATION kproxy; CREATE PUBLICATION kproxy FOR ALL TABLES", "publication", "all tables"}, true},
	{planted{"tables by schema", "ALTER PUBLICATION kproxy ADD TABLES IN SCHEMA public", "publication", "by their schema: public.wards"}, true},
	{planted{"owner may not replicate", "ALTER ROLE {owner} NOREPLICATION", "owner-replication", "{owner}"}, true},
	{planted{"owner may not read", "REVOKE SELECT ON patients FROM {owner}", "owner-grant", "public.patients"}, true},
	{planted{"row security", "ALTER TABLE patients ENABLE ROW LEVEL SECURITY", "row-security", "public.patients"}, true},
	{planted{"unlogged", "ALTER PUBLICATION kproxy DROP TABLE patients; ALTER TABLE patients SET UNLOGGED", "table-unlogged", "public.patients"}, true},
	{planted{"no key", "ALTER TABLE patients DROP CONSTRAINT patients_pkey", "policy", "public.patients"}, false},
	{planted{"key again", "ALTER TABLE patients ADD PRIMARY KEY (id); ALTER TABLE visits_1 REPLICA IDENTITY NOTHING", "partition-identity", "public.visits_1"}, true},
	{planted{"another identity in a partition", "CREATE UNIQUE INDEX v2 ON visits_2 (id, visited); ALTER TABLE visits_2 REPLICA IDENTITY USING INDEX v2", "partition-identity", "public.visits_2"}, true},
	{planted{"readable not granted", "REVOKE SELECT ON wards FROM {reader}", "readable-grant", "public.wards"}, true},
	{planted{"reader may not log in", "ALTER ROLE {reader} NOLOGIN", "reader-login", "{reader}"}, true},
	{planted{"store of another owner", "ALTER SCHEMA kproxy_store OWNER TO postgres; GRANT USAGE ON SCHEMA kproxy_store TO {owner}", "schema-owner", "kproxy_store"}, true},
	{planted{"release schema shut", "REVOKE USAGE ON SCHEMA kproxy_release_public FROM {reader}", "schema-usage", "kproxy_release_public"}, true},
	{planted{"the audit is a part", "GRANT SELECT ON patients TO PUBLIC", "raw-grant", "public.patients"}, true},
	{planted{"no stand-in", "DROP VIEW kproxy_catalog.pg_class", "stand-in", "kproxy_catalog.pg_class"}, false},
}

func TestCheckFindsObstaclesAndMendsThem(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	for _, o := range obstacles {
		if strings.Contains(o.plant, "WHERE") || strings.Contains(o.plant, "(id, age)") || strings.Contains(o.plant, "IN SCHEMA") {
			if facts, err := inspect.Server(t.Context(), p.owner); err != nil || facts.VersionNum < 150000 {
				continue
			}
		}
		execute(t, p.admin, p.fill(o.plant))
		report := p.check().Errors()
		if !contains(report, o.code, p.fill(o.words)) {
			t.Errorf("%s: no finding %s with %q among:\n%s", o.name, o.code, p.fill(o.words), report)
		}
		if !o.sqlFix {
			continue
		}
		for range 2 {
			for _, f := range report {
				execute(t, p.admin, f.Fix)
			}
			report = p.check().Errors()
		}
		if len(report) > 0 {
			t.Fatalf("%s: left after the fixes:\n%s", o.name, report)
		}
	}
}

func TestCheckReportsThePolicysMistakesAtOnce(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	columns := &p.in.Policy.Tables[0].Columns
	*columns = append(*columns,
		catalog.ColumnPolicy{Name: "absent", Role: catalog.Insensitive},
		catalog.ColumnPolicy{Name: "sex", Role: catalog.QuasiIdentifying, Kind: hierarchy.Numeric},
		catalog.ColumnPolicy{Name: "doubled", Role: catalog.Insensitive})
	p.in.Policy.Tables = append(p.in.Policy.Tables, catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "gone"}})
	p.in.Policy.Readable = append(p.in.Policy.Readable, catalog.Name{Schema: "public", Relation: "vanished"})
	execute(t, p.admin, "CREATE TABLE heirs () INHERITS (patients)")
	report := p.check().Errors()
	for code, words := range map[string]string{
		"policy": "no such column", "generated-column": "generated", "table-missing": "public.gone",
		"readable-missing": "public.vanished", "inheritance": "inherit",
	} {
		if !contains(report, code, words) {
			t.Errorf("no finding %s with %q among:\n%s", code, words, report)
		}
	}
	if !contains(report, "policy", "numeric hierarchy does not fit") {
		t.Errorf("the type is not complained about:\n%s", report)
	}
}

func TestCheckOfAnUnpreparedDatabase(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, "DROP SCHEMA kproxy_store, kproxy_catalog, kproxy_release_public CASCADE")
	p.in.Owner, p.in.Reader, p.in.Publication = "absent owner", "absent reader", "absent"
	report, err := inspect.Check(t.Context(), p.admin, p.in)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"owner-missing", "reader-missing"} {
		if !contains(report, code, "absent") {
			t.Errorf("no finding %s among:\n%s", code, report)
		}
	}
	p.in.Owner, p.in.Reader = p.fill("{database}_owner"), p.fill("{database}_reader")
	if report, err = inspect.Check(t.Context(), p.admin, p.in); err != nil {
		t.Fatal(err)
	}
	if !contains(report, "schema-missing", "kproxy_store") || !contains(report, "publication", "does not exist") {
		t.Errorf("findings:\n%s", report)
	}
}
