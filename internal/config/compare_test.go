package config

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// request is somebody who logs in.
type request struct {
	transport      Transport
	from           netip.Addr // not valid for a Unix socket
	database, user string
}

// matches is what a rule means, said apart from [Rule.covers].
func (u Rule) matches(q request) bool {
	return (u.Transport == AnyTransport || u.Transport == q.transport) &&
		(len(u.Databases) == 0 || slices.Contains(u.Databases, q.database)) &&
		(len(u.Users) == 0 || slices.Contains(u.Users, q.user)) &&
		(len(u.From) == 0 || slices.ContainsFunc(u.From, func(p netip.Prefix) bool { return q.from.IsValid() && p.Contains(q.from) }))
}

// requests are all that differ for the rules of the test.
func requests() []request {
	var all []request
	for _, transport := range []Transport{PlainTransport, TLSTransport, UnixTransport} {
		from := []netip.Addr{{}}
		if transport != UnixTransport {
			from = nil
			for _, text := range []string{"10.0.0.1", "10.1.0.1", "10.1.2.1", "11.0.0.1", "fd00::1", "fe00::1"} {
				from = append(from, netip.MustParseAddr(text))
			}
		}
		for _, address := range from {
			for _, database := range []string{"a", "b"} {
				for _, user := range []string{"ann", "bob", "eve"} {
					all = append(all, request{transport, address, database, user})
				}
			}
		}
	}
	return all
}

// TestCoveredRulesNeverMatch draws pairs of rules. One that covers another matches
// whatever that does; one that matches all that another does covers it, unless it takes
// several of its networks.
func TestCoveredRulesNeverMatch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 1))
	pick := func(texts ...string) []string {
		return slices.DeleteFunc(texts, func(string) bool { return random.IntN(2) == 0 })
	}
	draw := func() Rule {
		u := Rule{Databases: pick("a", "b"), Users: pick("ann", "bob", "eve")}
		u.Transport = []Transport{AnyTransport, PlainTransport, TLSTransport, UnixTransport}[random.IntN(4)]
		if u.Transport != UnixTransport {
			for _, text := range pick("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "fd00::/8", "0.0.0.0/0", "::/0") {
				u.From = append(u.From, netip.MustParsePrefix(text))
			}
		}
		return u
	}
	all, covered := requests(), 0
	for range 200_000 {
		first, second := draw(), draw()
		escaped := slices.ContainsFunc(all, func(q request) bool { return second.matches(q) && !first.matches(q) })
		covers := first.covers(second)
		switch {
		case covers && escaped:
			t.Fatalf("%+v covers %+v, which matches more", first, second)
		case covers:
			covered++
		case !escaped && len(first.From) < 2 && len(first.Databases) < 2 && len(first.Users) < 3:
			t.Fatalf("%+v does not cover %+v, which matches no more", first, second)
		}
	}
	if covered < 1000 {
		t.Errorf("%d pairs cover each other", covered)
	}
}
