package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/integration/certificate"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/scram"
)

const (
	clientUser     = "analyst"
	clientPassword = "client-secret"
	clientDatabase = "hospital"
	ownerUser      = "kproxy_owner"
	ownerPassword  = "owner-secret"
	readerUser     = "kproxy_reader"
	readerPassword = "reader-secret"
)

// site is the published table.
type site struct {
	database string
	admin    string // URL of the superuser
	verifier string // of the client's password

	published int64
	lookup    string // one row by an indexed column; :stay is its value
	scan      string
	copyOut   string
	page      string // a thousand rows
	// What kproxy made of them, and the server's plan of the first.
	lookupPublished, scanPublished, copyPublished, pagePublished string
	plan                                                         string
}

// The column stay is a number drawn for each stay in the hospital: it tells nothing, is
// published as it is, and is what a client would look one record up by. Multiplied by a
// number modulo a prime above, the numbers of the patients make such a permutation.
const addStays = `
ALTER TABLE patients ADD COLUMN stay bigint;
UPDATE patients SET stay = patient_id * 611953 % 15485863;
VACUUM ANALYZE patients`

// publish loads the hospital, publishes its patients, and starts the ways to them.
func (b *bench) publish(ctx context.Context) error {
	verifier, err := scram.New(clientPassword)
	if err != nil {
		return err
	}
	b.site = site{
		database: clientDatabase, verifier: verifier.String(), admin: b.server.DSN(clientDatabase),
		lookup:  "SELECT sex, birth_date, postcode, diagnosis, cost FROM patients WHERE stay = :stay",
		scan:    "SELECT * FROM patients",
		copyOut: "COPY (SELECT * FROM patients) TO STDOUT",
		page:    "SELECT * FROM patients LIMIT 1000",
	}
	if err := b.load(ctx); err != nil {
		return fmt.Errorf("loading the table: %w", err)
	}
	if err := certificate.Write(b.dir); err != nil {
		return err
	}
	b.ways = []*way{{
		name: direct, host: b.upstream(), port: b.server.Port(), plain: true,
		user: readerUser, password: readerPassword, database: b.site.database,
	}}
	for i, program := range b.programs {
		w, err := b.kproxy(ctx, program[0], program[1], i == 0)
		if w != nil {
			b.ways = append(b.ways, w)
		}
		if err != nil {
			return err
		}
	}
	if err := b.index(ctx); err != nil {
		return fmt.Errorf("indexing what is published: %w", err)
	}
	w, err := b.bouncer(ctx)
	if err != nil {
		return err
	}
	b.ways = append(b.ways, w)
	if w, err = b.pgpool(); err != nil {
		return err
	}
	if w != nil {
		b.ways = append(b.ways, w)
	}
	for _, w := range b.ways[1:] {
		if err := w.await(ctx); err != nil {
			return err
		}
	}
	return b.rewritten(ctx)
}

// load makes the source table.
func (b *bench) load(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.server.DSN("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+clientDatabase)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return err
	}
	if conn, err = pgx.Connect(ctx, b.site.admin); err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := hospital.Load(ctx, conn, b.records, 1); err != nil {
		return err
	}
	for statement := range strings.SplitSeq(addStays, ";") {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	return err
}

// kproxy starts one and waits until clients can read the table; the first one sets the
// database up and publishes it.
func (b *bench) kproxy(ctx context.Context, name, program string, first bool) (*way, error) {
	w := &way{name: name, host: "127.0.0.1", user: clientUser, password: clientPassword, database: clientDatabase, protected: true}
	var err error
	if w.port, err = freePort(); err != nil {
		return nil, err
	}
	if err := b.write(name+".yaml", b.configuration(w.port)); err != nil {
		return nil, err
	}
	environment := []string{
		"KPROXY_CONFIG=" + b.path(name+".yaml"), "KPROXY_ADMIN_URL=" + b.site.admin,
		"OWNER_PASSWORD=" + ownerPassword, "READER_PASSWORD=" + readerPassword,
	}
	if first {
		setup := exec.CommandContext(ctx, program, "setup")
		setup.Env = append(setup.Environ(), environment...)
		if output, err := setup.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("kproxy setup: %w: %s", err, output)
		}
	}
	if w.process, err = b.launch(name, program, environment, "serve"); err != nil {
		return nil, err
	}
	return w, b.awaitTable(ctx, w)
}

// section is the configuration's section tables: its line and those that are indented,
// empty or comments.
var section = regexp.MustCompile(`(?m)^tables:\n(?:(?: .*|#.*)?\n)+`)

// configuration is the example's policy, with the column stay. Updates are guarded: the
// release is then a table with a row for each record, which an index can find.
func (b *bench) configuration(port int) string {
	example := string(kproxy.ExampleConfig)
	tables := section.FindString(example)
	tables = strings.Replace(tables, "      cost: sensitive\n", "      cost: sensitive\n      stay: insensitive\n", 1)
	tables = strings.Replace(tables, "joinable: [cost]", "joinable: [cost, stay]", 1)
	tables = strings.Replace(tables, "\n    updates: immediate\n", "\n    updates: guarded\n", 1)
	return fmt.Sprintf(`listen: 127.0.0.1:%d
database: %s
tls: {mode: allow, cert_file: server.crt, key_file: server.key}
users: [{name: %s, verifier: %q}]
upstream:
  owner: {host: 127.0.0.1, port: %d, database: %s, user: %s, password_env: OWNER_PASSWORD, sslmode: disable}
  reader: {host: %q, user: %s, password_env: READER_PASSWORD}
limits: {max_sessions: %d}
log: {level: warn}
%s
`, port, clientDatabase, clientUser, b.site.verifier, b.server.Port(), b.site.database, ownerUser, b.upstream(), readerUser, b.sessions(), tables)
}

// awaitTable waits until the table is published as a whole.
func (b *bench) awaitTable(ctx context.Context, w *way) error {
	const patience = 5 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := func() error {
			conn, err := w.connect(ctx)
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			return conn.QueryRow(ctx, "SELECT count(*) FROM patients").Scan(&b.site.published)
		}()
		if err == nil && b.site.published > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; its log:\n%s", w.name, errors.Join(ctx.Err(), err), w.process.Said())
		case <-w.process.Exited():
			return fmt.Errorf("%s ended:\n%s", w.name, w.process.Said())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// index makes the index on what is published, as its administrator would: kproxy itself
// makes none on columns that it publishes as they are.
func (b *bench) index(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.site.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var release string
	const find = `SELECT c.oid::regclass FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
		WHERE relnamespace = 'kproxy_store'::regnamespace AND relkind = 'r' AND relname LIKE 'release%' AND attname = 'stay'`
	if err := conn.QueryRow(ctx, find).Scan(&release); err != nil {
		return err
	}
	for _, statement := range []string{"CREATE UNIQUE INDEX ON %s (stay)", "VACUUM (ANALYZE, FREEZE) %s"} {
		if _, err := conn.Exec(ctx, fmt.Sprintf(statement, release)); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, "CHECKPOINT")
	return err
}

// rewritten asks the server what kproxy makes of the statements, which all other ways
// use then, so that the server's work is the same.
func (b *bench) rewritten(ctx context.Context) error {
	admin, err := pgx.Connect(ctx, b.site.admin)
	if err != nil {
		return err
	}
	defer admin.Close(context.WithoutCancel(ctx))
	const value = "424242424242"
	for _, statement := range []struct {
		from string
		to   *string
	}{{b.site.lookup, &b.site.lookupPublished}, {b.site.scan, &b.site.scanPublished}, {b.site.copyOut, &b.site.copyPublished}, {b.site.page, &b.site.pagePublished}} {
		text, err := b.capture(ctx, admin, strings.Replace(statement.from, ":stay", value, 1))
		if err != nil {
			return err
		}
		*statement.to = strings.Replace(text, value, ":stay", 1)
	}
	rows, err := admin.Query(ctx, "EXPLAIN (COSTS OFF) "+strings.Replace(b.site.lookupPublished, ":stay", value, 1))
	if err != nil {
		return err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	b.site.plan = strings.Join(lines, "\n") + "\n"
	if err == nil && !strings.Contains(b.site.plan, "Index Scan") {
		err = fmt.Errorf("the lookup uses no index:\n%s", b.site.plan)
	}
	return err
}

// capture runs a statement through kproxy, and reads what its upstream connection ran.
func (b *bench) capture(ctx context.Context, admin *pgx.Conn, sql string) (string, error) {
	conn, err := b.ways[1].connect(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var pid int
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return "", err
	}
	if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return "", err
	}
	var text string
	err = admin.QueryRow(ctx, "SELECT query FROM pg_stat_activity WHERE pid = $1", pid).Scan(&text)
	return text, err
}
