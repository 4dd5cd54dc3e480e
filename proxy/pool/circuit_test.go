package pool

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestCircuitHasOneProber(t *testing.T) {
	t.Parallel()
	c, now := &circuit{}, time.Now()
	failure := errors.New("connection refused")
	first, second := c.try(), c.try()
	c.done(first, now, failure)
	c.done(second, now, failure) // of the same moment
	if c.failures != 1 || c.refuses(now) == nil || !errors.Is(c.refuses(now), failure) {
		t.Fatalf("%+v", c)
	}
	later := now.Add(leastBackoff)
	if err := c.refuses(later); err != nil {
		t.Fatal(err)
	}
	prober := c.try()
	if c.refuses(later) == nil {
		t.Error("two probers")
	}
	c.done(prober, later, errGaveUp) // it finds out nothing
	if err := c.refuses(later); err != nil {
		t.Error(err)
	}
	prober = c.try()
	c.done(prober, later, failure)
	if c.failures != 2 || c.refuses(later.Add(leastBackoff/2)) == nil {
		t.Errorf("%+v", c)
	}
	later = later.Add(2 * leastBackoff)
	c.done(c.try(), later, nil)
	if c.failures != 0 || c.refuses(later) != nil {
		t.Errorf("%+v", c)
	}
	for range 100 {
		c.done(c.try(), later, failure)
		later = c.until
	}
	if wait := c.until.Sub(later); wait > mostBackoff {
		t.Error(wait)
	}
	for _, innocent := range []error{&pgconn.PgError{Code: "22023"}, &pgconn.PgError{Code: "42704"}, &pgconn.PgError{Code: "53300"}} {
		c := &circuit{}
		c.done(c.try(), now, innocent)
		if c.failures != 0 {
			t.Errorf("%v is held against the server", innocent)
		}
	}
}
