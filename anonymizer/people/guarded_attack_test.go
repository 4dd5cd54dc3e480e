package people_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// judge checks all that was ever shown, by what the source was and the guarantee alone.
func (w *guardedWorld) judge() error {
	for _, check := range []func() error{w.crowds, w.ghostsVanish, w.pseudonymsHold, w.attack, w.frequenciesHold, w.nothingWaitsInVain} {
		if err := check(); err != nil {
			return err
		}
	}
	for i, a := range w.audiences {
		if err := a.judge(i); err != nil {
			return err
		}
	}
	return nil
}

// inCells lists the rows ever shown by cell.
func (w *guardedWorld) inCells() map[int64][]*shownRow {
	cells := map[int64][]*shownRow{}
	for _, r := range w.ever {
		cells[r.cell] = append(cells[r.cell], r)
	}
	return cells
}

func personsOf(rows []*shownRow) int {
	persons := map[*shownRow]bool{}
	for _, r := range rows {
		persons[r.person] = true
	}
	return len(persons)
}

// crowds: a cell has rows of k persons of a class and window whose parents share a cell, all of
// which appear and vanish at once. Rows that no outsider knows may be fewer where they appear
// with what they belong to.
func (w *guardedWorld) crowds() error {
	for id, rows := range w.inCells() {
		first, together := rows[0], true
		for _, r := range rows {
			if r.table != first.table || r.class != first.class || r.window != first.window || r.pooled != first.pooled || r.appeared != first.appeared || r.vanished != first.vanished {
				return fmt.Errorf("cell %d has rows %+v and %+v", id, first, r)
			}
			if !r.pooled && r.table > 0 && r.parent.cell != first.parent.cell {
				return fmt.Errorf("cell %d has rows that belong to rows of two cells", id)
			}
			together = together && !r.pooled && r.table > 0 && r.parent.table > 0 && r.parent.appeared == r.appeared
		}
		least := w.k
		if first.table == 0 && !w.knows.All {
			least *= max(1, w.knows.Crowd)
		}
		if n := personsOf(rows); n < least && (!w.unknown[first.table] || !together) {
			return fmt.Errorf("cell %d of table %d (pooled %t) has %d persons", id, first.table, first.pooled, n)
		}
	}
	return nil
}

// ghostsVanish: what stands for nobody at all is not published any more.
func (w *guardedWorld) ghostsVanish() error {
	stands, shows := map[string]bool{}, map[string]bool{}
	for _, rows := range w.seen {
		for _, r := range rows {
			shows[r.unit()] = true
			stands[r.unit()] = stands[r.unit()] || r.exists
		}
	}
	for unit := range shows {
		if !stands[unit] {
			return fmt.Errorf("%s stands for nobody, and is published", unit)
		}
	}
	return nil
}

// pseudonymsHold: while something of a window is published, each person of a class has one
// pseudonym in it, and no two the same; and the members of a class stay the same.
func (w *guardedWorld) pseudonymsHold() error {
	type holder struct {
		class, window int64
		vanished      int
		person        *shownRow
	}
	type name struct {
		class, window int64
		vanished      int
		pseudonym     uint64
	}
	of, owner := map[holder]uint64{}, map[name]*shownRow{}
	for _, r := range w.ever {
		if r.table == 0 || r.pooled {
			continue
		}
		h, n := holder{r.class, int64(r.window), r.vanished, r.person}, name{r.class, int64(r.window), r.vanished, r.Person}
		if before, known := of[h]; known && before != r.Person {
			return fmt.Errorf("a person of class %d has two pseudonyms in window %d", r.class, r.window)
		}
		if before, known := owner[n]; known && before != r.person {
			return fmt.Errorf("two persons of class %d have one pseudonym in window %d", r.class, r.window)
		}
		of[h], owner[n] = r.Person, r.person
	}
	return nil
}

// attack plays an outsider who has every version, and knows who is in each class, when rows
// came, changed and left, and one row of a person in each window with the rows that it belongs
// to, or all rows. The outsider even knows whether a known row is published with keys, and in
// which version it appeared and vanished. A pseudonym remains where something published under
// it can be the known rows.
func (w *guardedWorld) attack() error {
	if w.knows.All {
		return w.attackTrees()
	}
	type frame struct {
		table    int
		class    int64
		window   int32
		appeared int
	}
	frames := map[frame][]*shownRow{}
	at := func(r *shownRow) frame { return frame{r.table, r.class, r.window, r.appeared} }
	for _, r := range w.ever {
		if !r.pooled && r.table > 0 {
			frames[at(r)] = append(frames[at(r)], r)
		}
	}
	for _, target := range w.ever {
		if target.pooled || target.table == 0 || w.unknown[target.table] {
			continue
		}
		candidates := map[uint64]bool{}
		for _, r := range frames[at(target)] {
			if w.canBe(r, target) {
				candidates[r.Person] = true
			}
		}
		if len(candidates) < w.k {
			return fmt.Errorf("row %d of table %d leaves %d pseudonyms: %v", target.ID, target.table, len(candidates), candidates)
		}
	}
	return nil
}

// canBe reports whether a published row can be a known one, and what both belong to, too.
func (w *guardedWorld) canBe(r, known *shownRow) bool {
	for ; r.table > 0; r, known = r.parent, known.parent {
		if r.table != known.table || r.appeared != known.appeared || r.vanished != known.vanished {
			return false
		}
		for a, c := range known.known {
			if !covers(w.attributes[r.table][a].Hierarchy, r.values[a], c) {
				return false
			}
		}
	}
	return true
}

// attackTrees: an outsider who knows all rows of a person of a class is left with all of the
// class: all that was ever published of them is the same.
func (w *guardedWorld) attackTrees() error {
	below := map[*shownRow][]*shownRow{}
	for _, r := range w.ever {
		if !r.pooled && r.table > 0 && !w.unknown[r.table] {
			below[r.parent] = append(below[r.parent], r)
		}
	}
	var tree func(r *shownRow) string
	tree = func(r *shownRow) string {
		var parts []string
		for _, child := range below[r] {
			parts = append(parts, tree(child))
		}
		slices.Sort(parts)
		return fmt.Sprint(r.table, r.values, r.appeared, r.vanished, "(", strings.Join(parts, " "), ")")
	}
	alike := map[int64]map[string]int{}
	for _, r := range w.ever {
		if r.table == 0 {
			if alike[r.class] == nil {
				alike[r.class] = map[string]int{}
			}
			alike[r.class][tree(r)]++
		}
	}
	for class, trees := range alike {
		for tree, persons := range trees {
			if persons < w.k {
				return fmt.Errorf("class %d has %d persons with the tree %s", class, persons, tree)
			}
		}
	}
	return nil
}

// frequenciesHold: the persons of a class with all that was ever published of them, those of a
// cell with all that is published of them in its window, and those of a pooled cell with its
// rows satisfy the constraints.
func (w *guardedWorld) frequenciesHold() error {
	byClass, byFrame, roots := map[int64][]*shownRow{}, map[string][]*shownRow{}, map[int64]int{}
	for _, r := range w.ever {
		if r.pooled {
			continue
		}
		byClass[r.class] = append(byClass[r.class], r)
		frame := fmt.Sprint(r.unit(), r.vanished)
		byFrame[frame] = append(byFrame[frame], r)
		if r.table == 0 {
			roots[r.class]++
		}
	}
	for class, rows := range byClass {
		if err := w.satisfies(rows, roots[class]); err != nil {
			return fmt.Errorf("class %d: %w", class, err)
		}
	}
	for id, cell := range w.inCells() {
		if cell[0].table == 0 || !cell[0].pooled && (w.knows.All || w.unknown[cell[0].table]) {
			continue
		}
		rows := cell
		if !cell[0].pooled {
			rows = slices.DeleteFunc(slices.Clone(byFrame[fmt.Sprint(cell[0].unit(), cell[0].vanished)]), func(r *shownRow) bool {
				return !slices.ContainsFunc(cell, func(c *shownRow) bool { return c.person == r.person })
			})
		}
		if err := w.satisfies(rows, personsOf(cell)); err != nil {
			return fmt.Errorf("cell %d (pooled %t): %w", id, cell[0].pooled, err)
		}
	}
	return nil
}

// satisfies judges the values of rows of some persons.
func (w *guardedWorld) satisfies(rows []*shownRow, persons int) error {
	holders := map[int]map[uint32]map[*shownRow]bool{}
	for _, r := range rows {
		for _, code := range r.sensitive {
			if holders[r.table] == nil {
				holders[r.table] = map[uint32]map[*shownRow]bool{}
			}
			if holders[r.table][code] == nil {
				holders[r.table][code] = map[*shownRow]bool{}
			}
			holders[r.table][code][r.person] = true
		}
	}
	for table, values := range holders {
		if table == 2 && len(values) < w.l {
			return fmt.Errorf("table %d has %d values", table, len(values))
		}
		for code, by := range values {
			if float64(len(by)) > w.alpha*float64(persons) {
				return fmt.Errorf("value %d of table %d is held by %d of %d persons", code, table, len(by), persons)
			}
		}
	}
	return nil
}

// nothingWaitsInVain: whatever numbers allow to be published is, or is withheld.
func (w *guardedWorld) nothingWaitsInVain() error {
	waitingPersons, pooling := 0, map[int]map[*shownRow]bool{}
	groups := map[string]map[*shownRow]int{} // rows by person
	table := map[string]int{}
	for t := range w.source {
		pooling[t] = map[*shownRow]bool{}
		for id, r := range w.source[t] {
			place := w.places[t][id]
			if place.Row != 0 || place.Withheld {
				continue
			}
			if t == 0 {
				waitingPersons++
				continue
			}
			somebody, window := w.person(t, id)
			person := w.records[0][somebody]
			if person == nil {
				continue
			}
			switch {
			case place.Pooling:
				pooling[t][person] = true
			case place.Since.IsZero():
				return fmt.Errorf("row %d of table %d does not wait, of a person who is published", id, t)
			case !w.now.Before(place.Since.Add(w.options.RowsWithin)):
				return fmt.Errorf("row %d of table %d waits since %v, at %v", id, t, place.Since, w.now)
			case w.keyed(t, r):
				group := fmt.Sprint(t, " ", person.class, " ", window, " ", w.parentShown(t, r).cell)
				if w.knows.All {
					group = fmt.Sprint(t, " ", person.class, " ", w.parentShown(t, r).cell)
				}
				if groups[group] == nil {
					groups[group] = map[*shownRow]int{}
				}
				groups[group][person]++
				table[group] = t
			}
		}
	}
	if waitingPersons >= w.options.Batch && waitingPersons >= 60 {
		return fmt.Errorf("%d persons wait", waitingPersons)
	}
	members := map[int64]int{}
	for _, r := range w.ever {
		if r.table == 0 {
			members[r.class]++
		}
	}
	for group, persons := range groups {
		t, rows := table[group], 0
		for person, n := range persons {
			rows += n
			if w.knows.All && !w.unknown[t] && len(persons) == members[person.class] {
				return fmt.Errorf("every person has a row that waits: %s", group)
			}
		}
		if least := w.leastRows(); rows >= least && (!w.knows.All || w.unknown[t]) {
			return fmt.Errorf("%d rows wait: %s", rows, group)
		}
	}
	for t, persons := range pooling {
		if least := w.leastPooled(t); len(persons) >= least {
			return fmt.Errorf("rows of %d persons of table %d wait for the pool", len(persons), t)
		}
	}
	return nil
}

// leastRows is how many rows are tried at once.
func (w *guardedWorld) leastRows() int {
	switch {
	case (w.alpha < 1 || w.l > 0) && w.options.Rows == 0:
		return 20
	case w.alpha < 1 || w.l > 0:
		return max(10, w.options.Rows)
	case w.options.Rows > 0:
		return max(w.k, w.options.Rows)
	}
	return 2 * w.k
}

// leastPooled is how many persons' rows are tried in the pool.
func (w *guardedWorld) leastPooled(table int) int {
	if table == 2 && (w.alpha < 1 || w.l > 0) || table == 3 && w.alpha < 1 {
		return 20
	}
	return w.k
}

// keyed reports whether what a row belongs to is published where it is, with its keys.
func (w *guardedWorld) keyed(table int, r people.Row) bool {
	parent := w.parents[table]
	for id, above := range w.source[1+parent] {
		if above.Key != r.Of {
			continue
		}
		shown := w.records[1+parent][id]
		switch {
		case shown == nil || shown.vanished > 0 || shown.pooled:
			return false
		case parent == people.Root:
			return true
		case w.parents[1+parent] == people.Root && !w.knows.All && shown.window != above.Window:
			return false
		}
		return w.parentShown(1+parent, above) == shown.parent && w.keyed(1+parent, above)
	}
	return false
}
