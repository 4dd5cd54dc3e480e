package login

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// looking makes a lookup by the query in a database of its own, with an administrator's
// connection to that.
func looking(t *testing.T, query string) (*Lookup, *config.Config, *pgx.Conn) {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	const schema = "CREATE TABLE verifiers (name text, verifier text); INSERT INTO verifiers VALUES ('ann', 'hers'), ('bob', NULL), ('eve', 'one'), ('eve', 'two')"
	if _, err := admin.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	at := admin.Config()
	c := &config.Config{}
	c.Timeouts.Connect = 10 * time.Second
	c.AuthQuery = config.AuthQuery{Query: query, Timeout: 5 * time.Second, Connection: config.Connection{
		Host: at.Host, Port: int(at.Port), Database: at.Database, User: at.User, SSLMode: "disable", Password: config.NewSecret(at.Password),
	}}
	look, err := NewLookup(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(look.Close)
	return look, c, admin
}

func TestLookup(t *testing.T) {
	t.Parallel()
	look, _, admin := looking(t, "SELECT verifier FROM public.verifiers WHERE name = $1")
	for user, want := range map[string]string{
		"ann": "hers true <nil>", "bob": " false <nil>", "nobody": " false <nil>", "' OR true --": " false <nil>",
		"eve": " false the query gives more than one row",
	} {
		verifier, found, err := look.Find(t.Context(), user)
		if got := fmt.Sprint(verifier, " ", found, " ", err); got != want {
			t.Errorf("%s: got %s, want %s", user, got, want)
		}
	}
	var all sync.WaitGroup
	for range 5 * lookupConnections {
		all.Go(func() {
			if verifier, found, err := look.Find(t.Context(), "ann"); verifier != "hers" || !found || err != nil {
				t.Errorf("one of many: %q, %t, %v", verifier, found, err)
			}
		})
	}
	all.Wait()
	const sessions = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'kproxy auth_query' AND datname = current_database()"
	var ended int
	if err := admin.QueryRow(t.Context(), sessions).Scan(&ended); err != nil || ended == 0 || ended > lookupConnections {
		t.Errorf("%d connections ask: %v", ended, err)
	}
	for range lookupConnections {
		if _, found, err := look.Find(t.Context(), "ann"); !found || err != nil {
			t.Errorf("after the connections were ended: %t, %v", found, err)
		}
	}
	if len(look.slots) != lookupConnections {
		t.Errorf("%d slots are free", len(look.slots))
	}
	look.Close()
	if _, found, err := look.Find(t.Context(), "ann"); !found || err != nil {
		t.Errorf("a login that began before: %t, %v", found, err)
	}
	for range lookupConnections {
		if conn := <-look.slots; conn != nil {
			t.Error("a connection is kept after all")
		}
	}
}

// TestLookupEnds: what hangs ends with the login that waits for it, or by the server.
func TestLookupEnds(t *testing.T) {
	t.Parallel()
	look, c, _ := looking(t, "SELECT pg_sleep(60)::text || $1")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, found, err := look.Find(ctx, "ann"); found || err == nil {
		t.Errorf("%t, %v", found, err)
	}
	c.AuthQuery.Timeout = time.Second
	short, err := NewLookup(c)
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	if _, found, err := short.Find(t.Context(), "ann"); found || err == nil || !strings.Contains(err.Error(), "57014") {
		t.Errorf("%t, %v", found, err)
	}
}

// TestLookupReadsLittle has a query that gives millions of rows, one that gives a huge one, and counts
// what comes over the network.
func TestLookupReadsLittle(t *testing.T) {
	t.Parallel()
	const most = 8 << 20 // what the kernel had received before the connection was closed
	for query, want := range map[string]string{
		"SELECT verifier FROM public.verifiers, generate_series(1, 3000000) WHERE $1 <> ''": "more than one row",
		"SELECT repeat('x', 50000000) WHERE $1 <> ''":                                       "asking the database",
		"SELECT 'one', 'two', $1 FROM generate_series(1, 3000000)":                          "other columns",
	} {
		look, _, _ := looking(t, query)
		var received atomic.Int64
		dial := look.config.DialFunc
		look.config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return &countingConn{conn, &received}, err
		}
		verifier, found, err := look.Find(t.Context(), "ann")
		if err == nil || found || verifier != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %t, %v", query, verifier, found, err)
		}
		if n := received.Load(); n > most {
			t.Errorf("%s: %d bytes are read", query, n)
		}
	}
}

// countingConn counts what is read.
type countingConn struct {
	net.Conn
	received *atomic.Int64
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

// TestLookupErrorsHaveNoSecrets: a function may tell a verifier in its error, as one that casts it does.
func TestLookupErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	look, _, _ := looking(t, "SELECT verifier::int::text FROM public.verifiers WHERE name = $1")
	for range 2 { // by a new connection, and by a kept one
		_, found, err := look.Find(t.Context(), "ann")
		if found || err == nil || strings.Contains(err.Error(), "hers") || !strings.Contains(err.Error(), "22P02") {
			t.Errorf("%t, %v", found, err)
		}
	}
}
