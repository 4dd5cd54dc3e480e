package provision_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

func TestNamesFollowTheClientsPath(t *testing.T) {
	t.Parallel()
	admin, reader := typed(t)
	execute(t, admin, `CREATE SCHEMA "My Lab"; CREATE TABLE "My Lab".wards (x int); CREATE TABLE "My Lab"."Beds" (x int);
		GRANT USAGE ON SCHEMA "My Lab" TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA "My Lab" TO PUBLIC`)
	number := func(relation string) string { return text(t, admin, "SELECT '"+relation+"'::regclass::oid::text") }
	for _, c := range []struct{ name, path, want string }{
		{"wards", "pg_catalog,public", "public.wards"},
		{"wards", `pg_catalog,"My Lab",public`, `"My Lab".wards`},
		{"WARDS", `public,"My Lab"`, "public.wards"},
		{`"Wards"`, "public", "NULL"},
		{`"Beds"`, `public,"My Lab"`, `"My Lab"."Beds"`},
		{"beds", `public,"My Lab"`, "NULL"},
		{`"My Lab"."Beds"`, "pg_catalog", `"My Lab"."Beds"`},
		{" public . wards ", "pg_catalog", "public.wards"},
		{"patients", "public", "kproxy_release_public.patients"},
		{"public.patients", "pg_catalog", "kproxy_release_public.patients"},
		{"pg_class", "pg_catalog,public", "pg_catalog.pg_class"},
		{"pg_class", "public,pg_catalog", "kproxy_release_public.pg_class"},
		{"kproxy_release_public.patients", "public", "NULL"},
		{"kproxy_store.release_1", "public", "NULL"},
		{"release_1", "kproxy_store,kproxy_catalog", "NULL"},
		{"nowhere", "public", "NULL"},
		{"a.b.c", "public", "NULL"},
		{"wards", "", "NULL"},
	} {
		want := c.want
		if want != "NULL" {
			want = number(want)
		}
		ask := fmt.Sprintf("SELECT kproxy_catalog.to_class(%s, %s)::text", catalog.QuoteLiteral(c.name), catalog.QuoteLiteral("{"+c.path+"}"))
		if got := text(t, reader, ask); got != want {
			t.Errorf("%s on %s: got %s, want %s (%s)", c.name, c.path, got, want, c.want)
		}
	}
	for _, c := range []struct{ relation, path, want string }{
		{"public.wards", `"My Lab",public`, "false"},
		{`"My Lab".wards`, `"My Lab",public`, "true"},
		{`"My Lab"."Beds"`, `public,"My Lab"`, "true"},
		{"public.wards", "pg_catalog", "false"},
		{"kproxy_release_public.pg_class", "public,pg_catalog", "true"},
	} {
		ask := fmt.Sprintf("SELECT kproxy_catalog.table_is_visible(%s, %s)::text", number(c.relation), catalog.QuoteLiteral("{"+c.path+"}"))
		if got := text(t, reader, ask); got != c.want {
			t.Errorf("%s is visible on %s: got %s, want %s", c.relation, c.path, got, c.want)
		}
	}
}

// TestTemporaryTablesOfOthersAreHidden has two sessions of the reader, which is all
// that the server knows of two clients.
func TestTemporaryTablesOfOthersAreHidden(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	in.TemporaryTables = true
	apply(t, admin, in)
	execute(t, admin, "ALTER DATABASE "+catalog.QuoteIdentifier(admin.Config().Database)+" SET jit = on") // as servers have it
	one, other := login(t, admin, in.Reader), login(t, admin, in.Reader)
	execute(t, one, "CREATE TEMPORARY TABLE mine (note text PRIMARY KEY)")
	execute(t, other, "CREATE TEMPORARY TABLE theirs (x int)")
	for _, c := range []struct {
		name   string
		reader *pgx.Conn
		want   string
	}{{"the maker", one, "4"}, {"another session", other, "0"}} {
		ask := `SELECT ((SELECT count(*) FROM kproxy_catalog.pg_class WHERE relname LIKE 'mine%') +
			(SELECT count(*) FROM kproxy_catalog.pg_attribute WHERE attname = 'note') )::text`
		if got := text(t, c.reader, ask); got != c.want {
			t.Errorf("%s sees %s relations and columns of the table, want %s", c.name, got, c.want)
		}
	}
	oid := text(t, one, "SELECT 'mine'::regclass::oid::text")
	for path, want := range map[string]string{"pg_temp,pg_catalog,public": "true", "public,pg_temp": "true", "public": "false"} {
		if got := text(t, one, "SELECT kproxy_catalog.table_is_visible("+oid+", '{"+path+"}')::text"); got != want {
			t.Errorf("on %s the table is visible: %s, want %s", path, got, want)
		}
	}
	if got := text(t, one, "SELECT kproxy_catalog.to_class('mine', '{pg_temp,public}')::text"); got != oid {
		t.Errorf("by its name: %s, want %s", got, oid)
	}
	if got := text(t, one, "SHOW jit"); got != "off" {
		t.Errorf("sessions that may make temporary tables compile the catalogs' queries: jit is %s", got)
	}
	// Tables of the names of types, which are found first.
	execute(t, other, "CREATE TEMPORARY TABLE text (a int); CREATE TEMPORARY TABLE name (a int); CREATE TEMPORARY TABLE oid (a int)")
	for _, ask := range []string{
		"SELECT count(*)::pg_catalog.text FROM kproxy_catalog.pg_class", "SELECT kproxy_catalog.database_oid('x')::pg_catalog.text",
		"SELECT kproxy_catalog.schema_oid('public')::pg_catalog.text", "SELECT kproxy_catalog.to_class('public.wards', '{public}')::pg_catalog.text",
		"SELECT kproxy_catalog.to_type('public.wards', '{public}')::pg_catalog.text",
		"SELECT kproxy_catalog.class_name('public.wards'::pg_catalog.regclass, '{public}')",
		"SELECT kproxy_catalog.type_name('public.wards'::pg_catalog.regtype, NULL, '{public}')",
		"SELECT kproxy_catalog.released_namespace(2200)::pg_catalog.text", "SELECT kproxy_catalog.setting('jit', '')",
	} {
		text(t, other, ask)
	}
	in.TemporaryTables = false
	apply(t, admin, in)
	if got := text(t, login(t, admin, in.Reader), "SHOW default_transaction_read_only"); got != "on" {
		t.Errorf("once they are refused, sessions are read-only: %s", got)
	}
}
