package people

import (
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// Scramble gives the values of some rows of a table, of each attribute, to one another.
func (m *Maintained) Scramble(table int, rows []incremental.RecordID, random *rand.Rand) {
	t := m.relation(table)
	for a := range t.attributes {
		random.Shuffle(len(rows), func(i, j int) {
			x, y := t.cells.Row(t.find(rows[i])), t.cells.Row(t.find(rows[j]))
			x[a], y[a] = y[a], x[a]
		})
	}
}
