package people

import (
	"cmp"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// forest is the data as the algorithms walk them: who each row belongs to, and the
// rows below each row. It is read-only and safe for concurrent use.
type forest struct {
	data   *Data
	root   space
	tables []branch
	values int // sensitive attributes of all tables
	// earlier are values that persons have besides those of their rows; nil for none.
	earlier [][]valueOf
}

// valueOf is a value of a sensitive attribute, numbered among those of all tables.
type valueOf struct {
	attribute int
	code      uint32
}

// branch is a table of the forest.
type branch struct {
	*Table
	space
	index    int
	person   []int32 // of each row; Nobody
	window   []int32 // of each row
	below    lists   // rows of this table by the parent's row
	children []int   // tables whose parent this is
	first    int     // number of its first sensitive attribute
	weight   float64 // of a row: persons by rows
}

func newForest(d *Data) *forest {
	f := &forest{data: d, root: newSpace(d.Root), tables: make([]branch, len(d.Tables)), values: d.SensitiveOf(len(d.Tables))}
	for i := range d.Tables {
		t := &d.Tables[i]
		b := branch{
			Table: t, index: i, space: newSpace(t.Rows), person: t.Of, window: t.Window, first: d.SensitiveOf(i),
			weight: float64(d.Root.Len()) / float64(max(1, t.Rows.Len())),
		}
		if t.Parent != Root {
			parent := &f.tables[t.Parent]
			parent.children = append(parent.children, i)
			b.person = through(t.Of, parent.person, Nobody)
			b.window = through(t.Of, parent.window, 0)
		} else if b.window == nil {
			b.window = make([]int32, t.Rows.Len())
		}
		b.below = newLists(t.Of, d.parentLen(i), b.before)
		f.tables[i] = b
	}
	return f
}

// through gives each row what its parent's row has.
func through(of, parents []int32, without int32) []int32 {
	own := make([]int32, len(of))
	for row, parent := range of {
		if own[row] = without; parent != Nobody {
			own[row] = parents[parent]
		}
	}
	return own
}

// before compares two rows by the attribute that orders them; what is off the
// scale comes last.
func (b *branch) before(x, y int32) int {
	if b.Order < 0 {
		return cmp.Compare(x, y)
	}
	return cmp.Or(compareOffLast(b.positions[b.Order][x], b.positions[b.Order][y]), cmp.Compare(x, y))
}

func compareOffLast(x, y float64) int {
	if math.IsNaN(x) || math.IsNaN(y) {
		return -cmp.Compare(x, y) // cmp puts NaN first
	}
	return cmp.Compare(x, y)
}

// roots are the tables whose rows belong to persons directly.
func (f *forest) roots() []int {
	var direct []int
	for i := range f.tables {
		if f.tables[i].Parent == Root {
			direct = append(direct, i)
		}
	}
	return direct
}

// windows is the number of windows of time.
func (f *forest) windows() int {
	last := int32(0)
	for i := range f.tables {
		for _, w := range f.tables[i].window {
			last = max(last, w)
		}
	}
	return int(last) + 1
}

// summarize counts persons with all their values, those of their rows included, for
// the constraints. A person without a row of a table has no value of it. With a
// window of 0 or more, only rows of that window count.
func (f *forest) summarize(persons []int32, window int32) privacy.Summary {
	s := privacy.NewSubjectSummary(f.values)
	for _, p := range persons {
		s.AddSubject(uint32(p))
		for a := range f.data.Root.SensitiveLen() {
			s.AddValueOf(uint32(p), a, f.data.Root.Sensitive(a)[p])
		}
		if f.earlier != nil {
			for _, v := range f.earlier[p] {
				s.AddValueOf(uint32(p), v.attribute, v.code)
			}
		}
	}
	for _, t := range f.roots() {
		for _, p := range persons {
			f.addRows(&s, t, f.tables[t].below.of(p), window)
		}
	}
	return s
}

func (f *forest) addRows(s *privacy.Summary, table int, rows []int32, window int32) {
	b := &f.tables[table]
	for _, row := range rows {
		if window >= 0 && b.window[row] != window {
			continue
		}
		for a := range b.Rows.SensitiveLen() {
			s.AddValueOf(uint32(b.person[row]), b.first+a, b.Rows.Sensitive(a)[row])
		}
		for _, child := range b.children {
			f.addRows(s, child, f.tables[child].below.of(row), window)
		}
	}
}

// lists holds a list of rows for each parent, in one piece of memory.
type lists struct {
	ends []int32
	rows []int32
}

// newLists sorts each row under its parent, and the rows of a parent by order.
func newLists(of []int32, parents int, order func(x, y int32) int) lists {
	l := lists{ends: make([]int32, parents+1)}
	for _, parent := range of {
		if parent != Nobody {
			l.ends[parent+1]++
		}
	}
	for p := range parents {
		l.ends[p+1] += l.ends[p]
	}
	l.rows = make([]int32, l.ends[parents])
	next := slices.Clone(l.ends)
	for row, parent := range of {
		if parent != Nobody {
			l.rows[next[parent]] = int32(row)
			next[parent]++
		}
	}
	for p := range parents {
		slices.SortFunc(l.of(int32(p)), order)
	}
	return l
}

func (l lists) of(parent int32) []int32 { return l.rows[l.ends[parent]:l.ends[parent+1]] }

// space measures what rows of one table lose that are published alike.
type space struct {
	positions [][]float64                             // attribute, row
	shares    []func(least, greatest float64) float64 // attribute
}

func newSpace(t *anonymizer.Table) space {
	s := space{positions: make([][]float64, len(t.Attributes())), shares: make([]func(least, greatest float64) float64, len(t.Attributes()))}
	for a, attribute := range t.Attributes() {
		low, high := math.Inf(1), math.Inf(-1)
		s.positions[a] = make([]float64, t.Len())
		for i, c := range t.Cells(a) {
			position := math.NaN()
			if !hierarchy.IsOffScale(c) {
				position = attribute.Hierarchy.Position(c)
			}
			s.positions[a][i] = position
			if !math.IsNaN(position) {
				low, high = min(low, position), max(high, position)
			}
		}
		s.shares[a] = hierarchy.Coverage(attribute.Hierarchy, low, high)
	}
	return s
}

// box is what several rows cover of one attribute; one that is off the scale hides
// it.
type box struct {
	least, greatest float64
	hidden          bool
}

var emptyBox = box{least: math.Inf(1), greatest: math.Inf(-1)}

func (b box) with(position float64) box {
	if math.IsNaN(position) {
		b.hidden = true
		return b
	}
	return box{min(b.least, position), max(b.greatest, position), b.hidden}
}

// and covers what both do.
func (b box) and(other box) box {
	return box{min(b.least, other.least), max(b.greatest, other.greatest), b.hidden || other.hidden}
}

// reset makes the boxes cover nothing, one for each attribute.
func (s *space) reset(boxes []box) []box {
	boxes = boxes[:0]
	for range s.shares {
		boxes = append(boxes, emptyBox)
	}
	return boxes
}

func (s *space) include(boxes []box, row int32) {
	for a := range boxes {
		boxes[a] = boxes[a].with(s.positions[a][row])
	}
}

// loss is the mean over the attributes of what each row loses, 0 to 1; 0 without
// attributes.
func (s *space) loss(boxes []box) float64 {
	sum := 0.0
	for a, b := range boxes {
		sum += s.lossOf(a, b)
	}
	return sum / float64(max(1, len(boxes)))
}

func (s *space) lossOf(attribute int, b box) float64 {
	if b.hidden {
		return 1
	}
	if !(b.least < b.greatest) {
		return 0
	}
	return s.shares[attribute](b.least, b.greatest)
}

// lossWith is loss with one row more.
func (s *space) lossWith(boxes []box, row int32) float64 {
	sum := 0.0
	for a, b := range boxes {
		sum += s.lossOf(a, b.with(s.positions[a][row]))
	}
	return sum / float64(max(1, len(boxes)))
}

// lossOfRows is loss of some rows.
func (s *space) lossOfRows(rows []int32) float64 {
	sum := 0.0
	for a, positions := range s.positions {
		b := emptyBox
		for _, row := range rows {
			b = b.with(positions[row])
		}
		sum += s.lossOf(a, b)
	}
	return sum / float64(max(1, len(s.positions)))
}
