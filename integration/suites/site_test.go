package suites

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/scram"
)

// Names on the server that only kproxy's way has.
const (
	owner  = "suites_owner"
	reader = "suites_reader"
)

// published is what a site publishes: a table that no suite knows.
const published = `CREATE SCHEMA clinic; CREATE TABLE clinic.people (id serial PRIMARY KEY, age integer);
	INSERT INTO clinic.people (age) SELECT i FROM generate_series(1, 20) i;
	REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA public FROM PUBLIC`

const configuration = `listen: 127.0.0.1:%d
database: %s
users:
  - {name: %s, verifier: %q}
upstream:
  owner: {host: 127.0.0.1, port: %d, database: %s, user: %s, password_file: role.password, sslmode: %s}
  reader: {user: %s, password_file: role.password}
tls: {mode: allow, cert_file: %s, key_file: %s}
temporary_tables: allow
tables:
  clinic.people:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 2}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
timeouts: {shutdown: 1s}
`

// throughKproxy starts kproxy in front of the database, with temporary tables allowed,
// so that as much as can be is run.
func throughKproxy(t *testing.T, encrypted bool) way {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	execute(t, database, published)
	shown, err := ofLoopback()
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := scram.Derive(password, []byte("0123456789abcdef"), 4096)
	if err != nil {
		t.Fatal(err)
	}
	sslmode := "disable"
	if encrypted {
		sslmode = "require"
	}
	port := freePort(t)
	folder := t.TempDir()
	config := filepath.Join(folder, "kproxy.yaml")
	for path, text := range map[string]string{
		filepath.Join(folder, "role.password"): password,
		config:                                 fmt.Sprintf(configuration, port, database, user, verifier, server(t).Port(), database, owner, sslmode, reader, shown.file, shown.key),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	setup := exec.CommandContext(t.Context(), binary, "setup", "--config", config)
	setup.Env = append(withoutPostgres(os.Environ()), "KPROXY_ADMIN_URL="+server(t).DSN(database))
	if output, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("kproxy setup: %v\n%s", err, output)
	}
	launch(t, binary, config, port)
	return way{name: "kproxy", host: "127.0.0.1", port: port, user: user, password: password}
}

// launch starts kproxy, which ends with the test.
func launch(t *testing.T, binary, config string, port int) {
	t.Helper()
	var log strings.Builder
	serve := exec.CommandContext(context.Background(), binary, "serve", "--config", config)
	serve.Env = withoutPostgres(os.Environ())
	serve.Stderr = &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	t.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("kproxy: %v\n%s", err, tail(log.String()))
			}
		case <-time.After(patience):
			_ = serve.Process.Kill()
			t.Error("kproxy does not stop")
		}
		dropSlots(t)
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("kproxy ended: %v\n%s", err, tail(log.String()))
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("kproxy does not serve:\n%s", tail(log.String()))
		}
	}
}

// dropSlots takes away what keeps the database from being dropped. A slot is in use for a
// moment after its user is gone.
func dropSlots(t *testing.T) {
	t.Helper()
	execute(t, database, `DO $$ BEGIN
		FOR i IN 1..600 LOOP
			PERFORM pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active;
			EXIT WHEN NOT EXISTS (SELECT FROM pg_replication_slots);
			PERFORM pg_sleep(0.1);
		END LOOP;
	END $$`)
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
