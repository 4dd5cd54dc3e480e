package integration

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

const (
	clientUser     = "analyst"
	clientPassword = "analyst's pass:word/é"
	// clientDatabase is the name clients know the database by.
	clientDatabase = "clinic"
	ownerPassword  = "owner's secret \\ 1"
	readerPassword = "reader's secret ' 2"
)

// site is a database with a configuration of kproxy for it.
type site struct {
	server   *pgserver.Server
	database string
	admin    string // URL of the superuser
	release  string // likewise, of the database of the release; admin where that is the same
	owner    string // role names; roles belong to the server, so every site has its own
	reader   string
	slot     string
	address  string // where kproxy listens
	dir      string
	config   string // path
}

// siteOptions say what a site is for.
type siteOptions struct {
	server *pgserver.Server // nil means the shared one
	apart  *pgserver.Server // has the release, in a database of its own; nil means that the source's has it
	// cluster has the release on its coordinator; nil means that no other servers take rows.
	cluster *pgtest.Cluster
	load    func(context.Context, *pgx.Conn) error
	create  []string // options of CREATE DATABASE
	// tables are the sections tables and readable of the configuration.
	tables string
	// settings are further sections.
	settings string
}

func newSite(t *testing.T, o siteOptions) *site {
	t.Helper()
	if o.server == nil {
		o.server = sharedServer(t)
	}
	s := &site{server: o.server, admin: pgtest.Database(t, o.server, o.create...), dir: scratch(t)}
	s.release = s.admin
	if o.apart != nil {
		s.release = pgtest.Database(t, o.apart, o.create...)
	}
	if o.cluster != nil {
		s.release = o.cluster.Database(t)
	}
	s.database = connConfig(t, s.admin).Database
	s.owner, s.reader, s.slot = "owner_"+s.database, "reader_"+s.database, "slot_"+s.database
	s.address = freeAddress(t)
	conn := connect(t, s.admin)
	if err := o.load(t.Context(), conn); err != nil {
		t.Fatalf("loading the tables: %v", err)
	}
	// The roles go before the database that pgtest drops.
	t.Cleanup(func() {
		if o.cluster != nil { // its servers are gone with the test
			s.dropRolesOf(t, s.admin)
			return
		}
		s.dropRoles(t)
	})
	s.write(t, "owner.password", ownerPassword+"\n")
	s.write(t, "reader.password", readerPassword+"\n")
	s.config = s.write(t, "kproxy.yaml", s.render(t, o))
	return s
}

// render writes the configuration.
func (s *site) render(t *testing.T, o siteOptions) string {
	t.Helper()
	release, source := connConfig(t, s.release), ""
	if s.isApart() {
		source = fmt.Sprintf("source:\n  host: 127.0.0.1\n  port: %d\n  database: %s\n  user: source_%[2]s\n  password_file: owner.password\n  sslmode: disable", s.server.Port(), s.database)
	}
	return fmt.Sprintf(`listen: %s
database: %s
users:
  - name: %s
    verifier: %s
upstream:
  owner:
    host: 127.0.0.1
    port: %d
    database: %s
    user: %s
    password_file: owner.password
    sslmode: disable
  reader:
    user: %s
    password_file: reader.password
slot: %s
%s
%s
%s
`, s.address, clientDatabase, clientUser, clientVerifier(t), release.Port, release.Database, s.owner, s.reader, s.slot, source, o.settings, o.tables)
}

// isApart says whether the release is in a database of its own.
func (s *site) isApart() bool { return s.release != s.admin }

var verifier struct {
	once sync.Once
	text string
}

// clientVerifier is what `kproxy password` makes of the client's password.
func clientVerifier(t *testing.T) string {
	t.Helper()
	verifier.once.Do(func() {
		verifier.text = strings.TrimSpace(run(t, clientPassword+"\n", nil, program, "password").must(t).stdout)
	})
	return verifier.text
}

// write puts a file into the site's folder and returns its path.
func (s *site) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// edit makes a changed copy of the configuration and returns its path.
func (s *site) edit(t *testing.T, name string, oldNew ...string) string {
	t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(changed, oldNew[i]) {
			t.Fatalf("the configuration has no %q", oldNew[i])
		}
		changed = strings.Replace(changed, oldNew[i], oldNew[i+1], 1)
	}
	return s.write(t, name, changed)
}

// kproxy runs a command with the site's configuration.
func (s *site) kproxy(t *testing.T, arguments ...string) outcome {
	t.Helper()
	return run(t, "", []string{"KPROXY_CONFIG=" + s.config, "KPROXY_ADMIN_URL=" + s.release, "KPROXY_SOURCE_ADMIN_URL=" + s.admin}, program, arguments...)
}

// launch starts `kproxy serve` without waiting for anything.
func (s *site) launch(t *testing.T, env ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), program, "serve", "--config", s.config)
	cmd.Env = append(os.Environ(), env...)
	p := start(t, cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of kproxy:\n%s", tail(p.log.String()))
		}
	})
	return p
}

// serve starts `kproxy serve` and returns once clients can connect.
func (s *site) serve(t *testing.T) *process {
	t.Helper()
	p := s.launch(t)
	if !p.awaitLog(t, "msg=serving") {
		t.Fatalf("kproxy did not serve:\n%s", p.log)
	}
	return p
}

// ready makes a site that is set up and served.
func ready(t *testing.T, o siteOptions) *site {
	t.Helper()
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	return s
}

// url is where clients connect.
func (s *site) url(parameters ...string) string {
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(clientUser, clientPassword),
		Host: s.address, Path: "/" + clientDatabase,
		RawQuery: strings.Join(append([]string{"application_name=test"}, parameters...), "&"),
	}
	return u.String()
}

// readerURL is where the reader role connects without kproxy.
func (s *site) readerURL() string {
	release, err := pgx.ParseConfig(s.release)
	if err != nil {
		panic(err) // it was parsed before
	}
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(s.reader, readerPassword),
		Host: "127.0.0.1:" + strconv.Itoa(int(release.Port)), Path: "/" + release.Database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// psql runs commands and prints rows alone, without alignment.
func psql(t *testing.T, url string, commands ...string) outcome {
	t.Helper()
	return run(t, strings.Join(commands, "\n")+"\n", nil, "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url)
}

// dropRoles takes the site's roles away, with the database's objects that keep them.
func (s *site) dropRoles(t *testing.T) {
	for _, admin := range slices.Compact([]string{s.admin, s.release}) {
		s.dropRolesOf(t, admin)
	}
}

func (s *site) dropRolesOf(t *testing.T, admin string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Errorf("dropping the site's roles: %v", err)
		return
	}
	defer conn.Close(ctx)
	const drop = `DO $$ DECLARE r text; BEGIN
		FOR r IN SELECT quote_ident(rolname) FROM pg_roles WHERE rolname IN ('%s', '%s', '%s') LOOP
			EXECUTE 'DROP OWNED BY ' || r || ' CASCADE';
			BEGIN EXECUTE 'DROP ROLE ' || r; EXCEPTION WHEN dependent_objects_still_exist THEN NULL; END;
		END LOOP; END $$`
	if _, err := conn.Exec(ctx, fmt.Sprintf(drop, s.owner, s.reader, "source_"+s.database)); err != nil {
		t.Errorf("dropping the site's roles: %v", err)
	}
}

// connect opens a connection that is closed with the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func connConfig(t *testing.T, url string) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// scalar reads one value.
func scalar[T any](t *testing.T, conn *pgx.Conn, sql string, arguments ...any) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), sql, arguments...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func execute(t *testing.T, conn *pgx.Conn, sql string, arguments ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, arguments...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// freeAddress is one that nobody listens on at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

const patients = 600

// hospitalSite is the demonstration's hospital in small, under its own policy.
func hospitalSite() siteOptions {
	example := string(kproxy.ExampleConfig)
	from, to := strings.Index(example, "\ntables:"), strings.Index(example, "\n# What one client can take")
	return siteOptions{
		load: func(ctx context.Context, conn *pgx.Conn) error {
			return hospital.Load(ctx, conn, patients, 1)
		},
		tables: example[from:to],
	}
}

// sqlSite is a database made by statements, under a policy.
func sqlSite(statements, tables string) siteOptions {
	return siteOptions{
		load: func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, statements)
			return err
		},
		tables: tables,
	}
}
