package tally

import (
	"maps"
	"math"
)

// whole is the level of a table. If persons can have several rows, nearly all persons can have lost
// some while many rows are left. It therefore counts persons whose rows have left or come back
// since the last report, not only how many more there are.
type whole struct {
	level
	// moved is how many more rows of a person stand for nobody than at the last report, never 0;
	// kept is what a store has of it. Fewer than k persons have moved after a Settle.
	moved, kept map[uint64]int
}

func newWhole(severalRows bool) whole {
	w := whole{level: newLevel(severalRows)}
	if severalRows {
		w.moved, w.kept = make(map[uint64]int), make(map[uint64]int)
	}
	return w
}

func (w *whole) add(person uint64, rows int) {
	if w.level.add(person, rows); w.moved != nil {
		count(w.moved, person, rows)
	}
}

func (w *whole) vanish(rows []uint64) {
	if w.level.vanish(rows); w.told.Rows == 0 && w.moved != nil {
		w.begin()
	}
}

func (w *whole) next(k int) {
	if w.moved == nil {
		w.level.next(k)
	} else if w.gone.Rows == 0 || len(w.moved) >= k {
		w.told = w.tellable(k)
		w.begin()
	}
}

// begin counts from now on who moves since the last report.
func (w *whole) begin() {
	if clear(w.moved); w.told.Rows == 0 {
		maps.Copy(w.moved, w.of)
	}
}

// Numbers from mover on are those of persons who have moved, in what a store keeps.
const mover = math.MinInt64

// keep records those who have moved that a store does not have yet. As long as nothing is reported,
// these are those who have left.
func (w *whole) keep(to map[int64]Weight) {
	now := w.moved
	if w.told.Rows == 0 {
		now = nil
	}
	for person, rows := range now {
		if w.kept[person] != rows {
			to[mover+int64(person)] = Weight{Told: Count{Rows: rows}}
			w.kept[person] = rows
		}
	}
	for person := range w.kept {
		if now[person] == 0 {
			to[mover+int64(person)] = Weight{}
			delete(w.kept, person)
		}
	}
}

// load takes what a store has.
func (w *whole) load(from map[int64]Weight) {
	w.told, w.stored = from[0].Told, from[0].Told
	if w.moved == nil {
		return
	}
	w.begin()
	for number, weight := range from {
		if number >= mover/2 {
			continue
		}
		person := uint64(number - mover)
		if w.kept[person] = weight.Told.Rows; w.told.Rows > 0 {
			w.moved[person] = weight.Told.Rows
		}
	}
}
