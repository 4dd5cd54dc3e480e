package console

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/scram"
)

// manyTables are as many as an operator may have, with names of 32 characters.
const manyTables = 51

func manyName(i int) string { return fmt.Sprintf("warehouse_of_measurements_no_%03d", i) }

// warehouse is a kproxy that serves many tables, of which some need the operator.
type warehouse struct {
	source  *pgx.Conn
	console string
	process *exec.Cmd
	told    rig.Log
}

var (
	isServing = regexp.MustCompile("msg=serving")
	// mayHalt is what the browser says once it looks at the overview.
	mayHalt = regexp.MustCompile("halt one now")
)

// withdrawal is what the log says of a table that has lost a column.
func withdrawal(i int) *regexp.Regexp {
	return regexp.MustCompile("is (withdrawn|halted).*" + manyName(i))
}

const warehousePassword = "a long password"

// TestManyTables shows an operator of many tables, some of which are halted or withheld, the console at
// four widths, in light and dark.
func TestManyTables(t *testing.T) {
	t.Parallel()
	cmd := browse(t, "many.mjs", filepath.Join(screens, "many"))
	w := openWarehouse(t)
	halted, err := json.Marshal([]string{"public." + manyName(7), "public." + manyName(33)})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "CONSOLE="+w.console, "OPERATOR=admin", "PASSWORD="+warehousePassword,
		"TABLES="+fmt.Sprint(manyTables), "HALTED="+string(halted), "WITHHELD=public."+manyName(20))
	var output rig.Log
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// While the browser looks at a page, one more table needs the operator. The pages before that
	// one take as long as the machine lets them.
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for halt := false; ; {
		select {
		case <-look.C:
			if !halt && mayHalt.MatchString(output.String()) {
				halt = true
				w.execute(t, "ALTER TABLE "+manyName(44)+" RENAME COLUMN age TO years")
			}
		case err := <-ended:
			if err != nil {
				t.Errorf("the browser: %v\n%s", err, output.String())
			}
			return
		}
	}
}

func (w *warehouse) execute(t *testing.T, sql string) {
	t.Helper()
	if _, err := w.source.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// openWarehouse starts a server and a kproxy, both of which end with the test.
func openWarehouse(t *testing.T) *warehouse {
	t.Helper()
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	w := &warehouse{}
	if w.source, err = pgx.Connect(t.Context(), server.DSN("postgres")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.source.Close(context.Background()) })
	for i := range manyTables {
		rows := 200
		if i == 20 {
			rows = 3 // too few
		}
		w.execute(t, fmt.Sprintf(`CREATE TABLE %[1]s AS SELECT n AS id, 20 + n %% 60 AS age, (ARRAY['flu','cold','cough'])[1 + n %% 3] AS diagnosis FROM generate_series(1, %[2]d) n;
			ALTER TABLE %[1]s ADD PRIMARY KEY (id)`, manyName(i), rows))
	}
	dir := t.TempDir()
	program, err := rig.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "kproxy.yaml")
	if err := os.WriteFile(config, []byte(w.configuration(t, server)), 0o600); err != nil {
		t.Fatal(err)
	}
	setup := exec.CommandContext(t.Context(), program, "setup", "--config", config)
	passwords := append(os.Environ(), "WAREHOUSE_OWNER=owner", "WAREHOUSE_READER=reader")
	setup.Env = slices.Concat(passwords, []string{"KPROXY_ADMIN_URL=" + server.DSN("postgres")})
	if said, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v\n%s", err, said)
	}
	w.process = exec.CommandContext(context.Background(), program, "serve", "--config", config)
	w.process.Env = passwords
	w.process.Stdout, w.process.Stderr = &w.told, &w.told
	if err := w.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.process.Process.Signal(syscall.SIGTERM)
		_ = w.process.Wait()
		if t.Failed() {
			t.Logf("the log of kproxy:\n%s", w.told.String())
		}
	})
	if _, err := w.told.Await(isServing); err != nil {
		t.Fatalf("%v\n%s", err, w.told.String())
	}
	for _, i := range []int{7, 33} {
		w.execute(t, "ALTER TABLE "+manyName(i)+" RENAME COLUMN age TO years")
		if _, err := w.told.Await(withdrawal(i)); err != nil {
			t.Fatalf("%v\n%s", err, w.told.String())
		}
	}
	return w
}

func (w *warehouse) configuration(t *testing.T, server *pgserver.Server) string {
	t.Helper()
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	own, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := scram.New(warehousePassword)
	if err != nil {
		t.Fatal(err)
	}
	w.console = fmt.Sprintf("http://127.0.0.1:%d/", own)
	var text strings.Builder
	fmt.Fprintf(&text, `listen: 127.0.0.1:%[1]d
users: [{name: analyst, verifier: %[2]q}, {name: anna, reader: partner, verifier: %[2]q}, {name: bob, reader: press, verifier: %[2]q}, {name: carla, reader: press, verifier: %[2]q}]
upstream:
  owner: {host: 127.0.0.1, port: %[3]d, database: postgres, user: kproxy_owner, password_env: WAREHOUSE_OWNER, sslmode: disable}
  reader: {user: kproxy_reader, password_env: WAREHOUSE_READER}
  readers:
    partner: {user: kproxy_partner, password_env: WAREHOUSE_READER}
    press: {user: kproxy_press, password_env: WAREHOUSE_READER}
console:
  listen: 127.0.0.1:%[4]d
  users: [{name: admin, verifier: %[2]q}]
  actions: allow
audiences:
  partners:
    readers: partner
    tables:
      public.%[5]s: {constraints: [{k: 10}]}
      public.%[6]s: {constraints: [{k: 10}]}
  press:
    readers: press
    tables:
      public.%[5]s: {constraints: [{k: 50}], hide: [diagnosis]}
tables:
`, port, verifier.String(), server.Port(), own, manyName(3), manyName(4))
	for i := range manyTables {
		fmt.Fprintf(&text, `  public.%s:
    updates: immediate
    constraints: [{k: 5}, {l: 2, of: diagnosis}]
    columns:
      id: identifying
      age: {role: quasi-identifying, hierarchy: numeric}
      diagnosis: sensitive
`, manyName(i))
	}
	return text.String()
}
