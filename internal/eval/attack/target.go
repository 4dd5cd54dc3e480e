package attack

import "math/rand/v2"

// target is somebody whose sensitive value is guessed: the last that it was.
type target struct {
	record int32
	kind   kind
}

// targets draws people of each kind, as many as asked for or as there are.
func (w *world) targets(seed uint64, number int) []target {
	random := rand.New(rand.NewPCG(seed, 3))
	drawn := [kinds]int{}
	var targets []target
	for _, id := range random.Perm(len(w.lives)) {
		k := w.lives[id].kind
		if k == kinds || drawn[k] == number {
			continue
		}
		drawn[k]++
		targets = append(targets, target{int32(id), k})
	}
	return targets
}

func (w *world) truth(t target) uint32 { return w.lives[t.record].last().value }

// distribution is what somebody believes about a sensitive value: a weight for each,
// together 1, or nil for no belief.
type distribution []float64

// normalized has the weights add up to 1; without any weight it is nil.
func (d distribution) normalized() distribution {
	sum := 0.0
	for _, x := range d {
		sum += x
	}
	if sum <= 0 {
		return nil
	}
	scaled := make(distribution, len(d))
	for i, x := range d {
		scaled[i] = x / sum
	}
	return scaled
}

// draw a value.
func (d distribution) draw(random *rand.Rand) uint32 {
	u, value := random.Float64(), uint32(0)
	for int(value) < len(d)-1 && u >= d[value] {
		u -= d[value]
		value++
	}
	return value
}

// most is the greatest weight.
func (d distribution) most() float64 {
	most := 0.0
	for _, x := range d {
		most = max(most, x)
	}
	return most
}

// chance that a guess of the likeliest value is right; among equals it is drawn.
func (d distribution) chance(truth uint32) float64 {
	most, equals := d.most(), 0
	for _, x := range d {
		if x == most {
			equals++
		}
	}
	if d[truth] < most {
		return 0
	}
	return 1 / float64(equals)
}

func (d distribution) addCounts(counts [diagnoses]int, weight float64) {
	for v, n := range counts {
		d[v] += weight * float64(n)
	}
}

// attacker guesses.
type attacker interface {
	name() string
	// proves says that what the attacker believes follows from what it knows. Others
	// jump to conclusions: when they are certain they can be wrong.
	proves() bool
	// guess says what the attacker believes about the target's value; nil if the
	// publication tells nothing, so that only what everybody knows is left.
	guess(t target) distribution
}
