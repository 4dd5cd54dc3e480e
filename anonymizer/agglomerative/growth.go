package agglomerative

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// growth is BottomUp inside a block. A class is a slot: its records, what they
// cover and whether they satisfy the constraints. A slot without records is
// free.
//
// The records of a block come in the order of a tree of cuts, so neighboring
// slots lie near to each other. What hoodSize of them cover together tells, for
// most classes, that none of these can be the nearest one.
type growth struct {
	*run
	places   positions
	members  [][]int32
	boxes    []extent // attribute by attribute of one slot after the other
	finished []bool
	hoods    []extent // alike, of hoodSize slots after the other
}

// hoodSize is the number of slots in a neighborhood.
const hoodSize = 32

func (g *growth) cluster(ctx context.Context, block anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass {
	g.start(block)
	random := rand.New(rand.NewPCG(g.options.Seed, uint64(block[0])))
	for g.round(ctx, random) {
		g.dropFree()
	}
	g.dropFree()
	classes := make([]anonymizer.EquivalenceClass, len(g.members))
	for i, m := range g.members {
		classes[i] = m
	}
	return classes
}

// start makes a class of every record.
func (g *growth) start(block []int32) {
	g.members, g.boxes, g.finished = g.members[:0], g.boxes[:0], g.finished[:0]
	for i, r := range block {
		class := block[i : i+1 : i+1]
		g.members = append(g.members, class)
		g.boxes = append(g.boxes, g.places.around(r)...)
		g.finished = append(g.finished, g.satisfied(class))
	}
	g.coverHoods()
}

func (g *growth) box(slot int) box {
	d := len(g.places)
	return g.boxes[slot*d : slot*d+d : slot*d+d]
}

// round unites every unfinished class that is there at its begin with its
// nearest one, and reports whether another round is due. What a class takes in
// ends in its slot, so no class is visited twice. In a random order, more classes
// than from neighbor to neighbor take in one that has grown in the same round;
// sizes stay mixed, and fewer classes double beyond what k asks for.
func (g *growth) round(ctx context.Context, random *rand.Rand) (unfinished bool) {
	for _, slot := range random.Perm(len(g.members)) {
		if g.members[slot] == nil || g.finished[slot] {
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		partner := g.nearest(slot)
		if partner < 0 {
			return false
		}
		g.unite(slot, partner)
		unfinished = unfinished || !g.finished[slot]
	}
	return unfinished
}

// nearest is the slot that gives the lowest NCP of the union, -1 if there is no
// other: in the own neighborhood, then in all others.
func (g *growth) nearest(slot int) int {
	d, own := len(g.places), g.box(slot)
	best, least := -1, float32(math.Inf(1))
	scan := func(hood int) {
		for i := hood * hoodSize; i < min((hood+1)*hoodSize, len(g.members)); i++ {
			if loss := penalty(own, g.boxes[i*d:], least); loss < least && i != slot && g.members[i] != nil {
				best, least = i, loss
			}
		}
	}
	home := slot / hoodSize
	scan(home)
	for hood := range (len(g.members) + hoodSize - 1) / hoodSize {
		if hood != home && leastPenalty(own, g.hoods[hood*d:], least) < least {
			scan(hood)
		}
	}
	return best
}

// hood is what the neighborhood of a slot covers, or more.
func (g *growth) hood(slot int) box {
	d, hood := len(g.places), slot/hoodSize
	return g.hoods[hood*d : hood*d+d : hood*d+d]
}

func (g *growth) coverHoods() {
	g.hoods = g.hoods[:0]
	for slot := range g.members {
		if slot%hoodSize == 0 {
			g.hoods = append(g.hoods, g.box(slot)...)
		}
		g.hood(slot).include(g.box(slot))
	}
}

// unite moves the partner's records to the slot and divides the union again
// where it is large.
func (g *growth) unite(slot, partner int) {
	union := slices.Concat(g.members[slot], g.members[partner])
	g.box(slot).include(g.box(partner))
	g.hood(slot).include(g.box(slot))
	g.members[slot], g.members[partner] = union, nil
	g.finished[slot] = g.satisfied(union)
	if len(union) < 2*g.k || !g.finished[slot] {
		return
	}
	left, right := g.split(union)
	if g.satisfied(left) && g.satisfied(right) {
		g.put(slot, left)
		g.put(partner, right)
	}
}

func (g *growth) put(slot int, class []int32) {
	g.members[slot], g.finished[slot] = class, true
	copy(g.box(slot), g.places.cover(class))
	g.hood(slot).include(g.box(slot))
}

// split divides at least 2k records into two classes of at least k. As in the
// paper's top-down method the two parts grow around a pair of records far apart:
// the records are ordered by how much nearer they are to the one than to the
// other, and cut where the parts have the least NCP, weighted by their sizes.
func (g *growth) split(class []int32) (left, right []int32) {
	first := g.farthest(class, class[0])
	second := g.farthest(class, first)
	nearer := make(map[int32]float32, len(class))
	one, other := g.places.around(first), g.places.around(second)
	limit := float32(math.Inf(1))
	for _, r := range class {
		own := g.places.around(r)
		nearer[r] = penalty(one, own, limit) - penalty(other, own, limit)
	}
	class = slices.Clone(class)
	slices.SortFunc(class, func(a, b int32) int {
		return cmp.Or(cmp.Compare(nearer[a], nearer[b]), cmp.Compare(a, b))
	})
	before := g.losses(class)
	slices.Reverse(class)
	after := g.losses(class)
	slices.Reverse(class)
	n, cut := len(class), g.k
	for at := g.k; at <= n-g.k; at++ {
		if before[at]+after[n-at] < before[cut]+after[n-cut] {
			cut = at
		}
	}
	return class[:cut:cut], class[cut:]
}

// farthest is the record that gives the highest NCP with the given one.
func (g *growth) farthest(class []int32, from int32) int32 {
	own, most := g.places.around(from), float32(-1)
	found := from
	for _, r := range class {
		if loss := penalty(own, g.places.around(r), float32(math.Inf(1))); loss > most {
			found, most = r, loss
		}
	}
	return found
}

// losses gives for each number of records the NCP of that many first ones
// together, times their number.
func (g *growth) losses(records []int32) []float32 {
	losses := make([]float32, len(records)+1)
	covered := g.places.around(records[0])
	for i, r := range records {
		covered.include(g.places.around(r))
		losses[i+1] = float32(i+1) * penalty(covered, covered, float32(math.Inf(1)))
	}
	return losses
}

func (g *growth) dropFree() {
	used := 0
	for slot, m := range g.members {
		if m != nil {
			g.members[used], g.finished[used] = m, g.finished[slot]
			copy(g.box(used), g.box(slot))
			used++
		}
	}
	g.members, g.finished = g.members[:used], g.finished[:used]
	g.boxes = g.boxes[:used*len(g.places)]
	g.coverHoods()
}
