package pool_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

// with is a session of a user with startup parameters of its own.
func with(name, value string) pool.Want {
	want := ann()
	want.Parameters = map[string]string{name: value}
	return want
}

// TestNobodyClosesAServerForOthers has sessions whose startup parameters are refused, or
// too short limits, and expects that the next one gets its connection at once.
func TestNobodyClosesAServerForOthers(t *testing.T) {
	server := pgtest.Shared(t)
	role := reader(t, server, pgtest.Database(t, server))
	p := newPool(t, role, func(c *pool.Config) { c.IdleTimeout = -1 })
	get(t, p, ann()).Release('I')
	parameters := [][2]string{
		{"timezone", strings.Repeat("x", 9_900)},
		{"timezone", strings.Repeat("x", 3_900)},
		{"timezone", "\xff"},
		{"default_text_search_config", "a..b"},
		{"default_text_search_config", "a.b.c.d"},
		{"default_text_search_config", `"`},
		{"default_text_search_config", "pg_toast.x"},
		{"nothing", "of that kind"},
		{"nothing.like.it", ""},
		{"log_statement", "none"},
		{"shared_buffers", "1"},
		{"statement_timeout", "1"},
		{"lock_timeout", "1"},
		{"idle_in_transaction_session_timeout", "1"},
	}
	if major := server.Version().Major; major >= 14 {
		parameters = append(parameters, [2]string{"idle_session_timeout", "1"})
		if major >= 17 {
			parameters = append(parameters, [2]string{"transaction_timeout", "1"})
		}
	}
	for _, parameter := range parameters {
		t.Run(parameter[0], func(t *testing.T) {
			for range 4 {
				link, err := obtain(t.Context(), p, with(parameter[0], parameter[1]))
				if err == nil {
					link.Release('I')
				} else if !strings.Contains(err.Error(), "SQLSTATE") && !errors.As(err, new(*pool.Refusal)) {
					t.Errorf("the server is said to fail: %v", err)
				}
				if link, err = obtain(t.Context(), p, ann()); err != nil {
					t.Fatalf("another session: %v", err)
				}
				link.Release('I')
			}
		})
	}
}

// TestLongParametersAreRefused looks for the longest that are taken.
func TestLongParametersAreRefused(t *testing.T) {
	server := pgtest.Shared(t)
	role := reader(t, server, pgtest.Database(t, server))
	// As much is pinned as there may be. It is an extension's setting, which may have any value.
	role.RuntimeParams["my.pinned"] = ""
	fits := func(n int) bool {
		role.RuntimeParams["my.pinned"] = strings.Repeat("p", n)
		return pool.Config{Roles: map[string]*pgconn.Config{"": role}}.Check() == nil
	}
	most := sort.Search(20_000, func(n int) bool { return !fits(n) }) - 1
	if !fits(most) || most < 5_000 {
		t.Fatalf("%d bytes may be pinned", most)
	}
	p := newPool(t, role, nil)
	for n := 3_900; ; n++ {
		link, err := obtain(t.Context(), p, with("my.own", strings.Repeat("x", n)))
		if err == nil {
			s := take(t, link)
			if got := s.one("SELECT length(current_setting('my.own'))"); got != fmt.Sprint(n) {
				t.Errorf("%s bytes of %d have arrived", got, n)
			}
			s.Release(0)
			continue
		}
		var refused *pool.Refusal
		if !errors.As(err, &refused) || refused.SQLState() != "22023" || refused.Hint() == "" {
			t.Errorf("%d bytes: %v", n, err)
		}
		break
	}
}

// TestTimeLimitsAreTheSessions has limits that the pool's queries do not see, and every
// session that brings them does.
func TestTimeLimitsAreTheSessions(t *testing.T) {
	server := pgtest.Shared(t)
	role := reader(t, server, pgtest.Database(t, server))
	p := newPool(t, role, nil)
	limits := map[string]string{"statement_timeout": "7s", "lock_timeout": "8s", "idle_in_transaction_session_timeout": "9s"}
	if server.Version().Major >= 14 {
		limits["idle_session_timeout"] = "2s"
	}
	if server.Version().Major >= 17 {
		limits["transaction_timeout"] = "11s"
	}
	want := ann()
	want.Parameters = maps.Clone(limits)
	var pid string
	for round := range 2 {
		s := get(t, p, want)
		for _, do := range []string{"SELECT 1", "SET statement_timeout = '1h'; SET lock_timeout = 0; RESET ALL", "DISCARD ALL", "RESET statement_timeout"} {
			s.do(do)
			for name, value := range limits {
				if got := s.one("SHOW " + name); got != value {
					t.Errorf("round %d, after %s: %s is %s", round, do, name, got)
				}
				if got := s.one("SELECT source FROM pg_settings WHERE name = '" + name + "'"); got != "client" {
					t.Errorf("round %d, after %s: %s comes from %s", round, do, name, got)
				}
			}
		}
		if process := s.one(backend); round == 0 {
			pid = process
		} else if process != pid {
			t.Error("the connection is not used again")
		}
		s.do("SET statement_timeout = '1h'")
		s.Release('I')
		if stats := settled(t, p); stats.Idle != 1 {
			t.Errorf("%+v", stats)
		}
		time.Sleep(3 * time.Second) // the limit of a session is none of a connection that nobody has
	}
}

// TestShortStatements has sessions whose statements may take no time.
func TestShortStatements(t *testing.T) {
	server := pgtest.Shared(t)
	role := reader(t, server, pgtest.Database(t, server))
	p := newPool(t, role, func(c *pool.Config) { c.IdleTimeout = -1 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for done := 0; done < 3; { // the server may have been kept from its work for a millisecond
		link, err := obtain(ctx, p, with("statement_timeout", "1"))
		if err == nil {
			done++
			if _, err := take(t, link).query("SELECT pg_sleep(10)"); err == nil || !strings.Contains(err.Error(), "57014") {
				t.Errorf("no limit: %v", err)
			}
			link.Release('I')
		} else if !strings.Contains(err.Error(), "57014") {
			t.Fatal(err)
		}
	}
}
