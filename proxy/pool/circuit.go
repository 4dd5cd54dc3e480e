package pool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	leastBackoff = 100 * time.Millisecond
	mostBackoff  = 5 * time.Second
)

// circuit keeps sessions from asking, all of them, a server that does not answer. After
// a failure it is open for a while, which grows with each further one; then one session
// is let through to find out. It is not safe for concurrent use.
type circuit struct {
	failures int
	epoch    int       // counts the failures and recoveries, so that those of one moment count once
	until    time.Time // while failures > 0: when the next one may try
	probing  bool      // it does
	last     error
	stalled  bool // kept connections do not answer either
}

// attempt is the permission to ask.
type attempt struct {
	epoch int
	probe bool
	own   bool // with startup parameters of the session's own
}

// refuses says why there is no permission now; nil = there is.
func (c *circuit) refuses(now time.Time) error {
	if c.failures > 0 && (c.probing || now.Before(c.until)) {
		return fmt.Errorf("the server has failed and is not asked again yet: %w", c.last)
	}
	return nil
}

// try takes the permission, which refuses must have given. Own says that the session
// has startup parameters of its own.
func (c *circuit) try(own bool) attempt {
	c.probing = c.failures > 0
	return attempt{c.epoch, c.probing, own}
}

// done ends an attempt: what came of it says whether the server is to blame.
func (c *circuit) done(a attempt, now time.Time, err error) {
	if a.probe && a.epoch == c.epoch {
		c.probing = false
	}
	switch {
	case err == nil:
		if c.failures > 0 {
			*c = circuit{epoch: c.epoch + 1}
		}
	case blames(err, a.own) && a.epoch == c.epoch:
		c.failures++
		c.epoch++
		c.last = err
		backoff := min(leastBackoff<<min(c.failures-1, 10), mostBackoff)
		c.until = now.Add(backoff/2 + rand.N(backoff/2+1))
	}
}

// stall notes that a kept connection has not been answered.
func (c *circuit) stall(now time.Time, err error) {
	c.done(attempt{epoch: c.epoch}, now, err)
	c.stalled = true
}

// answered notes that the server again answers the connection that watches it: the next session may
// try at once, and if that fails the pauses begin with the shortest one.
func (c *circuit) answered(now time.Time) {
	if c.failures > 0 {
		c.failures, c.until = 1, now
	}
}

// errGaveUp is the failure of an attempt whose session went away.
var errGaveUp = errors.New("the session no longer waits for a connection")

// errLook is the failure to look at a connection that has been made.
var errLook = errors.New("looking at a new connection")

// blames says whether a failure to connect is the server's or the configuration's, and the next
// session would meet it as well. If the session has its own startup parameters, they count as the
// reason for every error that does not surely have another one: PostgreSQL has many errors for
// values of settings, and no session must be able to cause the refusal of others.
func blames(err error, own bool) bool {
	state := sqlState(err)
	switch {
	case errors.Is(err, errGaveUp), starved(err), ofClient(err), state == stateTooManyConnections:
		return false
	case !own:
		return true
	case errors.Is(err, errLook):
		return false
	case state == "": // no connection, or none any more; the parameters are not too long for one
		return true
	default:
		return ofServer(state)
	}
}

// ofServer says of an SQLSTATE whether no startup parameter can be the reason for it:
// invalid authorization, no such database, insufficient resources, errors of the system,
// and a server that starts, ends or has crashed. Of class 57 the others are about
// statements and sessions that took too long.
func ofServer(state string) bool {
	switch state {
	case "57P01", "57P02", "57P03", "57P04":
		return true
	}
	switch state[:min(2, len(state))] {
	case "28", "3D", "53", "58":
		return true
	}
	return false
}

// ofClient says whether a failure to connect is due to the startup parameters, so that no
// other server would take them either: class 22, data exception, and undefined_object.
func ofClient(err error) bool {
	state := sqlState(err)
	return len(state) == 5 && state[:2] == "22" || state == "42704"
}

// sqlState is what the server has refused a connection with; "" = it has not.
func sqlState(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}
