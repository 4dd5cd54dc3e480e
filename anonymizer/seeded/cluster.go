package seeded

import (
	"math"
	"slices"
)

// cluster is a class in the making, with its centroid.
type cluster struct {
	members []int32
	sums    []sum     // by scale
	codes   [][]tally // by tree; nil while nobody compares records with it
}

// tally is how many members have a code.
type tally struct{ code, records int32 }

// sum makes the mean of the members that are on the scale.
type sum struct {
	of float64
	on int
}

func (s *space) newCluster(members []int32) *cluster {
	c := &cluster{members: members, sums: make([]sum, len(s.scales))}
	for _, r := range members {
		s.weigh(c, r, 1)
	}
	return c
}

// weigh adds a record to the centroid (1) or takes it away (-1).
func (s *space) weigh(c *cluster, record int32, times int) {
	for a, scale := range s.scales {
		c.sums[a].add(scale.at[record], times)
	}
}

// count makes the comparison of records with the cluster cheap: near members have
// few codes, and these stand together in memory.
func (s *space) count(c *cluster) {
	c.codes = make([][]tally, len(s.trees))
	for a, t := range s.trees {
		codes := pick(t.codes, c.members)
		slices.Sort(codes)
		for i, code := range codes {
			if i == 0 || code != codes[i-1] {
				c.codes[a] = append(c.codes[a], tally{code: code})
			}
			c.codes[a][len(c.codes[a])-1].records++
		}
	}
}

// recount adds a record to the codes of a counted cluster (1) or takes it away (-1).
func (s *space) recount(c *cluster, record, times int32) {
	for a, tallies := range c.codes {
		code := s.trees[a].codes[record]
		i := slices.IndexFunc(tallies, func(t tally) bool { return t.code == code })
		if i < 0 {
			i, tallies = len(tallies), append(tallies, tally{code: code})
		}
		if tallies[i].records += times; tallies[i].records == 0 {
			tallies = slices.Delete(tallies, i, i+1)
		}
		c.codes[a] = tallies
	}
}

func (s *sum) add(x float32, times int) {
	if x == x {
		s.of += float64(times) * float64(x)
		s.on += times
	}
}

func (s *space) join(c *cluster, records ...int32) {
	c.members = append(c.members, records...)
	for _, r := range records {
		s.weigh(c, r, 1)
		s.recount(c, r, 1)
	}
}

// replace puts one record in the place of another.
func (s *space) replace(c *cluster, leaving, coming int32) {
	c.members[slices.Index(c.members, leaving)] = coming
	s.weigh(c, leaving, -1)
	s.weigh(c, coming, 1)
	s.recount(c, leaving, -1)
	s.recount(c, coming, 1)
}

// distance of a record from the centroid of a cluster.
func (s *space) distance(record int32, c *cluster) float32 {
	d, _ := s.distanceBelow(record, c, math.MaxFloat32)
	return d
}

// distanceBelow is the distance of a record from the centroid of a cluster if it
// is below a limit.
func (s *space) distanceBelow(record int32, c *cluster, limit float32) (distance float32, below bool) {
	size, share := float32(len(c.members)), 1/s.attributes()
	for a, scale := range s.scales {
		distance += share * c.sums[a].distance(scale.at[record], size)
	}
	for a, t := range s.trees {
		if distance >= limit {
			return 0, false
		}
		code, unlike := t.codes[record], float32(0)
		if c.codes == nil {
			for _, r := range c.members {
				unlike += t.distance(code, t.codes[r])
			}
		} else {
			for _, other := range c.codes[a] {
				unlike += float32(other.records) * t.distance(code, other.code)
			}
		}
		distance += share * unlike / size
	}
	return distance, distance < limit
}

func (s sum) distance(x, size float32) float32 {
	on := float32(s.on) / size
	switch {
	case x != x:
		return on
	case s.on == 0:
		return 1
	}
	return on*abs(x-s.mean()) + (1 - on)
}

// mean of the members on the scale, of which there is at least one.
func (s sum) mean() float32 { return float32(s.of / float64(s.on)) }

func abs(x float32) float32 { return max(x, -x) }

// between is how unlike two clusters are: the mean distance of some records of
// each from the other, so many that large clusters do not make it slow.
func (s *space) between(c, d *cluster) float32 {
	return (s.toSome(c, d) + s.toSome(d, c)) / 2
}

// some is the number of members that stand for a cluster.
const some = 4

func (s *space) toSome(c, d *cluster) float32 {
	sample := &cluster{members: c.members[:min(len(c.members), some)], sums: make([]sum, len(s.scales))}
	for _, r := range sample.members {
		s.weigh(sample, r, 1)
	}
	total := float32(0)
	others := d.members[:min(len(d.members), some)]
	for _, r := range others {
		total += s.distance(r, sample)
	}
	return total / float32(len(others))
}
