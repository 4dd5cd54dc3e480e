package check

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/seal"
)

// TestCheckOfSealKeys compares the keys of a configuration with those that a store is sealed with. What it says names
// keys, and tells nothing of them.
func TestCheckOfSealKeys(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	line := func(of string) string { return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(of, 32))) }
	name := func(of string) string {
		ring, err := seal.ParseRing([]byte(line(of)))
		if err != nil {
			t.Fatal(err)
		}
		return ring.First()
	}
	judge := func(lines ...string) inspect.Report {
		t.Helper()
		c := &config.Config{}
		if c.Release.Seal.KeyEnv = "KEYS"; len(lines) == 0 {
			c.Release.Seal = config.Seal{KeyCommand: []string{filepath.Join(t.TempDir(), "none")}}
		}
		c.Release.Seal.Keys = config.NewSecret(strings.Join(lines, "\n"))
		report, err := checkSeal(t.Context(), conn, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report {
			if f.Code != codeSeal || f.Fix == "" || strings.Contains(f.What+f.Fix, strings.Repeat("a", 8)) || strings.Contains(f.What+f.Fix, line("a")[:8]) {
				t.Errorf("%v: %+v", lines, f)
			}
		}
		return report
	}
	says := func(report inspect.Report, severity inspect.Severity, words ...string) {
		t.Helper()
		if len(report) != 1 || report[0].Severity != severity {
			t.Errorf("it says %v", report)
			return
		}
		for _, word := range words {
			if !strings.Contains(report[0].What, word) {
				t.Errorf("no %q in %s", word, report[0].What)
			}
		}
	}
	if report, err := checkSeal(t.Context(), conn, &config.Config{}); err != nil || len(report) > 0 {
		t.Errorf("where nothing is sealed it says %v, %v", report, err)
	}
	if report := judge(line("a")); len(report) > 0 {
		t.Errorf("before anything is sealed it says %v", report)
	}
	execute := func(sql string, arguments ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	execute("CREATE SCHEMA kproxy_store")
	execute("CREATE TABLE kproxy_store.seal (generation bigint PRIMARY KEY, key text NOT NULL, wrapped bytea NOT NULL)")
	if report := judge(line("a")); len(report) > 0 {
		t.Errorf("where the table is empty it says %v", report)
	}
	execute("INSERT INTO kproxy_store.seal VALUES (1, $1, ''), (2, $1, '')", name("a"))
	if report, err := checkSeal(t.Context(), conn, &config.Config{}); err != nil || len(report) != 1 || report[0].Severity != inspect.Warning || !strings.Contains(report[0].What, "has no release.seal") {
		t.Errorf("without the section it says %v, %v", report, err)
	}
	if report := judge(line("a"), line("b")); len(report) > 0 {
		t.Errorf("with its key first it says %v", report)
	}
	says(judge(line("b"), line("a")), inspect.Hint, "another key than the first one")
	says(judge(line("b")), inspect.Error, "sealed with key "+name("a"), "not among those of release.seal")
	says(judge(line("b"), line("c")), inspect.Error, name("a"), "those of release.seal: "+name("b")+", "+name("c"))
	execute("INSERT INTO kproxy_store.seal VALUES (3, $1, '')", name("b"))
	says(judge(line("b"), line("a")), inspect.Hint)
	says(judge(line("b")), inspect.Error, name("a"))
	says(judge(line("c")), inspect.Error, name("a"), name("b"))
	says(judge(), inspect.Error, "there are no keys", os.ErrNotExist.Error()[:4])
	says(judge("hunter2"), inspect.Error, "line 1 is not a key")
	if report := judge("hunter2"); strings.Contains(report.String(), "hunter2") {
		t.Errorf("it tells what is no key: %s", report)
	}
}
