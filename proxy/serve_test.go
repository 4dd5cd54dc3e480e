package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/proxy/listen"
)

// serveOn runs a proxy on listeners, and returns how to stop it.
func serveOn(t *testing.T, server *Server, listeners ...net.Listener) (stop context.CancelFunc, done <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listeners...) }()
	t.Cleanup(cancel)
	return cancel, ended
}

// TestServeOnSeveral serves by TCP and by a Unix socket, which ends as one.
func TestServeOnSeveral(t *testing.T) {
	t.Parallel()
	first := startProxy(t, nil) // for its database
	dir, err := os.MkdirTemp("", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	all, err := listen.All(t.Context(), []string{"127.0.0.1:0", "127.0.0.1:0", dir}, listen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	c := first.current.Load().Config
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	server, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := serveOn(t, server, all...)
	port := strconv.Itoa(all[0].Addr().(*net.TCPAddr).Port)
	for _, address := range []string{all[0].Addr().String(), all[1].Addr().String(), net.JoinHostPort(dir, port)} {
		config, err := pgconn.ParseConfig(first.url("sslmode=disable"))
		if err != nil {
			t.Fatal(err)
		}
		host, number, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		at, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		config.Host, config.Port = host, uint16(at)
		conn, err := pgconn.ConnectConfig(deadline(t), config)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		defer func() { _ = conn.Close(context.Background()) }()
	}
	held := make(chan struct{})
	server.shards.all[0].loop.Post(func() { <-held })
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	if err := server.Probe(short); err == nil {
		t.Error("a loop stands still, and a probe gets its answers")
	}
	cancel()
	close(held)
	probed := func() bool { return server.Counts() == Counts{Connections: 3, Sessions: 3} }
	eventually(t, "the probe's connections have ended, and no client's", probed)
	if err := server.Probe(deadline(t)); err != nil {
		t.Errorf("a probe: %v", err)
	}
	eventually(t, "the second probe's have", probed)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), "refused") {
		t.Errorf("the log tells of probes:\n%s", log.String())
	}
	if server.Counts() != (Counts{}) {
		t.Errorf("the clients are %+v", server.Counts())
	}
	if err := server.Probe(deadline(t)); err == nil {
		t.Error("a probe after the end gets an answer")
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// brokenListener fails at the first Accept.
type brokenListener struct{ net.Listener }

var errBroken = errors.New("broken")

func (brokenListener) Accept() (net.Conn, error) { return nil, errBroken }

// TestOneListenerEndsAll has one of two fail.
func TestOneListenerEndsAll(t *testing.T) {
	t.Parallel()
	server, err := New(nowhere(t))
	if err != nil {
		t.Fatal(err)
	}
	all, err := listen.All(t.Context(), []string{"127.0.0.1:0", "127.0.0.1:0"}, listen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, done := serveOn(t, server, all[0], brokenListener{all[1]})
	if err := <-done; !errors.Is(err, errBroken) {
		t.Errorf("it ended with %v", err)
	}
	if conn, err := net.Dial("tcp", all[0].Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("the other one still listens")
	}
}

// starvedListener has no descriptors for a while.
type starvedListener struct {
	net.Listener
	left int
}

func (l *starvedListener) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// TestDescriptorsRunOut serves on when there are descriptors again.
func TestDescriptorsRunOut(t *testing.T) {
	t.Parallel()
	c := nowhere(t)
	log := logged(&c)
	server, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := listen.All(t.Context(), []string{"127.0.0.1:0"}, listen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop, done := serveOn(t, server, &starvedListener{all[0], 4})
	eventually(t, "the server answers", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return server.Probe(ctx) == nil && len(*server.addresses.Load()) == 1
	})
	if lines := log.lines("level=ERROR"); len(lines) != 1 || !strings.Contains(lines[0], "too many open files") || !strings.Contains(lines[0], "ulimit -n") {
		t.Errorf("the log says so once, and what to do: %q", lines)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestEndSessions ends what runs while the server stops.
func TestEndSessions(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	busy := p.loginWire(t)
	mark := marker()
	busy.send(&oldproto.Query{String: "SELECT pg_sleep(600) /* " + mark + " */"})
	eventually(t, "it runs", func() bool { return active(t, direct, mark) == 1 })
	ended := make(chan error, 1)
	go func() { ended <- p.stop() }()
	eventually(t, "new clients are refused", func() bool {
		conn, err := net.Dial("tcp", p.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	if n := active(t, direct, mark); n != 1 {
		t.Errorf("%d run while the server waits for them", n)
	}
	p.EndSessions()
	busy.expectFatal(stateAdminShutdown)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	eventually(t, "it is canceled", func() bool { return active(t, direct, mark) == 0 })
}

// TestDrain stops under load: each client gets whole answers up to the end, and then
// 57P01, or finds nobody listening.
func TestDrain(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	const clients = 20
	type end struct {
		answers int
		err     error
	}
	ends := make(chan end, clients)
	var served sync.WaitGroup
	for i := range clients {
		query, rows := "SELECT pg_sleep(0.005)", 1
		if i%2 == 0 {
			query, rows = "SELECT repeat('x', 100) FROM generate_series(1, 20000)", 20_000
		}
		conn, err := pgconn.Connect(deadline(t), p.url("sslmode=disable"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		served.Add(1)
		go func() {
			first := sync.OnceFunc(served.Done)
			defer first()
			for answers := 0; ; answers++ {
				if answers > 0 {
					first()
				}
				results, err := conn.Exec(context.Background(), query).ReadAll()
				if err != nil {
					ends <- end{answers, err}
					return
				}
				if len(results) != 1 || len(results[0].Rows) != rows {
					ends <- end{answers, errors.New("half an answer")}
					return
				}
			}
		}()
	}
	served.Wait()
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	for range clients {
		e := <-ends
		var refused *pgconn.PgError
		if !errors.As(e.err, &refused) || refused.Code != stateAdminShutdown {
			t.Errorf("after %d answers: %v", e.answers, e.err)
		}
	}
}

// TestCertificateRotates changes the certificate under sessions, which stay.
func TestCertificateRotates(t *testing.T) {
	t.Parallel()
	one, _, _ := certificate(t)
	two, _, _ := certificate(t)
	var c Config
	p := startProxy(t, func(first *Config) {
		first.TLS = one
		c = *first
	})
	secure := "sslmode=require"
	const clients = 5
	stop := make(chan struct{})
	ends := make(chan error, clients)
	for range clients {
		conn := connectPgx(t, p.url(secure))
		go func() {
			for {
				select {
				case <-stop:
					ends <- nil
					return
				default:
				}
				if _, err := conn.Exec(context.Background(), "SELECT 1"); err != nil {
					ends <- err
					return
				}
			}
		}()
	}
	// Logins go on meanwhile, too, and see one of both.
	for i := range 10 {
		served := one
		if i%2 == 0 {
			served = two
		}
		c.TLS = served
		if err := p.Reconfigure(c); err != nil {
			t.Fatal(err)
		}
		conn, err := pgconn.Connect(deadline(t), p.url(secure))
		if err != nil {
			t.Fatal(err)
		}
		presented := conn.Conn().(*tls.Conn).ConnectionState().PeerCertificates[0]
		if string(presented.Raw) != string(served.Certificates[0].Certificate[0]) {
			t.Error("the client was shown the other certificate")
		}
		_ = conn.Close(context.Background())
	}
	close(stop)
	for range clients {
		if err := <-ends; err != nil {
			t.Errorf("a session under the first certificate: %v", err)
		}
	}
}

// TestDescriptorsRunOutForTheDatabase tells the client, and does not hold it against the server.
func TestDescriptorsRunOutForTheDatabase(t *testing.T) {
	t.Parallel()
	var starved atomic.Bool
	var log *logBuffer
	p := startProxy(t, func(c *Config) {
		log = logged(c)
		dial := c.Upstream.DialFunc
		c.Upstream.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			if starved.Load() {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			return dial(ctx, network, address)
		}
	})
	starved.Store(true)
	for range 3 {
		_, err := pgconn.Connect(deadline(t), p.url("sslmode=disable"))
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != stateTooManyConnections || !strings.Contains(refused.Hint, "log of kproxy") {
			t.Fatalf("the client is told %v", err)
		}
	}
	eventually(t, "the operator is told", func() bool {
		lines := log.lines("level=WARN")
		return len(lines) > 0 && strings.Contains(lines[0], "too many open files") && strings.Contains(lines[0], "LimitNOFILE")
	})
	starved.Store(false)
	p.loginWire(t)
}

// TestASessionHasTwoDescriptors counts those of this process, which is the clients' as well. It runs
// beside no other test.
func TestASessionHasTwoDescriptors(t *testing.T) {
	p := startProxy(t, nil)
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not list descriptors: ", err)
		}
		return len(open)
	}
	const sessions = 20
	first := p.loginWire(t) // with it comes what is made once
	before := count()
	eventually(t, "what other tests have left is closed", func() bool {
		last := before
		time.Sleep(50 * time.Millisecond)
		before = count()
		return before == last
	})
	clients := []*wire{first}
	for range sessions {
		clients = append(clients, p.loginWire(t))
	}
	eventually(t, "each session has two, and its client one", func() bool { return count()-before == 3*sessions })
	for _, w := range clients {
		_ = w.Close()
	}
}
