package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// get reads a page of the metrics' server.
func get(t *testing.T, address, path string) (status int, text string) {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// sample is the value of a series of metrics; -1 where it is not there.
func sample(t *testing.T, address, series string) float64 {
	t.Helper()
	_, text := get(t, address, "/metrics")
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, series+" "); found {
			value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	return -1
}

// audited is a line of the audit log.
type audited struct {
	Event, User, Audience, Client, Shape, SQLState, Phase, Reason string
	Session                                                       int
	Tables                                                        []string
	Rows                                                          int
	Refused                                                       bool
}

func readAudit(t *testing.T, path string) []audited {
	t.Helper()
	var records []audited
	for line := range strings.Lines(contents(t, path)) {
		var a audited
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		records = append(records, a)
	}
	return records
}

// observedSite has metrics and an audit log.
func observedSite(t *testing.T, server *pgserver.Server, file string) (s *site, metrics string) {
	t.Helper()
	metrics = freeAddress(t)
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = server
	o.settings = fmt.Sprintf("metrics: {listen: %s, tables: true}\naudit: {file: %s}\nlog: {level: debug}\n", metrics, file)
	s = newSite(t, o)
	s.kproxy(t, "setup").must(t)
	return s, metrics
}

func TestObservation(t *testing.T) {
	t.Parallel()
	server := ownServer(t, pgserver.Options{})
	s, metrics := observedSite(t, server, "audit.jsonl")
	p := s.serve(t)
	log := filepath.Join(s.dir, "audit.jsonl")

	t.Log("statements")
	conn := connect(t, s.url())
	if n := scalar[int](t, conn, "SELECT count(*)::int FROM people p WHERE p.n < $1", 1985); n != operatedRows {
		t.Fatalf("%d rows", n)
	}
	_, _ = conn.Exec(t.Context(), "SELECT id FROM people")
	_, _ = conn.Exec(t.Context(), "SELECT pg_sleep(1985)")
	eventually(t, "all is in the audit log", func() bool {
		return slices.ContainsFunc(readAudit(t, log), func(a audited) bool { return a.Shape == "SELECT pg_sleep(?)" })
	})
	want := map[string]audited{
		"SELECT count(*) :: int FROM people _1 WHERE _1.n < $1": {Phase: "execute", Rows: 1, Tables: []string{"public.people"}},
		"SELECT _1 FROM people":                                 {Phase: "prepare", SQLState: "42703", Tables: []string{"public.people"}},
		"SELECT pg_sleep(?)":                                    {Phase: "prepare", SQLState: "42501", Refused: true, Tables: []string{}},
	}
	for _, a := range readAudit(t, log) {
		if a.User != clientUser && a.Event != "rejected" || a.Client != "127.0.0.1" {
			t.Errorf("%+v", a)
		}
		w, listed := want[strings.Replace(a.Shape, "INT", "int", 1)]
		if !listed {
			continue
		}
		delete(want, strings.Replace(a.Shape, "INT", "int", 1))
		if a.Event != "statement" || a.SQLState != w.SQLState || a.Refused != w.Refused || a.Rows != w.Rows || !slices.Equal(a.Tables, w.Tables) || a.Session == 0 {
			t.Errorf("%+v, not %+v", a, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("%+v are not in the audit log:\n%s", want, contents(t, log))
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the audit log has mode %v", info.Mode())
	}
	for series, least := range map[string]float64{
		`kproxy_statements_total{class="42",outcome="refused"}`: 1, `kproxy_statements_total{class="00",outcome="ok"}`: 1,
		`kproxy_logins_total{outcome="ok"}`: 1, `kproxy_sessions{transport="plain"}`: 1, `kproxy_pool_connections{state="in_use"}`: 1,
		`kproxy_table_state{state="published",table="public.people"}`: 1, `kproxy_table_records{table="public.people"}`: operatedRows,
		`kproxy_replication_applies`: 1, `kproxy_guarantees_audit_passed`: 1, `kproxy_audit_log_records_total`: 3, `kproxy_statement_cache_entries`: 1,
	} {
		if got := sample(t, metrics, series); got < least {
			t.Errorf("%s is %v", series, got)
		}
	}

	testAuditRotation(t, s, conn, log)
	testDatabaseGoneAndBack(t, server, metrics)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}

// testAuditRotation moves the audit log away and reloads.
func testAuditRotation(t *testing.T, s *site, conn *pgx.Conn, log string) {
	t.Helper()
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	s.kproxy(t, "reload").must(t)
	eventually(t, "there is another audit log", func() bool { _, err := os.Stat(log); return err == nil })
	_, _ = conn.Exec(t.Context(), "SELECT 1 FROM wards")
	eventually(t, "it is written", func() bool { return len(readAudit(t, log)) > 0 })
}

// testDatabaseGoneAndBack asks the probes meanwhile.
func testDatabaseGoneAndBack(t *testing.T, server *pgserver.Server, metrics string) {
	t.Helper()
	ready := func() (int, string) { return get(t, metrics, "/readyz") }
	if status, text := ready(); status != http.StatusOK || !strings.Contains(text, `"ready":true`) {
		t.Errorf("ready: %d %s", status, text)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is not ready", func() bool {
		status, text := ready()
		return status == http.StatusServiceUnavailable && strings.Contains(text, "the database does not answer")
	})
	if status, text := get(t, metrics, "/healthz"); status != http.StatusOK {
		t.Errorf("it lives: %d %s", status, text)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is ready again", func() bool { status, _ := ready(); return status == http.StatusOK })
}

// TestUnwritableAuditLogRefuses writes to a disk that is always full.
func TestUnwritableAuditLogRefuses(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	s, metrics := observedSite(t, nil, "/dev/full")
	p := s.serve(t)
	refusedWith := func() string {
		conn, err := pgx.Connect(t.Context(), s.url())
		if err == nil {
			defer func() { _ = conn.Close(t.Context()) }()
			_, err = conn.Exec(t.Context(), "SELECT count(*) FROM people")
		}
		var refused *pgconn.PgError
		if !errors.As(err, &refused) {
			return fmt.Sprint(err)
		}
		return refused.Code + " " + refused.Message
	}
	eventually(t, "statements are refused", func() bool { return strings.HasPrefix(refusedWith(), "57P03 ") })
	if status, text := get(t, metrics, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "the audit log cannot be written") {
		t.Errorf("%d %s", status, text)
	}
	if sample(t, metrics, "kproxy_audit_log_failing") != 1 || !strings.Contains(p.log.String(), "the audit log cannot be written: statements are refused") {
		t.Errorf("nobody is told:\n%s", p.log)
	}
}

// canaryWord and canaryNumber stand in every place where clients write something.
const (
	canaryWord   = "zqvcanary"
	canaryNumber = "918273645"
)

// wrongPassword is the URL with the canary for a password.
func wrongPassword(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(clientUser, canaryWord)
	return u.String()
}

// TestNothingOfClientsIsObserved sends a canary in every place of statements, messages and
// logins, and looks for it in the audit log, the metrics and the log at its finest.
func TestNothingOfClientsIsObserved(t *testing.T) {
	t.Parallel()
	s, metrics := observedSite(t, nil, "audit.jsonl")
	p := s.serve(t)
	conn := connect(t, s.url("options=-c%20application_name%3D"+canaryWord))
	texts := []string{
		"SELECT 'W' -- W", "SELECT N, 'W', E'W\\n', $$W$$, $W$W$W$, U&'W', B'1', date 'W'", "SELECT /* W */ 1 AS W", `SELECT 1 AS "W W"`,
		"SELECT 'W", "SELECT W", `SELECT "W"`, "W", "SELECT 1 +", "SELECT $W$", "SELECT * FROM W", "SELECT W.* FROM people W", "SELECT age, n FROM people WHERE n = N OR n IN (N, 1, N)",
		"SELECT 'W'::int", "SELECT W(N)", "SELECT 1/(n - n) FROM people WHERE n < N", "SELECT * FROM people LIMIT N OFFSET N", "COPY (SELECT 'W', N) TO STDOUT",
		"COPY (SELECT 'W') TO STDOUT (DELIMITER 'W')", "COPY people FROM STDIN", "INSERT INTO people VALUES (N, 'W')", "DELETE FROM W WHERE a = 'W'", "PREPARE W AS SELECT 'W', N",
		"EXECUTE W(N)", "EXECUTE W", "DEALLOCATE W", "BEGIN", "SAVEPOINT W", "ROLLBACK TO W", "DECLARE W CURSOR FOR SELECT 'W'", "FETCH N FROM W", "CLOSE W", "COMMIT", "SET application_name = 'W'",
		"SET application_name = W", "SET search_path = W", "SET W.W = 'W'", "SHOW W", "SELECT set_config('application_name', 'W', false)", "EXPLAIN SELECT 'W', N FROM people WHERE n = N",
		"WITH W AS (SELECT N AS W) SELECT * FROM W", "SELECT CASE WHEN n = N THEN 'W' END FROM people", "SELECT row_number() OVER W FROM people WINDOW W AS (ORDER BY n)",
		"SELECT 'W' COLLATE \"W\"", "SELECT N::W", "CREATE TEMP TABLE W (W text)", "LISTEN W", "NOTIFY W, 'W'", "DO 'W'", "SELECT 1; SELECT 'W'; SELECT W", "SELECT json '{\"W\": N}' -> 'W'",
		"SELECT '\x01W'", "SELECT query_to_xml('SELECT W', true, true, 'W')", "RESET application_name",
	}
	for _, text := range texts {
		text = strings.NewReplacer("W", canaryWord, "N", canaryNumber).Replace(text)
		if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
			_, _ = conn.PgConn().Exec(t.Context(), "ROLLBACK").ReadAll()
		}
		_, _ = conn.Exec(t.Context(), text)
		if conn.IsClosed() {
			conn = connect(t, s.url())
		}
	}
	for _, sql := range []string{"SELECT $1::text", "SELECT $1::int", "SELECT n FROM people WHERE $1 = age::text"} {
		_, _ = conn.Exec(t.Context(), sql, canaryWord)
	}
	if _, err := conn.Prepare(t.Context(), canaryWord, "SELECT 1"); err != nil {
		t.Error(err)
	}
	_, _ = conn.Exec(t.Context(), canaryWord)
	for _, parameters := range []string{"search_path=" + canaryWord, canaryWord + "=1", "datestyle=" + canaryWord} {
		if other, err := pgx.Connect(t.Context(), s.url(parameters)); err == nil {
			_ = other.Close(t.Context())
		}
	}
	if other, err := pgx.Connect(t.Context(), wrongPassword(t, s.url())); err == nil {
		_ = other.Close(t.Context())
		t.Error("logged in with a wrong password")
	}
	_ = conn.Close(t.Context())
	path := filepath.Join(s.dir, "audit.jsonl")
	eventually(t, "the end of the session is in the audit log", func() bool {
		records := readAudit(t, path)
		return slices.ContainsFunc(records, func(a audited) bool { return a.Reason == "password" }) &&
			slices.ContainsFunc(records, func(a audited) bool { return a.Event == "end" && a.SQLState == "" })
	})
	time.Sleep(100 * time.Millisecond) // what should not come comes, if at all, with the rest
	_, scraped := get(t, metrics, "/metrics")
	for what, text := range map[string]string{"audit log": contents(t, path), "metrics": scraped, "log": p.log.String()} {
		for _, canary := range []string{canaryWord, canaryNumber} {
			if at := strings.Index(strings.ToLower(text), canary); at >= 0 {
				t.Errorf("the %s has %q", what, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	statements := regexp.MustCompile(`"event":"statement"`).FindAllString(contents(t, path), -1)
	if len(statements) < 2*len(texts) {
		t.Errorf("%d statements are in the audit log of more than %d", len(statements), 2*len(texts))
	}
}
