package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kproxy/kproxy/internal/observe/audit"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/access"
	"github.com/kproxy/kproxy/proxy/pool"
)

// busy is a state in which every metric has a value.
func busy() State {
	return State{
		Counts: proxy.Counts{Connections: 3, Sessions: 2}, MaxSessions: 100,
		Pool: pool.Report{Stats: pool.Stats{InUse: 2, Idle: 1, Places: 4}, Most: 10, Hosts: []pool.HostReport{
			{Address: "db1:5432", Role: "primary", Reachable: true, Fresh: true},
			{Address: "db2:5432", Role: "standby", Lag: 1500 * time.Millisecond, LagBytes: 3<<24 + 5},
		}},
		Audit: Audit{Passes: true, At: time.Unix(1e9, 0)},
		Replication: &Replication{
			State: "streaming", Applies: true, Retained: 5<<24 + 77, Behind: 2345 * time.Millisecond, WALStatus: "reserved",
		},
		Tables: []Table{{
			Name: "public.patients", State: "published", Generation: 3, Records: 31337, Waiting: 17, Loss: 0.25, Drift: 1,
			OldestWaiting: time.Now().Add(-time.Minute), Proof: &Proof{Generation: 3, At: time.Unix(1e9, 0), Passed: true, Smallest: 5, Audiences: map[string]int64{"press": 120}},
			Audiences: []Audience{{Name: "partners", State: "withheld", Withheld: 31337}, {Name: "press", State: "published", Classes: 9}},
		}},
		Certificates: []Certificate{
			{Use: "server", Subject: "CN=db.example", Warns: time.Unix(2e9-3600, 0), Until: time.Unix(2e9, 0)},
			{Use: "database_authority", Subject: "CN=root", Warns: time.Unix(3e9-3600, 0), Until: time.Unix(3e9, 0)},
			{Use: "database_authority", Subject: "CN=root", Warns: time.Unix(2.5e9-3600, 0), Until: time.Unix(2.5e9, 0)},
		},
		ProofInterval: time.Hour,
	}
}

// everything is an observer of which every metric has a value.
func everything(t *testing.T, tables bool) *Observer {
	t.Helper()
	log, err := audit.New(audit.Options{Open: audit.Path(os.DevNull)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close(context.Background()) })
	o := New(Options{Version: "1.2.3", State: busy, Audit: log, Tables: tables})
	c := &proxy.Client{Session: 1, User: "ann", Transport: access.TLS, Address: netip.MustParseAddr("10.0.0.1")}
	o.Began(c)
	o.Answered(&proxy.Answered{Client: c, Shape: "SELECT ?", Rows: 3, Bytes: 100, Asked: true, Rewriting: time.Millisecond, Serving: time.Second})
	o.Answered(&proxy.Answered{Client: c, SQLState: "42501", Refused: true, Shape: "SELECT _1"})
	o.Answered(&proxy.Answered{Client: c, SQLState: "22012", Shape: "SELECT ? / ?"})
	o.Rejected(proxy.Rejection{User: "eve", Reason: proxy.ReasonPassword, SQLState: "28P01"})
	o.Canceled(true)
	o.Connected(time.Millisecond, true)
	o.Sample()
	return o
}

func scrape(t *testing.T, o *Observer) string {
	t.Helper()
	w := httptest.NewRecorder()
	o.Handler(nil, "").ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// TestMetricsAreWellNamed asks Prometheus's own linter, and wants each metric that the
// reference tells of to be there.
func TestMetricsAreWellNamed(t *testing.T) {
	t.Parallel()
	o := everything(t, true)
	problems, err := testutil.GatherAndLint(o.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "kproxy_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	text := scrape(t, o)
	for _, m := range o.Metrics() {
		if !regexp.MustCompile(`(?m)^` + m.Name + `(_count)?[{ ]`).MatchString(text) {
			t.Errorf("%s has no value", m.Name)
		}
		if !strings.Contains(text, "# TYPE "+m.Name+" "+m.Type+"\n") {
			t.Errorf("%s is no %s", m.Name, m.Type)
		}
	}
	for _, name := range regexp.MustCompile(`(?m)^# TYPE (kproxy_\w+)`).FindAllStringSubmatch(text, -1) {
		found := false
		for _, m := range o.Metrics() {
			found = found || m.Name == name[1]
		}
		if !found {
			t.Errorf("the reference does not know %s", name[1])
		}
	}
}

func TestMetricsHaveTheirValues(t *testing.T) {
	t.Parallel()
	text := scrape(t, everything(t, true))
	for _, want := range []string{
		`kproxy_sessions{transport="tls"} 1`, `kproxy_logins_total{outcome="password"} 1`, `kproxy_logins_total{outcome="rule"} 0`,
		`kproxy_statements_total{class="00",outcome="ok"} 1`, `kproxy_statements_total{class="42",outcome="refused"} 1`,
		`kproxy_statements_refused_total{sqlstate="42501"} 1`, `kproxy_statements_total{class="22",outcome="failed"} 1`,
		`kproxy_statement_rows_total 3`, `kproxy_statement_texts_total{cache="miss"} 1`, `kproxy_pool_connections{state="busy"} 1`,
		`kproxy_upstream_lag_bytes{server="db2:5432"} 5.0331648e+07`, `kproxy_replication_retained_bytes 8.388608e+07`,
		`kproxy_replication_lag_seconds 2`, `kproxy_table_waiting{table="public.patients"} 17`,
		`kproxy_certificate_expiry_timestamp_seconds{subject="CN=db.example",use="server"} 2e+09`,
		`kproxy_certificate_expiry_timestamp_seconds{subject="CN=root",use="database_authority"} 2.5e+09`,
		`kproxy_certificate_warning_timestamp_seconds{subject="CN=db.example",use="server"} 1.9999964e+09`,
		`kproxy_table_smallest_class{table="public.patients"} 5`, `kproxy_table_audience_state{audience="partners",state="withheld",table="public.patients"} 1`,
		`kproxy_table_audience_state{audience="press",state="withheld",table="public.patients"} 0`, `kproxy_table_audience_state{audience="press",state="published",table="public.patients"} 1`,
		`kproxy_table_audience_classes{audience="press",table="public.patients"} 9`, `kproxy_table_audience_withheld{audience="partners",table="public.patients"} 31337`,
		`kproxy_table_audience_smallest_class{audience="press",table="public.patients"} 120`, `kproxy_build_info{goversion="go`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestFiguresOfTablesAreAskedFor wants nothing of single records in metrics as they are
// without metrics.tables.
func TestFiguresOfTablesAreAskedFor(t *testing.T) {
	t.Parallel()
	o := everything(t, false)
	text := scrape(t, o)
	for _, m := range o.Metrics() {
		if m.Tables && strings.Contains(text, "\n"+m.Name+"{") {
			t.Errorf("%s is told", m.Name)
		}
	}
	if strings.Contains(text, "31337") || !strings.Contains(text, `kproxy_table_state{state="published",table="public.patients"} 1`) {
		t.Errorf("the table's state is not told, or more than that:\n%s", text)
	}
}

// TestLabelsAreBounded says things of clients' making and wants no label to have them.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	o := everything(t, true)
	before := strings.Count(scrape(t, o), "\n")
	c := &proxy.Client{Session: 2, User: "canary", Reader: "canary"}
	for i := range 500 {
		state := fmt.Sprintf("Z%04d", i)
		o.Answered(&proxy.Answered{Client: c, Shape: "canary" + state, SQLState: state, Refused: i%2 == 0})
		o.Rejected(proxy.Rejection{User: "canary" + state, Reason: proxy.ReasonRule, SQLState: state})
		o.Ended(&proxy.Client{User: "canary"}, proxy.End{SQLState: state})
	}
	text := scrape(t, o)
	if strings.Contains(text, "canary") || strings.Contains(text, "Z0") || strings.Count(text, "\n") > before+10 {
		t.Errorf("from %d to %d lines:\n%s", before, strings.Count(text, "\n"), text)
	}
}

func TestRefusedShapesAreBounded(t *testing.T) {
	t.Parallel()
	o := everything(t, false)
	for i := range 3 * maxRefused {
		o.Answered(&proxy.Answered{Client: &proxy.Client{}, Shape: fmt.Sprint("shape ", i), SQLState: "42501", Refused: true, At: time.Unix(int64(i), 0)})
		o.Answered(&proxy.Answered{Client: &proxy.Client{}, Shape: "again", SQLState: "0A000", Refused: true, At: time.Unix(int64(i), 0)})
	}
	all := o.Refused()
	if len(all) != maxRefused || all[0].Shape != "again" || all[0].Count != 3*maxRefused || !all[0].First.Equal(time.Unix(0, 0)) {
		t.Fatalf("%d shapes, the first is %+v", len(all), all[0])
	}
	if last := all[1]; last.Shape != fmt.Sprint("shape ", 3*maxRefused-1) || last.Count != 1 {
		t.Errorf("the last one refused is %+v", last)
	}
}

func TestSlowShapesAreBounded(t *testing.T) {
	t.Parallel()
	o := everything(t, false)
	for i := range 5 * maxSlow {
		o.Answered(&proxy.Answered{Client: &proxy.Client{}, Shape: fmt.Sprint("shape ", i), Serving: time.Duration(i*7919%(5*maxSlow)+1) * time.Hour})
	}
	o.Answered(&proxy.Answered{Client: &proxy.Client{}, Shape: "shape 0", Serving: 9999 * time.Hour, Rows: 4})
	all := o.Slow()
	if len(all) > maxSlow || len(all) < maxSlow/2 {
		t.Fatalf("%d shapes", len(all))
	}
	if all[0].Shape != "shape 0" || all[0].Max != 9999*time.Hour || all[0].Rows != 4 || all[1].Max != 5*maxSlow*time.Hour {
		t.Errorf("the slowest are %+v and %+v", all[0], all[1])
	}
	for i, s := range all[1:] {
		if s.Max > all[i].Max || s.Mean > s.Max {
			t.Errorf("%+v after %+v", s, all[i])
		}
	}
}

// TestProofsAreOfOneRelease: what was found of a release says nothing of the next one.
func TestProofsAreOfOneRelease(t *testing.T) {
	t.Parallel()
	state := busy()
	o := New(Options{State: func() State { return state }})
	const passed, at = `kproxy_table_proof_passed{table="public.patients"} 1`, `kproxy_table_proof_timestamp_seconds{table="public.patients"} 1e+09`
	if text := scrape(t, o); !strings.Contains(text, passed) || !strings.Contains(text, at) {
		t.Errorf("the proof is not told:\n%s", text)
	}
	state.Tables[0].Generation++
	if text := scrape(t, o); strings.Contains(text, "proof_passed{") || strings.Contains(text, "smallest_class{") || !strings.Contains(text, at) {
		t.Errorf("an earlier release's proof is told:\n%s", text)
	}
	state.Tables[0].Proof = nil
	if text := scrape(t, o); strings.Contains(text, "kproxy_table_proof_") {
		t.Errorf("there is no proof:\n%s", text)
	}
}

// TestEachStateIsTold wants one state of a table to be 1, whichever it is.
func TestEachStateIsTold(t *testing.T) {
	t.Parallel()
	state := busy()
	o := New(Options{State: func() State { return state }})
	for _, of := range []string{"unpublished", "published", "withheld", "halted", "withdrawn"} {
		state.Tables[0].State = of
		text := scrape(t, o)
		if !strings.Contains(text, `kproxy_table_state{state="`+of+`",table="public.patients"} 1`) || strings.Count(text, "kproxy_table_state{") != 5 ||
			len(regexp.MustCompile(`kproxy_table_state\{.*\} 1\n`).FindAllString(text, -1)) != 1 {
			t.Errorf("%s is told as\n%s", of, text)
		}
	}
}

func TestSampleCountsGenerations(t *testing.T) {
	t.Parallel()
	state := State{Tables: []Table{{Name: "t", Generation: 1, Drift: 1.2}}}
	o := New(Options{State: func() State { return state }})
	for _, next := range []Table{{Name: "t", Generation: 1, Drift: 1}, {Name: "t"}, {Name: "t", Generation: 2, Drift: 1}, {Name: "t", Generation: 2, Drift: 1.1}, {Name: "t", Generation: 2, Drift: 1}} {
		o.Sample()
		state.Tables[0] = next
	}
	o.Sample()
	text := scrape(t, o)
	for _, want := range []string{`kproxy_table_generation_changes_total{table="t"} 1`, `kproxy_table_reanonymizations_total{table="t"} 2`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		health       Health
		alive, ready int
	}{
		{Health{Alive: true, Ready: true}, 200, 200},
		{Health{Alive: true, Reasons: []string{"the audit of the guarantees fails"}}, 200, 503},
		{Health{}, 503, 503},
	} {
		handler := New(Options{State: busy}).Handler(func(context.Context) Health { return test.health }, "")
		for path, want := range map[string]int{"/healthz": test.alive, "/readyz": test.ready, "/debug/pprof/": 404, "/": 404} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
			var told Health
			if w.Code != want || want != 404 && (json.Unmarshal(w.Body.Bytes(), &told) != nil || told.Reasons == nil) {
				t.Errorf("%s of %+v: %d %s", path, test.health, w.Code, w.Body)
			}
		}
	}
}

func TestProfiling(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Profiling().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/pprof/", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "goroutine") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestAuditRecords reads what is written of each event.
func TestAuditRecords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.New(audit.Options{Open: audit.Path(path)})
	if err != nil {
		t.Fatal(err)
	}
	o := New(Options{State: busy, Audit: log})
	c := &proxy.Client{Session: 7, User: "ann", Reader: "other", Audience: "press", Address: netip.MustParseAddr("10.0.0.1")}
	o.Began(c)
	o.Answered(&proxy.Answered{
		Client: c, Phase: proxy.Executed, Shape: "SELECT ?", Reads: []string{"public.patients"}, Rows: 3, Bytes: 99,
		At: time.Unix(1e9, 0), Waited: time.Millisecond, Serving: 2 * time.Millisecond,
	})
	o.Answered(&proxy.Answered{Client: c, At: time.Unix(1e9, 0), SQLState: "42501", Refused: true})
	o.Ended(c, proxy.End{SQLState: "57P01"})
	o.Rejected(proxy.Rejection{User: "eve", Reason: proxy.ReasonPassword, SQLState: "28P01"})
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	masked := regexp.MustCompile(`"time":"[^"]*"`).ReplaceAllString(string(text), `"time":"T"`)
	const who = `"user":"ann","reader":"other","audience":"press","client":"10.0.0.1","transport":"plain","session":7`
	want := `{"time":"T","event":"begin",` + who + `,"sqlstate":""}
{"time":"T","event":"statement",` + who + `,"phase":"execute","shape":"SELECT ?","tables":["public.patients"],"rows":3,"bytes":99,"refused":false,"duration_ms":3.000,"sqlstate":""}
{"time":"T","event":"statement",` + who + `,"phase":"query","shape":"","tables":[],"rows":0,"bytes":0,"refused":true,"duration_ms":0.000,"sqlstate":"42501"}
{"time":"T","event":"end",` + who + `,"duration_ms":0.000,"sqlstate":"57P01"}
{"time":"T","event":"rejected","user":"eve","client":"unix","transport":"plain","sqlstate":"28P01","reason":"password"}
`
	if masked != want {
		t.Errorf("written was\n%s\nnot\n%s", masked, want)
	}
}

func BenchmarkAnswered(b *testing.B) {
	log, err := audit.New(audit.Options{Open: audit.Path(os.DevNull), OnFailure: audit.Refuse, Queue: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	for name, o := range map[string]*Observer{
		"metrics": New(Options{State: busy}), "metrics and audit log": New(Options{State: busy, Audit: log}),
	} {
		b.Run(name, func(b *testing.B) {
			a := &proxy.Answered{
				Client: &proxy.Client{Session: 1, User: "ann"}, Rows: 1, Bytes: 100, Asked: true, Recalled: true, Rewriting: time.Microsecond,
				Shape: "SELECT diagnosis, count(*) FROM patients _1 WHERE _1.postcode = ? GROUP BY ? LIMIT ?", Reads: []string{"public.patients"},
				Serving: time.Millisecond, At: time.Now(),
			}
			b.ReportAllocs()
			for b.Loop() {
				o.Answered(a)
			}
		})
	}
	_ = log.Close(context.Background())
}
