package pool

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestNothingIsLeftUnread: what a server has sent after its answers is read as well, message by
// message, and half of one is an error.
func TestNothingIsLeftUnread(t *testing.T) {
	t.Parallel()
	const ready, report = "Z\x00\x00\x00\x05I", "S\x00\x00\x00\x08a\x00b\x00"
	said := ready + ready + report + report
	for n := range len(said) + 1 {
		reports := 0
		answers, err := ask(scripted{Reader: bytes.NewReader([]byte(said[:n]))}, func(string, string) { reports++ }, query("one"), query("two"))
		whole := slices.Contains([]int{len(ready + ready), len(ready + ready + report), len(said)}, n)
		if (err == nil) != whole || whole && (len(answers) != 2 || reports != (n-len(ready+ready))/len(report)) {
			t.Errorf("of %d bytes: %d answers, %d reports, %v", n, len(answers), reports, err)
		}
	}
}

// TestRefusedBeforeWaiting: sessions that the pool can have no connection for are told so, and
// take no place.
func TestRefusedBeforeWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFakeWorld(t, 1).newPool(Config{Options: Options{MaxConnections: 1}})
		defer p.Close()
		for range 3 {
			if l, err := p.Get(t.Context(), Want{Role: "unknown"}); l != nil || err == nil {
				t.Errorf("a role that there is not: %v", err)
			}
			long := map[string]string{"search_path": strings.Repeat("x", maxParameterBytes+1)}
			if l, err := p.Get(t.Context(), Want{Parameters: long}); l != nil || !errors.Is(err, errLongParameters) {
				t.Errorf("long parameters: %v", err)
			}
		}
		keep(t, p, 1)
		if s := p.Stats(); s.Places != 1 || s.Idle != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestHostOfSeveralServers: a connection that leads to another server than the one by which its
// host is known serves nobody, and does not count as the host's.
func TestHostOfSeveralServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{Roles: map[string]*pgconn.Config{"": fakeRole(t)}})
		defer p.Close()
		keep(t, p, 1)
		p.mu.Lock()
		p.config.Referred = true
		p.mu.Unlock()
		p.hosts.all[0].identity.Store(&Identity{Started: "another"})
		if _, err := obtain(t.Context(), p, Want{Parameters: map[string]string{"timezone": "new"}}); !errors.Is(err, errNotShown) {
			t.Errorf("%v", err)
		}
		if s := p.Stats(); p.hosts.all[0].load != 0 || s.InUse != 0 {
			t.Errorf("%d sessions of the host, %+v", p.hosts.all[0].load, s)
		}
	})
}
