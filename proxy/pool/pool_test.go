package pool_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience bounds what must happen soon; nothing is measured against it.
const patience = time.Minute

// reader makes a role that can log in and nothing else, and returns its connection.
func reader(t testing.TB, server *pgserver.Server, dsn string) *pgconn.Config {
	t.Helper()
	const name, password = "pool_reader", "of the reader"
	execute(t, dsn, fmt.Sprintf(`DO $$ BEGIN
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN
			CREATE ROLE %[1]s LOGIN PASSWORD '%s';
		END IF;
	END $$`, name, password))
	config := parse(t, dsn)
	config.User, config.Password = name, password
	maps.Copy(config.RuntimeParams, map[string]string{"search_path": `"kproxy"`, "default_transaction_read_only": "on"})
	return config
}

func parse(t testing.TB, dsn string) *pgconn.Config {
	t.Helper()
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// execute runs statements as the superuser.
func execute(t testing.TB, dsn, sql string) [][]string {
	t.Helper()
	pg, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pg.Close(context.Background()) }()
	results, err := pg.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var rows [][]string
	for _, result := range results {
		for _, row := range result.Rows {
			var texts []string
			for _, value := range row {
				texts = append(texts, string(value))
			}
			rows = append(rows, texts)
		}
	}
	return rows
}

func newPool(t testing.TB, role *pgconn.Config, change func(*pool.Config)) *pool.Pool {
	t.Helper()
	c := pool.Config{Roles: map[string]*pgconn.Config{"": role}}
	if change != nil {
		change(&c)
	}
	p, err := pool.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

var someClient = &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 5555}

// ann is a session of a user.
func ann() pool.Want { return pool.Want{User: "ann", Application: "psql", Client: someClient} }

func get(t testing.TB, p *pool.Pool, want pool.Want) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	link, err := obtain(ctx, p, want)
	if err != nil {
		t.Fatal(err)
	}
	return take(t, link)
}

// session speaks over a link, as a client would through the proxy.
type session struct {
	t testing.TB
	*pool.Link
	front  *pgproto3.Frontend
	status byte // of the last ReadyForQuery
}

func take(t testing.TB, link *pool.Link) *session {
	t.Helper()
	if err := link.Conn().SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Release(0) })
	return &session{t: t, Link: link, front: pgproto3.NewFrontend(link.Conn(), link.Conn())}
}

// query runs a text and returns its first row; failing, the error.
func (s *session) query(sql string) ([]string, error) {
	s.t.Helper()
	s.front.Send(&pgproto3.Query{String: sql})
	return s.answer()
}

func (s *session) answer() (row []string, failed error) {
	s.t.Helper()
	if err := s.front.Flush(); err != nil {
		s.t.Fatal(err)
	}
	for {
		message, err := s.front.Receive()
		if err != nil {
			s.t.Fatal(err)
		}
		switch m := message.(type) {
		case *pgproto3.DataRow:
			if row == nil {
				row = []string{}
				for _, value := range m.Values {
					row = append(row, string(value))
				}
			}
		case *pgproto3.ErrorResponse:
			failed = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			s.status = m.TxStatus
			return row, failed
		}
	}
}

// one runs a query that has one value.
func (s *session) one(sql string) string {
	s.t.Helper()
	row, err := s.query(sql)
	if err != nil || len(row) != 1 {
		s.t.Fatalf("%s: %v, %v", sql, row, err)
	}
	return row[0]
}

// do runs a text that succeeds.
func (s *session) do(sql string) {
	s.t.Helper()
	if _, err := s.query(sql); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// settled waits until nothing is made or reset.
func settled(t testing.TB, p *pool.Pool) pool.Stats {
	t.Helper()
	eventually(t, "a settled pool", func() bool {
		s := p.Stats()
		return s.Places == s.InUse+s.Idle
	})
	return p.Stats()
}

// obtain is Get and Settle.
func obtain(ctx context.Context, p *pool.Pool, wanted pool.Want) (*pool.Link, error) {
	link, err := p.Get(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := link.Settle(ctx); err != nil {
		link.Release(0)
		return nil, err
	}
	return link, nil
}
