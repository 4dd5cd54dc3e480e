package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/integration/child"
	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// world is a copy of the origin, with the program before it.
type world struct {
	name string
	*cluster
	server  *pgserver.Server
	address string
	process *child.Process
	held    []*pgx.Conn // sessions of mutations that go on
}

// pair starts two worlds that are the same.
func pair(t *testing.T) (a, b *world) {
	t.Helper()
	from := source(t)
	var worlds [2]*world
	var errs [2]error
	var group sync.WaitGroup
	for i, name := range []string{"left", "right"} {
		group.Go(func() { worlds[i], errs[i] = from.copy(context.WithoutCancel(t.Context()), name) })
	}
	group.Wait()
	for _, w := range worlds {
		if w != nil {
			t.Cleanup(func() { w.stop(t) })
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return worlds[0], worlds[1]
}

// copy starts a server on a copy of the cluster, and the program before it.
func (c *cluster) copy(ctx context.Context, name string) (*world, error) {
	server, err := pgserver.Start(ctx, pgserver.Options{Backup: c.backup, SameTimeline: true})
	if err != nil {
		return nil, err
	}
	w := &world{name: name, cluster: c, server: server}
	return w, w.serve(ctx)
}

func (w *world) admin() string { return w.server.DSN(inside) }

// url is where readers connect.
func (w *world) url(user, database string) string {
	u := url.URL{Scheme: "postgresql", User: url.UserPassword(user, password), Host: w.address, Path: "/" + database}
	return u.String()
}

// straight is where the reader role connects past the program.
func (w *world) straight() string {
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(reader, "secret"),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(w.server.Port())), Path: "/" + inside, RawQuery: "options=-c%20statement_timeout%3D5s",
	}
	return u.String()
}

// configure writes the configuration and returns its path.
func (w *world) configure() (path string, err error) {
	port, err := rig.FreePort()
	if err != nil {
		return "", err
	}
	w.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	tables, err := os.ReadFile("testdata/tables.yaml")
	if err != nil {
		return "", err
	}
	allowed := "refuse"
	if *temps {
		allowed = "allow"
	}
	secret := filepath.Join(w.dir, "password")
	path = filepath.Join(w.dir, w.name+"-"+strconv.Itoa(port)+".yaml")
	return path, os.WriteFile(path, fmt.Appendf(nil, `listen: %s
database: %s
users: [{name: %s, verifier: %s}]
throttle: off
timeouts: {statement: 5s}
temporary_tables: %s
replication: {heartbeat: 1h}
upstream:
  owner: {host: 127.0.0.1, port: %d, database: %s, user: %s, password_file: %s, sslmode: disable}
  reader: {user: %s, password_file: %s}
%s`, w.address, database, user, w.verifier, allowed, w.server.Port(), inside, owner, secret, reader, secret, tables), 0o600)
}

func (w *world) setup(ctx context.Context) error {
	configuration, err := w.configure()
	if err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, w.program, "setup", "--config", configuration, "--admin-url", w.admin()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kproxy setup: %w\n%s", err, output)
	}
	return nil
}

// serve starts the program and returns once readers can connect and all that is to be
// published is.
func (w *world) serve(ctx context.Context) error {
	configuration, err := w.configure()
	if err != nil {
		return err
	}
	if w.process, err = child.Start(exec.Command(w.program, "serve", "--config", configuration), configuration+".log"); err != nil {
		return err
	}
	return w.published(ctx)
}

// published waits until readers can read all that is to be published, and what is told of
// it.
func (w *world) published(ctx context.Context) (err error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(ctx, w.url(user, database)); err != nil {
			continue
		}
		_, err = conn.Exec(ctx, `SELECT FROM people, ledger, chart, visits, patients, episodes, trials, barrier,
			towns, towns_large, by_diagnosis, room_list, codes_short, icd10, lockers LIMIT 0`)
		if err == nil {
			err = errors.Join(withheld(ctx, conn, "rare"), withheld(ctx, conn, "donors"))
		}
		if err = errors.Join(err, conn.Close(ctx)); err == nil {
			return w.await(ctx, "everything is described", "SELECT count(*) >= 8 FROM kproxy_catalog.described")
		}
	}
	return fmt.Errorf("not everything is published: %w\n%s", err, w.process.Said())
}

// withheld is nil once readers are told that nothing of a table can be published.
func withheld(ctx context.Context, conn *pgx.Conn, table string) error {
	_, err := conn.Exec(ctx, "SELECT FROM "+table+" LIMIT 0")
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "55000" && strings.Contains(refused.Hint, "cannot meet its constraints") {
		return nil
	}
	return fmt.Errorf("%s is not withheld: %w", table, err)
}

// await waits until a query of the superuser's says true.
func (w *world) await(ctx context.Context, what, query string, arguments ...any) error {
	conn, err := pgx.Connect(ctx, w.admin())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var yes bool
		if err := conn.QueryRow(ctx, query, arguments...).Scan(&yes); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if yes {
			return nil
		}
	}
	return fmt.Errorf("it did not come about: %s\n%s", what, w.process.Said())
}

// catchUp has a record wait, and returns when the program has taken it in, and so all that
// was committed before.
func (w *world) catchUp(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, w.admin())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var end string
	if err := conn.QueryRow(ctx, "INSERT INTO barrier (n, kind) VALUES (2, 'kind 2') RETURNING pg_current_wal_lsn()::text").Scan(&end); err != nil {
		return err
	}
	return w.await(ctx, "the changes are applied", "SELECT lsn >= $1::text::pg_lsn FROM kproxy_store.position", end)
}

// end ends the program.
func (w *world) end() {
	if w.process != nil {
		w.process.End(patience)
	}
}

// release ends the sessions that mutations have left open.
func (w *world) release() {
	for _, conn := range w.held {
		_ = conn.Close(context.Background())
	}
	w.held = nil
}

func (w *world) stop(t *testing.T) {
	w.release()
	w.end()
	if err := w.server.Stop(); err != nil {
		t.Errorf("stopping the %s world: %v", w.name, err)
	}
	if t.Failed() && w.process != nil {
		t.Logf("the log of the %s world:\n%s", w.name, w.process.Said())
	}
}
