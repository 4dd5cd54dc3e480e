package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/child"
	"github.com/kproxy/kproxy/internal/bench/host"
	"github.com/kproxy/kproxy/internal/bench/result"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// bench is a database with a published table, and the ways to it.
type bench struct {
	options
	out    io.Writer
	dir    string
	server *pgserver.Server
	site   site
	ways   []*way

	// others are the shares of the machine that other processes took during the runs that
	// count.
	others []float64

	// figures are for the file that was asked for.
	figures []result.Figure
}

// way is one that a client can take to the published table.
type way struct {
	name           string
	host           string
	port           int
	user, password string
	database       string
	process        *child.Process // nil for a direct connection
	protected      bool           // statements name the protected table, not the published one
	plain          bool           // it has no certificate
}

// direct, peer are the names of the ways that kproxy is compared with.
const (
	direct = "direct"
	peer   = "pgbouncer"
)

// newBench makes the database, publishes the table and starts everything.
func newBench(ctx context.Context, o options, out io.Writer) (_ *bench, err error) {
	b := &bench{options: o, out: out}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	for _, program := range []string{"pgbench", peer} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%w: install pgbouncer and postgresql-contrib", err)
		}
	}
	if b.dir, err = os.MkdirTemp("", "kproxy-speed-"); err != nil {
		return nil, err
	}
	if err := os.Chmod(b.dir, os.ModeSticky|0o777); err != nil {
		return nil, err
	}
	settings := map[string]string{
		"max_connections": strconv.Itoa(o.connections()), "shared_buffers": "512MB", "max_wal_size": "8GB",
		"checkpoint_timeout": "1h", "autovacuum": "off", "jit": "off",
	}
	if o.sockets {
		settings["unix_socket_directories"] = b.dir
	}
	if b.server, err = pgserver.Start(ctx, pgserver.Options{Settings: settings}); err != nil {
		return nil, err
	}
	if err := b.publish(ctx); err != nil {
		return nil, fmt.Errorf("making the site: %w", err)
	}
	return b, nil
}

func (b *bench) close() {
	for _, w := range b.ways {
		if w.process != nil {
			w.process.End(patienceAtEnd)
		}
	}
	if b.server != nil {
		if err := b.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "speed: stopping PostgreSQL:", err)
		}
	}
	if err := os.RemoveAll(b.dir); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
	}
}

// upstream is where proxies, and direct connections, find PostgreSQL.
func (b *bench) upstream() string {
	if b.sockets {
		return b.dir
	}
	return "127.0.0.1"
}

// bouncer starts PgBouncer in session mode. Clients log in as kproxy's reader role, by the
// verifier that PostgreSQL has of it, so that PgBouncer can log in upstream with what it
// learns from them.
func (b *bench) bouncer(ctx context.Context) (*way, error) {
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, fmt.Errorf("finding Debian's pgbouncer: %w", err)
	}
	w := &way{name: peer, host: "127.0.0.1", user: readerUser, password: readerPassword, database: clientDatabase}
	if w.port, err = freePort(); err != nil {
		return nil, err
	}
	verifier, err := b.storedVerifier(ctx)
	if err != nil {
		return nil, err
	}
	ini := fmt.Sprintf(`[databases]
%s = host=%s port=%d dbname=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = session
max_client_conn = %d
default_pool_size = %d
client_tls_sslmode = allow
client_tls_cert_file = %s
client_tls_key_file = %s
ignore_startup_parameters = extra_float_digits
`, clientDatabase, b.upstream(), b.server.Port(), b.site.database, w.port,
		b.path("users.txt"), b.sessions(), b.sessions(), b.path("server.crt"), b.path("server.key"))
	if err := b.write("users.txt", fmt.Sprintf("%q %q\n", readerUser, verifier)); err != nil {
		return nil, err
	}
	if err := b.write("pgbouncer.ini", ini); err != nil {
		return nil, err
	}
	arguments := []string{b.path("pgbouncer.ini")}
	if name := unprivileged(); name != "" {
		arguments = append([]string{"-u", name}, arguments...)
		if err := b.give(name, "users.txt", "pgbouncer.ini", "server.crt", "server.key"); err != nil {
			return nil, err
		}
	}
	w.process, err = b.launch(peer, path, nil, arguments...)
	return w, err
}

// storedVerifier is what PostgreSQL keeps of the reader role's password.
func (b *bench) storedVerifier(ctx context.Context) (verifier string, err error) {
	conn, err := pgx.Connect(ctx, b.site.admin)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, "SELECT rolpassword FROM pg_authid WHERE rolname = $1", readerUser).Scan(&verifier)
	return verifier, err
}

// give makes files another user's.
func (b *bench) give(name string, files ...string) error {
	to, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(to.Uid) // numbers on the systems with /proc
	gid, _ := strconv.Atoi(to.Gid)
	for _, file := range files {
		if err := os.Chown(b.path(file), uid, gid); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, text string) error {
	return os.WriteFile(b.path(name), []byte(text), 0o600)
}

// processor is the processor time of a way's proxy and its children so far, in seconds; 0
// of a direct connection.
func (w *way) processor() float64 {
	if w.process == nil {
		return 0
	}
	return host.Lineage(w.process.PID(), false)
}

// environment makes libpq's programs take a way.
func (w *way) environment(tls bool) []string {
	mode := "disable"
	if tls {
		mode = "require"
	}
	return []string{
		"PGHOST=" + w.host, "PGPORT=" + strconv.Itoa(w.port), "PGUSER=" + w.user, "PGPASSWORD=" + w.password,
		"PGDATABASE=" + w.database, "PGSSLMODE=" + mode, "PGGSSENCMODE=disable",
	}
}

// connect opens a connection by a way, without TLS.
func (w *way) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s sslmode=disable",
		w.host, w.port, w.user, w.password, w.database))
}

// await waits until somebody can log in.
func (w *way) await(ctx context.Context) error {
	const patience = time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		conn, err := w.connect(ctx)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; its log:\n%s", w.name, errors.Join(ctx.Err(), err), w.process.Said())
		case <-w.process.Exited():
			return fmt.Errorf("%s ended:\n%s", w.name, w.process.Said())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// heading says what is measured where.
func (b *bench) heading() {
	version := func(program, flag string) string {
		text, err := exec.Command(program, flag).Output()
		if err != nil {
			return program + " of an unknown version"
		}
		first, _, _ := strings.Cut(string(text), "\n")
		return first
	}
	upstream := "TCP"
	if b.sockets {
		upstream = "Unix sockets"
	}
	fmt.Fprintf(b.out, "%d cores, PostgreSQL %s, %s, %s, %s; upstream by %s.\n", runtime.NumCPU(),
		b.server.Version(), version("pgbouncer", "--version"), version("pgbench", "--version"), runtime.Version(), upstream)
	fmt.Fprintf(b.out, "%d published records; load average %s.\n\n", b.site.published, host.Load())
	fmt.Fprintf(b.out, "kproxy:    %s\nothers:    %s\n%s\n", b.site.lookup, b.site.lookupPublished, b.site.plan)
}

// ending says how quiet the machine was.
func (b *bench) ending() {
	fmt.Fprintf(b.out, "%d runs; during them other processes took %.0f %% of the machine in the median, and %.0f %% at most. Load average at the end %s.\n",
		len(b.others), 100*median(b.others), 100*slices.Max(append(b.others, 0)), host.Load())
}

// rounds calls measure once for each way in each round, and another way first each time.
func (b *bench) rounds(ctx context.Context, ways []*way, measure func(*way) error) error {
	for round := range b.options.rounds {
		for i := range ways {
			if err := ctx.Err(); err != nil {
				return err
			}
			w := ways[(i+round)%len(ways)]
			if err := measure(w); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

// quietly calls measure, and again if other processes used the machine meanwhile.
func (b *bench) quietly(measure func() error) error {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		share, _, err := host.Others(measure)
		if err != nil {
			return err
		}
		if share <= b.calm || attempt == attempts {
			b.others = append(b.others, share)
			return nil
		}
	}
}

// freePort is one that nobody listens on at the moment.
func freePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
