package integration

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

var (
	stormClients = flag.Int("storm.clients", 250, "how many clients connect at once")
	stormModes   = flag.String("storm.modes", "disable,require", "the values of sslmode that they take in turn")
)

// TestLoginStorm has many clients connect at the same time for a short while, with TLS and
// without, to a server with few connections. With the limits as they are by default, all are served.
func TestLoginStorm(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = ownServer(t, pgserver.Options{Settings: map[string]string{"max_connections": "40"}})
	o.settings = "tls: {mode: allow, cert_file: server.crt, key_file: server.key}\ntimeouts: {queue: 10m, login: 10m}" // for slow machines
	s := newSite(t, o)
	s.writeCertificate(t)
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	var clients sync.WaitGroup
	modes, took, begin := strings.Split(*stormModes, ","), make([]time.Duration, *stormClients), time.Now()
	for i := range *stormClients {
		clients.Go(func() {
			if err := visit(t, s.url("sslmode="+modes[i%len(modes)])); err != nil {
				t.Error(err)
			}
			took[i] = time.Since(begin)
		})
	}
	done, most := make(chan struct{}), make(chan int)
	go func() { most <- mostSessions(t, s, done) }()
	clients.Wait()
	close(done)
	slices.Sort(took)
	t.Logf("%d clients (%s): the median has its answer after %v, the last after %v", *stormClients, *stormModes, took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	const spared = 17 // of the 37 that are not reserved, nine tenths less 16
	if n := <-most; n == 0 || n > spared {
		t.Errorf("the reader role had %d connections at once; %d are for sessions", n, spared)
	}
}

// mostSessions returns the most connections that the reader role is seen with, until done.
func mostSessions(t *testing.T, s *site, done chan struct{}) int {
	conn, err := pgx.Connect(t.Context(), s.admin)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for most := 0; ; {
		var now int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND application_name <> 'kproxy watches servers'", s.reader).Scan(&now); err != nil {
			t.Error(err)
		}
		most = max(most, now)
		select {
		case <-done:
			return most
		default:
		}
	}
}

// visit connects, asks and leaves.
func visit(t *testing.T, url string) error {
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return err
	}
	var count int
	return errors.Join(conn.QueryRow(t.Context(), "SELECT count(*) FROM people").Scan(&count), conn.Close(t.Context()))
}
