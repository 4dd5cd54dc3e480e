package pool

import (
	"net"
	"slices"
	"strconv"
	"time"
)

// Report is a snapshot of a pool and its servers, for metrics. The counters begin with the
// process.
type Report struct {
	Stats
	Most       int    // Options.MaxConnections
	Opened     uint64 // connections made
	OpenFailed uint64 // attempts to connect that failed, whatever the reason
	Reused     uint64 // sessions that got an idle connection
	Reset      uint64 // connections reset to their state after login
	Discarded  uint64 // connections closed because the reset failed or they broke
	Hosts      []HostReport
}

// HostReport is one server.
type HostReport struct {
	Address string // host:port, or the path of a socket
	// Role is one of HostRoles.
	Role string
	// Fix is what the operator does about a server that is none of readers'; else empty.
	Fix string
	// Reachable says that it has answered when it was asked last.
	Reachable bool
	// Fresh says that what is read there may be shown; see Link.Fresh.
	Fresh    bool
	Sessions int // that have a connection to it, or are making one
	// Good says that it is, or follows, the server that kproxy writes to; see Link.Good.
	Good bool
	// Lag is how old what it shows may be, where that is measured (Options.MaxStaleness);
	// negative where it is not known. LagBytes is how far its log is behind the primary's,
	// as they have said last; negative where that is not known.
	Lag      time.Duration
	LagBytes int64
}

// counters are those of Report; guarded by Pool.mu.
type counters struct{ opened, openFailed, reused, reset, discarded uint64 }

// Report returns a snapshot of the pool and its servers.
func (p *Pool) Report() Report {
	stats := p.Stats()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counters
	r := Report{
		Stats: stats, Most: p.config.MaxConnections,
		Opened: c.opened, OpenFailed: c.openFailed, Reused: c.reused, Reset: c.reset, Discarded: c.discarded,
	}
	for _, h := range p.hosts.all {
		r.Hosts = append(r.Hosts, p.reportOf(h))
	}
	return r
}

// HostRoles are what a server may be to the one that kproxy writes to: that one, one that follows
// it, another primary of the same cluster, one that follows such a primary, one of another
// database, or one whose role is not known.
var HostRoles = []string{"primary", "standby", "second_primary", "diverged", "foreign", "unknown"}

// word is the word of HostRoles.
func (s hostRole) word() string {
	return map[hostRole]string{primary: "primary", standby: "standby", secondPrimary: "second_primary", diverged: "diverged", foreign: "foreign", unknown: "unknown"}[s]
}

// Words returns a description of the role.
func (r HostReport) Words() string {
	for s := unknown; s <= foreign; s++ {
		if s.word() == r.Role {
			return s.String()
		}
	}
	return r.Role
}

// reportOf returns what is known of a host. The caller holds mu.
func (p *Pool) reportOf(h *host) HostReport {
	r := HostReport{
		Address: net.JoinHostPort(h.host, strconv.Itoa(int(h.port))), Role: h.role.word(), Fix: h.role.fix(), Reachable: true,
		Fresh: h.fresh() && h.good(), Good: h.good(), Sessions: h.load, Lag: -1, LagBytes: -1,
	}
	for _, c := range h.circuits {
		r.Reachable = r.Reachable && c.failures == 0
	}
	if p.watch == nil {
		return r
	}
	i := slices.Index(p.watch.hosts, h)
	if i < 0 {
		return r
	}
	of := p.watch.cluster
	r.Reachable = !h.silent
	if !h.role.serves() {
		return r
	}
	if shows := of.shows(i); p.config.MaxStaleness > 0 && !shows.IsZero() {
		r.Lag = max(time.Since(shows), 0)
	}
	switch {
	case h.role == primary:
		r.LagBytes = 0
	case of.known && of.members[i].known:
		r.LagBytes = max(int64(of.last.Flushed)-int64(of.members[i].last.position), 0)
	}
	return r
}

// count changes the counters, with mu held.
func (p *Pool) count(change func(*counters)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.counters)
}
