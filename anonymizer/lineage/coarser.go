package lineage

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Coarser is a coarser release of the same table, for other readers: it follows what is published by the
// lineage, or by the coarser release before it, and by nothing else that could tell whose a row is. Its
// classes, the groups, are made of whole classes of the finer release, and have the rules of the lineage
// under constraints of their own. DESIGN.md, "Coarser releases", has the argument.
//
// It shows rows of the finer release as they were when their group was made, also where that shows them no
// more. [Lineage.Publish] brings it up to date.
type Coarser struct {
	finer finer
	rules rules
	crowd int
	least int // persons that wait
	seed  uint64
	// nextGroup is the number of the next group. Each release counts its own: the numbers of another would tell how many classes
	// that has had.
	nextGroup incremental.ClassID
	nextRow   *RowID // shared with the lineage
	tally     *tally.Tally[*class]
	units     map[incremental.ClassID]*unit
	indexed   []*unit // by row.slot
	free      []int32
	groups    map[incremental.ClassID]*group
	live      int // rows of groups that stand for somebody
	dirty     []*group
	places    map[*group]map[RowID]int32 // during a settling: the rows of a group by what is published of them now
	waited    bool                       // what waits has changed
	changes   CoarserChanges
	next      step // for who follows this one
	marked    map[incremental.ClassID]struct{}
}

// unit is a class of the finer release. All of its rows stand in one group, and have the same history there.
type unit struct {
	id     incremental.ClassID
	index  int32
	group  *group // nil while it waits, or is withheld
	labels []hierarchy.Generalization
	rows   int // of the group
	// stale says that the group shows the rows of another class, which this one took the place of; change is how they differ.
	stale    bool
	change   change
	withheld bool // for good
}

// settled says that the group shows the unit's rows as the finer release does.
func (u *unit) settled() bool { return u.group != nil && !u.stale }

// group is a class of the coarser release. The slot of a row is the index of its unit; below 0 nothing is
// published of it any more by the finer release.
type group struct {
	class
	followed []followed // by row
}

// followed is what the finer release has for a row.
type followed struct {
	now  RowID // its own, or that of the row that took its place
	left bool  // it stands for nobody
}

// finer is a release that a coarser one follows.
type finer interface {
	// shownRows are the rows of a class; nil where it is not there.
	shownRows(class incremental.ClassID) []shownRow
	shownClasses() []incremental.ClassID
}

// shownRow is a row as a coarser release takes it over.
type shownRow struct {
	id     RowID
	person uint32
	codes  []uint32
	left   bool
}

// step is what has happened to a release since the last time.
type step struct {
	moves []move // before all that follows
	gone  []RowID
	from  []incremental.ClassID // the class of each
	born  []birth
}

// move says that a row stands for nobody from now on, or for somebody again.
type move struct {
	class incremental.ClassID
	row   RowID
	back  bool
}

// birth is a new class.
type birth struct {
	class  incremental.ClassID
	labels []hierarchy.Generalization
	origin *origin // nil where its records are new
}

// origin is where the rows of a new class were published before: they are the same persons'.
type origin struct {
	class   incremental.ClassID
	changed columns
	rows    []replaced
}

type replaced struct{ old, new RowID }

// AddCoarser has another release follow, coarser than all before. Constraints are all that hold for it. It is
// to be called before the first record comes; the error is ErrRelative.
func (l *Lineage) AddCoarser(constraints privacy.ConstraintSet) (*Coarser, error) {
	finer := l.rules.attributes
	if n := len(l.coarser); n > 0 {
		finer = l.coarser[n-1].rules.attributes
	}
	return l.AddLimited(anonymizer.Following(finer), constraints)
}

// AddLimited is AddCoarser of a release that may show less of some attributes: hierarchies are those of
// hierarchy.Coarser over the release before, or of hierarchy.Following.
func (l *Lineage) AddLimited(attributes []anonymizer.Attribute, constraints privacy.ConstraintSet) (*Coarser, error) {
	if constraints.Relative() {
		return nil, ErrRelative
	}
	least, leastChanged := leasts(l.least, l.options.Crowd, constraints)
	c := &Coarser{
		rules:     rules{attributes: attributes, constraints: constraints, k: constraints.K(), subjects: l.rules.subjects, sensitive: -1, copied: -1, leastChanged: leastChanged},
		crowd:     l.options.Crowd,
		least:     least,
		seed:      l.options.Seed,
		nextGroup: 1, nextRow: &l.released.nextRow,
		tally: tally.New[*class](constraints.K(), tally.Options{Crowd: l.options.Crowd, SeveralRows: l.rules.subjects}),
		units: make(map[incremental.ClassID]*unit), groups: make(map[incremental.ClassID]*group), marked: make(map[incremental.ClassID]struct{}),
		changes: newCoarserChanges(),
	}
	c.finer = &l.released
	if n := len(l.coarser); n > 0 {
		c.finer = l.coarser[n-1]
	}
	l.coarser = append(l.coarser, c)
	l.log.followed = true
	return c, nil
}

// follow brings the coarser releases up to date.
func (l *Lineage) follow(ctx context.Context) error {
	if len(l.coarser) == 0 {
		return nil
	}
	s := l.log.step
	s.gone, s.from = slices.Clone(l.log.changes.Gone), slices.Clone(l.log.changes.GoneFrom)
	l.log.step = step{}
	for _, c := range l.coarser {
		c.rules.sensitive, c.rules.copied = l.rules.sensitive, l.rules.copied
		if err := c.settle(ctx, s); err != nil {
			return err
		}
		s, c.next = c.next, step{}
	}
	return nil
}

func (p *released) shownRows(id incremental.ClassID) []shownRow {
	c := p.classes.find(id)
	if c == nil {
		return nil
	}
	rows := make([]shownRow, len(c.rows))
	for place, r := range c.rows {
		rows[place] = shownRow{r.id, r.person, p.rules.shown(c, place), isGhost(r)}
	}
	return rows
}

func (p *released) shownClasses() []incremental.ClassID {
	var all []incremental.ClassID
	for _, c := range p.classes.list {
		if c != nil {
			all = append(all, c.id)
		}
	}
	slices.Sort(all)
	return all
}

func (c *Coarser) shownRows(id incremental.ClassID) []shownRow {
	g := c.groups[id]
	if g == nil {
		return nil
	}
	rows := make([]shownRow, len(g.rows))
	for place, r := range g.rows {
		rows[place] = shownRow{r.id, r.person, c.rules.shown(&g.class, place), g.followed[place].left}
	}
	return rows
}

func (c *Coarser) shownClasses() []incremental.ClassID {
	var all []incremental.ClassID
	for id := range c.groups {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// follows follows another class of the finer release, with these labels: whatever is made of it is made of what the
// readers may see of them.
func (c *Coarser) follows(id incremental.ClassID, labels []hierarchy.Generalization) *unit {
	shown := make([]hierarchy.Generalization, len(labels))
	for a, label := range labels {
		shown[a] = hierarchy.Show(c.rules.attributes[a].Hierarchy, label)
	}
	return c.addUnit(id, shown)
}

// addUnit has a unit for another class, with what may be seen of its labels.
func (c *Coarser) addUnit(id incremental.ClassID, labels []hierarchy.Generalization) *unit {
	u := &unit{id: id, index: int32(len(c.indexed)), labels: labels}
	if last := len(c.free) - 1; last >= 0 {
		u.index, c.free = c.free[last], c.free[:last]
		c.indexed[u.index] = u
	} else {
		c.indexed = append(c.indexed, u)
	}
	c.units[id] = u
	c.mark(u)
	return u
}

func (c *Coarser) dropUnit(u *unit) {
	c.mark(u)
	delete(c.units, u.id)
	c.indexed[u.index] = nil
	c.free = append(c.free, u.index)
}

// mark notes that a store has to know of a unit.
func (c *Coarser) mark(u *unit) { c.marked[u.id] = struct{}{} }

func (c *Coarser) disturb(g *group) {
	g.disturbed++
	if !g.dirty {
		g.dirty = true
		c.dirty = append(c.dirty, g)
	}
}

// unitsOf are the units of some rows, in the order of their numbers.
func (c *Coarser) unitsOf(rows []row) []*unit {
	var all []*unit
	seen := make(map[int32]bool)
	for _, r := range rows {
		if r.slot >= 0 && !seen[r.slot] {
			seen[r.slot] = true
			all = append(all, c.indexed[r.slot])
		}
	}
	slices.SortFunc(all, func(u, v *unit) int { return int(u.id - v.id) })
	return all
}

// unite divides units into groups of crowds; none where all together violate the constraints.
func (c *Coarser) unite(ctx context.Context, units []*unit) ([][]*unit, error) {
	crowds := append(privacy.ConstraintSet{privacy.KAnonymity{K: c.crowd * c.rules.k}}, c.rules.constraints...)
	classes := make([]nested.Class, len(units))
	for i, u := range units {
		classes[i].Labels = u.labels
		for _, r := range c.finer.shownRows(u.id) {
			classes[i].Sensitive = append(classes[i].Sensitive, r.codes)
			if c.rules.subjects {
				classes[i].Persons = append(classes[i].Persons, r.person)
			}
		}
	}
	found, err := nested.UniteClasses(ctx, c.rules.attributes, classes, crowds, anonymizer.Options{Seed: c.seed})
	if err != nil {
		return nil, err
	}
	groups := make([][]*unit, len(found))
	for i, places := range found {
		for _, place := range places {
			groups[i] = append(groups[i], units[place])
		}
	}
	return groups, nil
}
