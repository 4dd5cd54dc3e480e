package pool

import "time"

// hostRole is what a server is to the readers.
type hostRole int

const (
	unknown       hostRole = iota // it has not answered, or not shown whom it follows
	primary                       // it is the server that kproxy writes to
	standby                       // it follows that one
	secondPrimary                 // a primary of the same cluster that kproxy does not write to
	diverged                      // it follows another primary than that
	foreign                       // it is of another cluster, or the database is another one
)

// serves tells whether readers may have something from such a server.
func (s hostRole) serves() bool { return s == primary || s == standby }

// String is the role in words.
func (s hostRole) String() string {
	switch s {
	case primary:
		return "the primary"
	case standby:
		return "a standby"
	case secondPrimary:
		return "a second primary"
	case diverged:
		return "a standby of another primary"
	case foreign:
		return "another database"
	default:
		return "unknown"
	}
}

// fix is what the operator does about such a server; empty where nothing is wrong.
func (s hostRole) fix() string {
	switch s {
	case secondPrimary:
		return "stop it and make it a standby again (pg_rewind), or have upstream.owner.host lead to it; readers get nothing from it"
	case diverged:
		return "make it follow the server of upstream.owner (pg_rewind, or a new copy); readers get nothing from it"
	case foreign:
		return "take it out of upstream.reader.hosts, which are the primary and its physical standbys; readers get nothing from it"
	default:
		return ""
	}
}

// reading is what a server has said of itself.
type reading struct {
	Identity
	sent, got  time.Time // when it was asked and when it had answered, on our clock
	recovering bool
	position   uint64 // of the log: written, by a primary; replayed, by a standby
	timeline   uint64 // on which it is, as far as is known
	process    string // whose heartbeats it was asked for
	heartbeat  uint64 // the number of the last one that it shows, read after position; 0 = none
}

// cluster knows what several servers are to the one that kproxy writes to, which the references
// tell. That server is found by its identity: no other server that calls itself primary counts as
// one, whatever its timeline. A standby has to prove whose log it replays: it shows a heartbeat
// that this process has written on the server of the reference, which is only in that server's log
// and the copies of it. As long as it shows no later one it counts as standing still; and where it
// has replayed more of a log than that heartbeat explains, it has replayed another one, and is not
// used until it has been restarted.
//
// It is not safe for concurrent use.
type cluster struct {
	*history
	members []member
}

// member is a server.
type member struct {
	known   bool // it has answered once
	silent  bool // it does not any more
	strange bool // it follows another primary
	// other says that it is not the server of the references: it was a standby since it started,
	// or answered between two references that named the same other one. After a restart of that
	// server, the last reference or the last reading may be from before.
	other bool
	// under is the reference's identity when the server said what it is.
	under Identity
	last  reading
}

func newCluster(size int, of *history) *cluster {
	return &cluster{history: of, members: make([]member, size)}
}

// observe takes a reading.
func (c *cluster) observe(i int, r reading) {
	m := &c.members[i]
	if m.known && m.last.Identity != r.Identity {
		m.strange, m.other = false, false // it is another server, or has started anew
	}
	m.known, m.silent, m.last, m.under, m.other = true, false, r, c.last.Identity, m.other || r.recovering
	if r.recovering && c.follows(r) && c.refutes(r.position, r.heartbeat) {
		m.strange = true
	}
}

// refer takes a reference.
func (c *cluster) refer(r Reference) {
	if c.add(r) {
		for i := range c.members {
			c.members[i].strange = false // of this history nothing is known
		}
	}
	for i := range c.members {
		if m := &c.members[i]; m.known && m.under == r.Identity && m.last.Identity != r.Identity && !m.last.got.After(r.Sent) {
			m.other = true
		}
		if m := &c.members[i]; m.known && m.last.recovering && m.last.position > r.Flushed && !m.last.got.After(r.Sent) {
			m.strange = true
		}
	}
}

// lost notes that a server does not answer. It stays what it was, as what was true of a
// moment stays so; but one that was no server of readers' at all is forgotten.
func (c *cluster) lost(i int) {
	if is := c.role(i); is == secondPrimary || is == foreign {
		c.members[i] = member{}
	}
	c.members[i].silent = true
}

// follows tells whether a reading has a heartbeat that this history knows.
func (c *cluster) follows(r reading) bool { return r.process != "" && r.process == c.last.Process }

// role is what a server is at present.
func (c *cluster) role(i int) hostRole {
	m := c.members[i]
	switch {
	case !m.known || !c.known:
		return unknown
	case m.last.System != c.last.System || m.last.Database != c.last.Database:
		return foreign
	case !m.last.recovering && m.last.Identity == c.last.Identity:
		return primary
	case !m.last.recovering && m.other:
		return secondPrimary
	case !m.last.recovering:
		return unknown
	case m.strange || m.last.timeline > c.last.Timeline:
		return diverged
	case c.follows(m.last) && m.last.heartbeat > 0:
		return standby
	default:
		return unknown
	}
}

// complete says that a server shows what is required.
func (c *cluster) complete(i int) bool {
	switch c.role(i) {
	case primary:
		return true
	case standby:
		return c.least.IsZero() || c.placed && c.members[i].last.heartbeat >= c.needed
	default:
		return false
	}
}

// shows is a moment before which everything committed at the source is shown by a server,
// as late as is known; zero = none is known.
func (c *cluster) shows(i int) time.Time {
	switch c.role(i) {
	case primary:
		return c.asOf()
	case standby:
		return c.asOfHeartbeat(c.members[i].last.heartbeat)
	default:
		return time.Time{}
	}
}
