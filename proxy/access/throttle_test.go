package access

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// throttling is the default one.
var throttling = Config{}.withDefaults().Throttle

// clockStart is an arbitrary moment.
var clockStart = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

// from is a request of a user at an address.
func from(user, address string) Request {
	return Request{User: user, Database: "clinic", Transport: TLS, Address: netip.MustParseAddr(address)}
}

// guessPause is between two attempts of a guesser's connection that was refused.
const guessPause = 250 * time.Millisecond

// wrong is a check that fails.
func wrong() bool { return false }

// right is a check that succeeds.
func right() bool { return true }

// guesser tries passwords as fast as it is let, with several connections, and returns
// how many it could try in a time.
func guesser(f *failures, period time.Duration, connections int, next func() Request) (guesses int) {
	return guesserPausing(guessPause, f, period, connections, next)
}

func guesserPausing(pause time.Duration, f *failures, period time.Duration, connections int, next func() Request) (guesses int) {
	free := make([]time.Time, connections) // when each connection's attempt is answered
	for i := range free {
		free[i] = clockStart
	}
	for now := clockStart; now.Before(clockStart.Add(period)); now = now.Add(pause) {
		for i := range free {
			if free[i].After(now) {
				continue
			}
			q := next()
			wait, ok := f.attempt(throttling, now, q, wrong)
			if !ok {
				continue
			}
			if free[i] = now.Add(wait); wait > 0 {
				f.judged(throttling, free[i], q, false)
			}
			guesses++
		}
	}
	return guesses
}

// TestGuessersAreSlow bounds what guessing achieves in twenty simulated minutes.
func TestGuessersAreSlow(t *testing.T) {
	t.Parallel()
	const period = 20 * time.Minute
	slowest := int(period / throttling.MaxDelay)
	for _, connections := range []int{1, 50} {
		one := guesser(newFailures(), period, connections, func() Request { return from("ann", "10.0.0.1") })
		if most := slowest + throttling.Free + connections + maxDoublings; one > most || one < slowest/2 {
			t.Errorf("%d connections guess %d times at one user, want at most %d", connections, one, most)
		}
		user := 0
		all := guesser(newFailures(), period, connections, func() Request {
			user++
			return from(fmt.Sprint("user", user%maxCulprits), "10.0.0.1")
		})
		if most := int(period/throttling.Delay) + throttling.Free*addressPatience + connections; all > most {
			t.Errorf("%d connections guess %d times at many users, want at most %d", connections, all, most)
		}
		address := 0
		network := guesser(newFailures(), period, connections, func() Request {
			address++
			return from("ann", fmt.Sprintf("2001:db8:1:2:3:4:5:%x", address&0xffff))
		})
		if most := slowest + throttling.Free + connections + maxDoublings; network > most {
			t.Errorf("%d connections guess %d times from one network, want at most %d", connections, network, most)
		}
	}
}

// TestNobodyIsLockedOutFromElsewhere lets strangers fail as often as they like.
func TestNobodyIsLockedOutFromElsewhere(t *testing.T) {
	t.Parallel()
	f := newFailures()
	known := []string{"192.168.0.1", "::ffff:192.168.0.2", "2001:db8::1", "10.1.2.3"}
	for _, address := range known {
		f.judged(throttling, clockStart, from("ann", address), true)
	}
	random := rand.New(rand.NewPCG(1, 2))
	now := clockStart
	for range 3 * maxCulprits / 2 {
		now = now.Add(time.Duration(random.IntN(10)) * time.Millisecond)
		f.judged(throttling, now, from("ann", fmt.Sprintf("10.%d.%d.%d", random.IntN(4), random.IntN(256), 4+random.IntN(252))), false)
		f.judged(throttling, now, from("eve", "10.1.2.3"), false)
		f.judged(throttling, now, Request{User: "ann", Transport: Unix}, false)
	}
	for _, address := range known {
		if wait, ok := f.attempt(throttling, now, from("ann", address), right); wait != 0 || !ok {
			t.Errorf("ann at %s waits for %v, %v", address, wait, ok)
		}
	}
	if wait, ok := f.attempt(throttling, now, from("bob", "192.168.0.1"), right); wait != 0 || !ok {
		t.Errorf("another user at a new address waits for %v, %v", wait, ok)
	}
	if wait, ok := f.attempt(throttling, now, from("ann", "172.16.0.1"), right); wait > 4*throttling.Delay || !ok {
		t.Errorf("ann at a new address waits for %v, %v", wait, ok)
	}
	for name, table := range map[string]culprits{"users": f.users, "accounts": f.accounts, "known": f.known, "networks": f.networks[0]} {
		if got := len(table.byName); got > maxCulprits || table.order.Len() != got {
			t.Errorf("%d records of %s, %d in order", got, name, table.order.Len())
		}
	}
}

// TestDistributedGuessersAreSlow bounds what is achieved in five minutes by somebody who has many
// networks, with as many connections; and sees to it that meanwhile users get in where they have
// been before, at once, and elsewhere soon.
func TestDistributedGuessersAreSlow(t *testing.T) {
	t.Parallel()
	const connections, period = 400, 5 * time.Minute
	for name, c := range map[string]struct {
		address   func(n int) string
		users     int
		most      int    // guesses
		newcomers string // where the user has never been, of another network; "" = the guesser has all
	}{
		// The free failures, and one guess in ten seconds.
		"networks /64 of a /48, one user": {func(n int) string { return fmt.Sprintf("2001:db8:1:%x::1", n) }, 1, 50 + 30 + 20, "2001:db9::1"},
		"networks /48 of a /32, one user": {func(n int) string { return fmt.Sprintf("2001:db8:%x::1", n) }, 1, 50 + 30 + 20, "2001:db9::1"},
		"addresses everywhere, one user":  {func(n int) string { return fmt.Sprintf("%d.%d.0.1", 20+n/200, n%200) }, 1, 100 + 30 + 300 + 20, ""},
		// The free failures, and eight guesses a second; sixteen of a wide network.
		"networks /64 of a /48, many users":  {func(n int) string { return fmt.Sprintf("2001:db8:1:%x::1", n) }, 5000, 200 + 8*300 + 100, "2001:db8:2::1"},
		"addresses of a /24, many users":     {func(n int) string { return fmt.Sprintf("10.0.0.%d", n%256) }, 5000, 200 + 8*300 + 100, "10.0.1.1"},
		"networks /24 of a /16, many users":  {func(n int) string { return fmt.Sprintf("10.0.%d.%d", n%256, n/256) }, 5000, 800 + 16*300 + 200, "10.1.0.1"},
		"networks /48 of a /32, many users ": {func(n int) string { return fmt.Sprintf("2001:db8:%x::1", n) }, 5000, 800 + 16*300 + 200, "2001:db9::1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, n := newFailures(), 0
			f.judged(throttling, clockStart, from("user0", c.address(0)), true)
			guesses := guesserPausing(time.Second, f, period, connections, func() Request {
				n++
				return from(fmt.Sprint("user", n%c.users), c.address(1+n%(connections-1)))
			})
			t.Logf("%d guesses in five minutes, of %d tried", guesses, n)
			if guesses > c.most || guesses < 30 {
				t.Errorf("%d guesses in five minutes, want at most %d", guesses, c.most)
			}
			end := clockStart.Add(period)
			if wait, ok := f.attempt(throttling, end, from("user0", c.address(0)), right); wait != 0 || !ok {
				t.Errorf("a user at a known address waits for %v, %v", wait, ok)
			}
			if wait, ok := f.attempt(throttling, end, from("user0", cmp.Or(c.newcomers, c.address(0))), right); wait > 4*throttling.Delay || !ok {
				t.Errorf("a user at a new address waits for %v, %v", wait, ok)
			}
			for i, table := range append([]culprits{f.users, f.accounts, f.known}, f.networks...) {
				if len(table.byName) > maxCulprits {
					t.Errorf("table %d has %d records", i, len(table.byName))
				}
			}
		})
	}
}

// TestNeighborsWaitLittle has one broken client behind an address that others share.
func TestNeighborsWaitLittle(t *testing.T) {
	t.Parallel()
	f := newFailures()
	guesser(f, 24*time.Hour/10, 1, func() Request { return from("broken", "10.0.0.1") })
	end := clockStart.Add(24*time.Hour/10 + throttling.MaxDelay)
	for range 10 {
		if wait, ok := f.attempt(throttling, end, from("ann", "10.0.0.1"), right); !ok || wait > 10*throttling.Delay {
			t.Errorf("a neighbor waits for %v, %v", wait, ok)
		}
	}
}

// TestThrottleProperties plays random failures, attempts, successes and pauses.
func TestThrottleProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 7))
		f, now := newFailures(), clockStart
		failed := map[string]int{} // since the last success, never forgotten here
		for range 200 {
			now = now.Add(time.Duration(random.ExpFloat64() * float64(throttling.Forget) / 4))
			user := string(rune('a' + random.IntN(3)))
			q := from(user, fmt.Sprintf("10.0.0.%d", random.IntN(2)))
			key := user + q.Address.String()
			switch random.IntN(5) {
			case 0, 1, 2:
				f.judged(throttling, now, q, false)
				failed[key]++
			case 3:
				f.judged(throttling, now, q, true)
				failed[key] = 0
			default:
				checked := false
				wait, ok := f.attempt(throttling, now, q, func() bool {
					checked = true
					return false
				})
				if checked != (ok && wait == 0) {
					t.Fatalf("seed %d: wait %v, %v, and the proof is looked at: %v", seed, wait, ok, checked)
				}
				if checked {
					failed[key]++
				}
				if wait < 0 || wait > throttling.MaxDelay || !ok && wait != 0 {
					t.Fatalf("seed %d: wait %v, %v", seed, wait, ok)
				}
				if failed[key] <= throttling.Free && wait > throttling.Delay*4 {
					t.Fatalf("seed %d: %d failures cost %v", seed, failed[key], wait)
				}
			}
		}
		// In the end all is forgotten.
		now = now.Add((throttling.MaxDelay + time.Duration(throttling.Free*addressPatience+maxDoublings)*throttling.Forget))
		for _, user := range []string{"a", "b", "c"} {
			if wait, ok := f.attempt(throttling, now, from(user, "10.0.0.1"), right); wait != 0 || !ok {
				t.Fatalf("seed %d: something is not forgotten: %v, %v", seed, wait, ok)
			}
		}
	}
}

// TestDelaysGrow counts the first failures of a user.
func TestDelaysGrow(t *testing.T) {
	t.Parallel()
	f, q, now := newFailures(), from("ann", "10.0.0.1"), clockStart
	var waits []time.Duration
	for range 13 {
		wait, ok := f.attempt(throttling, now, q, wrong)
		if !ok {
			t.Fatal("refused")
		}
		waits = append(waits, wait)
		if now = now.Add(wait); wait > 0 {
			f.judged(throttling, now, q, false)
		}
	}
	ms := time.Millisecond
	want := []time.Duration{0, 0, 0, 0, 0, 0, 250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 10_000 * ms}
	if fmt.Sprint(waits) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", waits, want)
	}
	f.judged(throttling, now, q, true)
	if wait, ok := f.attempt(throttling, now, q, right); wait != 0 || !ok {
		t.Errorf("after a success: %v, %v", wait, ok)
	}
	if address := f.networks[0].get(culprit{network: netip.PrefixFrom(q.Address, 32)}); address == nil {
		t.Error("a success has the failures of the address forgotten")
	}
}

// TestBursts has many connections send their proofs at the same moment: those that are
// right never wait, and of those that are wrong few are looked at.
func TestBursts(t *testing.T) {
	t.Parallel()
	const connections = 500
	f, q := newFailures(), from("ann", "10.0.0.1")
	burst := func(check func() bool) (looked int) {
		var attempts sync.WaitGroup
		var at, all atomic.Int64
		for range connections {
			attempts.Go(func() {
				// All of them arrive before one goes on.
				for all.Add(1); all.Load() < connections; {
					runtime.Gosched()
				}
				if wait, ok := f.attempt(throttling, clockStart, q, check); ok && wait == 0 {
					at.Add(1)
				}
			})
		}
		attempts.Wait()
		return int(at.Load())
	}
	if n := burst(right); n != connections {
		t.Errorf("%d of %d right passwords need not wait", n, connections)
	}
	slowly := func() bool {
		runtime.Gosched()
		return false
	}
	for range 2 {
		if n := burst(slowly); n > throttling.Free+1 {
			t.Errorf("%d guesses at one moment, want at most %d", n, throttling.Free+1)
		}
	}
}
