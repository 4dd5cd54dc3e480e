package main

// How far ratios of the proxy may be from what docs/speed.md says of its goals: what two quiet
// machines of different kinds may differ by, and rounds of one did.
const (
	ofRates = 0.3
	ofTimes = 0.2 // of scans and logins, of which each round has many
)

// ofSpeed are the claims of docs/speed.md about its goals, but those of idle sessions, which
// only full size measures.
var ofSpeed = []claim{
	rowByIndex("simple 0.97, 0.81, 0.96 with 1, 8, 64 clients", "simple", "1", 0.97),
	rowByIndex("simple 0.97, 0.81, 0.96 with 1, 8, 64 clients", "simple", "8", 0.81),
	rowByIndex("simple 0.97, 0.81, 0.96 with 1, 8, 64 clients", "simple", "64", 0.96),
	rowByIndex("extended 0.97, 0.98, 0.96", "extended", "1", 0.97),
	rowByIndex("extended 0.97, 0.98, 0.96", "extended", "8", 0.98),
	rowByIndex("extended 0.97, 0.98, 0.96", "extended", "64", 0.96),
	rowByIndex("prepared 1.03, 0.90, 0.98", "prepared", "1", 1.03),
	rowByIndex("prepared 1.03, 0.90, 0.98", "prepared", "8", 0.90),
	rowByIndex("prepared 1.03, 0.90, 0.98", "prepared", "64", 0.98),
	goal("TLS 1.04 and 1.06", "tls-rate", "pgbouncer", map[string]string{"clients": "1"}, 1.04, ofRates),
	goal("TLS 1.04 and 1.06", "tls-rate", "pgbouncer", map[string]string{"clients": "8"}, 1.06, ofRates),
	goal("SELECT 1.02", "scan-time", "direct", map[string]string{"statement": "SELECT"}, 1.02, ofTimes),
	goal("COPY 1.04", "scan-time", "direct", map[string]string{"statement": "COPY"}, 1.04, ofTimes),
	goal("1.05 and 1.02 with 1 and 8 clients", "login-time", "pgbouncer", map[string]string{"TLS": "false", "clients": "1"}, 1.05, ofTimes),
	goal("1.05 and 1.02 with 1 and 8 clients", "login-time", "pgbouncer", map[string]string{"TLS": "false", "clients": "8"}, 1.02, ofTimes),
	goal("TLS 0.99 and 1.00", "login-time", "pgbouncer", map[string]string{"TLS": "true", "clients": "1"}, 0.99, ofTimes),
	goal("TLS 0.99 and 1.00", "login-time", "pgbouncer", map[string]string{"TLS": "true", "clients": "8"}, 1.00, ofTimes),
}

// rowByIndex claims the ratio to PgBouncer's rate.
func rowByIndex(quote, protocol, clients string, ratio float64) claim {
	return goal(quote, "lookup-rate", "pgbouncer", map[string]string{"protocol": protocol, "clients": clients}, ratio, ofRates)
}

// goal claims a ratio of what the proxy's section measures.
func goal(quote, name, against string, where map[string]string, ratio, within float64) claim {
	return claim{
		page: "docs/speed.md", quote: quote, section: proxying.name, name: name, way: "kproxy", where: where,
		against: against, number: ratio, within: within,
	}
}
