package tally

// Count is a number of rows, and of persons whose they are.
type Count struct{ Rows, Persons int }

// level is a count over some rows, and what is reported of it.
type level struct {
	gone, told Count
	stored     Count          // what a store has for told
	of         map[uint64]int // how many rows of each person stand for nobody; nil where none has several
}

func newLevel(severalRows bool) level {
	if !severalRows {
		return level{}
	}
	return level{of: make(map[uint64]int)}
}

// add counts rows of a person that stand for nobody; below 0, rows that do no more.
func (l *level) add(person uint64, rows int) {
	if l.gone.Rows += rows; l.of == nil {
		l.gone.Persons = l.gone.Rows
		return
	}
	count(l.of, person, rows)
	l.gone.Persons = len(l.of)
}

func count(rows map[uint64]int, person uint64, by int) {
	if rows[person] += by; rows[person] == 0 {
		delete(rows, person)
	}
}

// vanish: readers see rows vanish that stood for nobody, and so know of as many fewer.
func (l *level) vanish(rows []uint64) {
	persons := l.gone.Persons
	for _, person := range rows {
		l.add(person, -1)
	}
	l.told = Count{max(0, l.told.Rows-len(rows)), max(0, l.told.Persons-(persons-l.gone.Persons))}
	if l.told.Rows == 0 || l.told.Persons == 0 {
		l.told = Count{}
	}
}

// next updates what is reported to the true count, if they are k persons apart, or if no ghost is
// left.
func (l *level) next(k int) {
	if l.gone.Rows == 0 || max(l.gone.Persons-l.told.Persons, l.told.Persons-l.gone.Persons) >= k {
		l.told = l.tellable(k)
	}
}

// tellable is what may be reported of the ghosts.
func (l *level) tellable(k int) Count {
	if l.gone.Persons < k {
		return Count{}
	}
	return l.gone
}
