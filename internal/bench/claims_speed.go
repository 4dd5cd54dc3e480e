package main

import "strings"

// How far ratios of the proxy may be from what docs/speed.md says of its goals: what two quiet
// machines of different kinds may differ by, and rounds of one did.
const (
	ofRates = 0.3
	ofTimes = 0.2 // of scans and logins, of which each round has many
)

// ofSpeed are the claims of docs/speed.md about its goals. Idle sessions are measured by full
// size only.
var ofSpeed = []claim{
	rowByIndex("simple 1.19, 0.93, 0.91 with 1, 8, 64 clients", "simple", "1", 1.19),
	rowByIndex("simple 1.19, 0.93, 0.91 with 1, 8, 64 clients", "simple", "8", 0.93),
	rowByIndex("simple 1.19, 0.93, 0.91 with 1, 8, 64 clients", "simple", "64", 0.91),
	rowByIndex("extended 1.02, 1.21, 0.77", "extended", "1", 1.02),
	rowByIndex("extended 1.02, 1.21, 0.77", "extended", "8", 1.21),
	rowByIndex("extended 1.02, 1.21, 0.77", "extended", "64", 0.77),
	rowByIndex("prepared 1.07, 1.07, 0.98", "prepared", "1", 1.07),
	rowByIndex("prepared 1.07, 1.07, 0.98", "prepared", "8", 1.07),
	rowByIndex("prepared 1.07, 1.07, 0.98", "prepared", "64", 0.98),
	goal("TLS 1.06 and 1.04", "tls-rate", "pgbouncer", map[string]string{"clients": "1"}, 1.06, ofRates),
	goal("TLS 1.06 and 1.04", "tls-rate", "pgbouncer", map[string]string{"clients": "8"}, 1.04, ofRates),
	goal("SELECT 0.99", "scan-time", "direct", map[string]string{"statement": "SELECT"}, 0.99, ofTimes),
	goal("COPY 0.97", "scan-time", "direct", map[string]string{"statement": "COPY"}, 0.97, ofTimes),
	goal("1.13 and 1.08 with 1 and 8 clients", "login-time", "pgbouncer", map[string]string{"TLS": "false", "clients": "1"}, 1.13, ofTimes),
	goal("1.13 and 1.08 with 1 and 8 clients", "login-time", "pgbouncer", map[string]string{"TLS": "false", "clients": "8"}, 1.08, ofTimes),
	goal("TLS 1.05 and 1.03", "login-time", "pgbouncer", map[string]string{"TLS": "true", "clients": "1"}, 1.05, ofTimes),
	goal("TLS 1.05 and 1.03", "login-time", "pgbouncer", map[string]string{"TLS": "true", "clients": "8"}, 1.03, ofTimes),
	{page: "docs/speed.md", quote: "9.9 KB", section: proxying.name, name: "idle-memory", way: "kproxy", number: 9.9, within: 0.2},
}

// rowByIndex claims the ratio to PgBouncer's rate.
func rowByIndex(quote, protocol, clients string, ratio float64) claim {
	return goal(quote, "lookup-rate", "pgbouncer", map[string]string{"protocol": protocol, "clients": clients}, ratio, ofRates)
}

// goal claims a ratio of what the proxy's section measures, whose names begin with that of
// the part of internal/bench/speed.
func goal(quote, name, against string, where map[string]string, ratio, within float64) claim {
	word, _, _ := strings.Cut(name, "-") // of lookup-rate: the part that is named to speed
	return claim{
		page: "docs/speed.md", quote: quote, section: proxying.name, name: name, way: "kproxy", where: where,
		against: against, word: word, number: ratio, within: within,
	}
}
