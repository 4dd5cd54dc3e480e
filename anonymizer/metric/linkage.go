package metric

import (
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer"
)

// Linkage is what a simulated attacker achieves who knows all quasi-identifiers of one person, takes all
// published rows that they fit, and names one of these at random, or the sensitive value that most of them have. Rows
// of other classes can fit, too, so that the chances are at most those of Prosecutor.
type Linkage struct {
	Targets int `json:"targets"` // persons who are attacked, each by one record
	// Highest and Average are the chances, 0 to 1, of naming the right person's row.
	Highest float64 `json:"highest"`
	Average float64 `json:"average"`
	// Guesses are those of each sensitive attribute, in their order.
	Guesses []Guess `json:"guesses"`
}

// Guess is how often a sensitive value is guessed right, 0 to 1, and how often by somebody who always names the most
// frequent value of all published records. Ties are broken at random.
type Guess struct {
	Right    float64 `json:"right"`
	Baseline float64 `json:"baseline"`
}

// Link attacks at most so many published records, drawn by the seed.
func Link(t *anonymizer.Table, r *anonymizer.Release, targets int, seed uint64) Linkage {
	a := newLinking(t, r, targets, seed)
	for e, box := range boxes(r, a.axes, a.over) {
		a.fit(r.Classes[e], box)
	}
	return a.outcome(r)
}

// linking is an attack that goes on.
type linking struct {
	t      *anonymizer.Table
	axes   []*axis
	over   []int
	known  *tree // what is known of the targets
	target []int32
	rows   []int               // of each target, the persons of classes that fit
	values []map[uint32]int    // of each target and sensitive attribute, how many of these rows have which value
	counts []map[uint32]int    // of a class
	tried  map[uint32]struct{} // persons of a class
}

func newLinking(t *anonymizer.Table, r *anonymizer.Release, targets int, seed uint64) *linking {
	a := &linking{t: t, tried: make(map[uint32]struct{})}
	for _, class := range r.Classes {
		a.target = append(a.target, class...)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(a.target), func(i, j int) { a.target[i], a.target[j] = a.target[j], a.target[i] })
	a.target = a.target[:min(targets, len(a.target))]
	points := make([][]int32, len(t.Attributes()))
	for i, attribute := range t.Attributes() {
		x := newAxis(attribute, t.Cells(i), t.Cells(i), r.Levels != nil)
		a.axes, a.over = append(a.axes, x), append(a.over, i)
		for _, record := range a.target {
			points[i] = append(points[i], x.ranks[record])
		}
	}
	a.known = newTree(points, len(a.target))
	a.rows = make([]int, len(a.target))
	a.values = make([]map[uint32]int, len(a.target)*t.SensitiveLen())
	a.counts = make([]map[uint32]int, t.SensitiveLen())
	return a
}

// fit adds a class to what fits the targets within its box.
func (a *linking) fit(class anonymizer.EquivalenceClass, box []span) {
	counted := false
	persons := 0
	a.known.within(box, func(_ int, from, to int32) {
		if !counted {
			counted, persons = true, a.count(class)
		}
		for _, target := range a.known.order[from:to] {
			a.rows[target] += persons
			for s, counts := range a.counts {
				at := int(target)*len(a.counts) + s
				if a.values[at] == nil {
					a.values[at] = make(map[uint32]int)
				}
				for value, n := range counts {
					a.values[at][value] += n
				}
			}
		}
	})
}

// count counts a class's values, and its persons.
func (a *linking) count(class anonymizer.EquivalenceClass) (persons int) {
	for s := range a.counts {
		a.counts[s] = make(map[uint32]int)
		for _, record := range class {
			a.counts[s][a.t.Sensitive(s)[record]]++
		}
	}
	subjects := a.t.Subjects()
	if subjects == nil {
		return len(class)
	}
	clear(a.tried)
	for _, record := range class {
		a.tried[subjects[record]] = struct{}{}
	}
	return len(a.tried)
}

func (a *linking) outcome(r *anonymizer.Release) Linkage {
	l := Linkage{Targets: len(a.target), Guesses: make([]Guess, len(a.counts))}
	for i, record := range a.target {
		chance := 1 / float64(a.rows[i])
		l.Highest = max(l.Highest, chance)
		l.Average += chance / float64(len(a.target))
		for s := range a.counts {
			l.Guesses[s].Right += chanceOf(a.values[i*len(a.counts)+s], a.t.Sensitive(s)[record]) / float64(len(a.target))
		}
	}
	for s := range a.counts {
		whole := make(map[uint32]int)
		published, most := 0, 0
		for _, class := range r.Classes {
			for _, record := range class {
				published++
				whole[a.t.Sensitive(s)[record]]++
				most = max(most, whole[a.t.Sensitive(s)[record]])
			}
		}
		l.Guesses[s].Baseline = float64(most) / float64(max(1, published))
	}
	return l
}

// chanceOf is the chance that the most frequent value is the given one.
func chanceOf(counts map[uint32]int, value uint32) float64 {
	most, tied := 0, 0
	for _, n := range counts {
		switch {
		case n > most:
			most, tied = n, 1
		case n == most:
			tied++
		}
	}
	if counts[value] < most {
		return 0
	}
	return 1 / float64(tied)
}
