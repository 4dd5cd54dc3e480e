package pool

import (
	"slices"
	"time"
)

// standing is what a server is.
type standing int

const (
	unknown standing = iota
	primary
	standby
)

// reading is what a server has said of itself.
type reading struct {
	sent, got  time.Time // when it was asked and when it had answered, on our clock
	recovering bool
	position   uint64 // of the log: written, by a primary; replayed, by a standby
	timeline   uint64 // on which it is, as far as is known
	system     string // its system identifier: that of the database cluster
}

// sample says that everything committed before a moment lies before a position of the
// primary's log.
type sample struct {
	at       time.Time
	position uint64
}

// cluster knows which of several servers is the primary and how old what the others show
// may be. It measures on one clock, its own: the primary says at a moment where its log
// ends, and a standby that has replayed the log up to there, whenever it says so, shows
// all that was committed before the moment. Clocks and time zones of the servers, and
// the time that answers take, do not matter. (A commit with synchronous_commit = off
// counts from when it is written.)
//
// A promotion begins another history. Of two that call themselves primary the one on the
// later timeline is; if that is not clear, none. Positions of different timelines cannot
// be compared: a standby counts when it is known to be on the primary's. One that has
// replayed what the primary has not written follows another one, whatever its timeline,
// and is left alone until it has been restarted.
//
// It is not safe for concurrent use.
type cluster struct {
	spacing  time.Duration // of every other sample that is kept, at least
	span     time.Duration // they reach back; 0 = none are needed
	members  []member
	chosen   int      // index of the primary; -1 = none
	timeline uint64   // of the last primary
	system   string   // of the last primary
	samples  []sample // oldest first; positions do not decrease

	least  time.Time // all must show what was committed before; zero = nothing in particular
	needed uint64    // the position of the log that shows it
	placed bool      // needed is known
}

// member is a server.
type member struct {
	known   bool
	strange bool // it follows another primary
	last    reading
}

func newCluster(size int, span time.Duration) *cluster {
	return &cluster{spacing: span / 1000, span: span, members: make([]member, size), chosen: -1}
}

// inherit takes over the history that another one knows of the same servers.
func (c *cluster) inherit(former *cluster) {
	c.timeline, c.system, c.samples = former.timeline, former.system, former.samples
	c.least, c.needed, c.placed = former.least, former.needed, former.placed
}

// observe takes a reading.
func (c *cluster) observe(i int, r reading) {
	m := &c.members[i]
	m.known, m.last = true, r
	c.choose()
	if c.chosen != i {
		return
	}
	if len(c.samples) > 0 && r.position < c.samples[len(c.samples)-1].position {
		c.forget() // a backup has been put in its place
	}
	for j := range c.members {
		other := &c.members[j]
		if other.known && other.last.recovering && other.last.position > r.position && !other.last.got.After(r.sent) {
			other.strange = true
		}
	}
	c.keep(sample{r.sent, r.position})
	if !c.placed && !r.sent.Before(c.least) {
		c.needed, c.placed = r.position, true
	}
}

// require has all servers show what was committed before a moment.
func (c *cluster) require(least time.Time) {
	c.least, c.placed = least, false
}

// complete says that a server shows what is required.
func (c *cluster) complete(i int) bool {
	switch c.standing(i) {
	case primary:
		return true
	case standby:
		return c.least.IsZero() || c.placed && c.members[i].last.position >= c.needed
	default:
		return c.least.IsZero()
	}
}

// lost notes that nothing is known of a server any more.
func (c *cluster) lost(i int) {
	c.members[i] = member{}
	c.choose()
}

// choose finds the primary.
func (c *cluster) choose() {
	found, rivals, foreign := -1, 0, false
	for i, m := range c.members {
		if !m.known || m.last.recovering {
			continue
		}
		if found < 0 {
			found = i
			continue
		}
		best := c.members[found].last
		foreign = foreign || m.last.system != best.system
		switch {
		case m.last.timeline > best.timeline:
			found, rivals = i, 0
		case m.last.timeline == best.timeline:
			rivals++
		}
	}
	if found < 0 || rivals > 0 || foreign || c.members[found].last.timeline < c.timeline {
		c.chosen = -1 // it may come back; a former one is none
		return
	}
	if latest := c.members[found].last.timeline; latest != c.timeline || found != c.chosen && !c.same(found) {
		c.forget()
		c.timeline = latest
	}
	c.chosen, c.system = found, c.members[found].last.system
}

// same tells whether a server can be the primary of the samples that there are, which has
// been away.
func (c *cluster) same(found int) bool {
	return len(c.samples) == 0 || c.members[found].last.position >= c.samples[len(c.samples)-1].position
}

// forget drops the history.
func (c *cluster) forget() { c.samples, c.placed = nil, false }

// keep adds a sample and drops those that are too old to matter.
func (c *cluster) keep(s sample) {
	if c.span == 0 {
		return
	}
	n := len(c.samples)
	if n > 1 && s.at.Sub(c.samples[n-2].at) < c.spacing {
		c.samples[n-1] = s
		return
	}
	old, _ := slices.BinarySearchFunc(c.samples, s.at.Add(-c.span), func(s sample, t time.Time) int { return s.at.Compare(t) })
	c.samples = append(slices.Delete(c.samples, 0, old), s)
}

// standing is what a server is at present. One that calls itself primary and is not
// chosen is unknown, and so is a standby that is not known to follow the primary, or the
// last one that there was.
func (c *cluster) standing(i int) standing {
	m := c.members[i]
	switch {
	case i == c.chosen:
		return primary
	case m.known && m.last.recovering && !m.strange && m.last.timeline == c.timeline && m.last.system == c.system:
		return standby
	default:
		return unknown
	}
}

// asOf is a moment before which everything committed is shown by a server, as late as is
// known; zero = none is known.
func (c *cluster) asOf(i int) time.Time {
	switch c.standing(i) {
	case primary:
		return c.members[i].last.sent
	case standby:
		replayed := c.members[i].last.position
		after, _ := slices.BinarySearchFunc(c.samples, replayed, func(s sample, position uint64) int {
			if s.position <= position {
				return -1
			}
			return 1
		})
		if after > 0 {
			return c.samples[after-1].at
		}
	}
	return time.Time{}
}
