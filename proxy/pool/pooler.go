package pool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pooler is what stands between a connection and the server, if it is not a direct one.
type Pooler int

// What a connection may lead through.
const (
	NoPooler          Pooler = iota // or one that only passes bytes on
	SessionPooler                   // each connection has a server process for itself
	TransactionPooler               // others use the process between two transactions
	StatementPooler                 // likewise between two statements
)

// Shares tells whether what a session leaves is found by others.
func (p Pooler) Shares() bool { return p >= TransactionPooler }

// String is the kind in words.
func (p Pooler) String() string {
	return [...]string{"a direct connection", "a pooler in session mode", "a pooler in transaction mode", "a pooler in statement mode"}[p]
}

// FindPooler connects, up to ten times at once, and finds out whether the connections lead
// through a pooler. A server tells at login the number of the process that serves the
// connection, for cancel requests; a pooler makes one up. Whether it then gives a process to
// several connections shows while some of them are inside a transaction: they have taken the
// processes that were free, among them, if it was free, the one that had answered before.
func FindPooler(ctx context.Context, config *pgconn.Config) (Pooler, error) {
	var open []*pgconn.PgConn
	defer func() {
		for _, c := range open {
			_ = c.Close(ctx)
		}
	}()
	first, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return NoPooler, err
	}
	open = append(open, first)
	process, err := processOf(ctx, first)
	if err != nil || process == first.PID() {
		return NoPooler, err
	}
	for range maxHolders {
		holder, err := pgconn.ConnectConfig(ctx, config)
		if err != nil {
			break // it may allow no more of them
		}
		open = append(open, holder)
		if _, err := holder.Exec(ctx, "BEGIN").ReadAll(); err != nil {
			return ofRefusedBegin(ctx, err)
		}
		taken, err := processOf(ctx, holder)
		if err != nil {
			return NoPooler, err
		}
		if taken == process {
			return TransactionPooler, nil
		}
		switch now, err := processOf(ctx, first); {
		case err != nil:
			return NoPooler, err
		case now != process:
			return TransactionPooler, nil
		}
	}
	return SessionPooler, nil
}

// maxHolders is how many processes that are free a pooler may have without being found out
// at once; later it is by what DISCARD ALL is to take back.
const maxHolders = 9

// ofRefusedBegin is what a pooler is that does not let a transaction begin. One that has no
// process free lets the statement wait, or ends it later.
func ofRefusedBegin(ctx context.Context, err error) (Pooler, error) {
	if refused := (*pgconn.PgError)(nil); ctx.Err() == nil && errors.As(err, &refused) && !strings.Contains(refused.Message, waitedInVain) {
		return StatementPooler, nil
	}
	return NoPooler, fmt.Errorf("a pooler is in between and has no server process free, which is needed to find out its mode: %w", err)
}

// waitedInVain is how PgBouncer ends what has waited for a server process.
const waitedInVain = "query_wait_timeout"

func processOf(ctx context.Context, c *pgconn.PgConn) (uint32, error) {
	results, err := c.Exec(ctx, "SELECT pg_catalog.pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, fmt.Errorf("asking for the server process: %w", err)
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return 0, errMalformed
	}
	pid, err := strconv.ParseUint(string(results[0].Rows[0][0]), 10, 32)
	return uint32(pid), err
}

// refusePooler returns an error unless a connection has its server process for itself, with
// the settings that it was made with. Process is the number of the process that has answered.
func (c *conn) refusePooler(ctx context.Context, config *pgconn.Config, process string, settings map[string]string) error {
	unset := unsetIn(config.RuntimeParams, settings)
	if process == strconv.FormatUint(uint64(c.cancels.pid), 10) {
		return unset
	}
	switch found, err := findInTurn(ctx, config); {
	case err != nil:
		return err
	case found == TransactionPooler:
		return errPooler
	case found == StatementPooler:
		return errShared
	default:
		return unset
	}
}

// turn is had by who looks for a pooler's mode, one at a time, so that few connections are
// needed for it.
var turn = make(chan struct{}, 1)

func findInTurn(ctx context.Context, config *pgconn.Config) (Pooler, error) {
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
		return FindPooler(ctx, config)
	case <-ctx.Done():
		return NoPooler, context.Cause(ctx)
	}
}

// IsPooler tells whether a connection was refused because of a pooler.
func IsPooler(err error) bool {
	return errors.Is(err, errPooler) || errors.Is(err, errShared) || errors.Is(err, errUnset)
}
