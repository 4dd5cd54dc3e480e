package suites

import (
	"context"
	"crypto/tls"
	"log/slog"
	"maps"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/access"
)

// passing is a gate that lets everything pass as it is, but for what the relay leaves to
// gates to refuse: it does not carry data from the client, nor notifications.
type passing struct{ seen sync.Map }

var neverPasses = regexp.MustCompile(`(?is)^\s*(listen\b|copy\b.*\bfrom\s+stdin)`)

// notCarried is the error for what does not pass.
type notCarried struct{}

func (notCarried) Error() string    { return "the relay carries neither COPY FROM STDIN nor LISTEN" }
func (notCarried) SQLState() string { return "0A000" }

func (*passing) Open(_, _ string, parameters map[string]string) (proxy.State, map[string]string, error) {
	passed := maps.Clone(parameters)
	if path, given := passed["search_path"]; given {
		// A gate never passes it on under its name.
		delete(passed, "search_path")
		passed["options"] = "-c search_path=" + strings.NewReplacer(`\`, `\\`, " ", `\ `).Replace(path)
	}
	return stateless{}, passed, nil
}

func (*passing) Rewrite(sql string, _ proxy.State) (proxy.Statement, error) {
	if neverPasses.MatchString(sql) {
		return proxy.Statement{}, notCarried{}
	}
	return proxy.Statement{SQL: sql}, nil
}

// Recall knows a text from the second time on, as kproxy's gate does.
func (p *passing) Recall(sql string, in proxy.State) (proxy.Statement, bool, error) {
	if _, seen := p.seen.LoadOrStore(sql, true); !seen {
		return proxy.Statement{}, false, nil
	}
	statement, err := p.Rewrite(sql, in)
	return statement, true, err
}

func (*passing) Position(_ string, _ proxy.State, sent int) int { return sent }
func (*passing) Escape(sql string) (string, bool)               { return sql, true }
func (*passing) Unescape(_ string, sent int) int                { return sent }
func (*passing) ScrubMessage(text string) string                { return text }
func (*passing) ScrubPlan(text string) string                   { return text }

// stateless is the state of a session whose texts mean the same at any time.
type stateless struct{}

func (stateless) SearchPath() string            { return `"$user", public` }
func (stateless) Encoding() string              { return "UTF8" }
func (stateless) Audience() string              { return "" }
func (stateless) After(any) proxy.State         { return stateless{} }
func (stateless) Synced(byte, bool) proxy.State { return stateless{} }

// relayed starts the relay alone, in front of the database as the superuser. Its own
// connections are over TLS if so wanted; clients may choose.
func relayed(t *testing.T, encrypted bool) way {
	t.Helper()
	upstream, err := pgconn.ParseConfig(server(t).DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	if encrypted {
		upstream.TLSConfig = &tls.Config{InsecureSkipVerify: true} // its certificate is of this run
	}
	verifier, err := scram.Derive(password, []byte("0123456789abcdef"), 4096)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := ofLoopback()
	if err != nil {
		t.Fatal(err)
	}
	config, err := shown.config()
	if err != nil {
		t.Fatal(err)
	}
	relay, err := proxy.New(proxy.Config{
		Gate:         &passing{},
		Access:       access.Config{Users: []access.User{{Name: user, Verifier: verifier.String()}}},
		Database:     database,
		Upstream:     upstream,
		TLS:          config,
		DrainTimeout: time.Second,
		Logger:       slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- relay.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the relay does not stop")
		}
	})
	return way{name: "relay", host: "127.0.0.1", port: listener.Addr().(*net.TCPAddr).Port, user: user, password: password}
}
