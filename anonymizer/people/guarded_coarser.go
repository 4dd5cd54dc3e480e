package people

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// GuardedCoarser is a coarser release of a Guarded one, or of another GuardedCoarser, for other
// readers. It is made of what that one publishes and takes back; only its weights follow at once
// when persons leave and come back.
//
// Its classes of persons, the groups, are unions of enough finer classes to have k persons. In a
// group and window, cells are unions of finer cells of as many classes; in child tables, inside one
// cell of the parent table. Whatever is in no group or cell waits. Nothing that is published
// changes: it vanishes, as in a Guarded release, when the finer release publishes nothing of it any
// more. Rows without keys in the finer release are not shown. COARSER.md, "Coarser guarded
// releases", has the argument.
//
// It is not safe for concurrent use. Guarded.Publish brings it up to date.
type GuardedCoarser struct {
	of      *source
	finer   finerRelease
	k       int
	classes int // of the finer release, at least, in a group, and in a cell
	options CoarserOptions
	numbers *shown // that has them of the cells of all releases

	attributes  shownAttributes
	constraints privacy.ConstraintSet // on values, that cells and windows are tried for
	ofPersons   privacy.ConstraintSet // on values of root records, that groups are made for
	ofRows      bool                  // constraints are stated on values of other tables for the release, or for one before it

	shown   []coarserShown             // the root's first
	groups  map[int64]*coarserGroup    // by number
	groupOf map[int64]*coarserGroup    // by finer class
	waiting map[int64]*waitingClass    // by finer class: what is not shown of it
	dirty   map[unitKey]*coarserFrame  // with cells that have not been tried together
	emptied map[*coarserFrame]struct{} // whose rows the finer release has taken back
	ended   []*coarserGroup            // of which it has taken all back
	changes []FollowedTable            // the root's first
	moves   []moved                    // for the release that follows this one
}

// finerRelease is what a GuardedCoarser follows.
type finerRelease interface {
	// now are the cells with keys of a table, in ascending order, without values.
	now(table int) []*finerCell
}

// finerCell is a cell as the finer release publishes it.
type finerCell struct {
	id     int64
	class  int64
	window int32
	table  int
	values []hierarchy.Generalization // as they may be shown
	rows   []finerRow
	// withheld cells violate the constraints with others. They are never shown.
	withheld bool
}

type finerRow struct {
	id     incremental.RecordID
	parent incremental.RecordID
	of     uint64 // the pseudonym of what it belongs to
	member int32
	left   bool // it stands for nobody
	codes  []uint32
}

// moved says that a published row stands for nobody from now on, or for somebody again.
type moved struct {
	table int
	id    incremental.RecordID
	back  bool
}

// waitingClass is what is not shown of a finer class: the cell of its root rows, and cells of other tables.
type waitingClass struct {
	root  *finerCell // nil where the class is in a group
	cells map[*finerCell]struct{}
}

// coarserShown are the rows of a table: those that are shown, and those in cells that wait.
type coarserShown struct {
	rows  map[incremental.RecordID]*coarserRow
	waits map[incremental.RecordID]*finerCell
	tally *tally.Tally[*coarserPart]
	left  int // rows that stand for nobody
}

// coarserRow is a row that is shown.
type coarserRow struct {
	id     incremental.RecordID
	part   *coarserPart
	cell   int64
	own    uint64
	of     uint64 // the pseudonym of what it belongs to
	parent incremental.RecordID
	member int32 // of the group
	left   bool  // it stands for nobody
	gone   bool  // the finer release has taken it back
	codes  []uint32
}

// coarserPart has one weight: the root rows of a group, or the rows of a table in a group and window.
type coarserPart struct {
	group   *coarserGroup
	frame   *coarserFrame // nil for the root's
	table   int
	rows    []*coarserRow
	cells   []int64
	tallied *tally.Item[*coarserPart]
}

// coarserGroup is a class of persons of the coarser release.
type coarserGroup struct {
	id      int64
	first   map[int64]int32 // of each finer class that is there: the place of its first member
	classOf []int64         // of each member; 0 where the class is not there any more
	root    *coarserPart
	frames  map[int32]*coarserFrame
	live    int // root rows that the finer release publishes
	// closed groups show nothing more of their persons, because values of theirs that would have to
	// count have vanished.
	closed bool
}

// coarserFrame is a window of a group.
type coarserFrame struct {
	group   *coarserGroup
	window  int32
	parts   map[int]*coarserPart
	aliases []int32 // of each member: whose pseudonym its rows carry; none before the first
	taken   []bool
	live    int                // rows that the finer release publishes
	over    map[int64]struct{} // classes whose rows it has taken back
}

// AddCoarser has a release for others follow, coarser than all before. It is to be called before the first
// row comes. The error is about a constraint on values, of the release or of the options, that it cannot see to: other ones than
// distinct l-diversity and bounds on frequencies, and those of values of root records unless all is known, but for l-diversity of the
// release.
func (g *Guarded) AddCoarser(o CoarserOptions) (*GuardedCoarser, error) {
	constraints, err := g.followable()
	if err != nil {
		return nil, err
	}
	stated, err := g.statable(o.Constraints)
	if err != nil {
		return nil, err
	}
	c := &GuardedCoarser{
		of: &g.source, finer: g, k: max(o.K, g.k), options: o, numbers: &g.shown, attributes: o.shown(attributesOf(&g.source)), constraints: constraints,
		groups: make(map[int64]*coarserGroup), groupOf: make(map[int64]*coarserGroup), waiting: make(map[int64]*waitingClass),
		dirty: make(map[unitKey]*coarserFrame), emptied: make(map[*coarserFrame]struct{}),
	}
	c.state(stated)
	before := g.k
	if n := len(g.coarser); n > 0 {
		last := g.coarser[n-1]
		c.finer, before, c.k, c.attributes = last, last.k, max(c.k, last.k), o.shown(last.attributes)
	}
	c.classes = (c.k + before - 1) / before
	for table := Root; table < len(g.tables); table++ {
		c.shown = append(c.shown, coarserShown{
			rows: make(map[incremental.RecordID]*coarserRow), waits: make(map[incremental.RecordID]*finerCell),
			tally: tally.New[*coarserPart](c.k, tally.Options{SeveralRows: table != Root}),
		})
	}
	c.changes = make([]FollowedTable, len(c.shown))
	g.coarser = append(g.coarser, c)
	return c, nil
}

func (c *GuardedCoarser) in(table int) *coarserShown { return &c.shown[table+1] }

// frame is a window of a group.
func (g *coarserGroup) frame(window int32) *coarserFrame {
	f := g.frames[window]
	if f == nil {
		f = &coarserFrame{group: g, window: window}
		f.clear()
		g.frames[window] = f
	}
	return f
}

// clear forgets what was published in a window.
func (f *coarserFrame) clear() {
	f.parts, f.aliases, f.taken, f.over = make(map[int]*coarserPart), nil, nil, make(map[int64]struct{})
}

// alias is the member whose pseudonym a member's rows carry in a window: one drawn at random among those that
// none carries yet, of whatever finer class; the member itself where all is known.
func (f *coarserFrame) alias(member int32, all bool, random *rand.Rand) int32 {
	f.prepareAliases()
	if f.aliases[member] != none {
		return f.aliases[member]
	}
	alias := member
	if !all {
		var free []int32
		for of, taken := range f.taken {
			if !taken {
				free = append(free, int32(of))
			}
		}
		alias = free[random.IntN(len(free))]
	}
	f.aliases[member], f.taken[alias] = alias, true
	return alias
}

func (f *coarserFrame) prepareAliases() {
	if f.aliases == nil {
		f.aliases, f.taken = slices.Repeat([]int32{none}, len(f.group.classOf)), make([]bool, len(f.group.classOf))
	}
}

// person distinguishes the persons of a release.
func (r *coarserRow) person() uint64 {
	const most = 24 // bits for the members of a group, as in shownRow
	return uint64(r.part.group.id)<<most | uint64(r.member)
}

func (p *coarserPart) weight() Weight {
	w := newWeight(slices.Clone(p.cells), p.tallied.Weight())
	slices.Sort(w.Cells)
	return w
}

// now implements finerRelease.
func (g *Guarded) now(table int) (cells []*finerCell) {
	add := func(cell *shownCell) {
		found := &finerCell{id: cell.id, class: cell.class.id, table: table}
		if cell.frame != nil {
			found.window = cell.frame.window
		}
		for _, at := range cell.rows {
			r := &g.shown.of(table).rows[at]
			row := finerRow{id: r.id, member: r.member, left: r.slot == none, codes: slices.Clone(g.shown.of(table).codes.Row(at))}
			if table != Root {
				above := &g.shown.of(g.tables[table].parent).rows[r.parent]
				if row.parent, row.of = above.id, above.own; g.tables[table].parent == Root {
					row.of = g.shown.of(Root).rows[cell.class.members[cell.frame.aliases[r.member]]].own
				}
			}
			found.rows = append(found.rows, row)
		}
		found.sort()
		cells = append(cells, found)
	}
	for _, class := range g.shown.classes {
		if table == Root {
			add(class.root.cells[0])
			continue
		}
		for _, f := range class.frames {
			if of := f.parts[table]; of != nil {
				for _, cell := range of.cells {
					add(cell)
				}
			}
		}
	}
	slices.SortFunc(cells, compareFiner)
	return cells
}

// sort has rows in an order that is the same after a restart.
func (f *finerCell) sort() {
	slices.SortFunc(f.rows, func(a, b finerRow) int { return cmp.Or(cmp.Compare(a.member, b.member), cmp.Compare(a.id, b.id)) })
}

func compareFiner(a, b *finerCell) int { return cmp.Compare(a.id, b.id) }

// now implements finerRelease.
func (c *GuardedCoarser) now(table int) (cells []*finerCell) {
	byID := make(map[int64]*finerCell)
	for _, r := range c.in(table).rows {
		cell := byID[r.cell]
		if cell == nil {
			cell = &finerCell{id: r.cell, class: r.part.group.id, table: table}
			if r.part.frame != nil {
				cell.window = r.part.frame.window
			}
			byID[r.cell], cells = cell, append(cells, cell)
		}
		cell.rows = append(cell.rows, finerRow{id: r.id, parent: r.parent, of: r.of, member: r.member, left: r.left, codes: r.codes})
	}
	for _, cell := range cells {
		cell.sort()
	}
	slices.SortFunc(cells, compareFiner)
	return cells
}

// Classes is the number of published classes of persons.
func (c *GuardedCoarser) Classes() int { return len(c.groups) }

// Live is the number of shown rows of a table, or of Root, that stand for somebody.
func (c *GuardedCoarser) Live(table int) int { return len(c.in(table).rows) - c.in(table).left }

// FollowedFreshness reports how far a coarser release is behind the finer one.
type FollowedFreshness struct {
	Waiting int // rows with keys of the finer release that are not shown
	Classes int // of the finer release that wait for others
	Least   int // of them that are united, at least
	Gone    int // rows that are shown, and that the finer release has taken back
	Rows    int // that are shown
	// Withheld are those of Waiting that are never shown, as they violated the constraints together.
	Withheld int
}

// Freshness counts the rows of a table, or of Root.
func (c *GuardedCoarser) Freshness(table int) FollowedFreshness {
	f := FollowedFreshness{Waiting: len(c.in(table).waits), Least: c.classes, Rows: len(c.in(table).rows)}
	for _, of := range c.waiting {
		if of.root != nil {
			f.Classes++
		}
	}
	for _, cell := range c.in(table).waits {
		if cell.withheld {
			f.Withheld++
		}
	}
	for _, r := range c.in(table).rows {
		if r.gone {
			f.Gone++
		}
	}
	return f
}
