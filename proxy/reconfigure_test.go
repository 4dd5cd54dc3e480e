package proxy

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/proxy/access"
)

// TestEndReaders ends the sessions that have read a relation, whatever they do, and no
// others: what they have prepared and opened does not pass the gate again.
func TestEndReaders(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	reader, busy, other := p.loginWire(t), p.loginWire(t), p.loginWire(t)
	busy.send(&oldproto.Query{String: "SELECT '" + publicName + "'"})
	if got := busy.script(1); got != "T D("+privateName+") C(SELECT 1) ZI" {
		t.Fatal(got)
	}
	busy.send(&oldproto.Query{String: "SELECT pg_sleep(600)"})
	reader.send(&oldproto.Parse{Query: "SELECT '" + publicName + "'"}, &oldproto.Sync{})
	if got := reader.script(1); got != "1 ZI" {
		t.Fatal(got)
	}
	everybody := func(string) bool { return true }
	p.EndReaders(everybody, "public.another")
	p.EndReaders(everybody, publicName)
	reader.expectFatal(stateAdminShutdown)
	busy.expectFatal(stateAdminShutdown)
	other.send(&oldproto.Query{String: "SELECT 1"})
	if got := other.script(1); got != "T D(1) C(SELECT 1) ZI" {
		t.Errorf("the session that has not read it: %s", got)
	}
}

// TestEndSomeReaders ends the sessions of some readers that have read a relation: those of other readers have read
// another release of it. What the observer is told of each session names the audience that the gate opened it for.
func TestEndSomeReaders(t *testing.T) {
	t.Parallel()
	w := &witness{}
	readers := map[string]string{testUser: "", "bob": "coarse", "cem": "coarser", "dan": "coarse"}
	p := startProxy(t, func(c *Config) {
		c.Observer, c.Readers = w, make(map[string]*pgconn.Config)
		c.Access.Users = nil
		for user, reader := range readers {
			c.Access.Users = append(c.Access.Users, access.User{Name: user, Reader: reader, Verifier: testVerifier()})
			if reader != "" {
				c.Readers[reader] = c.Upstream.Copy()
			}
		}
	})
	conns := make(map[string]*pgconn.PgConn)
	for user := range readers {
		conn, err := pgconn.Connect(deadline(t), strings.Replace(p.url("sslmode=disable"), "//"+testUser+":", "//"+user+":", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		if conns[user] = conn; user == "dan" {
			continue // reads something else
		}
		if _, err := conn.Exec(t.Context(), "SELECT '"+publicName+"'").ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	p.EndReaders(func(reader string) bool { return reader == "coarse" }, "public.another")
	p.EndReaders(func(reader string) bool { return reader == "coarse" }, publicName)
	for user, conn := range conns {
		_, err := conn.Exec(deadline(t), "SELECT 1").ReadAll()
		ended := (*pgconn.PgError)(nil)
		switch ends := user == "bob"; {
		case !ends && err != nil:
			t.Errorf("the session of %s is ended: %v", user, err)
		case ends && (!errors.As(err, &ended) || ended.Code != stateAdminShutdown):
			t.Errorf("the session of %s goes on: %v", user, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.answered {
		want := ""
		if reader := readers[a.User]; reader != "" {
			want = "of " + reader
		}
		if a.Audience != want {
			t.Errorf("a statement of %s is told of as for audience %q", a.User, a.Audience)
		}
	}
	if len(w.began) != len(readers) || len(w.answered) < len(readers) {
		t.Errorf("it was told of %d sessions and %d statements", len(w.began), len(w.answered))
	}
}

// TestReconfigure changes users and limits under sessions that stay.
func TestReconfigure(t *testing.T) {
	t.Parallel()
	var c Config
	p := startProxy(t, func(first *Config) {
		first.Access = testAccess("bob", "cem")
		c = *first
	})
	as := func(user string) (*pgconn.PgConn, error) {
		return pgconn.Connect(deadline(t), strings.Replace(p.url("sslmode=disable"), "//"+testUser+":", "//"+user+":", 1))
	}
	logged := map[string]*pgconn.PgConn{}
	for _, user := range []string{testUser, "bob", "cem"} {
		conn, err := as(user)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		logged[user] = conn
	}

	c.Access.Users = nil
	if err := p.Reconfigure(c); err == nil {
		t.Error("a configuration without users is taken")
	}
	another, err := scram.Derive("another", []byte("0123456789abcdef"), 4096)
	if err != nil {
		t.Fatal(err)
	}
	c.Access.Users = []access.User{{Name: testUser, Verifier: testVerifier()}, {Name: "cem", Verifier: another.String()}}
	c.MaxSessions = 1
	if err := p.Reconfigure(c); err != nil {
		t.Fatal(err)
	}
	for user, ends := range map[string]bool{testUser: false, "bob": true, "cem": true} {
		eventually(t, user+" is served or not", func() bool {
			return (logged[user].Exec(deadline(t), "SELECT 1").Close() != nil) == ends
		})
	}
	if _, err := as("bob"); err == nil || !strings.Contains(err.Error(), stateInvalidPassword) {
		t.Errorf("a removed user: %v", err)
	}
	if _, err := as(testUser); err == nil || !strings.Contains(err.Error(), stateTooManyConnections) {
		t.Errorf("a session too many: %v", err)
	}
	c.MaxSessions = 2
	if err := p.Reconfigure(c); err != nil {
		t.Fatal(err)
	}
	conn, err := as(testUser)
	if err != nil {
		t.Fatalf("a session within the limit: %v", err)
	}
	_ = conn.Close(context.Background())
}

// TestReconfigureEndsWhoMayNot takes ways to log in away under sessions.
func TestReconfigureEndsWhoMayNot(t *testing.T) {
	t.Parallel()
	server, _, _ := certificate(t)
	for name, test := range map[string]struct {
		change     func(*Config)
		plain, tls bool // stays
	}{
		"nothing":             {func(*Config) {}, true, true},
		"TLS is required":     {func(c *Config) { c.TLSRequired = true }, false, true},
		"a rule for TLS only": {func(c *Config) { c.Access.Rules = []access.Rule{{Transport: access.TLS, Method: access.Password}} }, false, true},
		"not from here": {func(c *Config) {
			c.Access.Rules = []access.Rule{{Method: access.Reject, Addresses: loopback}, {Method: access.Password}}
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Config
			p := startProxy(t, func(first *Config) {
				first.TLS = server
				c = *first
			})
			plain, secure := connectPgx(t, p.url("sslmode=disable")), connectPgx(t, p.url("sslmode=require"))
			test.change(&c)
			if err := p.Reconfigure(c); err != nil {
				t.Fatal(err)
			}
			for _, s := range []struct {
				*pgx.Conn
				stays bool
			}{{plain, test.plain}, {secure, test.tls}} {
				var err error
				ask := func() bool {
					_, err = s.Exec(deadline(t), "SELECT 1")
					return err != nil
				}
				if s.stays {
					if ask() {
						t.Errorf("a session that stays: %v", err)
					}
					continue
				}
				eventually(t, "a session ends", ask)
				var last *pgconn.PgError
				if !errors.As(err, &last) || last.Code != stateAdminShutdown {
					t.Errorf("a session ends with %v", err)
				}
			}
		})
	}
}

// TestSessionsOfUsersWhoAreGoneEnd takes a looked-up user away, while another one stays.
func TestSessionsOfUsersWhoAreGoneEnd(t *testing.T) {
	t.Parallel()
	var gone, failing atomic.Bool
	p := startProxy(t, func(c *Config) {
		c.Access.LookupLifetime = 1 // nanosecond: each is looked up again
		c.Access.Lookup = func(_ context.Context, user string) (string, bool, error) {
			if failing.Load() {
				return "", false, errors.New("no connection")
			}
			return testVerifier(), user == "bob" || user == "cem" && !gone.Load(), nil
		}
	})
	logged := map[string]*pgconn.PgConn{}
	for _, user := range []string{testUser, "bob", "cem"} {
		conn, err := pgconn.Connect(deadline(t), strings.Replace(p.url("sslmode=disable"), "//"+testUser+":", "//"+user+":", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		logged[user] = conn
	}
	p.endGone(t.Context())
	gone.Store(true)
	failing.Store(true)
	p.endGone(t.Context())
	for user, conn := range logged {
		if err := conn.Exec(deadline(t), "SELECT 1").Close(); err != nil {
			t.Errorf("%s, while nobody is known to be gone: %v", user, err)
		}
	}
	failing.Store(false)
	p.endGone(t.Context())
	for user, ends := range map[string]bool{testUser: false, "bob": false, "cem": true} {
		eventually(t, user+" is served or not", func() bool {
			return (logged[user].Exec(deadline(t), "SELECT 1").Close() != nil) == ends
		})
	}
}

// TestOneLookupThatFailsKeepsNobodyElse has the lookups of most users with sessions fail, as one does whose name is
// there twice, and takes another one away.
func TestOneLookupThatFailsKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	var later atomic.Bool
	p := startProxy(t, func(c *Config) {
		c.Access.LookupLifetime = 1 // nanosecond: each is looked up again
		c.Access.Lookup = func(_ context.Context, user string) (string, bool, error) {
			if later.Load() && user != "cem" {
				return "", false, errors.New("the query gives more than one row")
			}
			return testVerifier(), !later.Load(), nil
		}
	})
	logged := map[string]*pgconn.PgConn{}
	for _, user := range []string{"twice1", "twice2", "twice3", "twice4", "twice5", "twice6", "twice7", "cem"} {
		conn, err := pgconn.Connect(deadline(t), strings.Replace(p.url("sslmode=disable"), "//"+testUser+":", "//"+user+":", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		logged[user] = conn
	}
	later.Store(true)
	p.endGone(t.Context())
	for user, conn := range logged {
		eventually(t, user+" is served or not", func() bool {
			return (conn.Exec(deadline(t), "SELECT 1").Close() != nil) == (user == "cem")
		})
	}
}
