package daemon

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// TestProbesLogInAnewAfterReloads reloads a reader who cannot log in, and then one who can.
func TestProbesLogInAnewAfterReloads(t *testing.T) {
	t.Parallel()
	at, err := pgx.ParseConfig(pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	under := func(user string) *config.Config {
		c := &config.Config{}
		c.Upstream.Reader = config.Connection{
			Host: at.Host, Port: int(at.Port), Database: at.Database, User: user, Password: config.NewSecret(at.Password), SSLMode: "disable",
		}
		return c
	}
	d := New(under(at.User), Options{})
	p := &d.observed.database
	t.Cleanup(p.close)
	if err := p.ask(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	kept := p.conn
	if err := p.ask(t.Context(), d); err != nil || p.conn != kept {
		t.Errorf("the connection is not kept: %v", err)
	}
	d.effective.Store(under("nobody_of_that_name"))
	if err := p.ask(t.Context(), d); err == nil {
		t.Error("after a reload the former login is probed")
	}
	d.effective.Store(under(at.User))
	if err := p.ask(t.Context(), d); err != nil {
		t.Errorf("after another: %v", err)
	}
}
