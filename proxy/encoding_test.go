package proxy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/charset"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// told is what a client sees of a text: rows and errors, byte for byte.
func told(t *testing.T, conn *pgconn.PgConn, sql string, parameters ...string) string {
	t.Helper()
	values := make([][]byte, len(parameters))
	for i, p := range parameters {
		values[i] = []byte(p)
	}
	var results []*pgconn.Result
	var err error
	if len(parameters) > 0 {
		results = []*pgconn.Result{conn.ExecParams(deadline(t), sql, values, nil, nil, nil).Read()}
		err = results[0].Err
	} else {
		results, err = conn.Exec(deadline(t), sql).ReadAll()
	}
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "%x ", r.Rows)
	}
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		fmt.Fprintf(&b, "%s %x at %d", failed.Code, failed.Message, failed.Position)
	} else if err != nil {
		t.Fatalf("%q: %v", sql, err)
	}
	return b.String()
}

// inEncoding connects a client with an encoding.
func inEncoding(t *testing.T, url, encoding string) *pgconn.PgConn {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	if encoding != "" {
		config.RuntimeParams[encodingParameter] = encoding
	}
	conn, err := pgconn.ConnectConfig(deadline(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(deadline(t)) })
	return conn
}

// foreignTexts are in UTF-8; only texts with the prefix E are escaped by the test's gate.
var foreignTexts = []string{
	"SELECT E'%s', length(E'%[1]s'), encode(convert_to(E'%[1]s', 'UTF8'), 'hex')", "SELECT E'%s'::int", "SELECT E'%s', nowhere, E'%[1]s'",
	"SELECT E'%s' AS a; SELECT 1/0", "SELECT chr(9731)", "SELECT 'ASCII'", "SHOW client_encoding", "SELECT E'%s', 'forbidden'",
	"DO $$ BEGIN RAISE '%% %%', chr(233), chr(945); END $$",
}

// samples are texts that an encoding has.
var samples = map[string]string{
	charset.UTF8: "é日я", "LATIN1": "é", "WIN1252": "€", "LATIN9": "Œ€", "KOI8R": "я", "WIN1251": "Щ", "SJIS": "日本表", "EUC_JP": "日本語",
	"GBK": "中文", "BIG5": "中文", "UHC": "한글", "GB18030": "中文é", "ISO_8859_7": "α", charset.None: "é日я",
}

// TestEncodings: clients in all encodings get what the server itself tells them.
func TestEncodings(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for encoding, sample := range samples {
		c, known := charset.Find(encoding)
		if !known {
			c = utf8Charset // of the database
		}
		straight, through := inEncoding(t, p.direct, encoding), inEncoding(t, p.url(""), encoding)
		later, changed := inEncoding(t, p.direct, ""), inEncoding(t, p.url(""), "")
		for _, conn := range []*pgconn.PgConn{later, changed} {
			told(t, conn, "SET client_encoding TO "+encoding)
		}
		for _, text := range foreignTexts {
			sql := c.Encode(text)
			if strings.Contains(text, "%") {
				sql = c.Encode(fmt.Sprintf(text, sample))
				if !strings.Contains(text, "%s") {
					sql = strings.Split(sql, "%!(EXTRA")[0]
				}
			}
			want, got := told(t, straight, sql), told(t, through, sql)
			if strings.Contains(text, "forbidden") {
				want = got // of the gate's own
				if !strings.HasPrefix(got, fmt.Sprintf("42501 %x at ", refusedText{}.Error())) {
					t.Errorf("%s: %q: %s", encoding, text, got)
				}
			}
			if want != got {
				t.Errorf("%s: %q: straight %s, through the proxy %s", encoding, text, want, got)
			}
			if again := told(t, changed, sql); again != got {
				t.Errorf("%s: %q: %s, but %s after SET", encoding, text, got, again)
			}
		}
		if got := told(t, through, "SELECT E'\xff'"); encoding == charset.None && !strings.HasPrefix(got, "22021") {
			t.Errorf("%s: what is no text of the database's: %s", encoding, got)
		}
		value := c.Encode(sample)
		if want, got := told(t, straight, "SELECT $1::text", value), told(t, through, "SELECT $1::text", value); want != got {
			t.Errorf("%s: as a parameter: straight %s, through the proxy %s", encoding, want, got)
		}
		if reported := through.ParameterStatus(encodingParameter); reported != encoding || changed.ParameterStatus(encodingParameter) != encoding {
			t.Errorf("%s is reported as %s, and as %s after SET", encoding, reported, changed.ParameterStatus(encodingParameter))
		}
	}
}

// recallingGate need not think about any text.
type recallingGate struct{ testGate }

func (g recallingGate) Recall(sql string, in State) (Statement, bool, error) {
	statement, err := g.Rewrite(sql, in)
	return statement, true, err
}

// TestEncodingOfRecalledTexts: they are sent in ASCII as well.
func TestEncodingOfRecalledTexts(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Gate = recallingGate{} })
	conn := inEncoding(t, p.url(""), "SJIS")
	for _, sql := range []string{"SELECT E'\x93\xfa'", "SELECT 'a'", "SELECT E'\x93\xfa'"} {
		if got, want := told(t, conn, sql), fmt.Sprintf("[[%x]] ", strings.Trim(strings.TrimPrefix(sql, "SELECT "), "E'")); got != want {
			t.Errorf("%q: %s, not %s", sql, got, want)
		}
	}
}

// TestEncodingsRefused: bytes that are no text, texts that cannot be escaped, names that the
// server would know in another spelling.
func TestEncodingsRefused(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	conn := inEncoding(t, p.url(""), "SJIS")
	for sql, want := range map[string]string{
		"SELECT E'\x81": "22021", "SELECT 'unwritable \x93\xfa'": "0A000", "SELECT E'\x93\xfa'": "[",
	} {
		if got := told(t, conn, sql); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", sql, got)
		}
	}
	for name, want := range map[string]string{"a": "", "\x93\xfa": "0A000"} {
		_, err := conn.Prepare(deadline(t), name, "SELECT 1", nil)
		var refused *pgconn.PgError
		if state := ""; errors.As(err, &refused) {
			if state = refused.Code; state != want {
				t.Errorf("%q: %v", name, err)
			}
		} else if want != "" {
			t.Errorf("%q is taken", name)
		}
	}

	w := p.loginWire(t)
	w.send(parse("é", "SELECT 1"), bind("", "é"), execute("", 0), &oldproto.Sync{}, query("SET client_encoding TO LATIN1"),
		bind("", "é"), execute("", 0), &oldproto.Sync{}, describe('S', "é"), &oldproto.Sync{}, closing('P', "\xe9"), &oldproto.Sync{}, query("SELECT 1"))
	if got, want := w.script(6), "1 2 D(1) C(SELECT 1) ZI C(SET) S ZI E0A000 ZI E0A000 ZI E0A000 ZI T D(1) C(SELECT 1) ZI"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEncodingIsWatched ends sessions whose server has another encoding than they know of.
func TestEncodingIsWatched(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for _, sql := range []string{"SET client_encoding = latin1", "SELECT set_config('client_encoding', 'SJIS', false)"} {
		w := p.loginWire(t)
		w.send(query(sql))
		w.expectFatal(stateFeatureNotSupported)
	}
}

// TestEncodingOfTheDatabase: without an encoding, a session has the database's, if that is known.
func TestEncodingOfTheDatabase(t *testing.T) {
	t.Parallel()
	without := fakeState{encoding: charset.None}
	latin, _ := charset.Find("LATIN1")
	for _, database := range []*charset.Charset{nil, utf8Charset, latin} {
		err := checkEncoding(charset.None, without, database)
		if (err == nil) != (database != nil) {
			t.Errorf("%v: %v", database, err)
		}
		if tracked := (&tracker{database: database}).charsetOf(without); database != nil && tracked != database {
			t.Errorf("%v is taken for %v", database, tracked)
		}
	}
	if checkEncoding(charset.UTF8, without, utf8Charset) == nil {
		t.Error("UTF8 is taken for no encoding")
	}
}

// TestDatabaseInAnotherEncoding: which encodings a client can have depends on the database's.
func TestDatabaseInAnotherEncoding(t *testing.T) {
	t.Parallel()
	admin := connectPgx(t, pgtest.Database(t, pgtest.Shared(t)))
	name := admin.Config().Database + "_latin1"
	if _, err := admin.Exec(deadline(t), "CREATE DATABASE "+name+" ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, func(c *Config) {
		c.Upstream.Database = name
		c.Pool.IdleTimeout = -1 // so that the database can be dropped
	})
	t.Cleanup(func() {
		_ = p.stop()
		if _, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	for encoding, is := range map[string]string{"LATIN1": "LATIN1", charset.UTF8: charset.UTF8, "": charset.UTF8, charset.None: "LATIN1"} {
		c, _ := charset.Find(is)
		if got, want := told(t, inEncoding(t, p.url(""), encoding), c.Encode("SELECT E'é'")), fmt.Sprintf("[[%x]] ", c.Encode("é")); got != want {
			t.Errorf("%s: got %s, want %s", encoding, got, want)
		}
	}
	config, err := pgconn.ParseConfig(p.url(""))
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams[encodingParameter] = "WIN1252"
	_, err = pgconn.ConnectConfig(deadline(t), config)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != stateFeatureNotSupported || refused.Hint == "" {
		t.Errorf("WIN1252: %v", err)
	}
	conn := inEncoding(t, p.url(""), "LATIN1")
	if got := told(t, conn, "SET client_encoding TO WIN1252"); !strings.HasPrefix(got, stateFeatureNotSupported) && !strings.HasPrefix(got, "22023") {
		t.Errorf("SET: %s", got)
	}
	if got := told(t, conn, "SELECT E'\xe9'"); got != "[[e9]] " {
		t.Errorf("after it: %s", got)
	}
}
