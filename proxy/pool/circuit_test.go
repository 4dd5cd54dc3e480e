package pool

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestCircuitHasOneProber(t *testing.T) {
	t.Parallel()
	c, now := &circuit{}, time.Now()
	failure := errors.New("connection refused")
	first, second := c.try(false), c.try(false)
	c.done(first, now, failure)
	c.done(second, now, failure) // of the same moment
	if c.failures != 1 || c.refuses(now) == nil || !errors.Is(c.refuses(now), failure) {
		t.Fatalf("%+v", c)
	}
	later := now.Add(leastBackoff)
	if err := c.refuses(later); err != nil {
		t.Fatal(err)
	}
	prober := c.try(false)
	if c.refuses(later) == nil {
		t.Error("two probers")
	}
	c.done(prober, later, errGaveUp) // it finds out nothing
	if err := c.refuses(later); err != nil {
		t.Error(err)
	}
	prober = c.try(false)
	c.done(prober, later, failure)
	if c.failures != 2 || c.refuses(later.Add(leastBackoff/2)) == nil {
		t.Errorf("%+v", c)
	}
	later = later.Add(2 * leastBackoff)
	c.done(c.try(false), later, nil)
	if c.failures != 0 || c.refuses(later) != nil {
		t.Errorf("%+v", c)
	}
	for range 100 {
		c.done(c.try(false), later, failure)
		later = c.until
	}
	if wait := c.until.Sub(later); wait > mostBackoff {
		t.Error(wait)
	}
	for _, innocent := range []error{&pgconn.PgError{Code: "22023"}, &pgconn.PgError{Code: "42704"}, &pgconn.PgError{Code: "53300"}} {
		c := &circuit{}
		c.done(c.try(false), now, innocent)
		if c.failures != 0 {
			t.Errorf("%v is held against the server", innocent)
		}
	}
}

func TestBlame(t *testing.T) {
	t.Parallel()
	refused := func(state string) error { return fmt.Errorf("login: %w", &pgconn.PgError{Code: state}) }
	looking := fmt.Errorf("%w: %w", errLook, io.EOF)
	for _, c := range []struct {
		err         error
		alike, with bool // whether the server is to blame, without and with parameters of the session's own
	}{
		{errors.New("connection refused"), true, true},
		{io.EOF, true, true},
		{errConnectTimeout, true, true},
		{errGaveUp, false, false},
		{looking, true, false},
		{refused("28P01"), true, true},
		{refused("3D000"), true, true},
		{refused("53200"), true, true},
		{refused("53300"), false, false},
		{refused("57P01"), true, true},
		{refused("57P03"), true, true},
		{refused("58030"), true, true},
		{refused("22023"), false, false},
		{refused("22021"), false, false},
		{refused("42704"), false, false},
		{refused("42602"), true, false},
		{refused("42501"), true, false},
		{refused("0A000"), true, false},
		{refused("08P01"), true, false},
		{refused("55P02"), true, false},
		{refused("57014"), true, false},
		{refused("57P05"), true, false},
		{refused("25P04"), true, false},
		{refused("XX000"), true, false},
		{refused("?"), true, false},
	} {
		if alike, with := blames(c.err, false), blames(c.err, true); alike != c.alike || with != c.with {
			t.Errorf("%v: %v, with own parameters %v; want %v, %v", c.err, alike, with, c.alike, c.with)
		}
	}
}

// TestSessionsReturnOnceTheServerAnswers has a server that fails for long, and then answers who watches
// it. Until then nobody asks it before its pause is over.
func TestSessionsReturnOnceTheServerAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		down, asked := true, 0
		f.failing = func(*host) error {
			asked++
			if down {
				return errors.New("connection refused")
			}
			return nil
		}
		p := f.newPool(Config{}, "one")
		defer p.Close()
		fails := func() {
			t.Helper()
			if _, err := obtain(t.Context(), p, Want{}); err == nil {
				t.Error("a session has a connection to a server that is down")
			}
		}
		for range 30 { // the pauses grow to the longest one
			fails()
			time.Sleep(mostBackoff)
		}
		fails()
		before := asked
		fails()
		if asked != before {
			t.Error("a server is asked that has just failed")
		}
		h := p.hosts.all[0]
		w := &watch{
			pool: p, hosts: p.hosts.all, log: slog.New(slog.DiscardHandler), cluster: newCluster(1, &p.history), missing: map[*host]bool{},
			all: make(chan struct{}), began: time.Now(), stop: func() {},
		}
		record := func(err error) {
			p.watch = w
			w.record(0, reading{sent: time.Now(), got: time.Now()}, err)
			p.watch = nil
		}
		record(errors.New("connection refused"))
		fails()
		if asked != before {
			t.Error("a server is asked that has just failed, and does not answer who watches it")
		}
		down = false
		record(nil)
		if _, err := obtain(t.Context(), p, Want{}); err != nil || h.circuit("").failures > 0 {
			t.Errorf("once the server answers: %v", err)
		}
		// Who watches it gets in, and sessions do not: they are not let through each time that it answers.
		down = true
		fails()
		before = asked
		record(nil)
		fails()
		if asked != before {
			t.Error("the pause ends though nothing has changed")
		}
	})
}
