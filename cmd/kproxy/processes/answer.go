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
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/answers"
)

// topic is a subject of questions. Processes ask and answer by notifications of the database
// that they are all connected to, so that every running process hears them, on whatever
// machine, and no file or table can be out of date.
type topic struct{ questions, answers string } // channels

var (
	reloading = topic{"kproxy_reload", "kproxy_reloaded"}
	counting  = topic{"kproxy_count", "kproxy_counted"}
)

// Question is a question to all processes on a slot.
type Question struct {
	ID   string `json:"id"`
	Slot string `json:"slot"`
	// Try asks what would change, and changes nothing.
	Try bool `json:"try"`
	// Accepted says that the operator has accepted something, and that reloading does not
	// put another policy in force.
	Accepted bool `json:"accepted,omitempty"`
}

// Reply identifies an answer: the question, and the process that answers.
type Reply struct {
	ID string `json:"id,omitempty"`
	// PID is the server process of the connection by which the answer came.
	PID uint32 `json:"pid"`
	// Process names the machine and the process.
	Process string `json:"process"`
}

func (r Reply) from() Reply { return r }

// Outcome is what became of a request to reload.
type Outcome struct {
	settings.Changes
	// Refused says why the process keeps its old configuration. It is empty if it uses the
	// new one.
	Refused string `json:"refused,omitempty"`
}

// Answer is the outcome of a reload in one process.
type Answer struct {
	Reply
	Outcome
}

// Clients counts the clients of one process.
type Clients struct {
	Reply
	proxy.Counts
	// Answers are those that it keeps.
	Answers answers.Stats `json:"answers"`
	// Unserved are the protected tables that the process has withdrawn and that need the operator.
	Unserved []string `json:"unserved"`
	// Refused says why the process may not apply changes under its policy. It is empty if it may.
	Refused string `json:"refused,omitempty"`
	// Problem says why the process neither applies changes nor follows one that does, and Fix what to
	// do about it. They are empty where it does.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
	// Expires is the certificate that ends first of those that the process has read; nil where there
	// are none.
	Expires *state.Certificate `json:"expires,omitempty"`
	// Refusal says since when and why new sessions are not served, nil where they are.
	Refusal *state.Refusal `json:"refusal,omitempty"`
	// Session is the server process of the session by which the process holds the lock for applying, 0
	// where it does not, nil of a process of an earlier version.
	Session *uint32 `json:"session,omitempty"`
	// Work is what the process makes of tables, by their names.
	Work map[string]*state.Work `json:"work,omitempty"`
}

// serverName is the application_name of the connection on which a process listens, and
// applierName that of replication's sessions while it applies changes. PostgreSQL truncates
// names at 63 bytes.
func serverName(slot string) string  { return cut("kproxy serve " + slot) }
func applierName(slot string) string { return cut("kproxy apply " + slot) }

func cut(name string) string { return name[:min(len(name), 63)] }

// Intervals of a connection that only listens.
const (
	pingInterval   = 30 * time.Second // how soon a dead connection is found
	reconnectPause = 2 * time.Second  // before another attempt
)

// Answerer answers the questions of other processes.
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
		case <-time.After(reconnectPause):
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
	// Set the name last: other processes wait for an answer from every session with it.
	if _, err := conn.Exec(ctx, "SELECT pg_catalog.set_config('application_name', $1, false)", serverName(c.Slot)); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	for {
		n, err := receive(ctx, conn, pingInterval)
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

// receive waits for a notification. It returns nil if none comes in time.
func receive(ctx context.Context, conn *pgx.Conn, patience time.Duration) (*pgconn.Notification, error) {
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

// fromOwner reports whether a session belongs to the owner. Any role that may connect to the
// database may notify.
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
		clients.Reply = by
		return send(ctx, conn, counting, clients.fitting())
	}
	a := Answer{Reply: by, Outcome: s.Reload(ctx, q)}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return send(ctx, conn, reloading, a.fitting())
}

func send(ctx context.Context, conn *pgx.Conn, about topic, answer any) error {
	text, err := payload(answer)
	if err != nil {
		return err
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
