package integration

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// serviceManager is a socket that stands for systemd's.
type serviceManager struct {
	*net.UnixConn
	path string
}

func startServiceManager(t *testing.T) serviceManager {
	t.Helper()
	path := filepath.Join(scratch(t), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return serviceManager{conn, path}
}

// hears waits for a message that has an assignment, and returns it.
func (m serviceManager) hears(t *testing.T, assignment string) string {
	t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	space := make([]byte, 4096)
	for {
		n, err := m.Read(space)
		if err != nil {
			t.Fatalf("waiting for %s: %v", assignment, err)
		}
		for _, line := range strings.Split(string(space[:n]), "\n") {
			if line == assignment {
				return string(space[:n])
			}
		}
	}
}

// TestServiceManager runs as a service of systemd does: ready, alive, reloading,
// stopping.
func TestServiceManager(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	s.kproxy(t, "setup").must(t)
	m := startServiceManager(t)
	p := s.launch(t, "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=1000000")
	if told := m.hears(t, "READY=1"); !strings.Contains(told, "STATUS=Serving 1 of 1 protected tables to 0 sessions") {
		t.Errorf("it says %q", told)
	}
	conn := connect(t, s.url()) // at once: ready means ready
	eventually(t, "the status counts the session", func() bool {
		status, _ := s.statusJSON(t)
		return status.Silent == 0 && len(status.Clients) == 1 && status.Clients[0].Process != "" && status.Clients[0].Sessions == 1 && status.Clients[0].Connections >= 1
	})
	m.hears(t, "WATCHDOG=1")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if told := m.hears(t, "RELOADING=1"); !strings.Contains(told, "\nMONOTONIC_USEC=") {
		t.Errorf("it says %q", told)
	}
	if told := m.hears(t, "READY=1"); !strings.Contains(told, "STATUS=Serving 1 of 1 protected tables to 1 sessions") {
		t.Errorf("it says %q", told)
	}
	if n := scalar[int](t, conn, "SELECT count(*) FROM people"); n != operatedRows {
		t.Errorf("%d rows after the reload", n)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if told := m.hears(t, "STOPPING=1"); !strings.Contains(told, "\nEXTEND_TIMEOUT_USEC=") {
		t.Errorf("it says %q", told)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}

// TestSocketActivation has clients wait while kproxy is started and started again.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	s.kproxy(t, "setup").must(t)
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for range 2 {
		// Somebody who comes too early is served when it is ready.
		answered := make(chan error, 1)
		go func() {
			conn, err := pgx.Connect(context.Background(), s.url())
			if err == nil {
				err = errors.Join(conn.Ping(context.Background()), conn.Close(context.Background()))
			}
			answered <- err
		}()
		cmd := exec.CommandContext(context.Background(), "sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve --config "$1"`, program, s.config)
		cmd.ExtraFiles = []*os.File{socket}
		p := start(t, cmd)
		if err := <-answered; err != nil {
			t.Errorf("a client who came early: %v", err)
		}
		if code := p.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("the exit code is %d: %s", code, p.log)
		}
	}
}

// TestUnixSocket serves psql where it looks for sockets, beside TCP.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	dir, err := os.MkdirTemp("", "kproxy-socket-") // short: a socket's path has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.replace(t, "listen: "+s.address, "listen: ["+s.address+", "+dir+"]\nunix_socket_mode: \"0700\"")
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	over := url.URL{Scheme: "postgresql", User: url.UserPassword(clientUser, clientPassword), Path: "/" + clientDatabase, RawQuery: url.Values{"host": {dir}, "port": {port}}.Encode()}
	for _, where := range []string{over.String(), s.url()} {
		if o := psql(t, where, "SELECT count(*) FROM people;").must(t); o.stdout != "40\n" {
			t.Errorf("psql wrote %q", o.stdout)
		}
	}
	socket := filepath.Join(dir, ".s.PGSQL."+port)
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	// Another one in the same place says so, and harms nothing.
	second := s.launch(t)
	if code := second.wait(t); code != 1 || !strings.Contains(second.log.String(), "address already in use") {
		t.Errorf("a second kproxy ends with %d: %s", code, second.log)
	}
	// One that is killed leaves its socket behind.
	if code := p.end(t, syscall.SIGKILL); code != -int(syscall.SIGKILL) {
		t.Errorf("the exit code is %d", code)
	}
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("the socket of a killed process: %v", err)
	}
	p = s.serve(t)
	psql(t, over.String(), "SELECT 1;").must(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestBehindLoadBalancer has the client's address come in a header of the PROXY protocol.
func TestBehindLoadBalancer(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	s.replace(t, "listen: "+s.address, "listen: "+s.address+"\nproxy_protocol: {from: [127.0.0.1]}")
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	client := netip.MustParseAddrPort("203.0.113.77:4711")
	config := connConfig(t, s.url())
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		// PROXY protocol, 2.2: version 2, PROXY, TCP over IPv4.
		header := append([]byte("\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c"), client.Addr().AsSlice()...)
		header = append(header, 127, 0, 0, 1)
		header = binary.BigEndian.AppendUint16(header, client.Port())
		header = binary.BigEndian.AppendUint16(header, 6432)
		_, err = conn.Write(header)
		return conn, err
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if n := scalar[int](t, conn, "SELECT count(*) FROM people"); n != operatedRows {
		t.Errorf("%d rows", n)
	}
	// The database knows the client by it.
	direct := connect(t, s.admin)
	eventually(t, "the database shows the client's address", func() bool {
		return scalar[int](t, direct, "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND application_name LIKE '%203.0.113.77%'", s.reader) == 1
	})
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if !p.awaitLog(t, `session began.* remote=203.0.113.77:4711 forwarder=127.0.0.1:`) {
		t.Error("the log does not name the client")
	}
	// Without a header the load balancer's address is nobody's.
	if _, err := pgx.Connect(t.Context(), s.url()); err == nil {
		t.Error("a connection without header is served")
	}
}

// TestCertificateRotates puts another certificate into the same files, under load.
func TestCertificateRotates(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.settings = "tls: {cert_file: server.crt, key_file: server.key}"
	s := newSite(t, o)
	s.writeCertificate(t)
	first := contents(t, filepath.Join(s.dir, "server.crt"))
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)

	const clients = 4
	var answers atomic.Int64
	stop := make(chan struct{})
	ends := make(chan error, clients)
	for range clients {
		conn := connect(t, s.url("sslmode=require"))
		go func() {
			for {
				select {
				case <-stop:
					ends <- nil
					return
				default:
				}
				var n int
				if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM people").Scan(&n); err != nil {
					ends <- err
					return
				}
				answers.Add(1)
			}
		}()
	}
	verified := "sslmode=verify-full&sslrootcert=" + s.dir + "/trusted.crt"
	s.write(t, "trusted.crt", first)
	_ = connect(t, s.url(verified)).Close(t.Context())

	s.writeCertificate(t)
	second := contents(t, filepath.Join(s.dir, "server.crt"))
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.write(t, "trusted.crt", second)
	eventually(t, "new sessions see the new certificate", func() bool {
		conn, err := pgx.Connect(t.Context(), s.url(verified))
		if err == nil {
			_ = conn.Close(context.Background())
		}
		return err == nil
	})
	s.write(t, "trusted.crt", first)
	if conn, err := pgx.Connect(t.Context(), s.url(verified)); err == nil {
		_ = conn.Close(context.Background())
		t.Error("the old certificate is served still")
	}
	before := answers.Load()
	eventually(t, "sessions go on", func() bool { return answers.Load() > before+10 || len(ends) > 0 })
	close(stop)
	for range clients {
		if err := <-ends; err != nil {
			t.Errorf("a session under the old certificate: %v", err)
		}
	}

	// A certificate without its key is refused, and nothing changes.
	s.write(t, "server.crt", first)
	s.kproxy(t, "reload").speaks(t, 1, 6, "cert_file and key_file are no pair")
	s.write(t, "trusted.crt", second)
	_ = connect(t, s.url(verified)).Close(t.Context())
}

// TestSignalsToEnd lets a statement finish at the first, and nothing at the second.
func TestSignalsToEnd(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.settings = "timeouts: {shutdown: 5m}" // for a statement that takes long on a busy machine
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	running := func(mark string) {
		direct := connect(t, s.admin)
		eventually(t, "the statement runs", func() bool {
			return scalar[int](t, direct, "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state = 'active' AND query LIKE '%' || $2 || '%'", s.reader, mark) == 1
		})
	}
	ask := func(rows string) <-chan error {
		conn, answered := connect(t, s.url()), make(chan error, 1)
		go func() {
			var n int
			answered <- conn.QueryRow(context.Background(), "SELECT count(*) FROM generate_series(1, "+rows+")").Scan(&n)
		}()
		running(rows)
		return answered
	}
	refusal := func(err error) string {
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			return refused.Code
		}
		return ""
	}

	p := s.serve(t)
	idle, answered := connect(t, s.url()), ask("20000000")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("a running statement: %v", err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if _, err := idle.Exec(t.Context(), "SELECT 1"); refusal(err) != "57P01" {
		t.Errorf("an idle session: %v", err)
	}

	p = s.serve(t)
	answered = ask("100000000000")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if !p.awaitLog(t, "running statements may finish.* sessions=1") {
		t.Error("it ended at once")
	}
	eventually(t, "new clients are refused", func() bool {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("after the second signal the exit code is %d", code)
	}
	if err := <-answered; refusal(err) != "57P01" {
		t.Errorf("the endless statement: %v", err)
	}
}
