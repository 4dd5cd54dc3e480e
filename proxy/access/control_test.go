package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/scram"
)

// verifier is one of a shape; its keys are of nobody's password.
func verifier(name string, iterations, saltBytes int) string {
	key := sha256.Sum256([]byte(name))
	return scram.Verifier{
		Iterations: iterations, Salt: []byte(strings.Repeat("s", saltBytes)), StoredKey: key[:], ServerKey: key[:],
	}.String()
}

func control(t *testing.T, c Config) *Control {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	_, err := New(Config{
		Users:      []User{{Name: "ann", Verifier: "md5canary"}, {Name: "ann"}, {Name: ""}},
		Rules:      []Rule{{Method: Password}, {Method: Certificate}},
		Iterations: -1, Secret: []byte("canary"), MaxPending: -1, LookupTimeout: -1,
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`user "ann": the verifier`, "twice", "empty", "rule 2", "Iterations", "Secret", "a bound", "a time"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("a secret in %v", err)
	}
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "nobody could") {
		t.Errorf("without users: %v", err)
	}
}

// TestAccounts finds users of the configuration and of a lookup.
func TestAccounts(t *testing.T) {
	t.Parallel()
	p := control(t, Config{
		Users: []User{
			{Name: "ann", Verifier: verifier("ann", 4096, 16), Reader: "nurses"},
			{Name: "bob", CertificateName: "Robert"},
		},
		Lookup: func(_ context.Context, user string) (string, bool, error) {
			switch user {
			case "ann", "cem":
				return verifier("cem", 4096, 16), true, nil
			case "old":
				return "md5canary", true, nil
			case "broken":
				return "", false, errors.New("no connection")
			}
			return "", false, nil
		},
		LookupReader: "others",
	})
	for name, want := range map[string]string{
		"ann":    "true true nurses ann  <nil>",
		"bob":    "true false  Robert the user has no password <nil>",
		"cem":    "true true others cem  <nil>",
		"old":    "true false others old the user's password is not a SCRAM-SHA-256 verifier <nil>",
		"eve":    "false false  eve there is no such user <nil>",
		"broken": "false false  broken there is no such user looking up a user: no connection",
	} {
		a := p.Account(t.Context(), name)
		if got := fmt.Sprintf("%v %v %s %s %s %v", a.Exists, a.HasPassword, a.Reader, a.CertificateName, a.Problem, a.Err); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if name == "ann" && a.Verifier.String() != verifier("ann", 4096, 16) {
			t.Error("the lookup's verifier wins")
		}
		if len(a.Verifier.Salt) != 16 || a.Verifier.Iterations != 4096 || len(a.Verifier.StoredKey) != 32 || len(a.Verifier.ServerKey) != 32 {
			t.Errorf("%s: %+v", name, a.Verifier)
		}
	}
}

// TestMocksLookLikeUsers compares the challenges of users who do not exist with those of
// users who do.
func TestMocksLookLikeUsers(t *testing.T) {
	t.Parallel()
	secret := []byte("0123456789abcdef")
	users := []User{
		{Name: "a", Verifier: verifier("a", 4096, 16)},
		{Name: "b", Verifier: verifier("b", 4096, 16)},
		{Name: "c", Verifier: verifier("c", 10_000, 40)},
		{Name: "d"},
	}
	shapes := map[shape]int{}
	first, second := control(t, Config{Users: users, Secret: secret}), control(t, Config{Users: users, Secret: secret})
	other := control(t, Config{Users: users})
	salts := map[string]bool{}
	for i := range 3000 {
		name := fmt.Sprint("user", i)
		v := first.Account(t.Context(), name).Verifier
		shapes[shape{v.Iterations, len(v.Salt)}]++
		salts[string(v.Salt)] = true
		if again := second.Account(t.Context(), name).Verifier; again.String() != v.String() {
			t.Fatal("the challenge of one who does not exist changes at a restart")
		}
		if string(other.Account(t.Context(), name).Verifier.Salt) == string(v.Salt) {
			t.Fatal("the salt does not depend on the secret")
		}
		if string(v.StoredKey) == string(v.ServerKey) {
			t.Fatal("keys are the same")
		}
	}
	if len(salts) != 3000 {
		t.Error("users who do not exist share salts")
	}
	common, rare := shapes[shape{4096, 16}], shapes[shape{10_000, 40}]
	if len(shapes) != 2 || common < 1900 || common > 2100 || rare+common != 3000 {
		t.Errorf("shapes %v, want two of three of the first", shapes)
	}
	if d := first.Account(t.Context(), "d").Verifier; len(d.Salt) == 0 {
		t.Error("a user without a password has no challenge")
	}
}

// TestEveryLoginLooksUp counts lookups: all logins do as many.
func TestEveryLoginLooksUp(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	now := clockStart
	p := control(t, Config{
		Users: []User{{Name: "ann", Verifier: verifier("ann", 4096, 16)}},
		Lookup: func(_ context.Context, user string) (string, bool, error) {
			asked.Add(1)
			return verifier(user, 4096, 16), user == "cem", nil
		},
		Now: func() time.Time { return now },
	})
	for round := range 3 {
		for _, name := range []string{"ann", "cem", "eve"} {
			before := asked.Load()
			for range 5 {
				p.Account(t.Context(), name)
			}
			if got := asked.Load() - before; got != 1 {
				t.Errorf("round %d: %d lookups for %s", round, got, name)
			}
		}
		now = now.Add(5 * time.Second)
	}
	p.Account(t.Context(), strings.Repeat("x", 64))
	p.Account(t.Context(), "\xff")
	if got := asked.Load(); got != 9 {
		t.Errorf("%d lookups, some for names that no role can have", got)
	}
}

// TestLookupsAreSharedAndBounded has many logins at once.
func TestLookupsAreSharedAndBounded(t *testing.T) {
	t.Parallel()
	var asked, running, most atomic.Int64
	proceed := make(chan struct{})
	p := control(t, Config{Lookup: func(ctx context.Context, user string) (string, bool, error) {
		asked.Add(1)
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		select {
		case <-proceed:
			return verifier(user, 4096, 16), true, nil
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}})
	var logins sync.WaitGroup
	for i := range 400 {
		logins.Go(func() {
			if a := p.Account(t.Context(), fmt.Sprint("user", i%40)); !a.HasPassword || a.Err != nil {
				t.Errorf("%+v", a)
			}
		})
	}
	for asked.Load() < maxRunningLookups {
		time.Sleep(time.Millisecond)
	}
	close(proceed)
	logins.Wait()
	if asked.Load() != 40 || most.Load() > maxRunningLookups {
		t.Errorf("%d lookups for 40 users, %d at once", asked.Load(), most.Load())
	}
	for i := range 2 * maxLookups {
		p.Account(t.Context(), fmt.Sprint("another", i))
	}
	if n := len(p.lookups.answers); n > maxLookups || p.lookups.order.Len() != n {
		t.Errorf("%d answers are kept, %d in order", n, p.lookups.order.Len())
	}
}

// TestLookupsFailClosed has lookups that fail in all ways.
func TestLookupsFailClosed(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	var fixed atomic.Bool
	lookup := func(_ context.Context, user string) (string, bool, error) {
		switch {
		case fixed.Load():
			return verifier(user, 4096, 16), true, nil
		case user == "hangs":
			<-hang // in spite of the context
		case user == "panics":
			panic("canary")
		}
		return verifier(user, 4096, 16), true, errors.New("no connection")
	}
	// Only one that hangs is to meet the limit, however slow the machine is.
	impatient := control(t, Config{LookupTimeout: 20 * time.Millisecond, Lookup: lookup})
	p := control(t, Config{LookupTimeout: time.Hour, Lookup: lookup})
	for name, c := range map[string]*Control{"hangs": impatient, "panics": p, "fails": p} {
		for range 2 {
			a := c.Account(t.Context(), name)
			if a.Err == nil || a.Exists || a.HasPassword || strings.Contains(a.Err.Error(), "canary") {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
	fixed.Store(true)
	for _, name := range []string{"panics", "fails"} {
		if a := p.Account(t.Context(), name); !a.HasPassword {
			t.Errorf("%s: an error is kept: %+v", name, a)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	q := control(t, Config{Lookup: func(context.Context, string) (string, bool, error) { <-hang; return "", false, nil }})
	if a := q.Account(gone, "ann"); !errors.Is(a.Err, context.Canceled) {
		t.Errorf("%+v", a)
	}
}

// TestAdmits changes the configuration under users who have logged in.
func TestAdmits(t *testing.T) {
	t.Parallel()
	lookup := func(_ context.Context, user string) (string, bool, error) { return verifier(user, 4096, 16), true, nil }
	ann := User{Name: "ann", Verifier: verifier("ann", 4096, 16), Reader: "nurses"}
	rules := []Rule{{Transport: TLS, Method: Password}}
	p := control(t, Config{Users: []User{ann, {Name: "certified"}}, Rules: rules, Lookup: lookup})
	identity := func(user string) Identity {
		q := from(user, "10.0.0.1")
		return p.Identity(q, p.Decide(q), p.Account(t.Context(), user))
	}
	known, looked, certified := identity("ann"), identity("cem"), identity("certified")
	if known.Reader != "nurses" || known.User != "ann" || looked.Reader != "" {
		t.Errorf("%+v %+v", known, looked)
	}
	renewed, moved := ann, ann
	renewed.Verifier, moved.Reader = verifier("new", 4096, 16), "doctors"
	for name, c := range map[string]struct {
		config                   Config
		known, looked, certified bool
	}{
		"the same":         {Config{Users: []User{ann, {Name: "certified"}}, Rules: rules, Lookup: lookup}, true, true, true},
		"default rules":    {Config{Users: []User{ann}, Lookup: lookup}, true, true, false},
		"no lookup":        {Config{Users: []User{ann}, Rules: rules}, true, false, false},
		"no users":         {Config{Rules: rules, Lookup: lookup}, false, true, false},
		"new password":     {Config{Users: []User{renewed}, Rules: rules, Lookup: lookup}, false, true, false},
		"another reader":   {Config{Users: []User{moved}, Rules: rules, Lookup: lookup}, false, true, false},
		"lookup's reader":  {Config{Users: []User{ann}, Rules: rules, Lookup: lookup, LookupReader: "nurses"}, true, false, false},
		"configured since": {Config{Users: []User{ann, {Name: "cem", Verifier: ann.Verifier}}, Rules: rules}, true, false, false},
		"refused":          {Config{Users: []User{ann}, Rules: []Rule{{Addresses: prefixes("10.0.0.0/8")}, {Method: Password}}, Lookup: lookup}, false, false, false},
		"another method":   {Config{Users: []User{ann}, Rules: []Rule{{Transport: TLS, Method: Certificate}}, Lookup: lookup}, false, false, false},
	} {
		next, err := p.Next(c.config)
		if err != nil {
			t.Fatal(err)
		}
		if got := []bool{next.Admits(known), next.Admits(looked), next.Admits(certified)}; fmt.Sprint(got) != fmt.Sprint([]bool{c.known, c.looked, c.certified}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestNextRemembers fails under one configuration and tries again under the next.
func TestNextRemembers(t *testing.T) {
	t.Parallel()
	c := Config{Users: []User{{Name: "ann"}}, MaxPending: 2, Now: func() time.Time { return clockStart }}
	p := control(t, c)
	q := from("eve", "10.0.0.1")
	for range 10 {
		p.Waited(q, wrong)
	}
	leave, ok := p.Enter(q.Address)
	next, err := p.Next(c)
	if err != nil || !ok {
		t.Fatal(err)
	}
	if wait, _ := next.Attempt(q, right); wait == 0 {
		t.Error("failures are forgotten")
	}
	if _, ok := next.Enter(q.Address); ok {
		t.Error("connections are forgotten")
	}
	leave()
	leave()
	if _, ok := next.Enter(q.Address); !ok {
		t.Error("no place after one was left")
	}
	if p.Account(t.Context(), "eve").Verifier.String() != next.Account(t.Context(), "eve").Verifier.String() {
		t.Error("the salt of one who does not exist changes")
	}
	c.Throttle.Off = true
	if next, err = next.Next(c); err != nil {
		t.Fatal(err)
	}
	if wait, ok := next.Attempt(q, right); wait != 0 || !ok {
		t.Error("it is not off")
	}
}

// TestLobby fills places from several addresses.
func TestLobby(t *testing.T) {
	t.Parallel()
	l := newPending()
	var leave []func()
	enter := func(address string) bool {
		a := netip.Addr{}
		if address != "" {
			a = throttled(netip.MustParseAddr(address))
		}
		out, ok := l.enter(a, 5, 2)
		if ok {
			leave = append(leave, out)
		}
		return ok
	}
	for i, c := range []struct {
		address string
		want    bool
	}{
		{"10.0.0.1", true},
		{"::ffff:10.0.0.1", true},
		{"10.0.0.1", false},
		{"2001:db8::1", true},
		{"2001:db8::2", true},
		{"2001:db8::3", false},
		{"", true},
		{"10.0.0.2", false},
	} {
		if got := enter(c.address); got != c.want {
			t.Errorf("%d: %s: %v", i, c.address, got)
		}
	}
	for _, out := range leave {
		out()
		out()
	}
	if l.all != 0 || len(l.addresses) != 0 {
		t.Errorf("%+v", l)
	}
}

// TestGone takes roles away, and changes passwords.
func TestGone(t *testing.T) {
	t.Parallel()
	verifierOf := func(password string) string {
		v, err := scram.Derive(password, []byte("0123456789abcdef"), 4096)
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	found := map[string]string{"ann": verifierOf("one"), "bob": verifierOf("two"), "cem": "md5"}
	var failing error
	now := clockStart
	control, err := New(Config{
		Users: []User{{Name: "own"}}, Now: func() time.Time { return now },
		Lookup: func(_ context.Context, user string) (string, bool, error) {
			return found[user], found[user] != "", failing
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := func(user string, method Method) Identity {
		return control.Identity(Request{User: user}, Decision{Rule: Rule{Method: method}}, control.Account(t.Context(), user))
	}
	ann, bob, cem, own := in("ann", Password), in("bob", Password), in("cem", Certificate), in("own", Certificate)
	check := func(want string) {
		t.Helper()
		now = now.Add(time.Minute)
		got := ""
		for _, who := range []Identity{ann, bob, cem, own} {
			gone, err := control.Gone(t.Context(), who)
			switch {
			case err != nil:
				got += "?"
			case gone:
				got += "x"
			default:
				got += "."
			}
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	check("....")
	failing = errors.New("no connection")
	check("???.")
	failing, found["bob"] = nil, verifierOf("another")
	check(".x..")
	delete(found, "ann")
	found["cem"] = verifierOf("three")
	check("xx..")
	delete(found, "cem")
	check("xxx.")
}
