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

// says makes a reading that was asked for and answered at once.
func says(seconds float64, recovering bool, position, timeline uint64) reading {
	return reading{sent: at(seconds), got: at(seconds), recovering: recovering, position: position, timeline: timeline, system: "7"}
}

// expect compares what is known of the servers: P primary, S standby, ? unknown, and with
// P and S the second up to which they show everything.
func expect(t *testing.T, c *cluster, want ...string) {
	t.Helper()
	for i := range c.members {
		got := map[standing]string{primary: "P", standby: "S", unknown: "?"}[c.standing(i)]
		if asOf := c.asOf(i); !asOf.IsZero() {
			got += fmt.Sprint(asOf.Sub(start).Seconds())
		}
		if got != want[i] {
			t.Errorf("server %d is %s, want %s", i, got, want[i])
		}
	}
}

func TestStandbyIsAsFreshAsWhatItHasReplayed(t *testing.T) {
	t.Parallel()
	c := newCluster(2, time.Minute)
	expect(t, c, "?", "?")
	c.observe(1, says(0, true, 100, 1))
	expect(t, c, "?", "?") // of whom?
	c.observe(0, says(1, false, 200, 1))
	expect(t, c, "P1", "S")
	c.observe(1, says(1.5, true, 199, 1))
	expect(t, c, "P1", "S")
	c.observe(1, says(1.6, true, 200, 1))
	expect(t, c, "P1", "S1")
	c.observe(0, says(2, false, 300, 1))
	c.observe(0, says(3, false, 400, 1))
	expect(t, c, "P3", "S1")
	c.observe(1, says(3.5, true, 399, 1))
	expect(t, c, "P3", "S2")
	c.observe(0, says(4, false, 400, 1))
	c.observe(0, says(5, false, 400, 1)) // nothing is written
	c.observe(1, says(5.5, true, 400, 1))
	expect(t, c, "P5", "S5")
	c.lost(0)
	expect(t, c, "?", "S5")
	c.observe(1, says(99, true, 400, 1))
	expect(t, c, "?", "S5") // it does not age less for being asked
	c.lost(1)
	expect(t, c, "?", "?")
	c.observe(0, says(100, false, 500, 1))
	c.observe(1, says(100, true, 500, 1))
	expect(t, c, "P100", "S100")
}

func TestPromotion(t *testing.T) {
	t.Parallel()
	c := newCluster(3, time.Minute)
	c.observe(0, says(1, false, 200, 1))
	c.observe(1, says(1, true, 190, 1))
	c.observe(2, says(1, true, 200, 1))
	c.observe(1, says(2, false, 195, 2))
	expect(t, c, "?", "P2", "?")
	c.observe(0, says(3, false, 300, 1)) // it does not know
	c.observe(2, says(3, true, 300, 1))  // and has a follower
	c.observe(1, says(4, false, 310, 2))
	expect(t, c, "?", "P4", "?")
	c.lost(1)
	c.observe(0, says(5, false, 310, 1))
	expect(t, c, "?", "?", "?")
	c.observe(1, says(6, false, 320, 2))
	c.observe(2, says(7, true, 320, 2))
	expect(t, c, "?", "P6", "?") // it was ahead, so that it cannot follow as it is
	c.lost(2)                    // to be made anew
	c.observe(2, says(7, true, 320, 2))
	expect(t, c, "?", "P6", "S6")
	c.observe(0, says(8, true, 320, 2))
	expect(t, c, "S6", "P6", "S6")
}

func TestRivals(t *testing.T) {
	t.Parallel()
	c := newCluster(3, time.Minute)
	c.observe(0, says(1, false, 200, 2))
	c.observe(2, says(1, true, 200, 2))
	c.observe(1, says(2, false, 210, 2))
	expect(t, c, "?", "?", "S1")
	c.lost(1)
	c.observe(0, says(3, false, 200, 2))
	expect(t, c, "P3", "?", "S3")
	foreign := says(4, false, 900, 9)
	foreign.system = "8"
	c.observe(1, foreign)
	expect(t, c, "?", "?", "S3")
	c.lost(1)
	c.observe(0, says(5, false, 200, 2))
	foreign.recovering, foreign.timeline = true, 2
	c.observe(1, foreign)
	expect(t, c, "P5", "?", "S5")
}

func TestStandbyAheadOfThePrimaryIsStrange(t *testing.T) {
	t.Parallel()
	c := newCluster(2, time.Minute)
	c.observe(0, says(1, false, 200, 2))
	c.observe(1, says(2, true, 300, 2)) // the primary may have written that meanwhile
	expect(t, c, "P1", "S1")
	c.observe(0, says(3, false, 250, 2)) // but it has not
	expect(t, c, "P3", "?")
	c.observe(0, says(4, false, 350, 2))
	c.observe(1, says(5, true, 350, 2))
	expect(t, c, "P4", "?")
	c.lost(1)
	c.observe(1, says(6, true, 350, 2))
	expect(t, c, "P4", "S4")
	c.observe(0, says(7, false, 100, 2)) // a backup in its place
	expect(t, c, "P7", "?")
}

func TestRequirement(t *testing.T) {
	t.Parallel()
	c := newCluster(3, 0)
	complete := func(want ...bool) {
		t.Helper()
		for i := range want {
			if got := c.complete(i); got != want[i] {
				t.Errorf("server %d shows what it must: %v", i, got)
			}
		}
	}
	complete(true, true, true)
	c.observe(0, says(1, false, 200, 1))
	c.observe(1, says(1, true, 100, 1))
	complete(true, true, true)
	c.require(at(2))
	complete(true, false, false)
	c.observe(0, says(1.5, false, 200, 1)) // asked before
	c.observe(1, says(2.1, true, 250, 1))
	complete(true, false, false)
	c.observe(0, says(2.2, false, 300, 1))
	complete(true, false, false)
	c.observe(1, says(2.3, true, 299, 1))
	complete(true, false, false)
	c.observe(0, says(3, false, 400, 1))
	c.observe(1, says(3, true, 300, 1))
	complete(true, true, false)
	c.observe(2, says(4, true, 300, 1))
	complete(true, true, true)
	c.observe(1, says(5, false, 300, 2)) // a promotion: positions are others now
	complete(false, true, false)
	c.observe(2, says(6, true, 300, 2))
	complete(false, true, true)
	c.lost(1)
	complete(false, false, true)

	former := c
	c = newCluster(3, 0)
	c.inherit(former)
	c.observe(1, says(7, false, 500, 2))
	c.observe(2, says(7, true, 300, 2)) // what was needed is needed still, and no more
	complete(false, true, true)
}

func TestSamplesAreBounded(t *testing.T) {
	t.Parallel()
	c := newCluster(1, time.Minute)
	for i := range 100_000 {
		c.observe(0, says(float64(i)/50, false, uint64(i), 1))
	}
	if n := len(c.samples); n < 900 || n > 2100 {
		t.Errorf("%d samples", n)
	}
	if first := c.samples[0].at; at(99_999.0/50).Sub(first) > time.Minute+time.Second {
		t.Error(first)
	}
}

// TestAsOfIsNeverTooLate simulates a primary and standbys that follow it, answers that
// take long, and promotions after which some follow the former primary, or none. What is
// said to be shown by a server must be.
func TestAsOfIsNeverTooLate(t *testing.T) {
	t.Parallel()
	claims := 0
	for seed := range uint64(300) {
		claims += simulate(t, rand.New(rand.NewPCG(seed, 3)))
	}
	if claims < 10_000 {
		t.Errorf("%d claims were made", claims)
	}
}

// simulated is a server: a copy of some branch of the history.
type simulated struct {
	standby  bool
	branch   *branch
	replayed int // commits of the branch
}

// branch is what one primary has committed, on top of what it was promoted with.
type branch struct {
	timeline uint64
	commits  []float64 // moments
}

func simulate(t *testing.T, r *rand.Rand) (claims int) {
	c := newCluster(3, time.Minute)
	truth := &branch{timeline: 1}
	servers := []*simulated{{branch: truth}, {standby: true, branch: truth}, {standby: true, branch: truth}}
	now := 1.0
	type pending struct {
		server int
		due    float64
		reading
	}
	var asked []pending
	for range 400 {
		now += r.Float64() / 10
		switch i := r.IntN(3); r.IntN(6) {
		case 0, 1:
			for _, s := range servers { // former primaries go on as well
				if !s.standby && r.IntN(3) > 0 {
					s.branch.commits = append(s.branch.commits, now)
					s.replayed = len(s.branch.commits)
				}
			}
		case 2, 3:
			s := servers[i]
			s.replayed += r.IntN(len(s.branch.commits) - s.replayed + 1)
		case 4:
			s := servers[i]
			asked = append(asked, pending{i, now + r.Float64(), reading{
				sent: at(now - r.Float64()/10), recovering: s.standby, position: 10 * uint64(s.replayed), timeline: s.branch.timeline, system: "7",
			}})
		default:
			if s := servers[i]; s.standby && r.IntN(20) == 0 && s.branch == truth {
				truth = &branch{timeline: truth.timeline + 1, commits: append([]float64(nil), truth.commits[:s.replayed]...)}
				s.standby, s.branch = false, truth
				for _, other := range servers {
					if other.standby && other.replayed <= len(truth.commits) && r.IntN(2) == 0 {
						other.branch = truth
					}
				}
			}
		}
		rest := asked[:0]
		for _, p := range asked {
			if p.due > now {
				rest = append(rest, p)
				continue
			}
			p.got = at(now)
			if r.IntN(20) == 0 {
				c.lost(p.server)
			} else {
				c.observe(p.server, p.reading)
			}
		}
		asked = rest
		for i, s := range servers {
			asOf := c.asOf(i)
			if asOf.IsZero() || c.timeline != truth.timeline { // of a promotion it learns later
				continue
			}
			claims++
			for n, moment := range truth.commits {
				if at(moment).Before(asOf) && (s.branch != truth || n >= s.replayed) {
					t.Fatalf("at %v server %d is said to show all up to %v, and lacks commit %d of %v", now, i, asOf.Sub(start), n, moment)
				}
			}
		}
	}
	return claims
}
