// Package pgserver runs a private PostgreSQL server for the demonstration and
// for the tests.
//
// Find looks for server binaries on the machine, Install fetches them when
// there are none, and Start makes a cluster in a folder of its own and runs a
// server on it. The server listens on 127.0.0.1 only, has no Unix socket,
// demands SCRAM-SHA-256 of every connection, runs as an unprivileged user even
// when the caller is root, and does not outlive the process that started it.
//
// Tests inject faults: Kill and Restart are a crash, Pause and Resume a machine
// that hangs, Backup and Options.Backup a restored backup, Standby and Promote
// a failover, Disk a disk that is full.
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
	// Backup is what the cluster begins as, in place of a new one; DataDir
	// must then be empty. Binaries, Settings and Durable are the original's
	// where they are not given, Superuser and Password always. The system
	// identifier is the original's. Replication slots are gone and recovery
	// ends on a new timeline, as when a backup is restored from an archive.
	Backup *Backup
	// SameTimeline has a server that begins as a backup keep the timeline and
	// the replication slots, as when the snapshot of a disk is put back.
	SameTimeline bool
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
	primary  *Server // of a standby

	mu      sync.Mutex
	running *process // nil after Kill and Stop
	stopped bool
}

// Start makes a cluster where there is none, starts a server on it and returns
// when a client can connect. The context bounds the start, not the server's
// life: call Stop.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.Backup != nil {
		opts = opts.inherit(opts.Backup.opts)
	}
	s, err := prepare(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.folder.release())
	}
	return s, nil
}

// prepare finds what a server needs. The caller starts it or releases its
// folder.
func prepare(ctx context.Context, opts Options) (*Server, error) {
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
	return &Server{opts: opts, binaries: binaries, owner: own, folder: folder, log: newLogTail(opts.Log)}, nil
}

// start fills the data folder if need be and launches the first postmaster.
func (s *Server) start(ctx context.Context) error {
	if err := s.fill(ctx); err != nil {
		return err
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

// fill makes the cluster where there is none.
func (s *Server) fill(ctx context.Context) error {
	switch initialized := s.folder.initialized(); {
	case s.primary != nil:
		return s.follow(ctx)
	case s.opts.Backup != nil:
		return s.restore(ctx)
	case initialized && s.opts.Password == "":
		return fmt.Errorf("reusing the cluster in %s: the superuser's password is needed", s.folder.data)
	case initialized:
		return nil
	}
	if s.opts.Password == "" {
		s.opts.Password = rand.Text()
	}
	return s.initdb(ctx)
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

// Pause halts the postmaster and all its children with SIGSTOP, as a machine
// that hangs would, and returns when they stand still: connections stay open,
// new ones are neither accepted nor refused. Kill, Stop and Restart work on a
// paused server as on any. Only Linux can; elsewhere the error wraps
// errors.ErrUnsupported. Pausing a paused server does nothing.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return errors.New("pausing PostgreSQL: the server is not running")
	}
	return s.running.pause()
}

// Resume has a paused server go on. It does nothing to one that was not paused.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return errors.New("resuming PostgreSQL: the server is not running")
	}
	return s.running.resume()
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
