package integration

import (
	"net/url"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// TestCanaryAtLogin asks at login for what is refused later.
func TestCanaryAtLogin(t *testing.T) {
	t.Parallel()
	s := canarySite(t)
	secret := rawCanaries(t, connect(t, s.admin))
	for _, parameter := range []string{
		"options=" + url.QueryEscape("-c search_path=other"), "options=" + url.QueryEscape("--search_path=kproxy_store,public"),
		"search_path=other", "options=" + url.QueryEscape("-csearch_path=other -cstandard_conforming_strings=off"),
		"standard_conforming_strings=off", "client_encoding=SJIS", "role=" + s.owner, "session_authorization=postgres",
		"replication=database", "replication=true", "default_transaction_read_only=off", "row_security=off",
		"session_preload_libraries=auto_explain", "options=" + url.QueryEscape("-c role="+s.owner), "DateStyle=German", "client_min_messages=debug5",
	} {
		t.Run(parameter, func(t *testing.T) {
			w, conn, err := dial(t.Context(), s.url(parameter))
			if err != nil { // refused, which is as well
				if what := secret.found(conn.drain()); what != "" {
					t.Errorf("the refusal shows %s", what)
				}
				return
			}
			defer w.Close()
			for _, sql := range []string{
				"SELECT name FROM people", "SELECT * FROM people", "TABLE other.people", "IDENTIFY_SYSTEM",
				`START_REPLICATION SLOT "` + s.slot + `" LOGICAL 0/0`, `SELECT '\' || illness || ' FROM people`,
			} {
				if _, err := w.simple(sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			if err := w.recover(); err != nil {
				t.Error(err)
			}
			if what := secret.found(w.drain()); what != "" {
				t.Errorf("the session shows %s", what)
			}
		})
	}
}

// TestCanaryInMessages uses messages of the protocol in ways that are no
// driver's.
func TestCanaryInMessages(t *testing.T) {
	t.Parallel()
	s := canarySite(t)
	secret := rawCanaries(t, connect(t, s.admin))
	const harmless, hidden = "SELECT illness FROM people", "SELECT name FROM people"
	describe := func(name string) oldproto.FrontendMessage {
		return &oldproto.Describe{ObjectType: 'S', Name: name}
	}
	run := []oldproto.FrontendMessage{&oldproto.Bind{PreparedStatement: "s"}, &oldproto.Execute{}, &oldproto.Sync{}}
	for name, messages := range map[string][]oldproto.FrontendMessage{
		"a name used again": append([]oldproto.FrontendMessage{
			&oldproto.Parse{Name: "s", Query: harmless}, &oldproto.Parse{Name: "s", Query: hidden}, describe("s"),
		}, run...),
		"a refused statement is bound": append([]oldproto.FrontendMessage{&oldproto.Parse{Name: "s", Query: hidden}, describe("s")}, run...),
		"a statement that was closed": append([]oldproto.FrontendMessage{
			&oldproto.Parse{Name: "s", Query: harmless}, &oldproto.Close{ObjectType: 'S', Name: "s"}, &oldproto.Parse{Name: "s", Query: hidden},
		}, run...),
		"a prepared statement by its SQL name": {
			&oldproto.Parse{Name: "s", Query: hidden}, &oldproto.Parse{Query: "EXECUTE s"}, &oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Sync{},
		},
		"a portal in parts": {
			&oldproto.Parse{Query: "SELECT * FROM people"}, &oldproto.Bind{DestinationPortal: "p"}, &oldproto.Execute{Portal: "p", MaxRows: 3},
			&oldproto.Execute{Portal: "p", MaxRows: 1000}, &oldproto.Close{ObjectType: 'P', Name: "p"}, &oldproto.Sync{},
		},
		"types of parameters": {
			&oldproto.Parse{Query: "SELECT $1", ParameterOIDs: []uint32{2205}},
			&oldproto.Bind{Parameters: [][]byte{[]byte("kproxy_store.records_1")}}, &oldproto.Execute{}, &oldproto.Sync{},
		},
		"a query inside a pipeline": {
			&oldproto.Parse{Query: harmless}, &oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Sync{}, &oldproto.Query{String: hidden},
		},
		"two errors in a pipeline": {
			&oldproto.Parse{Query: hidden}, &oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Parse{Query: "DELETE FROM people"},
			&oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Sync{},
		},
		"data that nobody asked for": {&oldproto.CopyData{Data: []byte("x")}, &oldproto.CopyDone{}, &oldproto.Query{String: hidden}},
	} {
		t.Run(name, func(t *testing.T) {
			w := dialed(t, s.url())
			if err := w.send(messages...); err != nil {
				t.Fatal(err)
			}
			for range count(messages) {
				if _, err := w.receive(true); err != nil {
					t.Fatalf("the session is lost: %v", err)
				}
			}
			if err := w.recover(); err != nil {
				t.Error(err)
			}
			if what := secret.found(w.drain()); what != "" {
				t.Errorf("the session shows %s", what)
			}
		})
	}
	t.Run("function call", func(t *testing.T) {
		w := dialed(t, s.url())
		// FunctionCall: function 764 (lo_open) without arguments, result as text.
		if _, err := w.Write([]byte{'F', 0, 0, 0, 14, 0, 0, 2, 0xFC, 0, 0, 0, 0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		a, err := w.receive(false)
		if err == nil && len(a.errs) == 0 {
			t.Error("the call was answered")
		}
		if err == nil {
			if err := w.recover(); err != nil {
				t.Error(err)
			}
		}
		if strings.Contains(string(w.drain()), rawMarker) {
			t.Error("a raw text was shown")
		}
	})
}

// count is how many times the server says that it is ready.
func count(messages []oldproto.FrontendMessage) int {
	n := 0
	for _, m := range messages {
		switch m.(type) {
		case *oldproto.Sync, *oldproto.Query:
			n++
		}
	}
	return n
}
