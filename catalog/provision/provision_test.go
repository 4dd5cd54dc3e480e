package provision_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { pgtest.Main(m) }

const source = `
CREATE TABLE patients (id bigint PRIMARY KEY, name text, age int DEFAULT 41, diagnosis text);
CREATE TABLE wards (ward text PRIMARY KEY, beds int);
CREATE SCHEMA "Ward ""B""";
CREATE TABLE "Ward ""B"""."Patients" (id bigint PRIMARY KEY, born date) PARTITION BY RANGE (id);
CREATE TABLE "Ward ""B""".first PARTITION OF "Ward ""B"""."Patients" FOR VALUES FROM (0) TO (1000);`

var (
	patients = catalog.Name{Schema: "public", Relation: "patients"}
	wards    = catalog.Name{Schema: "public", Relation: "wards"}
	odd      = catalog.Name{Schema: `Ward "B"`, Relation: "Patients"}
)

func input(owner, reader, publication string) provision.Input {
	return provision.Input{
		Policy: catalog.Policy{
			Tables:   []catalog.TablePolicy{{Table: patients}, {Table: odd}},
			Readable: []catalog.Name{wards},
		},
		Owner:       provision.Login{Name: owner, Password: "owner's secret"},
		Reader:      provision.Login{Name: reader, Password: "reader's secret"},
		Publication: publication,
	}
}

// database makes a database with the source tables; its roles are its own,
// since roles are the server's.
func database(t *testing.T) (admin *pgx.Conn, in provision.Input) {
	t.Helper()
	admin = connect(t, pgtest.Database(t, pgtest.Shared(t)))
	execute(t, admin, source)
	name := admin.Config().Database
	return admin, input(name+"_owner", name+"_reader", "kproxy")
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// login connects as another role to the database of the connection.
func login(t *testing.T, admin *pgx.Conn, role provision.Login) *pgx.Conn {
	t.Helper()
	config := admin.Config().Copy()
	config.User, config.Password = role.Name, role.Password
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func apply(t *testing.T, admin *pgx.Conn, in provision.Input) {
	t.Helper()
	if err := provision.Apply(t.Context(), admin, in); err != nil {
		t.Fatal(err)
	}
}

// text runs a query for one value.
func text(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	var value *string
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if value == nil {
		return "NULL"
	}
	return *value
}

// version is the server's, as server_version_num.
func version(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	number, err := strconv.Atoi(text(t, conn, "SELECT current_setting('server_version_num')"))
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// program runs one of the server's client programs and returns what it prints.
func program(t *testing.T, conn *pgx.Conn, role provision.Login, name string, arguments ...string) string {
	t.Helper()
	s := pgtest.Shared(t)
	path := filepath.Join(s.Binaries().Dir, name)
	if _, err := os.Stat(path); err != nil {
		path = name
	}
	cmd := exec.CommandContext(t.Context(), path, arguments...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PGHOST=127.0.0.1", "PGPORT="+strconv.Itoa(s.Port()),
		"PGDATABASE="+conn.Config().Database, "PGUSER="+role.Name, "PGPASSWORD="+role.Password)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// admins is the connection's own login.
func admins(conn *pgx.Conn) provision.Login {
	return provision.Login{Name: conn.Config().User, Password: conn.Config().Password}
}
