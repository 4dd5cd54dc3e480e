package seeded_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
)

// reference is the paper to the letter over the whole table, without blocks,
// candidates or anything that is fast.
type reference struct {
	table *anonymizer.Table
	k     int
	alpha float64
	only  int // the bounded value, or -1 for all
	low   []float64
	high  []float64
}

func newReference(t *anonymizer.Table, k int, alpha float64, only int) *reference {
	r := &reference{table: t, k: k, alpha: alpha, only: only}
	for a, attribute := range t.Attributes() {
		low, high := math.Inf(1), math.Inf(-1)
		for _, c := range t.Cells(a) {
			low, high = min(low, attribute.Hierarchy.Position(c)), max(high, attribute.Hierarchy.Position(c))
		}
		r.low, r.high = append(r.low, low), append(r.high, high)
	}
	return r
}

// distance of a record from the centroid of a cluster: Adult has numbers without
// NULLs and flat categories.
func (r *reference) distance(record int32, cluster []int32) float64 {
	total := 0.0
	for a, attribute := range r.table.Attributes() {
		cells := r.table.Cells(a)
		if attribute.Hierarchy.Kind() == hierarchy.Numeric {
			mean := 0.0
			for _, m := range cluster {
				mean += cells[m] / float64(len(cluster))
			}
			total += math.Abs(cells[record]-mean) / (r.high[a] - r.low[a])
			continue
		}
		for _, m := range cluster {
			if cells[m] != cells[record] {
				total += 1 / float64(len(cluster))
			}
		}
	}
	return total / float64(len(r.table.Attributes()))
}

func (r *reference) bounded(record int32) (uint32, bool) {
	value := r.table.Sensitive(0)[record]
	return value, r.only < 0 || int(value) == r.only
}

func (r *reference) count(cluster []int32, value uint32) int {
	n := 0
	for _, m := range cluster {
		if r.table.Sensitive(0)[m] == value {
			n++
		}
	}
	return n
}

// stays reports whether the cluster, grown to a size, stays within alpha with one
// more record of the value.
func (r *reference) stays(cluster []int32, record int32, size int) bool {
	value, bounded := r.bounded(record)
	return !bounded || float64(r.count(cluster, value)+1) <= r.alpha*float64(size)+1e-9
}

func argmin(records []int32, cost func(int32) float64) int {
	best, least := -1, math.Inf(1)
	for i, record := range records {
		if c := cost(record); c < least {
			best, least = i, c
		}
	}
	return best
}

// run clusters from a first seed.
func (r *reference) run(first int) *anonymizer.Release {
	left := make([]int32, r.table.Len())
	existing := map[int32]float64{}
	for i := range left {
		left[i] = int32(i)
		existing[int32(i)] = math.Inf(1)
	}
	var clusters [][]int32
	for next := first; len(left) >= r.k; {
		cluster := []int32{left[next]}
		left = slices.Delete(left, next, next+1)
		for len(cluster) < r.k {
			nearest := argmin(left, func(record int32) float64 {
				if r.only < 0 && !r.stays(cluster, record, r.k) {
					return math.Inf(1)
				}
				return r.distance(record, cluster)
			})
			if nearest < 0 {
				break
			}
			cluster = append(cluster, left[nearest])
			left = slices.Delete(left, nearest, nearest+1)
		}
		if len(cluster) < r.k {
			left = append(left, cluster...)
			break
		}
		clusters = append(clusters, cluster)
		for _, record := range left {
			existing[record] = min(existing[record], r.distance(record, cluster))
		}
		next = argmin(left, func(record int32) float64 { return -existing[record] })
	}
	if r.only >= 0 {
		r.repair(clusters)
	}
	r.attach(clusters, left)
	return r.unite(clusters)
}

// repair exchanges records between clusters, the worst first.
func (r *reference) repair(clusters [][]int32) {
	excess := func(c []int32) float64 { return float64(r.count(c, uint32(r.only))) - r.alpha*float64(len(c)) }
	for {
		worst := 0
		for i := range clusters {
			if excess(clusters[i])/float64(len(clusters[i])) > excess(clusters[worst])/float64(len(clusters[worst])) {
				worst = i
			}
		}
		if excess(clusters[worst]) <= 1e-9 {
			return
		}
		giver := clusters[worst]
		far := argmin(giver, func(m int32) float64 {
			if _, bounded := r.bounded(m); !bounded {
				return math.Inf(1)
			}
			return -r.distance(m, giver)
		})
		taker, least := -1, math.Inf(1)
		for i, c := range clusters {
			if i != worst && r.stays(c, giver[far], len(c)) && r.distance(giver[far], c) < least {
				taker, least = i, r.distance(giver[far], c)
			}
		}
		if taker < 0 {
			return
		}
		back := argmin(clusters[taker], func(m int32) float64 {
			if _, bounded := r.bounded(m); bounded {
				return math.Inf(1)
			}
			return r.distance(m, giver)
		})
		giver[far], clusters[taker][back] = clusters[taker][back], giver[far]
	}
}

func (r *reference) attach(clusters [][]int32, left []int32) {
	for _, record := range left {
		best, least := 0, math.Inf(1)
		for i, c := range clusters {
			if d := r.distance(record, c); r.stays(c, record, len(c)+1) && d < least {
				best, least = i, d
			}
		}
		clusters[best] = append(clusters[best], record)
	}
}

// unite unites violating clusters with the one whose members are nearest.
func (r *reference) unite(clusters [][]int32) *anonymizer.Release {
	for i := 0; i < len(clusters); i++ {
		violates := slices.ContainsFunc(clusters[i], func(m int32) bool {
			value, bounded := r.bounded(m)
			return bounded && float64(r.count(clusters[i], value)) > r.alpha*float64(len(clusters[i]))+1e-9
		})
		if !violates || len(clusters) == 1 {
			continue
		}
		best, least := -1, math.Inf(1)
		for j := range clusters {
			if d := r.distance(clusters[j][0], clusters[i]); j != i && d < least {
				best, least = j, d
			}
		}
		clusters[best] = append(clusters[best], clusters[i]...)
		clusters = slices.Delete(clusters, i, i+1)
		i = -1
	}
	release := &anonymizer.Release{}
	for _, c := range clusters {
		release.Classes = append(release.Classes, c)
	}
	return release
}

// sample takes records from all over the table.
func sample(t testing.TB, table *anonymizer.Table, records int) *anonymizer.Table {
	t.Helper()
	step := table.Len() / records
	cells := make([][]hierarchy.Cell, len(table.Attributes()))
	var sensitive []uint32
	for i := range records {
		for a := range cells {
			cells[a] = append(cells[a], table.Cells(a)[i*step])
		}
		sensitive = append(sensitive, table.Sensitive(0)[i*step])
	}
	part, err := anonymizer.NewTable(table.Attributes(), cells, [][]uint32{sensitive})
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// TestLossOfTheReference holds the methods to at most 2 % more loss than the
// reference has, over three first seeds each.
func TestLossOfTheReference(t *testing.T) {
	t.Parallel()
	records := 3000
	if testing.Short() {
		records = 1000
	}
	table := sample(t, adult(t), records)
	for _, m := range methods {
		only := -1
		if !m.Multi {
			only = 0
		}
		naive, fast := 0.0, 0.0
		for i := range 3 {
			r := newReference(table, 20, 0.2, only).run(i * 317)
			for _, class := range r.Classes {
				if !m.constraints.Satisfied(table.Summarize(class), table.Population()) {
					t.Fatalf("%s: the reference violates %v", m.Name(), m.constraints)
				}
			}
			naive += metric.GCP(table, r) / 3
			fast += metric.GCP(table, anonymize(t, m.AlphaK, table, m.constraints, uint64(i))) / 3
		}
		t.Logf("%s, %d records: GCP %.2f %%, reference %.2f %%", m.Name(), records, 100*fast, 100*naive)
		if fast > 1.02*naive {
			t.Errorf("%s: GCP %.4f, reference %.4f", m.Name(), fast, naive)
		}
	}
}
