package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a moment, in seconds.
func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// identity is that of one start of a server.
func identity(started string) Identity { return Identity{System: "7", Database: "5", Started: started} }

// refers makes a reference of server a that was asked for and answered at once, and whose
// releases show all that it has.
func refers(seconds float64, number, flushed uint64) Reference {
	return Reference{
		Identity: identity("a"), Timeline: 1, Sent: at(seconds), Got: at(seconds),
		Process: "p", Heartbeat: number, Flushed: flushed, Applied: flushed,
	}
}

// says makes the reading of a standby likewise.
func says(seconds float64, started string, position, heartbeat uint64) reading {
	return reading{
		Identity: identity(started), sent: at(seconds), got: at(seconds), recovering: true,
		position: position, timeline: 1, process: "p", heartbeat: heartbeat,
	}
}

// writes is the reading of a server that calls itself primary.
func writes(seconds float64, started string, timeline uint64) reading {
	r := says(seconds, started, 0, 0)
	r.recovering, r.timeline = false, timeline
	return r
}

// expect compares what is known of the servers: P primary, S standby, R secondPrimary, D diverged,
// F foreign, ? unknown, and the second up to which they show everything.
func expect(t *testing.T, c *cluster, want ...string) {
	t.Helper()
	for i := range c.members {
		got := map[hostRole]string{primary: "P", standby: "S", secondPrimary: "R", diverged: "D", foreign: "F", unknown: "?"}[c.role(i)]
		if shows := c.shows(i); !shows.IsZero() {
			got += fmt.Sprint(shows.Sub(start).Seconds())
		}
		if got != want[i] {
			t.Errorf("server %d is %s, want %s", i, got, want[i])
		}
	}
}

func clusterOf(size int) *cluster {
	h := &history{}
	h.reach(time.Minute)
	return newCluster(size, h)
}

func TestStandbyIsAsFreshAsTheHeartbeatThatItShows(t *testing.T) {
	t.Parallel()
	c := clusterOf(2)
	expect(t, c, "?", "?")
	c.observe(0, writes(0, "a", 1))
	c.observe(1, says(0, "b", 100, 1))
	expect(t, c, "?", "?") // of whom?
	c.refer(refers(1, 1, 200))
	expect(t, c, "P1", "S1")
	c.refer(refers(2, 2, 300))
	expect(t, c, "P2", "S1")
	c.observe(1, says(2.5, "b", 250, 2))
	expect(t, c, "P2", "S2")
	late := refers(3, 3, 400)
	late.Applied = 300 // the stream stands still
	c.refer(late)
	c.observe(1, says(3.5, "b", 400, 3))
	expect(t, c, "P2", "S2")
	late = refers(4, 4, 500)
	late.Applied = 0 // and nothing is known of it
	c.refer(late)
	c.observe(1, says(4.5, "b", 500, 4))
	expect(t, c, "P2", "S2")
	c.lost(0)
	c.lost(1)
	expect(t, c, "P2", "S2") // it stays what it was
	idle := refers(5, 5, 500)
	c.refer(idle)
	expect(t, c, "P5", "S2")
}

// TestRefutes has standbys that have replayed a log up to all positions: that of the reference
// held its heartbeats there, and a log that did not is another one.
func TestRefutes(t *testing.T) {
	t.Parallel()
	const references, length = 5, 100 // of the log between two
	for position := uint64(50); position < (references+2)*length; position += 50 {
		for number := uint64(0); number <= references; number++ {
			c := clusterOf(1)
			for i := uint64(1); i <= references; i++ {
				c.refer(refers(float64(i), i, i*length))
			}
			held := min(position/length, references) // heartbeats, before that position
			if got := c.refutes(position, number); got != (number < held) {
				t.Errorf("heartbeat %d at %d is refuted: %v, though there were %d", number, position, got, held)
			}
			c.observe(0, says(references+1, "b", position, number))
			if strange := c.members[0].strange; strange != (number < held) {
				t.Errorf("a standby with heartbeat %d at %d follows another primary: %v, though there were %d", number, position, strange, held)
			}
		}
	}
}

// TestNothingIsServedThatDoesNotFollow has servers that follow nobody, or somebody else.
func TestNothingIsServedThatDoesNotFollow(t *testing.T) {
	t.Parallel()
	c := clusterOf(3)
	c.refer(refers(1, 1, 200))
	c.observe(0, writes(1, "a", 1))
	c.observe(1, says(1, "b", 150, 1))
	c.observe(2, says(1, "c", 150, 0)) // it shows nothing of this process yet
	expect(t, c, "P1", "S1", "?")

	c.observe(1, writes(2, "b", 2)) // promoted, while the other one lives
	expect(t, c, "P1", "R", "?")
	c.lost(1) // and stopped
	expect(t, c, "P1", "?", "?")
	same := writes(2, "b", 1) // or just started as a primary
	c.observe(1, same)
	expect(t, c, "P1", "?", "?")
	c.observe(2, says(2, "c", 300, 1)) // and the third follows it: it has more of a log
	c.refer(refers(3, 2, 250))         // than there is
	expect(t, c, "P3", "R", "D")
	c.observe(2, says(3, "c", 300, 1))
	expect(t, c, "P3", "R", "D")
	c.lost(2)
	c.observe(2, says(4, "d", 250, 2)) // it has been started again, as a copy of the first
	expect(t, c, "P3", "R", "S3")
	c.observe(2, says(4, "d", 260, 1)) // it has replayed what the second heartbeat is in, and lacks it
	expect(t, c, "P3", "R", "D")

	other := says(5, "e", 250, 2)
	other.timeline = 2
	c.observe(2, other)
	expect(t, c, "P3", "R", "D")
	other = says(5, "e", 250, 2)
	other.System = "8"
	c.observe(2, other)
	c.observe(1, says(5, "b", 250, 2)) // demoted
	expect(t, c, "P3", "S3", "F")
	other = says(5, "e", 250, 2)
	other.Database = "6"
	c.observe(2, other)
	expect(t, c, "P3", "S3", "F")
}

// TestFailover has the owner's name lead to a promoted standby, and back.
func TestFailover(t *testing.T) {
	t.Parallel()
	c := clusterOf(3)
	c.refer(refers(1, 1, 200))
	c.observe(0, writes(1, "a", 1))
	c.observe(1, says(1, "b", 200, 1))
	c.observe(2, says(1, "c", 150, 1))
	c.observe(1, writes(2, "b", 2))
	expect(t, c, "P1", "R", "S1")
	now := refers(3, 1, 180)
	now.Identity, now.Timeline, now.Process = identity("b"), 2, "q"
	c.refer(now)
	expect(t, c, "?", "P3", "?") // the first may be the new server's past
	c.observe(0, writes(3.2, "a", 1))
	now.Sent, now.Got, now.Heartbeat, now.Flushed = at(3.4), at(3.4), 2, 190
	c.refer(now)
	expect(t, c, "R", "P3", "?")
	follower := says(4, "c", 180, 1)
	follower.process = "q"
	c.observe(2, follower) // its control file tells of the timeline later
	expect(t, c, "R", "P3", "S3")
	back := refers(5, 1, 220)
	back.Process = "r"
	c.refer(back) // the lower timeline
	expect(t, c, "P5", "R", "?")
}

// TestRestartIsNoSecondPrimary has the one server restart: the reading or the reference that
// is older names the server as it was before.
func TestRestartIsNoSecondPrimary(t *testing.T) {
	t.Parallel()
	again := refers(4, 2, 300)
	again.Identity = identity("a2")
	for _, referredFirst := range []bool{false, true} {
		c := clusterOf(1)
		c.refer(refers(1, 1, 200))
		c.observe(0, writes(2, "a", 1))
		expect(t, c, "P1")
		if referredFirst {
			c.refer(again)
			expect(t, c, "?")
			c.observe(0, writes(5, "a2", 1))
		} else {
			c.observe(0, writes(3, "a2", 1))
			expect(t, c, "?")
			c.refer(refers(2.5, 1, 200)) // asked before, and answered late
			expect(t, c, "?")
			c.refer(again)
		}
		expect(t, c, "P4")
	}
}

func TestRequirement(t *testing.T) {
	t.Parallel()
	c := clusterOf(2)
	complete := func(want ...bool) {
		t.Helper()
		for i := range want {
			if got := c.complete(i); got != want[i] {
				t.Errorf("server %d shows what it must: %v", i, got)
			}
		}
	}
	complete(false, false)
	c.refer(refers(1, 1, 100))
	c.observe(0, writes(1, "a", 1))
	c.observe(1, says(1, "b", 100, 1))
	complete(true, true)
	c.require(at(2))
	complete(true, false)
	c.refer(refers(1.5, 2, 200)) // asked before
	c.observe(1, says(2.1, "b", 250, 2))
	complete(true, false)
	c.refer(refers(2.2, 3, 300))
	complete(true, false)
	c.observe(1, says(2.3, "b", 250, 3))
	complete(true, true)
	c.observe(0, writes(3, "z", 2))
	complete(false, true)
}

func TestSamplesAreBounded(t *testing.T) {
	t.Parallel()
	c := clusterOf(1)
	for i := range 100_000 {
		c.refer(refers(float64(i)/50, uint64(i), uint64(i)))
	}
	if n := len(c.samples); n < 900 || n > 2100 {
		t.Errorf("%d samples", n)
	}
	if first := c.samples[0].at; at(99_999.0/50).Sub(first) > time.Minute+time.Second {
		t.Error(first)
	}
}

// TestShowsIsNeverTooLate simulates a primary whose releases follow its tables, standbys that
// follow it, answers that take long, and promotions after which some follow the former
// primary, or none, while the process writes to the one or to the other. What a server is
// said to show must be there.
func TestShowsIsNeverTooLate(t *testing.T) {
	t.Parallel()
	claims := map[hostRole]int{}
	for seed := range uint64(300) {
		simulate(t, rand.New(rand.NewPCG(seed, 3)), claims)
	}
	if claims[primary] < 10_000 || claims[standby] < 10_000 {
		t.Errorf("%v claims were made", claims)
	}
}

// entry is what stands at a place of a log: a change of the source that was committed at a
// moment, an apply of all changes up to a place, or a heartbeat.
type entry struct {
	moment   float64 // 0 = it is no change
	applied  int     // places
	process  string
	number   uint64
	timeline uint64
}

// simulated is a server: a log, of which it has replayed a part.
type simulated struct {
	log      *[]entry
	standby  bool
	timeline uint64
	started  int
	replayed int
}

// view is what the server shows: up to where changes are applied, and a process's heartbeat.
func (s *simulated) view(process string) (applied int, heartbeat uint64) {
	for _, e := range (*s.log)[:s.replayed] {
		applied = max(applied, e.applied)
		if e.process == process && process != "" {
			heartbeat = max(heartbeat, e.number)
		}
	}
	return applied, heartbeat
}

func (s *simulated) write(e entry) {
	e.timeline = s.timeline
	*s.log = append(*s.log, e)
	s.replayed = len(*s.log)
}

func simulate(t *testing.T, r *rand.Rand, claims map[hostRole]int) {
	c := clusterOf(3)
	servers := make([]*simulated, 3)
	log := &[]entry{}
	for i := range servers {
		servers[i] = &simulated{log: log, standby: i > 0, timeline: 1, started: i}
	}
	owner, process, number, timelines := 0, "p0", uint64(0), uint64(1)
	now := 1.0
	type pending struct {
		server int
		due    float64
		reading
	}
	var asked []pending
	for range 400 {
		now += r.Float64() / 10
		i := r.IntN(3)
		s := servers[i]
		switch r.IntN(8) {
		case 0: // every primary has changes, also those that nobody asked for
			for _, p := range servers {
				if !p.standby && r.IntN(3) > 0 {
					p.write(entry{moment: now})
				}
			}
		case 1: // the releases of the owner's server follow
			if o := servers[owner]; r.IntN(3) > 0 {
				o.write(entry{applied: o.replayed})
			}
		case 2, 3:
			if s.standby {
				s.replayed += r.IntN(len(*s.log) - s.replayed + 1)
			}
		case 4:
			_, beat := s.view(process)
			asked = append(asked, pending{i, now + r.Float64(), reading{
				Identity: Identity{"7", "5", fmt.Sprint(s.started)}, sent: at(now - r.Float64()/10), recovering: s.standby,
				position: uint64(s.replayed), timeline: max(1, s.timeline), process: process, heartbeat: beat,
			}})
		case 5:
			o := servers[owner]
			applied, _ := o.view("")
			number++
			ref := Reference{
				Identity: Identity{"7", "5", fmt.Sprint(o.started)}, Timeline: o.timeline, Sent: at(now), Got: at(now + r.Float64()/20),
				Process: process, Heartbeat: number, Applied: uint64(applied),
			}
			o.write(entry{process: process, number: number})
			ref.Flushed = uint64(o.replayed)
			c.refer(ref)
		default:
			if s.standby && r.IntN(25) == 0 { // a promotion
				timelines++
				forked := append([]entry(nil), (*s.log)[:s.replayed]...)
				former := s.log
				s.standby, s.log, s.timeline = false, &forked, timelines
				for _, other := range servers {
					if other.standby && other.log == former && other.replayed <= len(forked) && r.IntN(2) == 0 {
						other.log, other.timeline = s.log, s.timeline
					}
				}
				if r.IntN(2) == 0 { // which the operator means
					owner, process = i, fmt.Sprint("p", now)
				}
			}
		}
		rest := asked[:0]
		for _, p := range asked {
			if p.due > now {
				rest = append(rest, p)
				continue
			}
			if p.got = at(now); r.IntN(20) == 0 {
				c.lost(p.server)
			} else {
				c.observe(p.server, p.reading)
			}
		}
		asked = rest
		if c.last.Process != process {
			continue // of what the operator has done it learns in a moment
		}
		testShown(t, c, servers, owner, now, claims)
	}
}

// testShown compares what servers are said to show with what they do.
func testShown(t *testing.T, c *cluster, servers []*simulated, owner int, now float64, claims map[hostRole]int) {
	t.Helper()
	truth := *servers[owner].log
	for i, s := range servers {
		shows := c.shows(i)
		if shows.IsZero() {
			continue
		}
		claims[c.role(i)]++
		applied, _ := s.view("")
		for place, e := range truth {
			if e.moment != 0 && at(e.moment).Before(shows) && (place >= applied || (*s.log)[place] != e) {
				t.Fatalf("at %v server %d, %v, is said to show all up to %v, and lacks the change of %v", now, i, c.role(i), shows.Sub(start), e.moment)
			}
		}
	}
}
