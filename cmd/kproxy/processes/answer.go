package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
)

// matter is what processes are asked about. They are asked, and answer, by notifications
// of the database that they all are connected to: whoever runs, on whichever machine,
// hears it, and there is no file or table that could be out of date.
type matter struct{ questions, answers string } // channels

var (
	reloading = matter{"kproxy_reload", "kproxy_reloaded"}
	counting  = matter{"kproxy_count", "kproxy_counted"}
)

// Question is what is asked.
type Question struct {
	ID   string `json:"id"`
	Slot string `json:"slot"`
	// Try asks only for what would change.
	Try bool `json:"try"`
	// Accepted says that the operator has accepted something, and that reading the
	// configuration again says nothing more.
	Accepted bool `json:"accepted,omitempty"`
}

// Reply tells whose answer to which question something is.
type Reply struct {
	ID string `json:"id,omitempty"`
	// PID is the server process of the connection that the answer came by.
	PID uint32 `json:"pid"`
	// Process names the kproxy: its machine and its process there.
	Process string `json:"process"`
}

func (r Reply) from() Reply { return r }

// Outcome is what became of a request to reload.
type Outcome struct {
	settings.Changes
	// Refused says why the running configuration goes on as a whole; empty where the
	// new one was taken over.
	Refused string `json:"refused,omitempty"`
}

// Answer is what came of a reload in one process.
type Answer struct {
	Reply
	Outcome
}

// Clients are how many one process has.
type Clients struct {
	Reply
	proxy.Counts
	// Unserved are the protected tables that it has withdrawn and that wait for the operator.
	Unserved []string `json:"unserved"`
	// Refused says why the process may not apply by its policy; empty where it may.
	Refused string `json:"refused,omitempty"`
}

// serverName is what the connection is called by which a process hears, and applierName
// what replication calls its sessions while it applies. PostgreSQL cuts names at 63
// bytes.
func serverName(slot string) string  { return cut("kproxy serve " + slot) }
func applierName(slot string) string { return cut("kproxy apply " + slot) }

func cut(name string) string { return name[:min(len(name), 63)] }

// Pauses of a connection that only listens.
const (
	hearPing  = 30 * time.Second // how soon a dead connection is found
	hearPause = 2 * time.Second  // before another attempt
)

// Answerer answers the questions of other processes for one that serves.
type Answerer struct {
	Logger *slog.Logger
	// Config returns the configuration in force.
	Config func() *config.Config
	// Count returns the process's clients. The Reply is filled in.
	Count func() Clients
	// Reload reads the configuration again.
	Reload func(ctx context.Context, q Question) Outcome
}

// Run answers until ctx ends.
func (s *Answerer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.listen(ctx, s.Config())
		s.Logger.Debug("the connection that listens for questions is lost", "error", err)
		select {
		case <-time.After(hearPause):
		case <-ctx.Done():
		}
	}
}

func (s *Answerer) listen(ctx context.Context, c *config.Config) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+reloading.questions+"; LISTEN "+counting.questions); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	// Named only now: who asks waits for an answer from every session of that name.
	if _, err := conn.Exec(ctx, "SELECT pg_catalog.set_config('application_name', $1, false)", serverName(c.Slot)); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	for {
		n, err := heard(ctx, conn, hearPing)
		if err != nil {
			return err
		}
		if n == nil {
			if err := conn.Ping(ctx); err != nil {
				return fmt.Errorf("listening: %w", err)
			}
			continue
		}
		var q Question
		if json.Unmarshal([]byte(n.Payload), &q) != nil || q.Slot != c.Slot {
			continue
		}
		if trusted, err := fromOwner(ctx, conn, n.PID); err != nil || !trusted {
			continue
		}
		if err := s.answer(ctx, conn, n.Channel, q); err != nil {
			return err
		}
	}
}

// heard waits for a notification, nil where there is none for so long.
func heard(ctx context.Context, conn *pgx.Conn, patience time.Duration) (*pgconn.Notification, error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n, err := conn.WaitForNotification(waiting)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() == nil && waiting.Err() != nil && !conn.IsClosed():
		return nil, nil
	default:
		return nil, fmt.Errorf("listening: %w", err)
	}
}

// fromOwner tells whether a session is of the owner: whoever may connect to a database
// may notify.
func fromOwner(ctx context.Context, conn *pgx.Conn, pid uint32) (owner bool, err error) {
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_activity WHERE pid = $1::bigint AND usename = current_user)`, int64(pid)).Scan(&owner)
	if err != nil {
		return false, fmt.Errorf("looking for who asks: %w", err)
	}
	return owner, nil
}

// answer does what is asked on a channel and sends the result.
func (s *Answerer) answer(ctx context.Context, conn *pgx.Conn, channel string, q Question) error {
	by := Reply{ID: q.ID, PID: conn.PgConn().PID(), Process: Name()}
	if channel == counting.questions {
		clients := s.Count()
		clients.Reply, clients.Unserved = by, fitting(clients.Unserved)
		return say(ctx, conn, counting, clients)
	}
	a := Answer{Reply: by, Outcome: s.Reload(ctx, q)}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return say(ctx, conn, reloading, a.fitting())
}

func say(ctx context.Context, conn *pgx.Conn, about matter, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_catalog.pg_notify($1, $2)", about.answers, string(text)); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}

// Name returns the machine and the number of this process.
func Name() string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "unknown"
	}
	return fmt.Sprintf("%s, process %d", machine, os.Getpid())
}
