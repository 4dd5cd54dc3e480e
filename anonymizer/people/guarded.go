package people

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Guarded is a release that follows inserts, updates and deletes of all its tables, as Maintained
// does, and publishes so that comparing versions reveals no more than one release. DESIGN.md has
// the rules and the argument.
//
// Persons wait until a batch of them makes new classes. Their rows wait until enough persons of the
// class have some, and are then published in cells that never change. Rows that wait for too long
// are published without keys. Deleted rows stay as ghosts, changed ones as they were, until
// everything around them can vanish at once.
//
// It has no clock: callers pass the time, which never goes back. It is not safe for concurrent use.
type Guarded struct {
	source
	demanded privacy.ConstraintSet // as they hold for the pool
	options  GuardedOptions
	shown    shown
	persons  backlog
	rows     backlog
	fresh    []place                 // rows inserted, or named otherwise, since the last Publish
	ready    map[place]*timeframe    // waiting rows whose parents are published, by where they would be
	renewed  map[*timeframe]struct{} // with rows that were not ready at the last Publish
	pools    []map[int32]struct{}    // of each table: slots that wait to be pooled
	touched  []map[int32]struct{}    // of each table, the root's first: rows whose Place may have changed
	counts   []counted               // of each table, the root's first
	repooled []bool                  // of each table: rows have come to the pool since it was tried
	changes  *GuardedChanges
	begun    bool // the first batch of persons has been tried, or was empty
	coarser  []*GuardedCoarser
	moves    []moved // for these, since the last Publish
}

// GuardedOptions of a guarded release.
type GuardedOptions struct {
	MaintainedOptions
	// Least is the least number of waiting persons that are tried as a batch. It is never
	// below the crowd's times k (k with Knows.All), which 0 stands for, or 20 where
	// constraints count values and that is more.
	Least int
	// Batch is how many waiting persons are published at once; below Least means Least.
	Batch int
	// Within is how long a person waits before a smaller batch is tried; 0 means that
	// none is.
	Within time.Duration
	// Rows is how many waiting rows of a table, of one class and window, are tried at once,
	// unless all is known; half of them with a new class. At least k, or 10 where constraints
	// count values and that is more; 0 stands for twice as many.
	Rows int
	// RowsWithin is how long a row of a published person waits before fewer are tried or,
	// where these are fewer than k (10 where constraints count values) or all is known, it
	// is left to the pool. 0 means that it waits as long as it takes.
	RowsWithin time.Duration
}

// The least numbers of persons, and of rows, that are tried at once if constraints count values: a
// refusal of few reveals much about them, and happens often.
const (
	leastValued     = 20
	leastValuedRows = 10
)

// NewGuarded returns a guarded release without rows. Its errors are those of NewMaintained.
func NewGuarded(shape Shape, c privacy.ConstraintSet, knows Knows, o GuardedOptions) (*Guarded, error) {
	set, err := maintainable(c)
	if err != nil {
		return nil, err
	}
	valued := len(set) > 1
	g := &Guarded{options: o, demanded: set, ready: make(map[place]*timeframe), renewed: make(map[*timeframe]struct{}), persons: newBacklog(), rows: newBacklog()}
	if g.source, err = newSource(shape, whereShown(set), knows); err != nil {
		return nil, err
	}
	for i := range g.tables {
		g.tables[i].keepsKeys = true
		g.pools, g.repooled = append(g.pools, make(map[int32]struct{})), append(g.repooled, false)
	}
	g.root.keepsKeys, g.counts, g.touched = true, make([]counted, 1+len(g.tables)), make([]map[int32]struct{}, 1+len(g.tables))
	for i := range g.touched {
		g.touched[i] = make(map[int32]struct{})
	}
	g.shown = newShown(&g.source, valued)
	least := g.classSize()
	if valued && o.Least == 0 {
		least = max(least, leastValued)
	}
	g.options.Least = max(least, o.Least)
	g.options.Batch = max(g.options.Batch, g.options.Least)
	if g.options.Rows = max(g.leastRows(), o.Rows); o.Rows == 0 {
		g.options.Rows = 2 * g.leastRows()
	}
	g.changes = newGuardedChanges(len(g.tables))
	for i, t := range shape.Tables {
		if err := o.Method.Accepts(t.Attributes, ofTable(set, g.tables[i].first, t.Sensitive)); err != nil {
			return nil, fmt.Errorf("table %s: method %s %w", t.Name, o.Method.Name(), err)
		}
	}
	if err := o.Method.Accepts(shape.Root, privacy.ConstraintSet{privacy.KAnonymity{K: g.classSize()}}); err != nil {
		return nil, fmt.Errorf("method %s %w", o.Method.Name(), err)
	}
	return g, nil
}

// leastRows is the least number of rows that are tried at once.
func (g *Guarded) leastRows() int {
	if g.sizeDecides() {
		return g.k
	}
	return max(g.k, leastValuedRows)
}

// Insert adds a row, which waits from now on. A row that has the key of one that was deleted,
// and is still published, takes its place at the next Publish. The errors are
// incremental.ErrDuplicate for an ID that a row has, or that a published row was inserted
// with, and one about the number of cells; nothing is changed then.
func (g *Guarded) Insert(table int, r Row, now time.Time) error {
	slot, err := g.insert(table, r)
	if err != nil {
		return err
	}
	g.fresh = append(g.fresh, place{table, slot})
	g.touch(table, slot)
	if table == Root {
		g.wait(slot, now)
	} else {
		g.link(table, slot, r.Of)
	}
	g.adoptAll(table, slot, r.Key)
	g.enter(table, slot, now)
	return nil
}

// insert adds a row that belongs to nobody yet.
func (g *Guarded) insert(table int, r Row) (int32, error) {
	t, shown := g.relation(table), g.shown.of(table)
	if _, known := shown.ids[r.ID]; known {
		return none, fmt.Errorf("inserting row %d into table %s: %w", r.ID, t.name, incremental.ErrDuplicate)
	}
	slot, err := t.insert(r)
	if err != nil {
		return none, fmt.Errorf("inserting row %d into table %s: %w", r.ID, t.name, err)
	}
	for int(slot) >= len(shown.bySlot) {
		shown.bySlot = append(shown.bySlot, none)
	}
	return slot, nil
}

// wait has a person wait.
func (g *Guarded) wait(slot int32, now time.Time) {
	g.root.state[slot] = waits
	g.persons.add(place{Root, slot}, now)
}

// adoptAll puts rows that wait for a key below the row that has it now.
func (g *Guarded) adoptAll(table int, slot int32, key Key) {
	if t := g.relation(table); key != (Key{}) && t.keys.find(key) == slot {
		for _, child := range t.children {
			g.adopt(child, slot, key)
		}
	}
}

// Modify replaces a row of the same ID. If it is published, it stays as it was, even if
// nothing that the release knows of it has changed: it counts as stale. The errors are
// incremental.ErrUnknown and those of Insert.
func (g *Guarded) Modify(table int, r Row, now time.Time) error {
	t := g.relation(table)
	slot := t.find(r.ID)
	if slot == none {
		return fmt.Errorf("modifying row %d of table %s: %w", r.ID, t.name, incremental.ErrUnknown)
	}
	if err := t.checkShape(r); err != nil {
		return fmt.Errorf("modifying row %d of table %s: %w", r.ID, t.name, err)
	}
	if s := g.shown.of(table).bySlot[slot]; s != none && !g.shown.of(table).rows[s].stale {
		g.shown.of(table).rows[s].stale = true
		g.touch(table, slot)
	}
	rekeyed := t.keys.of(slot) != r.Key
	relinked := table != Root && (g.ofKey(table, slot) != r.Of || t.window[slot] != r.Window)
	if rekeyed || relinked {
		g.leave(table, slot)
	}
	if relinked {
		g.unlink(table, slot)
		t.window[slot] = r.Window
		g.link(table, slot, r.Of)
	}
	if rekeyed {
		g.orphanAll(table, slot)
		g.passOn(table, t.keys.of(slot), t.keys.remove(slot), now)
		t.setKey(slot, r.Key)
		g.adoptAll(table, slot, r.Key)
		g.fresh = append(g.fresh, place{table, slot})
	}
	t.set(slot, r)
	if rekeyed || relinked {
		g.enter(table, slot, now)
	}
	return nil
}

// orphanAll has the rows below a row wait for its key.
func (g *Guarded) orphanAll(table int, slot int32) {
	t := g.relation(table)
	for _, child := range t.children {
		for _, row := range g.below(child, slot) {
			g.leave(child, row)
			g.unlink(child, row)
			g.tables[child].wait(row, t.keys.of(slot))
		}
	}
}

// passOn gives a key to the row that has waited for it, if there is one.
func (g *Guarded) passOn(table int, key Key, heir int32, now time.Time) {
	if heir != none {
		g.adoptAll(table, heir, key)
		g.enter(table, heir, now)
	}
}

// Delete removes a row. If it is published, it stays as a ghost, which a row of the same key
// takes over if it comes before the ghost vanishes. Rows that belong to the row belong to
// nobody then, until a row of its key comes. The error is incremental.ErrUnknown.
func (g *Guarded) Delete(table int, id incremental.RecordID, now time.Time) error {
	t := g.relation(table)
	slot := t.find(id)
	if slot == none {
		return fmt.Errorf("deleting row %d of table %s: %w", id, t.name, incremental.ErrUnknown)
	}
	key := t.keys.of(slot)
	g.orphanAll(table, slot)
	g.leave(table, slot)
	if s := g.shown.of(table).bySlot[slot]; s != none {
		g.depart(table, s, key)
	}
	if table != Root {
		g.unlink(table, slot)
	} else if t.state[slot] == waits {
		g.persons.remove(place{Root, slot})
	}
	delete(g.touched[table+1], slot)
	g.count(place{table, slot}, countsNot)
	g.passOn(table, key, t.remove(slot), now)
	return nil
}

// Truncate removes all rows of a table, as Delete does.
func (g *Guarded) Truncate(table int, now time.Time) error {
	for _, id := range g.relation(table).all() {
		if err := g.Delete(table, id, now); err != nil {
			return err
		}
	}
	return nil
}

// Publish publishes what is due, and returns all that has changed since the last time. Call
// it after changes and when Due says so. The error is a *DuplicateKeyError, before anything
// is changed, or the context's; the release must not be used any more then.
func (g *Guarded) Publish(ctx context.Context, now time.Time) (*GuardedChanges, error) {
	changes, err := g.publish(ctx, now)
	if err != nil {
		return nil, err
	}
	return changes, g.follow(ctx, changes)
}

// publish does so without the releases for others.
func (g *Guarded) publish(ctx context.Context, now time.Time) (*GuardedChanges, error) {
	if err := g.checkKeys(); err != nil {
		return nil, err
	}
	p := &publishing{Guarded: g, ctx: ctx, now: now, first: !g.begun, founded: make(map[*shownClass]struct{})}
	if err := p.run(); err != nil {
		return nil, fmt.Errorf("publishing tables of persons: %w", err)
	}
	return g.takeChanges(), nil
}

// Due is when Publish should be called at the latest if nothing changes; zero for never.
func (g *Guarded) Due() time.Time {
	var due time.Time
	if oldest := g.persons.oldest(); g.options.Within > 0 && g.persons.len() >= g.options.Least {
		due = oldest.Add(g.options.Within)
	}
	if oldest := g.rows.oldest(); g.options.RowsWithin > 0 && !oldest.IsZero() {
		if end := oldest.Add(g.options.RowsWithin); due.IsZero() || end.Before(due) {
			due = end
		}
	}
	return due
}

// publishing is one run of Publish.
type publishing struct {
	*Guarded
	ctx   context.Context
	now   time.Time
	first bool // it is the first one of the release
	// rejected rows are in the pool although they violate the constraints.
	rejected []place
	founded  map[*shownClass]struct{} // in this run
}

func (p *publishing) run() error {
	p.takeBack()
	p.vanish()
	if err := p.publishPersons(); err != nil {
		return err
	}
	overdue := p.overdueRows()
	if err := p.publishRows(overdue); err != nil {
		return err
	}
	for _, at := range overdue {
		p.leaveToPool(at)
	}
	for table := range p.tables {
		if err := p.publishPool(table); err != nil {
			return err
		}
	}
	for _, at := range p.rejected {
		p.refusePooling(at)
	}
	p.updateWeights()
	return p.ctx.Err()
}

// personsDue reports whether a batch of persons is due: enough wait, or the least number and
// one of them for long enough, or that number at the first Publish.
func (p *publishing) personsDue() bool {
	if p.persons.len() < p.options.Least {
		return false
	}
	overdue := p.options.Within > 0 && !p.now.Before(p.persons.oldest().Add(p.options.Within))
	return overdue || p.persons.len() >= p.options.Batch || !p.begun
}

// publishPersons makes classes of all waiting persons, if they are due, or withholds all of them
// for good: which of them could be published would reveal the values of the others.
func (p *publishing) publishPersons() error {
	due := p.personsDue()
	p.begun = true
	if !due {
		return nil
	}
	batch := newUnit(&p.source, p.persons.slots(&p.root))
	batch.omits = func(table int, row int32) bool { return p.tables[table].state[row] != hidden }
	for member, person := range batch.persons {
		for _, table := range p.root.children {
			for _, row := range p.below(table, person) {
				batch.add(table, row, int32(member))
			}
		}
	}
	classes, err := p.divide(batch)
	if err != nil {
		return err
	}
	for _, slot := range batch.persons {
		p.persons.remove(place{Root, slot})
		p.root.state[slot] = refused
		p.touch(Root, slot)
	}
	for _, members := range classes {
		p.found(members)
	}
	return nil
}

// divide makes classes of the persons of a batch, by slot; none where all of them together
// violate the constraints.
func (p *publishing) divide(batch *unit) ([][]int32, error) {
	o := Options{Method: p.options.Method}
	o.Seed = p.options.Seed
	r := batch.releasing(o)
	r.release.Tables = make([]TableRelease, len(p.tables))
	if satisfied, err := r.feasible(); err != nil || !satisfied {
		return nil, err
	}
	var err error
	if p.knows.All {
		err = r.trees(p.ctx, 0)
	} else {
		r.release.Classes, err = r.classesByRoot(p.ctx, max(1, p.knows.crowd()))
	}
	classes := make([][]int32, len(r.release.Classes))
	for i, class := range r.release.Classes {
		for _, member := range class {
			classes[i] = append(classes[i], batch.persons[member])
		}
		p.root.sortByID(classes[i])
	}
	return classes, err
}

// found publishes persons as a new class.
func (p *publishing) found(members []int32) {
	class, cell := p.shown.newClass()
	p.founded[class] = struct{}{}
	at := make([]int32, len(members))
	published := PublishedCell{ID: cell.id, Class: class.id}
	for i, slot := range members {
		at[i] = int32(i)
		own := p.options.Pseudonym(Root)
		class.members = append(class.members, p.show(cell, slot, shownRow{member: int32(i), parent: none, own: own}))
		published.Rows = append(published.Rows, PublishedRow{ID: p.root.ids[slot], Own: own, Person: own, Member: int32(i)})
		if p.tellsValues(Root) {
			published.Sensitive = append(published.Sensitive, slices.Clone(p.root.sensitive.Row(slot)))
		}
	}
	published.Values = p.root.generalize(members, at)
	p.changes.Root.Cells = append(p.changes.Root.Cells, published)
	for _, slot := range members {
		p.enter(Root, slot, p.now)
	}
}

// tellsValues reports whether coarser releases need the values of a table's rows.
func (g *Guarded) tellsValues(table int) bool {
	return g.shown.valued && len(g.coarser) > 0 && g.relation(table).sensitive.Columns() > 0
}

// show publishes a row in a cell.
func (p *publishing) show(cell *shownCell, slot int32, r shownRow) int32 {
	t := p.relation(cell.part.table)
	r.id, r.slot, r.cell = t.ids[slot], slot, cell
	t.state[slot] = inCell
	if cell.class == nil {
		t.state[slot] = pooledShown
	}
	p.touch(cell.part.table, slot)
	return p.shown.add(r, t.sensitive.Row(slot))
}
