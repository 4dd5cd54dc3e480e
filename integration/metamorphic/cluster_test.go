package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// The names by which clients know the database and themselves, and those of the source.
const (
	database = "clinic"
	user     = "analyst"
	password = "analyst's"
	reader   = "clinic_reader"
	owner    = "canary_owner"
	inside   = "canary_database"
)

// cluster is a cluster as it is once everything is published: what worlds are copies of.
type cluster struct {
	program  string
	dir      string
	verifier string
	backup   *pgserver.Backup
	facts    facts
}

// settings leave nothing to chance: nobody vacuums or checkpoints but a mutation.
var settings = map[string]string{
	"autovacuum": "off", "checkpoint_timeout": "1d", "max_wal_size": "4GB", "bgwriter_lru_maxpages": "0",
	"max_prepared_transactions": "4", "jit": "off", "max_parallel_workers_per_gather": "0",
}

// newCluster loads the source, publishes it, has records wait, and keeps a copy of it.
func newCluster(ctx context.Context, program, dir string) (c *cluster, err error) {
	server, err := pgserver.Start(ctx, pgserver.Options{Settings: settings})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	c = &cluster{program: program, dir: dir}
	made := exec.CommandContext(ctx, program, "password")
	made.Stdin = strings.NewReader(password + "\n")
	verifier, err := made.Output()
	if err != nil {
		return nil, fmt.Errorf("kproxy password: %w", err)
	}
	c.verifier = strings.TrimSpace(string(verifier))
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("secret\n"), 0o600); err != nil {
		return nil, err
	}
	if err := load(ctx, server); err != nil {
		return nil, err
	}
	w := &world{name: "origin", cluster: c, server: server}
	if err := w.setup(ctx); err != nil {
		return nil, err
	}
	defer w.end()
	if err := w.serve(ctx); err != nil {
		return nil, err
	}
	if err := w.fill(ctx); err != nil {
		return nil, err
	}
	w.end()
	if c.facts, err = gather(ctx, server.DSN(inside)); err != nil {
		return nil, err
	}
	c.backup, err = server.Backup(ctx, filepath.Join(dir, "backup"))
	return c, err
}

// load makes the source database.
func load(ctx context.Context, server *pgserver.Server) error {
	if err := execute(ctx, server.DSN("postgres"), "CREATE DATABASE "+inside); err != nil {
		return err
	}
	for _, file := range []string{"../testdata/canary.sql", "../testdata/attack.sql", "testdata/world.sql"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := execute(ctx, server.DSN(inside), string(text)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// fill runs the fixture: what it changes waits, or is hidden otherwise.
func (w *world) fill(ctx context.Context) error {
	text, err := os.ReadFile("testdata/fixture.sql")
	if err != nil {
		return err
	}
	for statement := range strings.SplitSeq(string(text), "\n\n") {
		if err := execute(ctx, w.admin(), statement); err != nil {
			return err
		}
	}
	return errors.Join(w.catchUp(ctx), execute(ctx, w.admin(), "CHECKPOINT"))
}

// execute runs statements on a connection of their own.
func execute(ctx context.Context, url, statements string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("%.80q: %w", statements, err)
	}
	return nil
}
