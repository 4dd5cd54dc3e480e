package proxy

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestPgxQueryModes(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			conn := connectPgx(t, p.url("sslmode=disable"))
			for range 3 {
				var text string
				var number int
				err := conn.QueryRow(deadline(t), "SELECT $1::text, $2::int + 1", mode, "Grüße", 41).Scan(&text, &number)
				if err != nil || text != "Grüße" || number != 42 {
					t.Fatalf("got %q, %d, %v", text, number, err)
				}
				_, err = conn.Exec(deadline(t), "SELECT 'forbidden', $1::int", mode, 1)
				var refused *pgconn.PgError
				if !errors.As(err, &refused) || refused.Code != "42501" || refused.Hint == "" || refused.Position != 9 ||
					refused.Message != `column "name" is not published` {
					t.Fatalf("refusal arrived as %#v", err)
				}
			}
			if err := conn.Ping(deadline(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestBatchWithRefusalInTheMiddle(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	conn := connectPgx(t, p.url("sslmode=disable"))
	batch := &pgx.Batch{}
	batch.Queue("SELECT 1")
	batch.Queue("SELECT 'forbidden'")
	batch.Queue("SELECT 3")
	results := conn.SendBatch(deadline(t), batch)
	err := results.Close()
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42501" {
		t.Fatalf("got %v", err)
	}
	var n int
	if err := conn.QueryRow(deadline(t), "SELECT 4").Scan(&n); err != nil || n != 4 {
		t.Fatal(n, err)
	}
}

func TestPsql(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for _, c := range []struct{ sql, out, err string }{
		{"SELECT 6 * 7 AS answer", "42", ""},
		{"SELECT 'forbidden'", "", "ERROR:  column \"name\" is not published\nLINE 1: SELECT 'forbidden'\n                ^\nHINT:  Ask for what is published."},
		{"SELECT 1; SELECT 2", "1\n2", ""},
		{"SELECT 1; SELECT 'forbidden'", "", "not published"},
		{"COPY (SELECT g FROM generate_series(1, 3) g) TO STDOUT", "1\n2\n3", ""},
		{"CREATE TEMP TABLE t (n int); COPY t FROM STDIN", "CREATE TABLE", "COPY from the client is not supported"},
		{"SELECT * FROM " + publicName, "", "relation \"public.patients\" does not exist"},
		{"", "", ""},
		{";", "", ""},
	} {
		cmd := exec.Command("psql", "-XAt", p.url("sslmode=disable"), "-c", c.sql)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if strings.TrimSpace(out.String()) != c.out || !strings.Contains(errs.String(), c.err) || (err == nil) != (c.err == "") {
			t.Errorf("%q: %v\nout %q\nerr %q", c.sql, err, out.String(), errs.String())
		}
	}
}

func TestFlush(t *testing.T) {
	t.Parallel()
	w := startProxy(t, nil).loginWire(t)
	for range 3 {
		w.send(&oldproto.Parse{Query: "SELECT 1"}, &oldproto.Bind{}, &oldproto.Flush{})
		if a, b := brief(w.receive()), brief(w.receive()); a != "1" || b != "2" {
			t.Fatal(a, b)
		}
		w.send(&oldproto.Execute{MaxRows: 1}, &oldproto.Flush{})
		if a, b := brief(w.receive()), brief(w.receive()); a != "D(1)" || b != "s" {
			t.Fatal(a, b)
		}
		w.send(&oldproto.Parse{Query: "forbidden"}, &oldproto.Flush{})
		if a := brief(w.receive()); a != "E42501" {
			t.Fatal(a)
		}
		w.send(&oldproto.Sync{})
		if a := w.script(1); a != "ZI" {
			t.Fatal(a)
		}
	}
}

// TestDeepPipeline has more refusals and statements outstanding than a pipeline
// holds, from a client that does not read meanwhile.
func TestDeepPipeline(t *testing.T) {
	t.Parallel()
	w := startProxy(t, nil).loginWire(t)
	const rounds = 2 * maxPending
	var out []byte
	for range rounds {
		out = encode(t, out, &oldproto.Parse{Query: "forbidden"})
		out = encode(t, out, &oldproto.Sync{})
		out = encode(t, out, &oldproto.Query{String: "SELECT 1"})
	}
	go func() { _, _ = w.Write(out) }()
	for range rounds {
		if got := w.script(2); got != "E42501 ZI T D(1) C(SELECT 1) ZI" {
			t.Fatal(got)
		}
	}
}

func TestErrorFieldsAreScrubbed(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	if _, err := direct.Exec(deadline(t), `
		CREATE SCHEMA kproxy_release_public;
		CREATE TABLE kproxy_release_public.patients (id int PRIMARY KEY);
		CREATE FUNCTION complain(level text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
			IF level = 'error' THEN
				RAISE EXCEPTION 'about kproxy_release_public.patients' USING DETAIL = 'canary', HINT = 'see kproxy_release_public.patients',
					COLUMN = 'canary', TABLE = 'canary', SCHEMA = 'canary', DATATYPE = 'canary', CONSTRAINT = 'canary', ERRCODE = '22000';
			ELSE
				RAISE NOTICE 'about kproxy_release_public.patients' USING DETAIL = 'canary';
				-- Of an error, the DETAIL of this SQLSTATE would be told.
				RAISE NOTICE 'likewise' USING DETAIL = 'canary', ERRCODE = '42703';
				RAISE LOG 'canary';
				RAISE DEBUG 'canary';
			END IF;
		END $$`); err != nil {
		t.Fatal(err)
	}
	w := p.loginWire(t)
	w.send(&oldproto.Query{String: "SET client_min_messages = debug5; SELECT complain('notice'); SELECT complain('error')"})
	var reports []string
	for {
		m := w.receive()
		if strings.Contains(string(encode(t, nil, m)), "canary") {
			t.Errorf("%#v", m)
		}
		switch m := m.(type) {
		case *oldproto.NoticeResponse:
			reports = append(reports, m.Severity+" "+m.Message)
		case *oldproto.ErrorResponse:
			reports = append(reports, m.Severity+" "+m.Code+" "+m.Message+" / "+m.Hint)
		case *oldproto.ReadyForQuery:
			want := "NOTICE about public.patients\nNOTICE likewise\nERROR 22000 about public.patients / see public.patients"
			if got := strings.Join(reports, "\n"); got != want {
				t.Errorf("got %s", got)
			}
			return
		}
	}
}

func TestParametersAreMapped(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	conn := connectPgx(t, p.url("sslmode=disable&application_name=me&timezone=Asia/Tokyo&options=-c%20DateStyle%3DGerman"))
	for name, want := range map[string]string{
		"session_authorization": testUser, "is_superuser": "off", "client_encoding": "UTF8",
		"TimeZone": "Asia/Tokyo", "DateStyle": "German, DMY",
	} {
		if got := conn.PgConn().ParameterStatus(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// The client hears its own, while the server has its address, too.
	if got := conn.PgConn().ParameterStatus("application_name"); got != "me" {
		t.Errorf("application_name is %q", got)
	}
	var known string
	if err := conn.QueryRow(deadline(t), "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()").Scan(&known); err != nil || !strings.HasPrefix(known, "me (127.0.0.1:") {
		t.Errorf("the server knows it as %q, %v", known, err)
	}
	if _, err := conn.Exec(deadline(t), "SET timezone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	if got := conn.PgConn().ParameterStatus("TimeZone"); got != "UTC" {
		t.Error(got)
	}
	// What the server reports of this one is not UTF8, which it is.
	if _, err := conn.Exec(deadline(t), "SET client_encoding = 'UNICODE'"); err != nil || conn.PgConn().ParameterStatus("client_encoding") != "UNICODE" {
		t.Errorf("the encoding is %q, %v", conn.PgConn().ParameterStatus("client_encoding"), err)
	}
	for _, sql := range []string{"SET client_encoding = latin1", "SET standard_conforming_strings = off"} {
		w := p.loginWire(t)
		w.send(&oldproto.Query{String: sql})
		w.expectFatal(stateFeatureNotSupported)
	}
}

func TestForbiddenUpstreamMessages(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	w := p.loginWire(t)
	w.send(&oldproto.Query{String: "CREATE TEMP TABLE t (n int); COPY t FROM STDIN"})
	w.expectFatal(stateFeatureNotSupported)

	w = p.loginWire(t)
	w.send(&oldproto.Query{String: "LISTEN news; NOTIFY news, 'canary'"})
	if got := w.script(1); got != "C(LISTEN) C(NOTIFY) ZI" {
		t.Error(got)
	}
}

func TestBrokenFramesEndTheSession(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	frame := func(kind byte, body string) []byte { return appendFrame(nil, kind, []byte(body)) }
	for name, bytes := range map[string][]byte{
		"length 0":             {'Q', 0, 0, 0, 0},
		"length 3":             {'S', 0, 0, 0, 3},
		"negative length":      {'B', 0xff, 0xff, 0xff, 0xff},
		"huge length":          {'B', 0x7f, 0xff, 0xff, 0xff},
		"huge Query":           {'Q', 0x7f, 0xff, 0xff, 0xff},
		"huge Execute":         {'E', 0, 1, 0, 0},
		"unknown type":         frame('!', ""),
		"password":             frame('p', "secret\x00"),
		"server's type":        frame('Z', "I"),
		"empty Query":          frame('Q', ""),
		"empty Parse":          frame('P', ""),
		"empty Bind":           frame('B', ""),
		"empty Describe":       frame('D', ""),
		"empty Execute":        frame('E', ""),
		"empty Close":          frame('C', ""),
		"empty FunctionCall":   frame('F', ""),
		"empty CopyFail":       frame('f', ""),
		"Sync with a body":     frame('S', "x"),
		"Flush with a body":    frame('H', "x"),
		"Query without NUL":    frame('Q', "SELECT 1"),
		"Query with two NUL":   frame('Q', "SELECT 1\x00\x00"),
		"Query with inner NUL": frame('Q', "SELECT 1\x00; SELECT 2\x00"),
		"Parse cut off":        frame('P', "\x00SELECT 1\x00\x00"),
		"Parse with few types": frame('P', "\x00SELECT 1\x00\x00\x01"),
		"Parse with more":      frame('P', "\x00SELECT 1\x00\x00\x00x"),
		"after Terminate":      append(frame('X', ""), 'Q'),
	} {
		t.Run(name, func(t *testing.T) {
			w := p.loginWire(t)
			w.send(rawMessage(bytes))
			if name == "after Terminate" {
				if _, err := w.Receive(); err == nil {
					t.Error("the session goes on")
				}
				return
			}
			w.expectFatal(stateProtocolViolation)
		})
	}
	if err := connectPgx(t, p.url("sslmode=disable")).Ping(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

func TestPanicEndsOneSession(t *testing.T) {
	t.Parallel()
	var log *logBuffer
	p := startProxy(t, func(c *Config) { log = logged(c) })
	other := connectPgx(t, p.url("sslmode=disable"))
	w := p.loginWire(t)
	w.send(&oldproto.Query{String: "SELECT 'canary' AS explode"})
	if e := w.expectFatal(stateInternalError); e.Message != "internal error" {
		t.Error(e.Message)
	}
	if err := other.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the crash is logged", func() bool { return len(log.lines("session crashed")) == 1 })
	if text := log.String(); !strings.Contains(text, "testGate.Rewrite:") || strings.Contains(text, "canary") {
		t.Errorf("the log says\n%s", text)
	}
}

func TestLargeResults(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	conn := connectPgx(t, p.url("sslmode=disable"))
	var n int
	if err := conn.QueryRow(deadline(t), "SELECT length(repeat('x', 30000000)) FROM repeat('y', 1)").Scan(&n); err != nil {
		t.Fatal(err)
	}
	var text string
	if err := conn.QueryRow(deadline(t), "SELECT repeat('x', 30000000)").Scan(&text); err != nil || len(text) != n {
		t.Fatal(len(text), err)
	}
	if err := conn.QueryRow(deadline(t), "SELECT length($1::text)", text).Scan(&n); err != nil || len(text) != n {
		t.Fatal(n, err)
	}
	var total int
	rows, err := conn.Query(deadline(t), "SELECT g, repeat('z', 20) FROM generate_series(1, 200000) g")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		total++
	}
	if rows.Err() != nil || total != 200000 {
		t.Fatal(total, rows.Err())
	}
}
