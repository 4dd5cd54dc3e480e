package recoding

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// reference is the paper's algorithms taken literally, on records and with maps,
// with the errors of the print corrected. Levels of a withheld record are nil.
type reference struct {
	data    *workload.Data
	ladders []hierarchy.Levels
	levels  []uint8
}

func newReference(d *workload.Data) *reference {
	r := &reference{data: d, levels: make([]uint8, len(d.Attributes))}
	for a, attribute := range d.Attributes {
		r.ladders = append(r.ladders, hierarchy.LevelsOf(attribute.Hierarchy, d.Cells[a]))
	}
	return r
}

func (r *reference) node(a int, i int32) string {
	return fmt.Sprint(r.ladders[a].Node(r.data.Cells[a][i], int(r.levels[a])))
}

// generalize raises the attribute with the most different nodes; false at the
// top.
func (r *reference) generalize(left []int32) bool {
	best, most := -1, 0
	for a, l := range r.ladders {
		different := map[string]bool{}
		for _, i := range left {
			different[r.node(a, i)] = true
		}
		if int(r.levels[a]) < l.Height() && len(different) > most {
			best, most = a, len(different)
		}
	}
	if best >= 0 {
		r.levels[best]++
	}
	return best >= 0
}

// sift drops violating records until none is left.
func (r *reference) sift(candidates []int32, c privacy.ConstraintSet) (done []int32) {
	for {
		bad := violators(r.data, c, candidates, r.node)
		if bad == nil {
			return candidates
		}
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(i int32) bool { return slices.Contains(bad, i) })
	}
}

func (r *reference) everyone() []int32 {
	var all []int32
	for i := range r.data.Table().Len() {
		all = append(all, int32(i))
	}
	return all
}

func (r *reference) infeasible(c privacy.ConstraintSet) bool {
	return c.Feasible(r.data.Table().Population().Summary) != nil
}

// filter is Classfly+; rounds gives the constraint sets that are sifted by one
// after the other.
func (r *reference) filter(c privacy.ConstraintSet, rounds []privacy.ConstraintSet) [][]uint8 {
	result := make([][]uint8, r.data.Table().Len())
	left := r.everyone()
	if r.infeasible(c) {
		return result
	}
	for len(left) >= c.K() {
		done := left
		for _, round := range rounds {
			done = r.sift(done, round)
		}
		for _, i := range done {
			result[i] = slices.Clone(r.levels)
		}
		left = slices.DeleteFunc(slices.Clone(left), func(i int32) bool { return slices.Contains(done, i) })
		if len(left) < c.K() || !r.generalize(left) {
			break
		}
	}
	return result
}

// naive replaces <QI, K> by the joint constraint.
func (r *reference) naive(c privacy.ConstraintSet) [][]uint8 {
	joint := privacy.ConstraintSet{}
	for _, constraint := range c {
		if k, counts := constraint.(privacy.KAnonymity); counts {
			constraint = privacy.KAnonymity{K: k.K}
		}
		joint = append(joint, constraint)
	}
	return r.filter(c, []privacy.ConstraintSet{joint})
}

func (r *reference) complete(c privacy.ConstraintSet) [][]uint8 {
	return r.filter(c, []privacy.ConstraintSet{c})
}

func (r *reference) partial(c privacy.ConstraintSet) [][]uint8 {
	ascending := slices.Clone(c)
	slices.SortStableFunc(ascending, func(a, b privacy.Constraint) int { return a.MinRecords() - b.MinRecords() })
	var rounds []privacy.ConstraintSet
	for i := range ascending {
		rounds = append(rounds, ascending[:i+1])
	}
	return r.filter(c, rounds)
}

func (r *reference) datafly(c privacy.ConstraintSet, allowed int) [][]uint8 {
	result := make([][]uint8, r.data.Table().Len())
	if r.infeasible(c) {
		return result
	}
	all := r.everyone()
	for {
		done := r.sift(all, c)
		if len(all)-len(done) <= allowed {
			for _, i := range done {
				result[i] = slices.Clone(r.levels)
			}
			return result
		}
		if !r.generalize(all) {
			return result
		}
	}
}
