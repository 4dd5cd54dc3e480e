package lineage

import "math/rand/v2"

const (
	refusalTrials = 400
	refusalRows   = 50_000
)

// Refused estimates how often a batch of n records violates the constraints, 0 to 1, if they are
// drawn from the records whose rows are published, with the published values: it reveals nothing
// that readers do not know. A batch that violates them is withheld for good. It is 0 if constraints
// count no values, if nothing is published, or if a person can have several rows.
func (l *Lineage) Refused(n int) float64 {
	if !valued(l.rules.constraints) || l.rules.subjects {
		return 0
	}
	random := rand.New(rand.NewPCG(l.options.Seed, uint64(n)))
	rows := l.someRows(random)
	if len(rows) == 0 {
		return 0
	}
	refused := 0
	for range refusalTrials {
		batch := l.rules.newSummary()
		for range n {
			batch.Add(rows[random.IntN(len(rows))])
		}
		if !l.rules.satisfied(batch) {
			refused++
		}
	}
	return float64(refused) / refusalTrials
}

// someRows are the sensitive values of all published rows, or of some that are drawn.
func (l *Lineage) someRows(random *rand.Rand) (rows [][]uint32) {
	seen := 0
	for _, c := range l.released.classes.list {
		if c == nil {
			continue
		}
		for at := range c.rows {
			seen++
			if len(rows) < refusalRows {
				rows = append(rows, l.rules.shown(c, at))
			} else if place := random.IntN(seen); place < refusalRows {
				rows[place] = l.rules.shown(c, at)
			}
		}
	}
	return rows
}
