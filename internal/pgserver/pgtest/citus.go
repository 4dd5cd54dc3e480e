package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// CitusVariable names the environment variable with the folder of server programs whose installation has the
// extension citus. Tests that need it are skipped without.
const CitusVariable = "KPROXY_CITUS_BIN"

// Cluster is a coordinator of Citus and its workers.
type Cluster struct {
	Coordinator *pgserver.Server
	Workers     []*pgserver.Server

	databases atomic.Int64
}

// Citus starts a coordinator and workers, which stop when the test ends. Servers let each other in, and everybody on
// this machine, without a password, as one whose workers are reached by its coordinator alone may.
func Citus(t testing.TB, workers int) *Cluster {
	t.Helper()
	programs := os.Getenv(CitusVariable)
	if programs == "" {
		t.Skipf("%s does not name a folder of PostgreSQL's programs with Citus", CitusVariable)
	}
	start := func() *pgserver.Server {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		s, err := pgserver.Start(ctx, pgserver.Options{BinDir: programs, Settings: map[string]string{
			"shared_preload_libraries":           "citus",
			"max_prepared_transactions":          "100",
			"citus.max_cached_conns_per_worker":  "0", // what is cached would keep databases from being dropped
			"citus.shard_count":                  "4",
			"citus.recover_2pc_interval":         "-1", // tests recover, or kproxy does
			"citus.enable_statistics_collection": "off",
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Errorf("stopping a server of the cluster: %v", err)
			}
		})
		rules := "host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"
		if err := os.WriteFile(filepath.Join(s.DataDir(), "pg_hba.conf"), []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := execute(s, "postgres", "SELECT pg_reload_conf()"); err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := &Cluster{Coordinator: start()}
	for range workers {
		c.Workers = append(c.Workers, start())
	}
	return c
}

// Database makes an empty database on all servers of the cluster, and returns its connection URL for the coordinator's
// superuser.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("spread_%d", c.databases.Add(1))
	all := append([]*pgserver.Server{c.Coordinator}, c.Workers...)
	for _, s := range all {
		for _, statement := range []struct{ database, sql string }{
			{"postgres", "CREATE DATABASE " + name},
			{name, "CREATE EXTENSION citus"},
			{name, "REVOKE CREATE ON SCHEMA public FROM PUBLIC"},
		} {
			if err := execute(s, statement.database, statement.sql); err != nil {
				t.Fatalf("making a database for the test: %s: %v", statement.sql, err)
			}
		}
	}
	if err := execute(c.Coordinator, name, "SELECT citus_set_coordinator_host('127.0.0.1', $1)", c.Coordinator.Port()); err != nil {
		t.Fatalf("naming the coordinator: %v", err)
	}
	for _, w := range c.Workers {
		if err := execute(c.Coordinator, name, "SELECT citus_add_node('127.0.0.1', $1)", w.Port()); err != nil {
			t.Fatalf("adding a worker: %v", err)
		}
	}
	return c.Coordinator.DSN(name)
}
