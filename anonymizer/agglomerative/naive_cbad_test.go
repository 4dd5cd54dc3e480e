package agglomerative_test

import (
	"math"
	"sort"

	"github.com/kproxy/kproxy/anonymizer"
)

// naiveCBAD is algorithm 1 of Yang et al. 2013 with its full matrix, in double
// precision. It shares nothing with the package.
type naiveCBAD struct {
	k, l      int
	records   [][]float64 // S of records
	clusters  [][]float64 // S of clusters
	members   [][]int
	sensitive []uint32
	best      []int // of each cluster: the most similar one, -1 = not known
}

func naiveClasses(t *anonymizer.Table, similarity [][]float64, k, l int) *anonymizer.Release {
	n := &naiveCBAD{k: k, l: l, records: similarity}
	for i, row := range n.records {
		n.clusters = append(n.clusters, append([]float64(nil), row...))
		n.members = append(n.members, []int{i})
		n.best = append(n.best, -1)
	}
	n.agglomerate()
	if l > 1 {
		n.sensitive = t.Sensitive(0)
		for range 5 {
			n.adjust()
		}
		n.mergeViolating()
	}
	r := &anonymizer.Release{}
	for _, m := range n.members {
		if len(m) > 0 {
			class := make(anonymizer.EquivalenceClass, len(m))
			for i, record := range m {
				class[i] = int32(record)
			}
			r.Classes = append(r.Classes, class)
		}
	}
	return r
}

func (n *naiveCBAD) agglomerate() {
	for {
		i, j := n.mostSimilarPair()
		if i < 0 {
			return
		}
		if len(n.members[i])+len(n.members[j]) < 2*n.k {
			n.merge(i, j)
		} else {
			n.exchange(i, j)
		}
		for c, b := range n.best {
			if b == i || b == j || c == i || c == j {
				n.best[c] = -1
			} else if b >= 0 {
				for _, changed := range []int{i, j} {
					if len(n.members[changed]) > 0 && n.clusters[c][changed] > n.clusters[c][b] {
						n.best[c] = changed
						b = changed
					}
				}
			}
		}
	}
}

// mostSimilarPair has a cluster below k first; -1 if there is none.
func (n *naiveCBAD) mostSimilarPair() (int, int) {
	found := -1
	for i, m := range n.members {
		if len(m) == 0 || len(m) >= n.k {
			continue
		}
		if n.best[i] < 0 {
			n.best[i] = n.mostSimilar(i)
		}
		if n.best[i] >= 0 && (found < 0 || n.clusters[i][n.best[i]] > n.clusters[found][n.best[found]]) {
			found = i
		}
	}
	if found < 0 {
		return -1, -1
	}
	return found, n.best[found]
}

func (n *naiveCBAD) mostSimilar(i int) int {
	best := -1
	for j, m := range n.members {
		if j != i && len(m) > 0 && (best < 0 || n.clusters[i][j] > n.clusters[i][best]) {
			best = j
		}
	}
	return best
}

func (n *naiveCBAD) merge(i, j int) {
	ni, nj := float64(len(n.members[i])), float64(len(n.members[j]))
	for c := range n.members {
		if c != i && c != j {
			n.set(i, c, ni/(ni+nj)*n.clusters[i][c]+nj/(ni+nj)*n.clusters[j][c])
		}
	}
	n.members[i] = append(n.members[i], n.members[j]...)
	n.members[j] = nil
}

func (n *naiveCBAD) set(i, j int, s float64) { n.clusters[i][j], n.clusters[j][i] = s, s }

// exchange moves records from j to i until i has k, and updates the matrix by
// the two formulas of section 3.2.1.
func (n *naiveCBAD) exchange(i, j int) {
	donor := n.members[j]
	sort.SliceStable(donor, func(a, b int) bool {
		return n.between([]int{donor[a]}, n.members[i]) > n.between([]int{donor[b]}, n.members[i])
	})
	m := n.k - len(n.members[i])
	moved, left := append([]int(nil), donor[:m]...), append([]int(nil), donor[m:]...)
	ni, nj, nm := float64(len(n.members[i])), float64(len(donor)), float64(m)
	for c, others := range n.members {
		if c != i && c != j && len(others) > 0 {
			s := n.between(moved, others)
			n.set(i, c, ni/(ni+nm)*n.clusters[i][c]+nm/(ni+nm)*s)
			n.set(j, c, (nj*n.clusters[j][c]-nm*s)/(nj-nm))
		}
	}
	n.members[i], n.members[j] = append(n.members[i], moved...), left
	n.set(i, j, n.between(n.members[i], n.members[j]))
}

// between is the mean similarity of two sets of records.
func (n *naiveCBAD) between(these, those []int) float64 {
	sum := 0.0
	for _, i := range these {
		for _, j := range those {
			sum += n.records[i][j]
		}
	}
	return sum / float64(len(these)*len(those))
}

func (n *naiveCBAD) distinct(cluster int) map[uint32]int {
	counts := map[uint32]int{}
	for _, r := range n.members[cluster] {
		counts[n.sensitive[r]]++
	}
	return counts
}

// adjust is one round of section 3.2.2, which lets clusters that give fall
// below k.
func (n *naiveCBAD) adjust() {
	for c, m := range n.members {
		counts := n.distinct(c)
		if len(m) == 0 || len(counts) >= n.l {
			continue
		}
		spare := len(m) > n.k
		for len(counts) < n.l {
			best, from, most := -1, -1, math.Inf(-1)
			for d, others := range n.members {
				for _, r := range others {
					if d == c || counts[n.sensitive[r]] > 0 {
						continue
					}
					if s := n.between([]int{r}, n.members[c]); s > most {
						best, from, most = r, d, s
					}
				}
			}
			if best < 0 {
				return
			}
			n.move(best, from, c)
			counts = n.distinct(c)
		}
		for spare && len(n.members[c]) > n.k {
			n.pushOut(c)
		}
	}
}

// pushOut moves a record of the most frequent value to the most similar other
// cluster.
func (n *naiveCBAD) pushOut(c int) {
	counts := n.distinct(c)
	record := n.members[c][0]
	for _, r := range n.members[c] {
		if counts[n.sensitive[r]] > counts[n.sensitive[record]] {
			record = r
		}
	}
	to, most := -1, math.Inf(-1)
	for d, others := range n.members {
		if d != c && len(others) > 0 {
			if s := n.between([]int{record}, others); s > most {
				to, most = d, s
			}
		}
	}
	n.move(record, c, to)
}

func (n *naiveCBAD) move(record, from, to int) {
	var left []int
	for _, r := range n.members[from] {
		if r != record {
			left = append(left, r)
		}
	}
	n.members[from], n.members[to] = left, append(n.members[to], record)
}

// mergeViolating ends what the adjustment left: the paper repeats it, which may
// never end.
func (n *naiveCBAD) mergeViolating() {
	for c := range n.members {
		for len(n.members[c]) > 0 && (len(n.members[c]) < n.k || len(n.distinct(c)) < n.l) {
			to, most := -1, math.Inf(-1)
			for d, others := range n.members {
				if d != c && len(others) > 0 {
					if s := n.between(n.members[c], others); s > most {
						to, most = d, s
					}
				}
			}
			if to < 0 {
				break
			}
			n.members[c], n.members[to] = append(n.members[c], n.members[to]...), nil
		}
	}
}
