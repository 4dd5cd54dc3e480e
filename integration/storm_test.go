package integration

import (
	"errors"
	"flag"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

var stormClients = flag.Int("storm.clients", 250, "how many clients connect at once")

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
	for i := range *stormClients {
		mode := []string{"sslmode=disable", "sslmode=require"}[i%2]
		clients.Go(func() {
			if err := visit(t, s.url(mode)); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
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
