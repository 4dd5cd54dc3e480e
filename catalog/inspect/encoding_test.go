package inspect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// encoded is a prepared database in another encoding, with a table of that name.
// Its connections speak that encoding unless they are told otherwise.
func encoded(t *testing.T, encoding, table string) prepared {
	t.Helper()
	super := connect(t, pgtest.Database(t, pgtest.Shared(t)))
	name := super.Config().Database + "_" + strings.ToLower(encoding)
	execute(t, super, "CREATE DATABASE "+name+" ENCODING '"+encoding+"' LOCALE 'C' TEMPLATE template0")
	t.Cleanup(func() {
		if _, err := super.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	config := super.Config().Copy()
	config.Database, config.RuntimeParams["client_encoding"] = name, encoding
	admin, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	p := prepareIn(t, admin, provision.Apply)
	for _, sql := range []string{"SET client_encoding = 'UTF8'", `CREATE TABLE "` + table + `" (a int PRIMARY KEY)`, "SET client_encoding = '" + encoding + "'"} {
		execute(t, admin, sql)
	}
	return p
}

func TestDatabasesInOtherEncodings(t *testing.T) {
	t.Parallel()
	for encoding, table := range map[string]string{"LATIN1": "Übersicht", "EUC_JP": "患者"} {
		p := encoded(t, encoding, table)
		p.in.Policy.Readable = append(p.in.Policy.Readable, catalog.Name{Schema: "public", Relation: table})
		execute(t, p.admin, "SET client_encoding = 'UTF8'")
		execute(t, p.admin, p.fill(`GRANT REFERENCES ON "`+table+`" TO {reader}`))
		p.relation(table)
		if errs := p.check().Errors(); len(errs) > 0 {
			t.Errorf("%s: findings:\n%s", encoding, errs)
		}
	}
}

func TestDatabasesThatCannotBeConvertedAreRefused(t *testing.T) {
	t.Parallel()
	p := encoded(t, "SQL_ASCII", "patients_2")
	if report := p.check().Errors(); len(report) != 1 || !contains(report, "server-encoding", "SQL_ASCII") {
		t.Errorf("findings:\n%s", report)
	}
}
