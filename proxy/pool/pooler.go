package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// pinnedNames are settings of the startup packet that are read back, as far as they are in it
// and in the form in which the server tells them.
var pinnedNames = []string{"search_path", "default_transaction_read_only"}

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

// unsetError are settings of the startup packet that the server does not have after login.
type unsetError struct{ settings []UnsetSetting }

// UnsetSetting is one of them, with its value and the one that was asked for.
type UnsetSetting struct{ Name, Is, Want string }

func (e *unsetError) Error() string {
	var told []string
	for _, s := range e.settings {
		told = append(told, fmt.Sprintf("%s is %q after login and not %q", s.Name, s.Is, s.Want))
	}
	return strings.Join(told, ", ") + ": " + errUnset.Error()
}

func (e *unsetError) Unwrap() error { return errUnset }

// unsetIn returns an error if what is pinned is not among the settings after login.
func unsetIn(pinned, settings map[string]string) error {
	var unset []UnsetSetting
	for _, name := range pinnedNames {
		if want, set := pinned[name]; set && !sameSetting(name, settings[name], want) {
			unset = append(unset, UnsetSetting{name, settings[name], want})
		}
	}
	if len(unset) == 0 {
		return nil
	}
	return &unsetError{unset}
}

// Unset are the settings for whose lack a connection was refused; none if it was not for that.
func Unset(err error) []UnsetSetting {
	unset := (*unsetError)(nil)
	if !errors.As(err, &unset) {
		return nil
	}
	return unset.settings
}

// sameSetting tells whether two values of a pinned setting mean the same. PostgreSQL shows a
// search_path as it was written, whether names in it are quoted or not.
func sameSetting(name, is, want string) bool {
	if name != "search_path" || is == want {
		return is == want
	}
	shown, understood := splitNames(is)
	wanted, pinned := splitNames(want)
	return understood && pinned && slices.Equal(shown, wanted)
}

// splitNames reads a list of names as PostgreSQL does. What is rare it does not understand:
// false, also for an empty list.
func splitNames(list string) (names []string, ok bool) {
	for rest := list; ; {
		name, after, ok := cutName(strings.TrimLeft(rest, blanks))
		if !ok {
			return nil, false
		}
		names = append(names, name)
		after = strings.TrimLeft(after, blanks)
		if after == "" {
			return names, true
		}
		if rest, ok = strings.CutPrefix(after, ","); !ok {
			return nil, false
		}
	}
}

// blanks are what PostgreSQL takes as space between names.
const blanks = " \t\n\r\f"

// cutName cuts the name off with which a list begins.
func cutName(list string) (name, rest string, ok bool) {
	if strings.HasPrefix(list, `"`) {
		return cutQuoted(list[1:])
	}
	end := strings.IndexFunc(list, func(r rune) bool { return !plain(r) })
	if end < 0 {
		end = len(list)
	}
	return strings.ToLower(list[:end]), list[end:], end > 0
}

// plain says of a character that a name may have it without quotes.
func plain(r rune) bool {
	return r == '_' || r == '$' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// cutQuoted cuts a name off whose first quote has been read. A quote within is written twice.
func cutQuoted(list string) (name, rest string, ok bool) {
	for {
		part, after, closed := strings.Cut(list, `"`)
		name += part
		if !closed {
			return "", "", false
		}
		if !strings.HasPrefix(after, `"`) {
			return name, after, name != ""
		}
		name, list = name+`"`, after[1:]
	}
}

// IsPooler tells whether a connection was refused because of a pooler.
func IsPooler(err error) bool {
	return errors.Is(err, errPooler) || errors.Is(err, errShared) || errors.Is(err, errUnset)
}
