package people

import (
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// AllRows is the number of known rows of an outsider who knows every row that a
// person has in a window.
const AllRows = -1

// Risk is what an outsider achieves who knows the quasi-identifying values of a person's root
// record, and some rows in one window of time with the rows they refer to.
type Risk struct {
	Targets int
	// Mean of 1/candidates over the targets, where candidates are the persons that
	// what is published leaves possible; 0 to 1.
	Mean float64
	// Fewest is the least number of candidates of a target.
	Fewest int
	// Below is the share of targets with fewer than k candidates, 0 to 1.
	Below float64
}

// Attack lets an outsider who knows some rows, or AllRows, look for this many targets,
// drawn at random from the persons with as many rows in the window drawn for them.
// Withheld persons are no targets. The outsider knows the exact values of rows, and
// whether they keep their keys: without that, an outsider finds no more. A pseudonym
// is a candidate if
//
//   - its root record covers the target's,
//   - its rows cover the known rows that keep their keys, and those that known rows
//     refer to, each row a different one;
//   - with AllRows, these are all of its rows.
//
// Time: targets times the rows of all persons of matching classes.
func Attack(d *Data, r *Release, known, k, targets int, seed uint64) Risk {
	o := newOutsider(d, r)
	random := rand.New(rand.NewPCG(seed, 3))
	risk := Risk{Fewest: d.Root.Len()}
	for tries := 0; risk.Targets < targets && tries < 20*targets && o.possible(); tries++ {
		target, window := int32(random.IntN(d.Root.Len())), int32(random.IntN(len(r.Aliases)))
		rows := o.rowsOf(target, window)
		if o.class[target] < 0 || known != AllRows && len(rows) < known {
			continue
		}
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if known != AllRows {
			rows = rows[:known]
		}
		n := o.candidates(target, window, o.linked(rows), known == AllRows)
		risk.Targets++
		risk.Mean += 1 / float64(n)
		risk.Fewest = min(risk.Fewest, n)
		if n < k {
			risk.Below++
		}
	}
	if risk.Targets > 0 {
		risk.Mean /= float64(risk.Targets)
		risk.Below /= float64(risk.Targets)
	}
	return risk
}

// outsider reads a release.
type outsider struct {
	*forest
	release *Release
	class   []int32 // of each person; -1 = withheld
	classes [][]box // of each class
	cells   []published
}

// published is what is known from the published rows of a table.
type published struct {
	of    []int32 // the row's cell; -1 where it is none
	boxes [][]box // of each cell
}

// row is a row of one of the tables.
type row struct {
	table int
	row   int32
}

func newOutsider(d *Data, r *Release) *outsider {
	o := &outsider{forest: newForest(d), release: r, class: minusOnes(d.Root.Len())}
	for i, class := range r.Classes {
		o.classes = append(o.classes, o.root.boxOf(class))
		for _, p := range class {
			o.class[p] = int32(i)
		}
	}
	for i, t := range r.Tables {
		p := published{of: minusOnes(d.Tables[i].Rows.Len())}
		for n, cell := range t.Cells {
			p.boxes = append(p.boxes, o.tables[i].boxOf(cell.Rows))
			for _, row := range cell.Rows {
				p.of[row] = int32(n)
			}
		}
		o.cells = append(o.cells, p)
	}
	return o
}

func minusOnes(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

func (s *space) boxOf(rows anonymizer.EquivalenceClass) []box {
	boxes := s.reset(nil)
	for _, row := range rows {
		s.include(boxes, row)
	}
	return boxes
}

// covers reports whether what is published can stand for a row.
func (s *space) covers(boxes []box, row int32) bool {
	for a, b := range boxes {
		if s.lossOf(a, b.with(s.positions[a][row])) != s.lossOf(a, b) {
			return false
		}
	}
	return true
}

// possible reports whether there is anybody to look for.
func (o *outsider) possible() bool { return len(o.classes) > 0 }

// rowsOf lists the rows of a person in a window, of all tables of which rows can be known.
func (o *outsider) rowsOf(person, window int32) []row {
	var all []row
	for _, t := range o.roots() {
		all = o.appendRows(all, t, o.tables[t].below.of(person), window)
	}
	return all
}

func (o *outsider) appendRows(all []row, table int, rows []int32, window int32) []row {
	if o.tables[table].Unknown {
		return all
	}
	for _, r := range rows {
		if len(o.release.Aliases) > 1 && o.tables[table].window[r] != window {
			continue
		}
		all = append(all, row{table, r})
		for _, child := range o.tables[table].children {
			all = o.appendRows(all, child, o.tables[child].below.of(r), window)
		}
	}
	return all
}

// linked lists the known rows that keep their keys, and those that known rows hang on,
// each once.
func (o *outsider) linked(known []row) []row {
	var linked []row
	for _, r := range known {
		for ; r.table != Root; r = (row{o.tables[r.table].Parent, o.tables[r.table].Of[r.row]}) {
			if o.cells[r.table].of[r.row] >= 0 && !slices.Contains(linked, r) {
				linked = append(linked, r)
			}
		}
	}
	return linked
}

// candidates counts the persons that may be the target.
func (o *outsider) candidates(target, window int32, known []row, all bool) int {
	n := 0
	for i, class := range o.release.Classes {
		if !o.root.covers(o.classes[i], target) {
			continue
		}
		for _, person := range class {
			if o.fits(o.linkedRows(person, window), known, all) {
				n++
			}
		}
	}
	return n
}

// linkedRows lists the rows of a person that are published with keys.
func (o *outsider) linkedRows(person, window int32) []row {
	return slices.DeleteFunc(o.rowsOf(person, window), func(r row) bool { return o.cells[r.table].of[r.row] < 0 })
}

// fits reports whether published rows can be the known ones.
func (o *outsider) fits(published, known []row, all bool) bool {
	if len(published) < len(known) || all && len(published) > len(known) {
		return false
	}
	edges := func(i int) []int {
		var to []int
		for j, p := range published {
			if p.table == known[i].table && o.standsFor(p, known[i]) {
				to = append(to, j)
			}
		}
		return to
	}
	taken := make([]int, len(published)) // by which known row, from 1
	for i := range known {
		if !augment(edges, i, taken, make([]bool, len(published))) {
			return false
		}
	}
	return true
}

// standsFor compares rows and the rows that they hang on.
func (o *outsider) standsFor(published, known row) bool {
	for {
		b, cells := &o.tables[known.table], &o.cells[known.table]
		if !b.covers(cells.boxes[cells.of[published.row]], known.row) {
			return false
		}
		if b.Parent == Root {
			return true
		}
		published, known = row{b.Parent, b.Of[published.row]}, row{b.Parent, b.Of[known.row]}
	}
}

// augment finds a published row for a known one, where others may have to make room.
func augment(edges func(int) []int, i int, taken []int, tried []bool) bool {
	for _, j := range edges(i) {
		if tried[j] {
			continue
		}
		tried[j] = true
		if taken[j] == 0 || augment(edges, taken[j]-1, taken, tried) {
			taken[j] = i + 1
			return true
		}
	}
	return false
}
