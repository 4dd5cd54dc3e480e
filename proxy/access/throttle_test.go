package access

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
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
const guessPause = 50 * time.Millisecond

// guesser tries passwords as fast as it is let, with several connections, and returns
// how many it could try in a time.
func guesser(f *failures, period time.Duration, connections int, next func() Request) (guesses int) {
	free := make([]time.Time, connections) // when each connection's attempt is answered
	for i := range free {
		free[i] = clockStart
	}
	for now := clockStart; now.Before(clockStart.Add(period)); now = now.Add(guessPause) {
		for i := range free {
			if free[i].After(now) {
				continue
			}
			q := next()
			wait, ok := f.attempt(throttling, now, q)
			if !ok {
				continue
			}
			free[i] = now.Add(wait)
			f.add(throttling, free[i], q)
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
	random := rand.New(rand.NewPCG(1, 2))
	now := clockStart
	for range 3 * maxCulprits / 2 {
		now = now.Add(time.Duration(random.IntN(10)) * time.Millisecond)
		f.add(throttling, now, from("ann", fmt.Sprintf("10.%d.%d.%d", random.IntN(4), random.IntN(256), random.IntN(256))))
		f.add(throttling, now, Request{User: "ann", Transport: Unix})
	}
	for _, address := range []string{"192.168.0.1", "::ffff:192.168.0.2", "2001:db8::1"} {
		if wait, ok := f.attempt(throttling, now, from("ann", address)); wait != 0 || !ok {
			t.Errorf("ann at %s waits for %v, %v", address, wait, ok)
		}
	}
	if got := len(f.users.byName); got > maxCulprits || f.users.order.Len() != got {
		t.Errorf("%d records, %d in order", got, f.users.order.Len())
	}
}

// TestNeighborsWaitLittle has one broken client behind an address that others share.
func TestNeighborsWaitLittle(t *testing.T) {
	t.Parallel()
	f := newFailures()
	guesser(f, 24*time.Hour/10, 1, func() Request { return from("broken", "10.0.0.1") })
	end := clockStart.Add(24*time.Hour/10 + throttling.MaxDelay)
	for range 10 {
		if wait, ok := f.attempt(throttling, end, from("ann", "10.0.0.1")); !ok || wait > 10*throttling.Delay {
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
				f.add(throttling, now, q)
				failed[key]++
			case 3:
				f.forgive(q)
				failed[key] = 0
			default:
				wait, ok := f.attempt(throttling, now, q)
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
			if wait, ok := f.attempt(throttling, now, from(user, "10.0.0.1")); wait != 0 || !ok {
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
		wait, ok := f.attempt(throttling, now, q)
		if !ok {
			t.Fatal("refused")
		}
		waits = append(waits, wait)
		now = now.Add(wait)
		f.add(throttling, now, q)
	}
	ms := time.Millisecond
	want := []time.Duration{0, 0, 0, 0, 0, 0, 250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 10_000 * ms}
	if fmt.Sprint(waits) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", waits, want)
	}
	f.forgive(q)
	if wait, ok := f.attempt(throttling, now, q); wait != 0 || !ok {
		t.Errorf("after a success: %v, %v", wait, ok)
	}
	if addresses := f.addresses.get(culprit{address: q.Address}); addresses == nil {
		t.Error("a success has the failures of the address forgotten")
	}
}
