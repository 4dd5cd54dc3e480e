package upstream

import (
	"context"
	"maps"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/internal/config"
)

// TestSessionsPinForms: sessions at the database of the release and at the source begin with the settings on which the text of
// definitions and constants depends, so that one reads what another has written.
func TestSessionsPinForms(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	asked := make(chan map[string]string, 1)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			message, err := pgproto3.NewBackend(conn, conn).ReceiveStartupMessage()
			if start, is := message.(*pgproto3.StartupMessage); err == nil && is {
				asked <- maps.Clone(start.Parameters)
			}
			_ = conn.Close()
		}
	}()
	c := &config.Config{}
	c.Upstream.Owner = config.Connection{Host: "127.0.0.1", Port: ln.Addr().(*net.TCPAddr).Port, User: "owner", Database: "d", SSLMode: "disable"}
	c.Source.Connection = c.Upstream.Owner
	c.Source.User = "publisher"
	want := map[string]string{
		"database": "d", "application_name": "kproxy", "search_path": "pg_catalog",
		"datestyle": "ISO, YMD", "intervalstyle": "postgres", "extra_float_digits": "1", "bytea_output": "hex", "lc_monetary": "C",
		"standard_conforming_strings": "on", "quote_all_identifiers": "off",
	}
	for user, connect := range map[string]func(context.Context, *config.Config) (*pgx.Conn, error){"owner": ConnectOwner, "publisher": ConnectSource} {
		if _, err := connect(t.Context(), c); err == nil {
			t.Error("there is no server, and a session")
		}
		got := <-asked
		want["user"] = user
		for name, value := range want {
			if got[name] != value {
				t.Errorf("the session of %s has %s %q, not %q", user, name, got[name], value)
			}
		}
	}
}
