package console

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/internal/state"
)

const (
	testUser     = "admin"
	testPassword = "correct horse"
	testTable    = "public.patients"
	testPersons  = "public.persons" // released together with others
	testHost     = "127.0.0.1:6480"
)

// canned is a Source with figures of every kind.
type canned struct {
	mutex   sync.Mutex
	acts    []Action
	failing error
	gate    chan struct{} // trials wait for it, where it is not nil
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (c *canned) Site() Site {
	return Site{Database: "hospital", Version: "v1", Process: "host, process 1", Tables: []Listed{{testTable, "published"}, {"public.staff", "published"}, {testPersons, "published"}}}
}

func (c *canned) release() Release {
	loss, old := 0.25, at.Add(-time.Hour)
	return Release{
		Table: state.Table{
			Name: testTable, State: "published", Updates: "guarded",
			Figures: &state.Figures{Generation: 3, Records: 1234, Rows: 1200, Classes: 200, Withheld: 34, Waiting: 34, OldestWaiting: &old},
			Proof:   &state.Proof{At: old, Generation: 3, Passed: false, Checks: []state.Check{{Name: "is published", Passed: true}, {Name: "k", Violations: 2, Examples: []string{"class 7 has 4"}}}},
		},
		Method: "hilbert", Constraints: []string{"5-anonymity"}, Loss: &loss,
	}
}

func (c *canned) Overview(context.Context) (Overview, error) {
	if c.failing != nil {
		return Overview{}, c.failing
	}
	late := 3 * time.Second
	return Overview{
		At: at, Needs: []state.Need{{What: "a <table> is withdrawn", Fix: "do something"}}, Tables: []Release{c.release()},
		Views: []state.View{{Name: "public.v", State: "withdrawn", Problem: "a column", Audiences: []state.AudienceView{
			{Audience: "partners", State: "published"}, {Audience: "press", State: "withdrawn", Problem: "it reads what the press does not see"},
		}}}, Silent: 1,
		Replication: &Replication{
			Replication: state.Replication{Slot: "kproxy", Position: "0/1", Since: at, Exists: true, Retained: 5 << 20, WALStatus: "reserved"},
			State:       "streaming", Alarm: 10 << 30, Lag: &late, Applier: "this process",
		},
		Processes: []Process{{Name: "host, process 1", Sessions: 2, Connections: 3}},
	}, nil
}

func (c *canned) Table(_ context.Context, name string) (Table, error) {
	text := "[20,30)"
	return Table{
		At: at, Release: c.release(), K: 5, Risk: Risk{0.2, 0.1}, Measured: 1000,
		Columns: []Column{{Name: "name", Role: "identifying"}, {Name: "age", Role: "quasi-identifying", Hierarchy: "numeric", Published: []string{"age integer"}}},
		Sizes:   []SizeCount{{5, 100}, {6, 80}, {9, 20}}, History: []Loss{{at.Add(-time.Hour), 0.2, 2}, {at, 0.25, 3}},
		Preview: Preview{Columns: []Shown{{Name: "age", Role: "quasi-identifying"}, {Name: "sex"}}, Rows: [][]*string{{&text, nil}}},
	}, nil
}

func (c *canned) Activity(context.Context) (Activity, error) {
	return Activity{
		At: at, Sessions: []Session{{User: "analyst", Client: "10.0.0.1", State: "active", Since: at, Shape: "SELECT ?", StatementSince: at}},
		Slow: []Shape{{Shape: "SELECT ?", Count: 2, Longest: 1.5, Mean: 1, Last: at}}, Refused: []Shape{{SQLSTATE: "42501", Count: 1, Last: at}},
	}, nil
}

func (c *canned) Settings() []Section {
	return []Section{{Name: "limits", Settings: []Setting{{"max_sessions", "100"}, {"empty", ""}}}}
}

func (c *canned) Methods(_ context.Context, table string) (Choices, error) {
	if table == testPersons {
		return Choices{Kind: "person", Methods: []string{"1/1y", "all"}, Method: "1/1y", K: 5}, nil
	}
	return Choices{Methods: []string{"hilbert", "datafly"}, Method: "hilbert", K: 5, L: 2}, nil
}

func (c *canned) Try(ctx context.Context, p Parameters, tell func(Trial)) (Trial, error) {
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return Trial{}, ctx.Err()
		}
	}
	t := Trial{Records: 100, Of: 1000, Total: len(p.K) * len(p.Methods)}
	for _, m := range p.Methods {
		for _, k := range p.K {
			run := Run{Method: m, K: k, InForce: m == "hilbert" && k == 5, Loss: float64(k) / 200, Highest: 1 / float64(k)}
			if p.Table == testPersons {
				run.People = &PeopleRun{Root: 0.25, Rows: 0.125, Keyed: 0.75, Risks: []KnownRisk{{"0", 0.02}, {"1", 0.15}, {"all", 0.4}}}
			}
			t.Runs = append(t.Runs, run)
			t.Done++
		}
	}
	tell(t)
	return t, nil
}

// BeginsLineage: one of the tables is guarded.
func (c *canned) BeginsLineage(_ context.Context, table string) (bool, error) {
	return table == testTable, nil
}

func (c *canned) Act(_ context.Context, a Action) ([]string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.acts = append(c.acts, a)
	return []string{"done"}, nil
}

var testVerifier = sync.OnceValue(func() scram.Verifier {
	v, err := scram.New(testPassword)
	if err != nil {
		panic(err)
	}
	return v
})

// clock is moved by hand.
type clock struct {
	mutex sync.Mutex
	now   time.Time
}

func (c *clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(d)
}

// desk is a console with somebody in front of it.
type desk struct {
	t       *testing.T
	console *Console
	source  *canned
	clock   *clock
	cookie  *http.Cookie
}

func newDesk(t *testing.T, change func(*Options)) *desk {
	t.Helper()
	d := &desk{t: t, source: &canned{}, clock: &clock{now: at}}
	o := Options{
		Source: d.source, Access: Access{Users: []User{{testUser, testVerifier()}}, Actions: true},
		Loopback: true, Port: 6480, Now: d.clock.Now, Profiles: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "profile") }),
	}
	if change != nil {
		change(&o)
	}
	d.console = New(t.Context(), o)
	return d
}

// answer is what came of a request.
type answer struct {
	StatusCode int
	Status     string
	Header     http.Header
	text       string
	cookies    []*http.Cookie
}

// ask sends one request.
func (d *desk) ask(method, path string, form url.Values, change ...func(*http.Request)) answer {
	d.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = testHost, "127.0.0.1:5000"
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if method == http.MethodPost {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if d.cookie != nil {
		r.AddCookie(d.cookie)
	}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	d.console.ServeHTTP(w, r)
	result := w.Result()
	defer result.Body.Close()
	return answer{result.StatusCode, result.Status, result.Header, w.Body.String(), result.Cookies()}
}

func (d *desk) login(password string) answer {
	d.t.Helper()
	return d.ask(http.MethodPost, "/login", url.Values{"user": {testUser}, "password": {password}, "next": {"/activity"}})
}

// loggedIn is a desk with a session.
func loggedIn(t *testing.T, change func(*Options)) *desk {
	t.Helper()
	d := newDesk(t, change)
	r := d.login(testPassword)
	if r.StatusCode != http.StatusSeeOther || len(r.cookies) != 1 {
		t.Fatalf("login: %s\n%s", r.Status, r.text)
	}
	d.cookie = r.cookies[0]
	return d
}

var csrfField = regexp.MustCompile(`name="csrf" value="([A-Z0-9]+)"`)

// csrf is the token of the session's forms.
func (d *desk) csrf() string {
	d.t.Helper()
	found := csrfField.FindStringSubmatch(d.ask(http.MethodGet, "/", nil).text)
	if found == nil {
		d.t.Fatal("no page has a token")
	}
	return found[1]
}

// concrete is a path of a route's pattern.
func concrete(path string) string {
	return strings.NewReplacer("{table}", testTable, "{file}", "console.css", "{action}", "reload", "{profile}", "heap", "{$}", "").Replace(path)
}

func TestEveryRouteAsksForALogin(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	open := 0
	for _, r := range d.console.routes {
		method := r.method
		if method == "" {
			method = http.MethodGet
		}
		answer := d.ask(method, concrete(r.path), url.Values{})
		text := answer.text
		if r.audience == anybody {
			open++
			continue
		}
		if strings.Contains(text, "patients") && !strings.Contains(answer.Header.Get("Location"), "/login") || strings.Contains(text, "max_sessions") {
			t.Errorf("%s shows something without a login:\n%s", r.pattern(), text)
		}
		switch {
		case method == http.MethodGet && !strings.HasPrefix(r.path, "/api/"):
			if answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(answer.Header.Get("Location"), "/login") {
				t.Errorf("%s: %s to %q", r.pattern(), answer.Status, answer.Header.Get("Location"))
			}
		case answer.StatusCode != http.StatusUnauthorized:
			t.Errorf("%s: %s", r.pattern(), answer.Status)
		}
	}
	if open != 3 {
		t.Errorf("%d routes are open, want the login and the files", open)
	}
}

func TestEveryPageIsShown(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	for _, r := range d.console.routes {
		if r.method != http.MethodGet || strings.HasPrefix(r.path, "/login") {
			continue
		}
		answer := d.ask(r.method, concrete(r.path), nil)
		if text := answer.text; r.path != "/whatif" && answer.StatusCode != http.StatusOK || strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: %s\n%s", r.pattern(), answer.Status, text)
		} else if strings.HasPrefix(r.path, "/api/") && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON:\n%s", r.pattern(), text)
		}
	}
	if answer := d.ask(http.MethodGet, "/nowhere", nil); answer.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown page: %s", answer.Status)
	}
	if answer := d.ask(http.MethodGet, "/tables/public.other", nil); answer.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown table: %s", answer.Status)
	}
	if text := d.ask(http.MethodGet, "/", nil).text; !strings.Contains(text, "a &lt;table&gt; is withdrawn") {
		t.Error("texts are not escaped")
	}
}

// TestViewsOfAudiencesAreShown: the page says which views audiences do not see.
func TestViewsOfAudiencesAreShown(t *testing.T) {
	t.Parallel()
	text := loggedIn(t, nil).ask(http.MethodGet, "/", nil).text
	_, after, _ := strings.Cut(text, "public.v")
	item, _, _ := strings.Cut(after, "</li>")
	if !strings.Contains(item, "press") || !strings.Contains(item, "it reads what the press does not see") || strings.Contains(item, "partners") {
		t.Errorf("of the view it says %s", item)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
	}
	d := loggedIn(t, nil)
	for _, path := range []string{"/", "/login", "/static/console.css", "/api/overview", "/nowhere", "/debug/pprof/heap"} {
		h := d.ask(http.MethodGet, path, nil).Header
		for name, value := range want {
			if h.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		if !strings.HasPrefix(path, "/static/") && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be kept: %q", path, h.Get("Cache-Control"))
		}
	}
}

func TestPagesNeedNoOtherOrigin(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	inline := regexp.MustCompile(`(?i)<script(?:>|[^>]*[^c]>[^<])|style="|<style|\son[a-z]+="|(?:src|href|action)="(?:https?:)?//`)
	for _, r := range d.console.routes {
		if r.method != http.MethodGet || strings.HasPrefix(r.path, "/api/") || strings.HasPrefix(r.path, "/static/") {
			continue
		}
		if found := inline.FindString(d.ask(r.method, concrete(r.path), nil).text); found != "" {
			t.Errorf("%s: %q", r.pattern(), found)
		}
	}
}

func TestErrorsAreTold(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	d.source.failing = errors.New("the database is away")
	answer := d.ask(http.MethodGet, "/api/overview", nil)
	if text := answer.text; answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "the database is away") {
		t.Errorf("%s: %s", answer.Status, text)
	}
}
