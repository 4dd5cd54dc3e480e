package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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

// question is what is asked.
type question struct {
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

// hear answers questions until ctx ends.
func (d *Daemon) hear(ctx context.Context) {
	for ctx.Err() == nil {
		err := d.hearOnce(ctx, d.effective.Load())
		d.Logger.Debug("the connection that listens for questions is lost", "error", err)
		select {
		case <-time.After(hearPause):
		case <-ctx.Done():
		}
	}
}

func (d *Daemon) hearOnce(ctx context.Context, c *config.Config) error {
	conn, err := connectOwner(ctx, c)
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
		var q question
		if json.Unmarshal([]byte(n.Payload), &q) != nil || q.Slot != c.Slot {
			continue
		}
		if trusted, err := fromOwner(ctx, conn, n.PID); err != nil || !trusted {
			continue
		}
		if err := d.answer(ctx, conn, n.Channel, q); err != nil {
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

// answer does what is asked on a channel and says what it came to.
func (d *Daemon) answer(ctx context.Context, conn *pgx.Conn, channel string, q question) error {
	by := Reply{ID: q.ID, PID: conn.PgConn().PID(), Process: processName()}
	if channel == counting.questions {
		return say(ctx, conn, counting, Clients{Reply: by, Counts: d.Clients(), Unserved: d.unserved(), Refused: d.syncer.Status().Refused})
	}
	a := Answer{Reply: by}
	d.do(ctx, func(ctx context.Context) { a.Outcome = d.reload(ctx, q) })
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

func processName() string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "unknown"
	}
	return fmt.Sprintf("%s, process %d", machine, os.Getpid())
}
