package seeded

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// uniter unites clusters that violate the constraints with near ones: those
// around them in the order of the regions.
type uniter struct {
	*plan
	clusters      []*cluster
	before, after []int // the neighbors in the order that are not united with others
}

// window is the number of clusters that are looked at on either side.
const window = 32

// uniteAll puts every record that is still left into a cluster and gives clusters
// that satisfy the constraints: none where one of all records does not.
func (s *search) uniteAll(ctx context.Context) []*cluster {
	var clusters []*cluster
	for i, r := range s.regions {
		s.attachAnyway(i)
		clusters = append(clusters, r.clusters...)
	}
	for _, c := range clusters {
		c.codes = nil // those of large unions would be long
	}
	if len(clusters) == 0 {
		var all []int32
		for _, r := range s.regions {
			all = append(all, r.left...)
		}
		if len(all) == 0 {
			return nil
		}
		clusters = []*cluster{s.space.newCluster(all)}
	}
	violating := make([]bool, len(clusters))
	cores.Each(len(clusters), func(i int) {
		violating[i] = ctx.Err() == nil && !s.satisfied(s.table.Summarize(clusters[i].members))
	})
	u := &uniter{plan: s.plan, clusters: clusters}
	for i := range clusters {
		u.before, u.after = append(u.before, i-1), append(u.after, i+1)
	}
	for i := range clusters {
		if violating[i] && u.clusters[i] != nil && !u.unite(ctx, i) {
			return nil
		}
	}
	var united []*cluster
	for _, c := range u.clusters {
		if c != nil {
			united = append(united, c)
		}
	}
	return united
}

// attachAnyway lets the records that are left join the nearest cluster even if
// that violates the bound.
func (s *search) attachAnyway(region int) {
	for _, r := range s.regions[region].left {
		s.closed = nil
		if c := s.nearest(r, region, func(*cluster) bool { return true }); c != nil {
			s.space.join(c, r)
		}
	}
}

func (p *plan) satisfied(s privacy.Summary) bool {
	return p.constraints.Satisfied(s, p.table.Population())
}

// unite unites a violating cluster with others until it satisfies the
// constraints, which fails when there are no others or the context ends.
func (u *uniter) unite(ctx context.Context, i int) bool {
	c := u.clusters[i]
	summary, counts := u.table.Summarize(c.members), map[uint32]int{}
	u.count(c, counts, 1)
	for !u.satisfied(summary) {
		partner := u.partner(i, counts)
		if partner < 0 || ctx.Err() != nil {
			return false
		}
		other := u.clusters[partner]
		summary.Merge(u.table.Summarize(other.members))
		u.count(other, counts, 1)
		u.space.join(c, other.members...)
		u.drop(partner)
	}
	return true
}

func (u *uniter) drop(i int) {
	u.clusters[i] = nil
	if before := u.before[i]; before >= 0 {
		u.after[before] = u.after[i]
	}
	if after := u.after[i]; after < len(u.clusters) {
		u.before[after] = u.before[i]
	}
}

// partner is the cluster of the window with which the cluster comes nearest to
// the bound, of several the most similar one; -1 without any other.
func (u *uniter) partner(i int, counts map[uint32]int) int {
	chosen, excess, least := -1, 0, float32(0)
	consider := func(j int) {
		e, d := u.excess(u.clusters[i], u.clusters[j], counts), u.space.between(u.clusters[i], u.clusters[j])
		if chosen < 0 || e < excess || e == excess && d < least {
			chosen, excess, least = j, e, d
		}
	}
	for j, n := u.before[i], 0; j >= 0 && n < window; j, n = u.before[j], n+1 {
		consider(j)
	}
	for j, n := u.after[i], 0; j < len(u.clusters) && n < window; j, n = u.after[j], n+1 {
		consider(j)
	}
	return chosen
}

// count adds the bounded values of a cluster to the counts, or takes them away.
func (u *uniter) count(c *cluster, counts map[uint32]int, times int) {
	for _, r := range c.members {
		if v := u.bound.value(r); v != free {
			counts[v] += times
		}
	}
}

// excess is the number of records beyond the bound that two clusters have
// together; counts are those of c.
func (u *uniter) excess(c, d *cluster, counts map[uint32]int) int {
	u.count(d, counts, 1)
	most, sum := u.bound.most(len(c.members)+len(d.members)), 0
	for _, count := range counts {
		sum += max(0, count-most)
	}
	u.count(d, counts, -1)
	return sum
}
