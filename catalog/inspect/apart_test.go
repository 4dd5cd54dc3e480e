package inspect_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// apart is a source and a database of the release after setup.
type apart struct {
	t                      *testing.T
	admin, source, release *pgx.Conn // admin is the source's administrator
	in                     inspect.CheckInput
}

// prepareApart prepares two databases, and makes the types of the source's columns in the other.
func prepareApart(t *testing.T) apart {
	t.Helper()
	admin, there := connect(t, pgtest.Database(t, pgtest.Shared(t))), connect(t, pgtest.Database(t, pgtest.Shared(t)))
	execute(t, admin, source)
	for _, conn := range []*pgx.Conn{admin, there} {
		execute(t, conn, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // everybody has it before PostgreSQL 15
	}
	execute(t, there, "CREATE TYPE sex AS ENUM ('f', 'm'); CREATE DOMAIN positive AS int; CREATE DOMAIN small AS positive")
	name := there.Config().Database
	a := apart{t: t, admin: admin, in: inspect.CheckInput{Policy: policy(), Owner: name + "_owner", Reader: name + "_reader", Publication: "kproxy", Slot: name + "_slot"}}
	a.in.Policy.Readable = nil
	for side, conn := range map[provision.Side]*pgx.Conn{provision.SourceSide: admin, provision.ReleaseSide: there} {
		err := provision.Apply(t.Context(), conn, provision.Input{
			Side: side, Policy: a.in.Policy, Publication: a.in.Publication, Besides: []string{admin.Config().Database, name},
			Owner: provision.Login{Name: a.in.Owner, Password: "secret"}, Reader: provision.Login{Name: a.in.Reader},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	execute(t, there, "GRANT USAGE ON SCHEMA public TO PUBLIC")
	a.source, a.release = a.as(admin), a.as(there)
	return a
}

// as connects to the database of a connection as the owner.
func (a apart) as(conn *pgx.Conn) *pgx.Conn {
	a.t.Helper()
	config := conn.Config().Copy()
	config.User, config.Password = a.in.Owner, "secret"
	config.RuntimeParams["search_path"] = "pg_catalog"
	owner, err := pgx.ConnectConfig(a.t.Context(), config)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = owner.Close(context.Background()) })
	return owner
}

// check returns the findings of a code.
func (a apart) check(code string) (found inspect.Report) {
	a.t.Helper()
	report, err := inspect.CheckApart(a.t.Context(), a.release, a.source, a.in)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, f := range report {
		if f.Code == code {
			found = append(found, f)
		}
	}
	return found
}

// wants makes sure that there is one finding of a code about patients.
func (a apart) wants(code string, severity inspect.Severity, what, fix string) {
	a.t.Helper()
	found := a.check(code)
	if len(found) != 1 || found[0].Severity != severity || found[0].Table != patients || !strings.Contains(found[0].What, what) || !strings.Contains(found[0].Fix, fix) {
		a.t.Errorf("%s: %+v", code, found)
	}
}

// TestCheckApart plants what the check of two databases must find, and is about one table alone.
func TestCheckApart(t *testing.T) {
	t.Parallel()
	a := prepareApart(t)
	for _, code := range []string{inspect.CodePublishedKey, inspect.CodeType, inspect.CodeCollation, "publication"} {
		if found := a.check(code); len(found) > 0 {
			t.Errorf("of two databases that are prepared: %+v", found)
		}
	}
	columns := a.in.Policy.Tables[0].Columns
	a.in.Policy.Tables[0].Columns = append([]catalog.ColumnPolicy{{Name: "id", Role: catalog.Insensitive}, {Name: "sex", Role: catalog.Sensitive}}, columns...)
	a.wants(inspect.CodePublishedKey, inspect.Error, "is unique in the table", "identifying")
	a.in.Policy.Tables[0].Columns[0].Role = catalog.Identifying
	if a.source.PgConn().ParameterStatus("server_version") >= "15" {
		a.wants("publication", inspect.Error, "without sex", "kproxy setup --side source")
		execute(t, a.admin, "ALTER PUBLICATION kproxy SET TABLE ONLY patients (id, age, sex, diagnosis), ONLY visits, ONLY journeys; ALTER TABLE patients REPLICA IDENTITY FULL")
		a.wants("publication", inspect.Error, "UPDATE and DELETE fail at the source", "kproxy setup --side source")
		execute(t, a.admin, "ALTER TABLE patients REPLICA IDENTITY DEFAULT; ALTER PUBLICATION kproxy SET TABLE ONLY patients (id, name, age, sex, diagnosis), ONLY visits, ONLY journeys")
		a.wants("publication", inspect.Warning, "does not need, out of the source's database: name", "kproxy setup --side source")
		execute(t, a.admin, "ALTER PUBLICATION kproxy SET TABLE ONLY patients, ONLY visits, ONLY journeys")
		a.wants("publication", inspect.Warning, "does not need, out of the source's database: name", "kproxy setup --side source")
	}
	execute(t, a.admin, "ALTER TYPE sex ADD VALUE 'x'")
	a.wants(inspect.CodeType, inspect.Warning, "it lacks labels of the source", "ALTER TYPE public.sex ADD VALUE IF NOT EXISTS 'x' AFTER 'm'")
	// PostgreSQL alters no type of a listed column.
	execute(t, a.admin, `ALTER PUBLICATION kproxy SET TABLE ONLY patients, ONLY visits, ONLY journeys; CREATE COLLATION own (LOCALE = 'C'); ALTER TABLE patients ALTER diagnosis TYPE varchar(8) COLLATE own`)
	a.wants(inspect.CodeCollation, inspect.Error, "public.own", "CREATE COLLATION")
}

// TestCheckApartViews lists views of the source: those over protected tables are no missing names, and nothing has
// their names in the database of the release. Of other relations of the source, the check says what they are.
func TestCheckApartViews(t *testing.T) {
	t.Parallel()
	a := prepareApart(t)
	named := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	execute(t, a.admin, `CREATE VIEW "over" AS SELECT age FROM patients; CREATE VIEW unlisted AS SELECT age FROM patients; CREATE TABLE plain (id int); CREATE VIEW beside AS SELECT id FROM plain`)
	a.in.Policy.Readable = []catalog.Name{named("over")}
	if found := slices.Concat(a.check(inspect.CodeReadableMissing), a.check(inspect.CodeMirrored)); len(found) > 0 {
		t.Errorf("of a view over a protected table: %+v", found)
	}
	there := a.release.Config().Copy()
	there.User, there.Password = a.admin.Config().User, a.admin.Config().Password
	release, err := pgx.ConnectConfig(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	defer release.Close(context.Background())
	execute(t, release, `CREATE TABLE public."over" (age int); CREATE TABLE public.unlisted (age int)`)
	if found := a.check(inspect.CodeMirrored); len(found) != 1 || found[0].Table != named("over") || found[0].Severity != inspect.Error {
		t.Errorf("of relations with the names of views of the source: %+v", found)
	}
	a.in.Policy.Readable = []catalog.Name{named("plain"), named("beside"), named("nowhere")}
	found := a.check(inspect.CodeReadableMissing)
	for i, want := range []string{"it is a table of the source", "it is a view of the source that reads no protected or mirrored table", "there is no such relation"} {
		if len(found) != 3 || !strings.Contains(found[i].What, want) || found[i].Fix == "" {
			t.Errorf("of names of the source alone: %+v, not %q", found, want)
		}
	}
}
