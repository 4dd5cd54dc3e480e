package console

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/scram"
)

func TestFormsNeedTheirTokenAndOrigin(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	token := d.csrf()
	forms := 0
	for _, r := range d.console.routes {
		if r.method != http.MethodPost || r.audience == anybody || r.path == "/logout" {
			continue
		}
		forms++
		path := concrete(r.path)
		full := url.Values{"csrf": {token}, "confirmed": {"yes"}, "k": {"5"}, "method": {"hilbert"}}
		without := url.Values{"confirmed": {"yes"}, "k": {"5"}, "method": {"hilbert"}}
		if a := d.ask(r.method, path, without); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s without a token: %s", path, a.Status)
		}
		if a := d.ask(r.method, path, url.Values{"csrf": {"guess"}}); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s with a wrong token: %s", path, a.Status)
		}
		foreign := []func(*http.Request){
			func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			func(r *http.Request) {
				r.Header.Del("Sec-Fetch-Site")
				r.Header.Set("Origin", "http://evil.example")
			},
			func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") },
		}
		for _, from := range foreign {
			if a := d.ask(r.method, path, full, from); a.StatusCode != http.StatusForbidden {
				t.Errorf("%s from another site: %s", path, a.Status)
			}
		}
		if a := d.ask(r.method, path, full); a.StatusCode >= 400 {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
	if forms != 3 {
		t.Errorf("%d forms, want those of trials and actions", forms)
	}
}

func TestActionsAreConfirmedAndMayBeRefused(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	form := url.Values{"csrf": {d.csrf()}, "table": {testTable}}
	if a := d.ask(http.MethodPost, "/actions/rebuild", form); a.StatusCode != http.StatusUnprocessableEntity || len(d.source.acts) != 0 {
		t.Errorf("an action was not confirmed, and %s: %v", a.Status, d.source.acts)
	}
	form.Set("confirmed", agreed) // not to a new lineage
	if a := d.ask(http.MethodPost, "/actions/rebuild", form); a.StatusCode != http.StatusUnprocessableEntity || len(d.source.acts) != 0 {
		t.Errorf("a lineage was not confirmed, and %s: %v", a.Status, d.source.acts)
	}
	form.Set("confirmed", agreedLineage)
	if a := d.ask(http.MethodPost, "/actions/rebuild", form); a.StatusCode != http.StatusOK {
		t.Errorf("confirmed: %s", a.Status)
	}
	if want := (Action{Name: "rebuild", Table: testTable, User: testUser}); len(d.source.acts) != 1 || d.source.acts[0] != want {
		t.Errorf("got %v", d.source.acts)
	}
	form.Set("table", "public.other")
	if a := d.ask(http.MethodPost, "/actions/rebuild", form); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("an unknown table: %s", a.Status)
	}
	if a := d.ask(http.MethodPost, "/actions/explode", form); a.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown action: %s", a.Status)
	}
	d.console.Reconfigure(Access{Users: []User{{testUser, testVerifier()}}})
	for _, path := range []string{"/actions", "/actions/reload"} {
		if a := d.ask(http.MethodGet, path, nil); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s without permission: %s", path, a.Status)
		}
	}
	if a := d.ask(http.MethodPost, "/actions/reload", form); a.StatusCode != http.StatusForbidden || len(d.source.acts) != 1 {
		t.Errorf("acting without permission: %s", a.Status)
	}
}

// TestPricesAreOfTheTable: a form warns of a new lineage where one begins, and nowhere else.
func TestPricesAreOfTheTable(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	for table, lineage := range map[string]bool{testTable: true, "public.staff": false} {
		text := d.ask(http.MethodGet, "/actions/rebuild?table="+table, nil).text
		if strings.Contains(text, "lineage") != lineage || !strings.Contains(text, "I have read the price") {
			t.Errorf("%s: the form is\n%s", table, text)
		}
	}
	form := url.Values{"csrf": {d.csrf()}, "table": {"public.staff"}, "confirmed": {agreed}}
	if a := d.ask(http.MethodPost, "/actions/rebuild", form); a.StatusCode != http.StatusOK || len(d.source.acts) != 1 {
		t.Errorf("confirmed: %s", a.Status)
	}
}

// TestStrangersAreNotRecognized: connections are spared of who is logged in, and of nobody
// with another's or an earlier cookie.
func TestStrangersAreNotRecognized(t *testing.T) {
	t.Parallel()
	recognized := 0
	d := newDesk(t, func(o *Options) {
		o.Recognized = func(_ context.Context, known bool) {
			if known {
				recognized++
			}
		}
	})
	ask := func() int {
		before := recognized
		d.ask(http.MethodGet, "/", nil)
		d.ask(http.MethodGet, "/static/console.css", nil)
		return recognized - before
	}
	if n := ask(); n != 0 {
		t.Errorf("without a login: %d", n)
	}
	d.cookie = &http.Cookie{Name: d.console.cookieName(), Value: "guess"}
	if n := ask(); n != 0 {
		t.Errorf("with a cookie of nobody: %d", n)
	}
	d.cookie = d.login(testPassword).cookies[0]
	if n := ask(); n != 2 {
		t.Errorf("logged in: %d", n)
	}
	d.clock.pass(idleTime)
	if n := ask(); n != 0 {
		t.Errorf("when the session is over: %d", n)
	}
}

func TestForeignHostsAreRefusedOnLoopback(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for host, status := range map[string]int{
		"127.0.0.1:6480": 200, "127.9.9.9": 200, "localhost:6480": 200, "[::1]:6480": 200, "[::1]": 200,
		"evil.example": 421, "evil.example:6480": 421, "10.0.0.1:6480": 421, "": 421, "localhost.evil.example": 421,
	} {
		if a := d.ask(http.MethodGet, "/login", nil, func(r *http.Request) { r.Host = host }); a.StatusCode != status {
			t.Errorf("host %q: %s", host, a.Status)
		}
	}
	far := newDesk(t, func(o *Options) { o.Loopback = false })
	if a := far.ask(http.MethodGet, "/login", nil, func(r *http.Request) { r.Host = "console.example" }); a.StatusCode != http.StatusOK {
		t.Errorf("beyond loopback: %s", a.Status)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for _, form := range []url.Values{
		{"user": {testUser}, "password": {"wrong"}},
		{"user": {"nobody"}, "password": {testPassword}},
		{"user": {testUser}, "password": {""}},
		{},
		{"user": {testUser}, "password": {strings.Repeat("x", 5000)}},
	} {
		a := d.ask(http.MethodPost, "/login", form)
		if a.StatusCode != http.StatusUnauthorized || len(a.cookies) != 0 {
			t.Errorf("%v: %s", form, a.Status)
		}
	}
	d.clock.pass(time.Hour)
	a := d.login(testPassword)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/activity" {
		t.Fatalf("%s to %q", a.Status, a.Header.Get("Location"))
	}
	c := a.cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure || len(c.Value) < 26 {
		t.Errorf("cookie %v", c)
	}
	secure := newDesk(t, func(o *Options) { o.TLS = true }).login(testPassword).cookies[0]
	if !secure.Secure || !strings.HasPrefix(secure.Name, "__Host-") {
		t.Errorf("cookie with TLS %v", secure)
	}
	if a := d.ask(http.MethodPost, "/login", url.Values{"user": {testUser}, "password": {testPassword}},
		func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); a.StatusCode != http.StatusForbidden {
		t.Errorf("a login from another site: %s", a.Status)
	}
}

func TestFailedLoginsWait(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for range freeFailures {
		if a := d.login("wrong"); a.StatusCode != http.StatusUnauthorized {
			t.Fatalf("a free failure: %s", a.Status)
		}
	}
	if a := d.login(testPassword); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "1" {
		t.Errorf("after failures: %s", a.Status)
	}
	elsewhere := func(r *http.Request) { r.RemoteAddr = "10.0.0.1:1" }
	if a := d.ask(http.MethodPost, "/login", url.Values{"user": {testUser}, "password": {testPassword}}, elsewhere); a.StatusCode != http.StatusSeeOther {
		t.Errorf("from elsewhere: %s", a.Status)
	}
	d.clock.pass(time.Second)
	if a := d.login("wrong"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("after waiting: %s", a.Status)
	}
	d.clock.pass(time.Second)
	if a := d.login(testPassword); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("waiting does not double: %s", a.Status)
	}
	d.clock.pass(time.Second)
	if a := d.login(testPassword); a.StatusCode != http.StatusSeeOther {
		t.Errorf("in the end: %s", a.Status)
	}
}

// TestOperatorsFailForThemselves has somebody fail at an address that others share.
func TestOperatorsFailForThemselves(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	th := d.console.throttle
	mine := th.origin("127.0.0.1:1", testUser)
	// Names of nobody and of operators share buckets, which are chosen at random.
	other := "another"
	for th.origin("127.0.0.1:1", other) == mine {
		other += "x"
	}
	attempt := func(user string) int {
		return d.ask(http.MethodPost, "/login", url.Values{"user": {user}, "password": {"wrong"}}).StatusCode
	}
	for range freeFailures {
		attempt(other)
	}
	if got := attempt(other); got != http.StatusTooManyRequests {
		t.Errorf("who has failed: %d", got)
	}
	if a := d.login(testPassword); a.StatusCode != http.StatusSeeOther {
		t.Errorf("who has not: %s", a.Status)
	}
	for i := range 1000 {
		attempt(strconv.Itoa(i))
	}
	if n := th.of.Len(); n > buckets {
		t.Errorf("one address takes %d places", n)
	}
}

func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	c := &clock{now: at}
	th := newThrottle(c.Now)
	for i := range 2 * maxOrigins {
		th.attempt(th.origin(fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff), "a"))
	}
	if n := th.of.Len(); n > maxOrigins {
		t.Errorf("%d origins are remembered", n)
	}
	c.pass(forgetAfter + time.Second)
	th.attempt(th.origin("10.0.0.1:1", "a"))
	if n := th.of.Len(); n != 1 {
		t.Errorf("%d origins are remembered after a while", n)
	}
}

// TestCrowdsLetOthersLogIn has thousands of addresses fail until they wait: an operator
// elsewhere does not, and each of them still does.
func TestCrowdsLetOthersLogIn(t *testing.T) {
	t.Parallel()
	th := newThrottle((&clock{now: at}).Now)
	address := func(i int) string { return fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&0xff, i&0xff) }
	const crowd = maxOrigins / buckets
	for i := range 2 * crowd {
		for name := range 4 * buckets {
			for range 2 {
				th.attempt(th.origin(address(i), strconv.Itoa(name)))
			}
		}
	}
	for range freeFailures {
		if wait := th.attempt(th.origin("192.0.2.1:1", testUser)); wait != 0 {
			t.Fatalf("an operator waits %v", wait)
		}
	}
	waiting := 0
	for name := range 4 * buckets {
		last := th.origin(address(2*crowd-1), strconv.Itoa(name))
		if known, _ := th.of.Peek(last); known.count < freeFailures {
			continue
		}
		if waiting++; th.attempt(last) == 0 {
			t.Error("somebody of the crowd does not wait")
		}
	}
	if waiting == 0 {
		t.Error("nobody of the crowd is remembered")
	}
}

// TestAttemptsAtOnceAreThrottled wants no more of them through than may come.
func TestAttemptsAtOnceAreThrottled(t *testing.T) {
	t.Parallel()
	th := newThrottle((&clock{now: at}).Now)
	var let atomic.Int64
	var attempts sync.WaitGroup
	for range 100 {
		attempts.Go(func() {
			if th.attempt(origin{}) == 0 {
				let.Add(1)
			}
		})
	}
	attempts.Wait()
	if n := let.Load(); n != freeFailures {
		t.Errorf("%d attempts at once are let through", n)
	}
}

// TestLoginsTakeTheSameTime counts the iterations that a password costs.
func TestLoginsTakeTheSameTime(t *testing.T) {
	t.Parallel()
	strong, err := scram.Derive("strong", []byte("0123456789abcdef"), 2*scram.MinIterations)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, func(o *Options) {
		o.Access.Users = append(o.Access.Users, User{"second", strong}, User{"third", strong})
	})
	for name, own := range map[string]string{testUser: testVerifier().String(), "third": strong.String(), "nobody": ""} {
		iterations, found := 0, false
		for _, v := range d.console.access.Load().verifiers(name) {
			iterations += v.Iterations
			found = found || v.String() == own
		}
		if iterations != 3*scram.MinIterations || found != (own != "") {
			t.Errorf("%s: %d iterations", name, iterations)
		}
	}
	for _, c := range []struct {
		user, password string
		status         int
	}{{testUser, testPassword, 303}, {"second", "strong", 303}, {"second", testPassword, 401}, {testUser, "strong", 401}} {
		if a := d.ask(http.MethodPost, "/login", url.Values{"user": {c.user}, "password": {c.password}}); a.StatusCode != c.status {
			t.Errorf("%s with %q: %s", c.user, c.password, a.Status)
		}
	}
}

// TestCrashesAreToldWithoutValues looks for the place in the log, and for the words of a
// panic nowhere.
func TestCrashesAreToldWithoutValues(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	d := newDesk(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	d.console.mux.HandleFunc("GET /crash/{what}", func(http.ResponseWriter, *http.Request) { explode("canary") })
	a := d.ask(http.MethodGet, "/crash/raw", nil)
	if a.StatusCode != http.StatusInternalServerError || strings.Contains(a.text, "canary") {
		t.Errorf("%s: %s", a.Status, a.text)
	}
	if text := log.String(); !strings.Contains(text, "console.explode:") || strings.Contains(text, "canary") || strings.Contains(text, "raw") {
		t.Errorf("the log says %s", text)
	}
}

func explode(with string) { panic("no " + with) }

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	shown := func(d *desk, change ...func(*http.Request)) bool {
		return d.ask(http.MethodGet, "/", nil, change...).StatusCode == http.StatusOK
	}
	idle := loggedIn(t, nil)
	idle.clock.pass(idleTime - time.Second)
	if !shown(idle) {
		t.Error("the session has ended too early")
	}
	idle.clock.pass(idleTime - time.Second)
	if !shown(idle, func(r *http.Request) { r.Header.Set(refreshHeader, "1") }) {
		t.Error("use does not keep a session")
	}
	idle.clock.pass(time.Second)
	if shown(idle) {
		t.Error("a page that refreshes itself keeps the session")
	}
	busy := loggedIn(t, nil)
	for range sessionTime / (10 * time.Minute) {
		if !shown(busy) {
			t.Fatal("a session that is used has ended")
		}
		busy.clock.pass(10 * time.Minute)
	}
	if shown(busy) {
		t.Error("a session lasts for ever")
	}
	out := loggedIn(t, nil)
	token := out.csrf()
	if a := out.ask(http.MethodPost, "/logout", url.Values{"csrf": {token}}); a.StatusCode != http.StatusSeeOther || shown(out) {
		t.Errorf("logging out: %s", a.Status)
	}
	gone := loggedIn(t, nil)
	gone.console.Reconfigure(Access{Users: []User{{testUser, testVerifier()}}})
	if !shown(gone) {
		t.Error("a reload ends sessions")
	}
	other, err := scram.New("another")
	if err != nil {
		t.Fatal(err)
	}
	gone.console.Reconfigure(Access{Users: []User{{testUser, other}}})
	if shown(gone) {
		t.Error("a session outlives its password")
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	c := &clock{now: at}
	s := newSessions(c.Now)
	first := s.begin("a")
	for range maxSessions {
		c.pass(time.Millisecond)
		s.begin("a")
	}
	if len(s.all) > maxSessions || s.find(first, true) != nil {
		t.Errorf("%d sessions", len(s.all))
	}
}

func TestNextStaysHere(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/tables/a.b": "/tables/a.b", "/whatif?x=1": "/whatif?x=1", "": "/", "//evil.example": "/", "https://evil.example": "/",
		"/\\evil.example": "/", "javascript:alert(1)": "/", "/login": "/", "tables": "/", "/api/overview": "/", "/a\nb": "/", "/%zz": "/",
	} {
		if got := localPath(next); got != want {
			t.Errorf("%q leads to %q", next, got)
		}
	}
}

func TestLargeFormsAreRefused(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	a := d.ask(http.MethodPost, "/whatif/"+testTable, url.Values{"csrf": {d.csrf()}, "k": {strings.Repeat("5,", maxFormBytes)}})
	if a.StatusCode < 400 {
		t.Errorf("a large form: %s", a.Status)
	}
}
