package inspect_test

import (
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// Each of these is planted in a prepared database; the fix, where it is SQL, is
// run by the administrator.
var obstacles = []struct {
	planted
	sqlFix bool
}{
	{planted{"no publication", "DROP PUBLICATION kproxy", "publication", "does not exist"}, true},
	{planted{"a table not published", "ALTER PUBLICATION kproxy DROP TABLE visits", "publication", "public.visits publication kproxy does not hold"}, true},
	{planted{"a partition in its table's place", "ALTER PUBLICATION kproxy SET TABLE patients, visits, journeys_1, journeys_2", "publication", "public.journeys publication kproxy does not hold the table itself"}, true},
	{planted{"a table of kproxy's own", "ALTER PUBLICATION kproxy ADD TABLE kproxy_store.records_7", "publication", "sent back to it"}, true},
	{planted{"operations left out", "ALTER PUBLICATION kproxy SET (publish = 'insert, update')", "publication", "operations"}, true},
	{planted{"partitions as their table", "ALTER PUBLICATION kproxy SET (publish_via_partition_root = true)", "publication", "public.journeys publication kproxy sends changes of partitions"}, true},
	{planted{"row filter", "ALTER PUBLICATION kproxy SET TABLE patients WHERE (id > 5), visits", "publication", "row filter"}, true},
	{planted{"column list", "ALTER PUBLICATION kproxy SET TABLE patients (id, age), visits", "publication", "column list"}, true},
	{planted{"all tables", "DROP PUBLICATION kproxy; CREATE PUBLICATION kproxy FOR ALL TABLES", "publication", "all tables"}, true},
	{planted{"row filter of a partition", "ALTER PUBLICATION kproxy ADD TABLE journeys_1 WHERE (id > 5)", "publication", "public.journeys_1 publication kproxy has a row filter"}, true},
	{planted{"all tables of kproxy's own", "ALTER PUBLICATION kproxy ADD TABLES IN SCHEMA kproxy_store", "publication", "sent back to it"}, true},
	{planted{"whole rows with generated columns", "ALTER PUBLICATION kproxy SET (publish_generated_columns = none); ALTER TABLE patients REPLICA IDENTITY FULL", "replica-identity", "public.patients"}, true},
	{planted{"owner may not replicate", "ALTER ROLE {owner} NOREPLICATION", "owner-replication", "{owner}"}, true},
	{planted{"owner may not read", "REVOKE SELECT ON patients FROM {owner}", "owner-grant", "public.patients"}, true},
	{planted{"row security", "ALTER TABLE patients ENABLE ROW LEVEL SECURITY", "row-security", "public.patients"}, true},
	{planted{"unlogged", "ALTER PUBLICATION kproxy DROP TABLE patients; ALTER TABLE patients SET UNLOGGED", "table-unlogged", "public.patients"}, true},
	{planted{"unlogged partition", "ALTER TABLE journeys_2 SET UNLOGGED", "table-unlogged", "public.journeys its changes are not in the write-ahead log: public.journeys_2"}, true},
	{planted{"identity of a partition", "ALTER TABLE journeys_2 REPLICA IDENTITY NOTHING", "policy", "one key of all of its partitions: public.journeys_2; once it is published"}, true},
	{planted{"no identity", "ALTER TABLE visits REPLICA IDENTITY NOTHING", "policy", "public.visits changed rows cannot be identified"}, true},
	{planted{"no key", "ALTER TABLE visits DROP CONSTRAINT visits_pkey", "policy", "neither a primary key"}, true},
	{planted{"published relation not granted", "REVOKE SELECT ON kproxy_release_public.patients FROM {reader}", "published-grant", "kproxy_release_public.patients"}, true},
	{planted{"readable not granted", "REVOKE REFERENCES ON wards FROM {reader}", "readable-grant", "public.wards"}, true},
	{planted{"reader may not log in", "ALTER ROLE {reader} NOLOGIN", "reader-login", "{reader}"}, true},
	{planted{"store of another owner", "ALTER SCHEMA kproxy_store OWNER TO postgres; GRANT USAGE ON SCHEMA kproxy_store TO {owner}", "schema-owner", "kproxy_store"}, true},
	{planted{"release schema shut", "REVOKE USAGE ON SCHEMA kproxy_release_public FROM {reader}", "schema-usage", "kproxy_release_public"}, true},
	{planted{"the audit is a part", "GRANT SELECT ON patients TO PUBLIC", "raw-grant", "public.patients"}, true},
	{planted{"no function that sessions call", "ALTER FUNCTION kproxy_catalog.table_is_visible(oid, name[]) RENAME TO gone", "stand-in", "table_is_visible"}, false},
	{planted{"an old store", "ALTER TABLE kproxy_store.generation DROP waiting, DROP ghosts", "store-old", "its generations have no waiting"}, false},
	{planted{"an old position", "ALTER TABLE kproxy_store.position DROP store_timeline", "store-old", "its position has no store_timeline"}, false},
	{planted{"a store without guarded persons", "DROP TABLE kproxy_store.vanished", "store-old", "had no guarded updates of several tables"}, false},
	{planted{"no stand-in", "DROP VIEW kproxy_catalog.pg_class CASCADE", "stand-in", "kproxy_catalog.pg_class"}, false},
}

func TestCheckFindsObstaclesAndMendsThem(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	version := p.version()
	for _, o := range obstacles {
		if version < since(o.plant) {
			continue
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

// What a DBA made in another way and what sends the protected tables' changes whole.
func TestPublicationsThatWillDo(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	version := p.version()
	for _, c := range []struct{ name, plant, warning string }{
		{"a table too many", "ALTER PUBLICATION kproxy ADD TABLE wards", "public.wards publication kproxy holds tables that are not protected"},
		{"a partition besides its table", "ALTER PUBLICATION kproxy SET TABLE patients, visits, journeys, journeys_1", ""},
		{"tables by schema", "ALTER PUBLICATION kproxy SET TABLES IN SCHEMA public", "all tables of schema public"},
		{"generated columns", "ALTER PUBLICATION kproxy SET TABLE patients, visits, journeys; ALTER PUBLICATION kproxy SET (publish_generated_columns = stored); ALTER TABLE patients REPLICA IDENTITY FULL", ""},
		{"a filter of another table", "ALTER TABLE patients REPLICA IDENTITY DEFAULT; ALTER PUBLICATION kproxy SET TABLE patients, visits, journeys, wards (ward)", "public.wards"},
		{"plain tables as their root", "ALTER TABLE patients REPLICA IDENTITY DEFAULT; DROP PUBLICATION kproxy; CREATE PUBLICATION kproxy FOR TABLE patients, visits WITH (publish_via_partition_root = true)", ""},
	} {
		if version < since(c.plant) || c.name == "a filter of another table" && version < 150000 {
			continue
		}
		execute(t, p.admin, c.plant)
		if c.name == "plain tables as their root" {
			p.in.Policy.Tables = p.in.Policy.Tables[:2]
		}
		report := p.check()
		var warnings inspect.Report
		for _, f := range report {
			if f.Code == "publication" {
				warnings = append(warnings, f)
			}
		}
		if len(report.Errors()) > 0 || (c.warning == "") != (len(warnings) == 0) || c.warning != "" && !contains(warnings, "publication", c.warning) {
			t.Errorf("%s: findings:\n%s", c.name, report)
		}
	}
}

func TestVirtualColumnsAreGenerated(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	const add = "ALTER TABLE visits ADD next int GENERATED ALWAYS AS (id + 1) VIRTUAL"
	if p.version() < since(add) {
		t.Skip("the server has no virtual columns")
	}
	execute(t, p.admin, add)
	columns := &p.in.Policy.Tables[1].Columns
	*columns = append(*columns, catalog.ColumnPolicy{Name: "next", Role: catalog.Insensitive})
	if report := p.check().Errors(); !contains(report, "generated-column", "public.visits") {
		t.Errorf("findings:\n%s", report)
	}
}
