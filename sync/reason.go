package sync

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Reason is why a connection failed, in one line: drivers try several addresses and ways of
// encryption, and join what each of them met. What the server said goes before what the
// network did, and what was met twice is told once. The error behind it stays in reach of
// errors.Is and errors.As.
func Reason(err error) error {
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	var network *net.OpError
	switch {
	case errors.As(err, &refused):
		return &reason{fmt.Sprintf("%s (SQLSTATE %s)", refused.Message, refused.Code), err}
	case errors.As(err, &network):
		text := network.Err.Error()
		if network.Addr != nil {
			text = network.Addr.String() + ": " + text
		}
		return &reason{text, err}
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return &reason{strings.Join(lines, " "), err}
}

type reason struct {
	text string
	err  error
}

func (r *reason) Error() string { return r.text }
func (r *reason) Unwrap() error { return r.err }
