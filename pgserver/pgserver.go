// Package pgserver runs a private PostgreSQL server for the demonstration and
// for the tests.
//
// Find looks for server binaries on the machine, Install fetches them when
// there are none, and Start makes a cluster in a folder of its own and runs a
// server on it. The server listens on 127.0.0.1 only, has no Unix socket,
// demands SCRAM-SHA-256 of every connection, runs as an unprivileged user even
// when the caller is root, and does not outlive the process that started it.
package pgserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"
)

const (
	// readyLimit bounds the wait for a first connection; it includes crash
	// recovery.
	readyLimit = 2 * time.Minute
	// bindAttempts is how many ports are tried when the caller left the
	// choice to Start, and how often Restart asks for its old port.
	bindAttempts = 10
	// bindPause is the pause before Restart asks for its old port again.
	bindPause = 300 * time.Millisecond
)

// Options says how a server is to be run. The zero value is a server on a free
// port, with binaries found by Find, in a temporary folder.
type Options struct {
	// BinDir holds the server binaries; empty means whatever Find finds.
	BinDir string
	// DataDir is the data folder. It is created when it does not exist and
	// reused when it is a cluster, whose superuser's Password must then be
	// given. Empty means a temporary folder, which Stop removes.
	DataDir string
	// Port is the TCP port on 127.0.0.1; 0 means a free one.
	Port int
	// Settings are configuration parameters (PostgreSQL, chapter "Server
	// Configuration") that replace or add to the ones Start chooses.
	Settings map[string]string
	// Durable keeps fsync and full_page_writes on. Without it a crash of the
	// machine may ruin the cluster; a crash of the server's processes may not.
	Durable bool
	// Log receives the server's log; nil discards it.
	Log io.Writer
	// Superuser is the name of the bootstrap superuser; empty means postgres.
	Superuser string
	// Password is the superuser's password; empty means a random one.
	Password string
}

// Server is a private PostgreSQL server. Its methods may be called
// concurrently.
type Server struct {
	opts     Options
	binaries Binaries
	owner    *owner
	folder   *folder
	log      *logTail
	port     int

	mu      sync.Mutex
	running *process // nil after Kill and Stop
	stopped bool
}

// Start makes a cluster where there is none, starts a server on it and returns
// when a client can connect. The context bounds the start, not the server's
// life: call Stop.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.Superuser == "" {
		opts.Superuser = "postgres"
	}
	binaries, err := Find(ctx, opts.BinDir)
	if err != nil {
		return nil, err
	}
	own, err := unprivileged()
	if err != nil {
		return nil, err
	}
	folder, err := openFolder(opts.DataDir, own)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, binaries: binaries, owner: own, folder: folder, log: newLogTail(opts.Log)}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, folder.release())
	}
	return s, nil
}

// start initializes the cluster if need be and launches the first postmaster.
func (s *Server) start(ctx context.Context) error {
	switch initialized := s.folder.initialized(); {
	case initialized && s.opts.Password == "":
		return fmt.Errorf("reusing the cluster in %s: the superuser's password is needed", s.folder.data)
	case !initialized:
		if s.opts.Password == "" {
			s.opts.Password = rand.Text()
		}
		if err := s.initdb(ctx); err != nil {
			return err
		}
	}
	if err := s.configure(); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		s.port = s.opts.Port
		if s.port == 0 {
			port, err := freePort(ctx)
			if err != nil {
				return err
			}
			s.port = port
		}
		err := s.launch(ctx)
		if err == nil || s.opts.Port != 0 || attempt == bindAttempts || !errors.Is(err, errPortTaken) {
			return err
		}
	}
}

// DSN returns a connection URL for the superuser on a database.
func (s *Server) DSN(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(s.opts.Superuser, s.opts.Password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is the TCP port on 127.0.0.1; it stays the same across Restart.
func (s *Server) Port() int { return s.port }

// Version is the version of the server's binaries.
func (s *Server) Version() Version { return s.binaries.Version }

// Binaries are the programs the server runs from.
func (s *Server) Binaries() Binaries { return s.binaries }

// DataDir is the server's data folder.
func (s *Server) DataDir() string { return s.folder.data }

// PID is the postmaster's process id, or 0 when no server runs.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return 0
	}
	return s.running.pid()
}

// Stop shuts the server down (PostgreSQL's fast shutdown: open transactions
// are rolled back), waits until all its processes are gone and removes its
// temporary folder. Further calls do nothing and return nil.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	err := s.halt()
	return errors.Join(err, s.folder.release())
}

// Kill ends the postmaster and all its children with SIGKILL, as a crash
// would, and returns when they are gone. The data folder stays; Restart
// recovers from it.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return errors.New("killing PostgreSQL: the server is not running")
	}
	err := s.running.kill()
	s.running = nil
	return err
}

// Restart stops the server if it runs, starts it again on the same port and
// data folder and returns when a client can connect. It recovers a server that
// was killed; it does not revive one that was stopped.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("restarting PostgreSQL: the server was stopped for good")
	}
	if err := s.halt(); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := s.relaunch(ctx)
		if err == nil || attempt == bindAttempts || !errors.Is(err, errPortTaken) {
			return err
		}
		// Something else holds the port for a moment, such as an outgoing
		// connection that was given it as its own end.
		select {
		case <-ctx.Done():
			return err
		case <-time.After(bindPause):
		}
	}
}

// freePort asks the kernel for a port of 127.0.0.1 that nobody listens on.
// Another process can take it before the server does; Start tries again then.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("choosing a free port for PostgreSQL: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("choosing a free port for PostgreSQL: %w", err)
	}
	return port, nil
}
