// Package processes lets kproxy processes on one database and slot ask each other, by
// notifications of the database.
package processes

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// presenceInterval is how often Ask checks for processes that have ended without an answer.
const presenceInterval = time.Second

// countTimeout bounds the time that processes have to count their clients, and to try whether a new
// one would be served.
const countTimeout = 5 * time.Second

// AskReload asks every process on the configuration's slot to read its own configuration file
// again or, with try, what that would change. It returns the answers in the order in which they
// came, and the number of processes that did not answer. If ctx ends before all have answered,
// the error is that of ctx.
func AskReload(ctx context.Context, c *config.Config, try bool) (answers []Answer, silent int, err error) {
	return ask[Answer](ctx, c, reloading, Question{Try: try})
}

// AskToTakeUp asks every process to read its configuration file again after something was
// accepted. That does not put another policy in force.
func AskToTakeUp(ctx context.Context, c *config.Config) (answers []Answer, silent int, err error) {
	return ask[Answer](ctx, c, reloading, Question{Accepted: true})
}

// AskCounts asks every process to count its clients. Processes that do not answer soon count as
// silent.
func AskCounts(ctx context.Context, c *config.Config) (answers []Clients, silent int, err error) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	answers, silent, err = ask[Clients](ctx, c, counting, Question{})
	for i := range answers {
		answers[i].ID = "" // no longer needed
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return append([]Clients{}, answers...), silent, err
}

// ask asks every process a question; see AskReload.
func ask[A interface{ from() Reply }](ctx context.Context, c *config.Config, about topic, q Question) (answers []A, silent int, err error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+about.answers); err != nil {
		return nil, 0, fmt.Errorf("listening for answers: %w", err)
	}
	waiting, err := Serving(ctx, conn, c.Slot)
	if err != nil || len(waiting) == 0 {
		return nil, 0, err
	}
	all := len(waiting)
	q.ID, q.Slot = rand.Text(), c.Slot
	text, err := json.Marshal(q)
	if err != nil {
		return nil, 0, fmt.Errorf("asking: %w", err)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_catalog.pg_notify($1, $2)", about.questions, string(text)); err != nil {
		return nil, 0, fmt.Errorf("asking: %w", err)
	}
	for len(waiting) > 0 {
		n, err := receive(ctx, conn, presenceInterval)
		if err != nil {
			return answers, all - len(answers), err
		}
		if n == nil {
			there, err := Serving(ctx, conn, c.Slot)
			if err != nil {
				return answers, all - len(answers), err
			}
			waiting = slices.DeleteFunc(waiting, func(pid uint32) bool { return !slices.Contains(there, pid) })
			continue
		}
		var a A
		if json.Unmarshal([]byte(n.Payload), &a) != nil {
			continue
		}
		if by := a.from(); by.ID != q.ID || by.PID != n.PID || !slices.Contains(waiting, by.PID) {
			continue
		}
		answers = append(answers, a)
		waiting = slices.DeleteFunc(waiting, func(pid uint32) bool { return pid == n.PID })
	}
	return answers, all - len(answers), nil
}

// Serving returns the server processes of the connections on which kproxy processes listen.
func Serving(ctx context.Context, on upstream.Querier, slot string) ([]uint32, error) {
	rows, _ := on.Query(ctx, `SELECT pid FROM pg_catalog.pg_stat_activity
		WHERE application_name = $1 AND usename = current_user AND datname = pg_catalog.current_database() ORDER BY pid`, serverName(slot)) // the rows carry its error
	pids, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (uint32, error) {
		var pid int32
		err := row.Scan(&pid)
		return uint32(pid), err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for processes that serve: %w", err)
	}
	return pids, nil
}
