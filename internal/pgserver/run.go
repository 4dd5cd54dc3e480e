package pgserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// readyPoll is the pause between two attempts to connect.
	readyPoll = 20 * time.Millisecond
	// connectLimit bounds one attempt to connect.
	connectLimit = 5 * time.Second
)

// errPortTaken is wrapped by the error of a server that could not bind.
var errPortTaken = errors.New("the port is taken")

// launch runs a postmaster on s.port for the first time and waits until it
// accepts connections. On error no process is left.
func (s *Server) launch(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.relaunch(ctx)
}

// relaunch is launch for a caller that holds s.mu.
func (s *Server) relaunch(ctx context.Context) error {
	s.log.reset()
	cmd := s.command(context.Background(), "postgres",
		"-D", s.folder.data,
		"-c", "port="+strconv.Itoa(s.port))
	// All of the server's processes inherit this pipe, so that its end is the
	// end of the last of them.
	cmd.Stderr = s.log
	p, err := launch(cmd)
	if err != nil {
		return fmt.Errorf("starting PostgreSQL %s%s: %w", s.binaries.Version, s.owner, err)
	}
	if err := s.awaitReady(ctx, p); err != nil {
		return errors.Join(err, p.stop())
	}
	s.running = p
	return nil
}

// halt stops a running postmaster; s.mu is held.
func (s *Server) halt() error {
	if s.running == nil {
		return nil
	}
	err := s.running.stop()
	s.running = nil
	return err
}

// awaitReady returns when a client has been served, the postmaster has exited,
// or the context has ended. A foreign server on the same port cannot be taken
// for ours: the password is random and ours exits when it cannot bind.
func (s *Server) awaitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for {
		last := s.ping(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-p.done:
			return s.exited()
		case <-ctx.Done():
			return fmt.Errorf("waiting for PostgreSQL on port %d: %w (last attempt: %w)%s",
				s.port, ctx.Err(), last, s.log)
		case <-time.After(readyPoll):
		}
	}
}

// ping connects and disconnects. A server that began as a backup serves readers
// before its recovery is over, which is too early.
func (s *Server) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	return s.session(ctx, func(conn *pgx.Conn) error {
		if s.opts.Backup == nil {
			return nil
		}
		var recovering bool
		err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&recovering)
		if err == nil && recovering {
			err = errors.New("it recovers")
		}
		return err
	})
}

// session runs a function on a connection of the superuser's.
func (s *Server) session(ctx context.Context, use func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	return errors.Join(use(conn), conn.Close(ctx))
}

// exited is the error of a postmaster that ended before it was ready. The messages are
// in English because initdb has set lc_messages to C.
func (s *Server) exited() error {
	text := s.log.String()
	if strings.Contains(text, "could not bind") || strings.Contains(text, "could not create any TCP/IP sockets") {
		return fmt.Errorf("starting PostgreSQL on port %d: %w%s", s.port, errPortTaken, text)
	}
	return fmt.Errorf("starting PostgreSQL on port %d: the server exited%s", s.port, text)
}
