package provision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// BenchmarkStandIns reads the catalogs of many tables, as tools do, through the
// stand-ins and from the catalogs themselves.
func BenchmarkStandIns(b *testing.B) {
	for _, tables := range []int{1000, 5000} {
		benchmarkStandIns(b, tables)
	}
}

func benchmarkStandIns(b *testing.B, tables int) {
	b.Helper()
	admin := crowded(b, tables)
	in := input(admin.Config().Database+"_owner", admin.Config().Database+"_reader", "kproxy")
	if err := provision.Apply(b.Context(), admin, in); err != nil {
		b.Fatal(err)
	}
	reader := catalog.QuoteIdentifier(in.Reader.Name)
	for _, sql := range []string{
		"GRANT SELECT ON ALL TABLES IN SCHEMA crowd TO " + reader, "GRANT USAGE ON SCHEMA crowd TO " + reader,
		"ANALYZE pg_class, pg_attribute, pg_index, pg_namespace, pg_type, pg_depend", "SET jit = off",
	} {
		if _, err := admin.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	config := admin.Config().Copy()
	config.User, config.Password = in.Reader.Name, in.Reader.Password
	client, err := pgx.ConnectConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close(b.Context())
	if _, err := client.Exec(b.Context(), "SET jit = off"); err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct{ name, sql string }{
		{"psql-d", `SELECT n.nspname, c.relname, c.relkind, c.relowner FROM {pg_class} c LEFT JOIN {pg_namespace} n ON n.oid = c.relnamespace
			WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' ORDER BY 1, 2`},
		{"psql-d-table", `SELECT c.oid, n.nspname, c.relname FROM {pg_class} c LEFT JOIN {pg_namespace} n ON n.oid = c.relnamespace
			WHERE c.relname OPERATOR(pg_catalog.~) '^(t_77)$' COLLATE pg_catalog.default`},
		{"columns-of-one", `SELECT a.attname, d.adbin FROM {pg_attribute} a LEFT JOIN {pg_attrdef} d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
			WHERE a.attrelid = 'crowd.t_77'::regclass AND a.attnum > 0`},
		{"jdbc-getColumns", `SELECT n.nspname, c.relname, a.attname, t.typname, dsc.description FROM {pg_namespace} n JOIN {pg_class} c ON c.relnamespace = n.oid
			JOIN {pg_attribute} a ON a.attrelid = c.oid JOIN {pg_type} t ON a.atttypid = t.oid
			LEFT JOIN {pg_attrdef} def ON a.attrelid = def.adrelid AND a.attnum = def.adnum
			LEFT JOIN {pg_description} dsc ON c.oid = dsc.objoid AND a.attnum = dsc.objsubid
			WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname = 'crowd' ORDER BY 1, 2`},
		{"information_schema", `SELECT table_name, column_name, data_type FROM {information_schema.columns} WHERE table_schema = 'crowd'`},
		{"one-of-information_schema", `SELECT table_name, column_name, data_type FROM {information_schema.columns} WHERE table_schema = 'crowd' AND table_name = 't_77'`},
		{"types", `SELECT t.oid, t.typname FROM {pg_type} t WHERE t.typtype IN ('b', 'e', 'd') AND t.oid >= 16384`},
		{"indexes", `SELECT i.relname, x.indkey FROM {pg_index} x JOIN {pg_class} i ON i.oid = x.indexrelid`},
	} {
		for _, side := range []struct {
			name string
			conn *pgx.Conn
			sql  string
		}{{"stand-in", client, standing(q.sql)}, {"plain", admin, plain(q.sql)}} {
			b.Run(fmt.Sprintf("tables=%d/%s/%s", tables, q.name, side.name), func(b *testing.B) {
				for b.Loop() {
					if _, err := side.conn.PgConn().Exec(b.Context(), side.sql).ReadAll(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// crowded makes a database with the source tables and many others.
func crowded(b *testing.B, tables int) *pgx.Conn {
	b.Helper()
	admin, err := pgx.Connect(b.Context(), pgtest.Database(b, pgtest.Shared(b)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = admin.Close(b.Context()) })
	if _, err := admin.Exec(b.Context(), source+"; CREATE SCHEMA crowd"); err != nil {
		b.Fatal(err)
	}
	for first := 0; first < tables; first += 500 { // locks are kept until a transaction ends
		fill := fmt.Sprintf(`DO $$ BEGIN FOR i IN %d..%d LOOP EXECUTE format('CREATE TABLE crowd.t_%%s (id int PRIMARY KEY, a text, b numeric(10,2), c date DEFAULT now(), d text, e int, f int, g text)', i);
			END LOOP; END $$`, first, first+499)
		if _, err := admin.Exec(b.Context(), fill); err != nil {
			b.Fatal(err)
		}
	}
	return admin
}

// standing and plain put the names of stand-ins, and of the catalogs themselves, in
// the place of {name}.
func standing(sql string) string {
	return strings.NewReplacer("{information_schema.", catalog.CatalogSchema+".information_schema_", "{", catalog.CatalogSchema+".", "}", "").Replace(sql)
}

func plain(sql string) string { return strings.NewReplacer("{", "", "}", "").Replace(sql) }
