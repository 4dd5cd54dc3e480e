package rewrite

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestStartupAllowsWhatSetAllows compares the parameters of the startup message with SET.
func TestStartupAllowsWhatSetAllows(t *testing.T) {
	t.Parallel()
	r := New(Options{Pinned: []string{"statement_timeout"}})
	names := words(`work_mem role session_authorization is_superuser session_preload_libraries log_statement
		backslash_quote search_path user database options app.tenant`)
	maps.Copy(names, allowedSettings)
	for name := range fixedSettings {
		names[name] = true
	}
	for name := range names {
		for _, value := range []string{"on", "1", "0", "utf8", "error", "debug1", "off"} {
			passed, err := r.Startup(map[string]string{name: value})
			_, refused := r.Rewrite("SET "+name+" = '"+value+"'", nil)
			switch {
			case name == "statement_timeout", name == "search_path":
				if err != nil || len(passed) > 0 {
					t.Errorf("%s is passed on: %v, %v", name, passed, err)
				}
			case transactionSettings[name]: // there is no transaction yet
				if err == nil {
					t.Errorf("%s can be set at startup", name)
				}
			case (err == nil) != (refused == nil):
				t.Errorf("%s = %s: at startup %v, by SET %v", name, value, err, refused)
			case name == EncodingParameter: // TestStartupEncoding
			case err == nil && !isFixed(name) && passed[name] != value:
				t.Errorf("%s = %s is not passed on", name, value)
			}
		}
	}
}

func TestStartupEncoding(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	for _, encoding := range []string{"utf-8", "'utf8'", "", "auto", "UNICODE"} {
		if passed, err := r.Startup(map[string]string{"client_encoding": encoding}); err != nil || len(passed) > 0 {
			t.Errorf("%q: %v, %v", encoding, passed, err)
		}
	}
	for encoding, name := range map[string]string{"latin1": "LATIN1", "Windows-1252": "WIN1252", "sjis": "SJIS", "sql-ascii": "SQL_ASCII"} {
		passed, err := r.Startup(map[string]string{"client_encoding": encoding})
		if err != nil || passed["client_encoding"] != name {
			t.Errorf("%q: %v, %v", encoding, passed, err)
		}
		s, err := r.NewSession(map[string]string{EncodingParameter: encoding})
		if err != nil || s.Encoding() != name {
			t.Errorf("%q: %s, %v", encoding, s.Encoding(), err)
		}
	}
	for _, encoding := range []string{"UTF16", "MULE_INTERNAL", "latin1; SET ROLE postgres"} {
		_, err := r.Startup(map[string]string{"client_encoding": encoding})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.SQLState() != stateInvalidValue {
			t.Errorf("%q: %v", encoding, err)
		}
	}
}

// TestServerTakesStartupParameters logs in with each free setting that the server knows,
// at the value that it has.
func TestServerTakesStartupParameters(t *testing.T) {
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	result := conn.ExecParams(t.Context(), "SELECT name, setting FROM pg_settings", nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	asked := make(map[string]string)
	for _, row := range result.Rows {
		if name := strings.ToLower(string(row[0])); allowedSettings[name] && !transactionSettings[name] && name != EncodingParameter {
			asked[name] = string(row[1])
		}
	}
	passed, err := New(Options{}).Startup(asked)
	if err != nil || len(passed) != len(asked) {
		t.Fatal(passed, err)
	}
	connect(t, pgtest.Database(t, pgtest.Shared(t)), passed)
}

// TestEncodingsOfClients leaves those to the server that are what it speaks anyway.
func TestEncodingsOfClients(t *testing.T) {
	t.Parallel()
	for encoding, want := range map[string]bool{
		"": true, "UTF8": true, "utf-8": true, "'utf8'": true, "Unicode": true, "auto": true, "SQL_ASCII": false, "latin1": false, "utf16": false,
		"utf8z": false, "utf80": false, "utf89": false, "utf8a": false, "utf8/": true, "utf8:": true, "utf8`": true, "utf8{": true,
	} {
		if got := leftToServer(encoding); got != want {
			t.Errorf("%q is left to the server: %v, want %v", encoding, got, want)
		}
	}
}
