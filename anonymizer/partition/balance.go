package partition

import (
	"cmp"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// balance tests whether both parts of a cut satisfy the constraints, and exchanges records across
// the cutting line if they do not. Each goroutine has its own.
type balance struct {
	table       *anonymizer.Table
	constraints privacy.ConstraintSet
	strata      *strata
	// present are the strata of the class. By stratum: its records in the
	// class, those on the left, those that are to be there, and those that have
	// to leave from there.
	present                    []int32
	total, left, goal, surplus []int32
	shares                     []rounding
	summary                    privacy.Summary // of a part
	part                       []int32         // records of a part
	tried                      []uint8
	bounds                     []privacy.AlphaBound // of the only sensitive attribute
}

func newBalance(t *anonymizer.Table, c privacy.ConstraintSet, s *strata) *balance {
	counts := make([]int32, 4*len(s.codes))
	of := func(quarter int) []int32 { return counts[quarter*len(s.codes) : (quarter+1)*len(s.codes)] }
	b := &balance{
		table: t, constraints: c, strata: s,
		total: of(0), left: of(1), goal: of(2), surplus: of(3),
		summary: privacy.NewSummary(len(t.Population().Sensitive)),
	}
	for _, constraint := range c {
		if bound, ok := constraint.(privacy.AlphaBound); ok && len(s.columns) == 1 {
			b.bounds = append(b.bounds, bound)
		}
	}
	return b
}

// members are a class as a balance sees it.
type members[number int32 | local] struct {
	numbers []number // of the records, in any order
	strata  []int32  // by number
	records []int32  // indexes into the table, by number
	// along gives the numbers in ascending order of an attribute.
	along func(attribute int) []number
}

// hold takes a class.
func hold[number int32 | local](b *balance, m members[number]) {
	for _, v := range b.present {
		b.total[v] = 0
	}
	b.present = b.present[:0]
	for _, i := range m.numbers {
		v := m.strata[i]
		if b.total[v] == 0 {
			b.present = append(b.present, v)
		}
		b.total[v]++
	}
}

// evenShares is the step at which both parts have the strata in the shares that
// the class has them in; at step 0 they have those of the cut.
const evenShares = 1 << 3

// possible reports whether parts of even shares satisfy the constraints, the left
// one of n records being of that size. What fails then, fails for other shares but
// for the rounding. With subjects shares say little, and all counts as possible.
func (b *balance) possible(n, size int) bool {
	if b.table.Subjects() != nil || len(b.present) < 2 {
		return true
	}
	for _, v := range b.present {
		b.left[v] = 0
	}
	b.aim(n, size, evenShares)
	return b.reached(n, size)
}

// achieve changes the sides of a cut of the class so that both parts satisfy the
// constraints. It goes from the shares of the cut to even ones, step by step and
// no farther than necessary; with a reserve by one step more than necessary, for
// the cuts to come. It reports whether the parts satisfy the constraints, and
// whether a side was changed.
func achieve[number int32 | local](b *balance, m members[number], c cut, sides []uint8, reserve bool) (achieved, changed bool) {
	for _, v := range b.present {
		b.left[v] = 0
	}
	for _, i := range m.numbers {
		b.left[m.strata[i]] += int32(1 - sides[i])
	}
	n := len(m.numbers)
	reserve = reserve && b.table.Subjects() == nil && len(b.present) > 1
	attempt := func(share int) bool {
		b.aim(n, c.size, share)
		if b.table.Subjects() == nil {
			return b.reached(n, c.size)
		}
		b.tried = append(b.tried[:0], sides...)
		exchange(b, m, c, b.tried)
		return reachedBySubjects(b, m, b.tried)
	}
	if attempt(0) && (!reserve || attempt(-1)) {
		return true, false
	}
	if len(b.present) < 2 || !attempt(evenShares) {
		return false, false
	}
	enough := evenShares
	for width := evenShares / 2; width > 0; width /= 2 {
		if attempt(enough - width) {
			enough -= width
		}
	}
	if reserve {
		enough = min(enough+1, evenShares)
	}
	for !attempt(enough) { // the rounding
		enough++
	}
	exchange(b, m, c, sides)
	return true, true
}

// reached reports whether parts satisfy the constraints if the left one has its
// goal; it is of size records of n.
func (b *balance) reached(n, size int) bool {
	return b.partSatisfied(left, size) && b.partSatisfied(right, n-size)
}

func (b *balance) partSatisfied(side uint8, records int) bool {
	if b.exceeds(side, records) {
		return false
	}
	for _, a := range b.strata.columns {
		clear(b.summary.Sensitive[a])
	}
	b.summary.Records = records
	for _, v := range b.present {
		if count := b.partCount(side, v); count > 0 {
			for j, a := range b.strata.columns {
				b.summary.Sensitive[a][b.strata.codes[v][j]] += int(count)
			}
		}
	}
	return b.constraints.Satisfied(b.summary, b.table.Population())
}

func (b *balance) partCount(side uint8, stratum int32) int32 {
	if side == right {
		return b.total[stratum] - b.goal[stratum]
	}
	return b.goal[stratum]
}

// exceeds finds most parts that violate a bound, in a fraction of the time that a
// summary takes.
func (b *balance) exceeds(side uint8, records int) bool {
	for _, bound := range b.bounds {
		most := int32(bound.Most(records))
		for _, v := range b.present {
			if b.partCount(side, v) > most && bound.Binds(b.strata.codes[v][0]) {
				return true
			}
		}
	}
	return false
}

// reachedBySubjects is reached where persons are counted: who they are matters.
func reachedBySubjects[number int32 | local](b *balance, m members[number], sides []uint8) bool {
	for side := range uint8(2) {
		b.part = b.part[:0]
		for _, i := range m.numbers {
			if sides[i] == side {
				b.part = append(b.part, m.records[i])
			}
		}
		if !b.constraints.Satisfied(b.table.Summarize(b.part), b.table.Population()) {
			return false
		}
	}
	return true
}

// rounding is what the goal of a stratum lacks of its share.
type rounding struct {
	stratum int32
	lack    int64
	more    bool // the cut has more than the goal
}

// aim sets the goals at a step between the shares of the cut and even ones; they
// add up to size. Step -1 is beyond the cut, away from even shares; there
// the goals are about the size, which is good for trials alone.
func (b *balance) aim(n, size, share int) {
	scale, rest := int64(n)*evenShares, int64(size)
	b.shares = b.shares[:0]
	for _, v := range b.present {
		exact := int64(b.left[v])*int64(n)*int64(evenShares-share) + int64(b.total[v])*int64(size)*int64(share)
		exact = min(max(0, exact), int64(b.total[v])*scale)
		b.goal[v] = int32(exact / scale)
		rest -= exact / scale
		if lack := exact % scale; lack > 0 {
			b.shares = append(b.shares, rounding{v, lack, b.goal[v] < b.left[v]})
		}
	}
	if rest <= 0 {
		return
	}
	slices.SortFunc(b.shares, func(x, y rounding) int {
		switch {
		case x.lack != y.lack:
			return cmp.Compare(y.lack, x.lack)
		case x.more != y.more && x.more:
			return -1
		case x.more != y.more:
			return 1
		}
		return cmp.Compare(x.stratum, y.stratum)
	})
	for _, r := range b.shares[:min(int(rest), len(b.shares))] {
		b.goal[r.stratum]++
	}
}

// exchange moves the records nearest to the cutting line to the other side until
// the left part has its goal.
func exchange[number int32 | local](b *balance, m members[number], c cut, sides []uint8) {
	moving := false
	for _, v := range b.present {
		b.surplus[v] = b.left[v] - b.goal[v]
		moving = moving || b.surplus[v] != 0
	}
	if !moving {
		return
	}
	along := m.along(c.attribute)
	for _, i := range slices.Backward(along) {
		if v := m.strata[i]; sides[i] == left && b.surplus[v] > 0 {
			sides[i] = right
			b.surplus[v]--
		}
	}
	for _, i := range along {
		if v := m.strata[i]; sides[i] == right && b.surplus[v] < 0 {
			sides[i] = left
			b.surplus[v]++
		}
	}
}
