package seeded

import "math"

// growth is a cluster that grows. Its candidates are the records nearest to the
// seed, many times more than it takes: the centroid stays near to the seed, and
// so do the records that are nearest to it.
type growth struct {
	*block
	*cluster
	size   int
	places []int32 // of the members in the block

	candidates []int32     // places in the block
	scales     [][]float32 // by attribute, of the candidates
	codes      [][]int32
	unlike     []float32 // sum over members and trees of the distances
	distance   []float32
}

// A cluster of k records has leastCandidates + candidatesEach*k candidates.
const (
	leastCandidates = 256
	candidatesEach  = 4
)

// take makes the record at a place of the block a member.
func (g *growth) take(place int32) {
	g.places = append(g.places, place)
	g.space.join(g.cluster, g.records[place])
	g.block.distance[place] = taken
	if g.quota {
		g.values.take(int(g.values.of[place]))
	}
	for a, column := range g.codes {
		g.space.trees[a].measure(g.block.codes[a][place], column, g.unlike)
	}
}

// taken is the distance of a record that is a member already.
const taken = math.MaxFloat32

// takeNearest takes the candidate nearest to the centroid whose value is not full.
func (g *growth) takeNearest() {
	chosen := g.nearest()
	if chosen < 0 {
		g.gather()
		chosen = g.nearest()
	}
	place := g.candidates[chosen]
	g.drop(chosen)
	g.take(place)
}

func (g *growth) nearest() int {
	size := float32(len(g.members))
	for i, unlike := range g.unlike {
		g.distance[i] = unlike / size
	}
	for a, column := range g.scales {
		g.sums[a].measure(column, g.distance, size)
	}
	chosen, least := -1, float32(math.MaxFloat32)
	for i, d := range g.distance {
		if d < least && !g.values.closed[g.values.of[g.candidates[i]]] {
			chosen, least = i, d
		}
	}
	return chosen
}

// drop removes a candidate; the last one takes its place.
func (g *growth) drop(i int) {
	last := len(g.candidates) - 1
	g.candidates[i], g.candidates = g.candidates[last], g.candidates[:last]
	g.unlike[i], g.unlike = g.unlike[last], g.unlike[:last]
	g.distance = g.distance[:last]
	for a, column := range g.scales {
		column[i], g.scales[a] = column[last], column[:last]
	}
	for a, column := range g.codes {
		column[i], g.codes[a] = column[last], column[:last]
	}
}

// gather makes candidates of the records nearest to the seed whose values are not
// full.
func (g *growth) gather() {
	g.candidates = g.nearestToSeed(leastCandidates + candidatesEach*g.size)
	g.unlike, g.distance = make([]float32, len(g.candidates)), make([]float32, len(g.candidates))
	g.scales, g.codes = g.scales[:0], g.codes[:0]
	for _, column := range g.block.scales {
		g.scales = append(g.scales, pick(column, g.candidates))
	}
	for a, t := range g.space.trees {
		g.codes = append(g.codes, pick(g.block.codes[a], g.candidates))
		for _, place := range g.places {
			t.measure(g.block.codes[a][place], g.codes[a], g.unlike)
		}
	}
}

// steps is the number of intervals in which distances are counted.
const steps = 1024

// unfit is the interval of records that are no candidates.
const unfit = steps + 1

// nearestToSeed gives the places of that many records, or all there are. Those
// whose distances lie in the last interval are taken as they come.
func (g *growth) nearestToSeed(records int) []int32 {
	var counts [steps + 1]int32
	perUnit := steps / g.space.attributes()
	step := g.step[:g.left]
	for i, d := range g.block.distance[:g.left] {
		step[i] = unfit
		if d != taken && !g.values.closed[g.values.of[i]] {
			step[i] = uint16(min(steps, d*perUnit))
			counts[step[i]]++
		}
	}
	last, within := uint16(0), int(counts[0])
	for last < steps && within < records {
		last++
		within += int(counts[last])
	}
	rest := records - (within - int(counts[last]))
	places := make([]int32, 0, min(records, within))
	for i, s := range step {
		if s > last {
			continue
		}
		if s == last {
			if rest--; rest < 0 {
				continue
			}
		}
		places = append(places, int32(i))
	}
	return places
}
