package sync

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	gosync "sync"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pseudonym"
)

// linkedGroup is the release of the tables of one kind of person, which they share for a
// session. A table joins the stream as any other does; nothing of the group is settled before
// all of its tables have, and then all of them are written at one commit.
//
// Rows come from the worker's goroutine and the applier's; all else is the applier's.
type linkedGroup struct {
	people catalog.PeoplePublication
	// values are those of the sensitive attributes of each table, and attributes the others. What
	// they number values by, the tables share with the release.
	values     map[int][]*privacy.Dictionary
	attributes map[int][]anonymizer.Attribute
	schema     privacy.Schema // of all tables

	mu         gosync.Mutex
	maintained *people.Maintained       // nil where updates are guarded
	guarded    *people.Guarded          // else
	coarser    []*people.Coarser        // for audiences, from the finest to the coarsest
	followers  []*people.GuardedCoarser // where updates are guarded

	pseudonymsFor []map[int]*pseudonym.Generator // for these

	found    foundGroup
	restored bool          // the store's release was taken over, where updates are guarded
	made     map[int]int64 // the generation of each table in memory

	pseudonyms map[int]*pseudonym.Generator
	exhausted  error
	present    bool                  // all tables are applied
	ready      bool                  // and up to one commit
	settled    bool                  // it was settled in this session
	whole      bool                  // the last settling was the first, of all that is published
	shares     map[int]*linkedShares // of what was settled last, by table
	progress   func(done, total int)
}

// newLinkedGroup makes the release of tables that are all there.
func newLinkedGroup(of catalog.PeoplePublication, seed uint64) (*linkedGroup, error) {
	g := &linkedGroup{
		people: of, values: make(map[int][]*privacy.Dictionary), attributes: make(map[int][]anonymizer.Attribute),
		pseudonyms: make(map[int]*pseudonym.Generator), made: make(map[int]int64), progress: func(int, int) {},
	}
	schemas, shape := make([]privacy.Schema, len(of.Tables)), people.Shape{}
	root, err := g.addTable(people.Root)
	if err != nil {
		return nil, err
	}
	shape.Root, shape.RootSensitive = g.attributes[people.Root], len(root.Sensitive)
	for i, t := range of.Tables {
		if schemas[i], err = g.addTable(i); err != nil {
			return nil, err
		}
		table := people.TableShape{Name: t.Policy.Table.String(), Sensitive: len(schemas[i].Sensitive), Parent: of.People.Parent(i), Unknown: of.People.Tables[i].Unknown, Attributes: g.attributes[i]}
		table.Order = slices.IndexFunc(t.Attributes, func(a catalog.Attribute) bool { return a.Column == of.People.Tables[i].Order })
		shape.Tables = append(shape.Tables, table)
	}
	g.schema = of.Schema(root, schemas)
	constraints, err := of.ConstraintSet(g.schema)
	if err != nil {
		return nil, err
	}
	method, err := methods.Trying(of.Root.Policy.Method, of.Root.Policy.Effort)
	if err != nil {
		return nil, err
	}
	var secret [32]byte
	if _, err := crand.Read(secret[:]); err != nil {
		return nil, fmt.Errorf("drawing a secret: %w", err)
	}
	options := people.MaintainedOptions{
		Method: method, Seed: seed, Random: rand.New(rand.NewChaCha8(secret)), Pseudonym: g.pseudonym,
		Progress: func(done, total int) {
			if !g.settled { // later changes are not the publication
				g.progress(done, total)
			}
		},
	}
	if u := of.Root.Policy.Updates; u.Mode == catalog.Guarded {
		g.guarded, err = people.NewGuarded(shape, constraints, of.People.Knows.Granted(), people.GuardedOptions{
			MaintainedOptions: options, Batch: u.Batch, Within: u.Within, Rows: u.Rows, RowsWithin: u.RowsWithin,
		})
		if err != nil {
			return g, err
		}
		return g, g.addFollowers(seed)
	}
	if g.maintained, err = people.NewMaintained(shape, constraints, of.People.Knows.Granted(), options); err != nil {
		return g, err
	}
	return g, g.addAudiences(seed)
}

// linkedShares are what a settling has changed of a table.
type linkedShares struct {
	own       *people.GuardedTable
	audiences []*people.FollowedTable
}

// addAudiences makes the releases for audiences, each of the one before, with pseudonyms of their own.
func (g *linkedGroup) addAudiences(seed uint64) error {
	return g.eachAudience(func(k int, _ map[int]*pseudonym.Generator, o people.CoarserOptions) error {
		o.K, o.Seed = k, seed
		coarser, err := people.NewCoarser(g.maintained, o)
		g.coarser = append(g.coarser, coarser)
		return err
	})
}

// eachAudience calls a function for each audience, with its k, the pseudonyms of each table and what draws them.
func (g *linkedGroup) eachAudience(add func(k int, pseudonyms map[int]*pseudonym.Generator, o people.CoarserOptions) error) error {
	attributes := maps.Clone(g.attributes)
	for _, a := range g.people.Root.Policy.Audiences {
		for _, table := range g.numbers() {
			var err error
			if attributes[table], err = g.people.Of(table).AttributesFor(a.Audience, attributes[table]); err != nil {
				return err
			}
		}
		tables := make([][]anonymizer.Attribute, len(g.people.Tables))
		for i := range tables {
			tables[i] = attributes[i]
		}
		seen, _ := g.people.Root.MadeFor(a.Audience)
		stated, err := g.people.StatedFor(a.Audience, g.schema)
		if err != nil {
			return err
		}
		var secret [32]byte
		if _, err := crand.Read(secret[:]); err != nil {
			return fmt.Errorf("drawing a secret: %w", err)
		}
		pseudonyms := make(map[int]*pseudonym.Generator)
		for _, table := range g.numbers() {
			if forms := g.people.Of(table).Membership.Own; len(forms) > 0 {
				var err error
				if pseudonyms[table], err = pseudonym.New(forms[0].Bits); err != nil {
					return err
				}
			}
		}
		err = add(seen.Membership.People.K(), pseudonyms, people.CoarserOptions{
			Constraints: stated, Root: attributes[people.Root], Tables: tables, Random: rand.New(rand.NewChaCha8(secret)), Pseudonym: func(table int) uint64 { return g.next(pseudonyms[table]) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// restoreRow takes a row over that the store has, with its class and the groups for audiences.
func (g *linkedGroup) restoreRow(table int, r people.Row, classes []int64) error {
	return g.change(func(m *people.Maintained) error {
		for i, of := range g.coarser {
			of.Restore(table, r.ID, incremental.ClassID(classes[1+i]))
		}
		return m.Restore(table, r, incremental.ClassID(classes[0]))
	})
}

// addTable numbers the values of a table, for as long as the group is.
func (g *linkedGroup) addTable(table int) (schema privacy.Schema, err error) {
	of := g.people.Of(table)
	if g.attributes[table], err = of.NewAttributes(); err != nil {
		return schema, err
	}
	if schema, err = of.NewSchema(); err != nil {
		return schema, err
	}
	for _, s := range schema.Sensitive {
		g.values[table] = append(g.values[table], s.Values)
	}
	if forms := of.Membership.Own; len(forms) > 0 {
		g.pseudonyms[table], err = pseudonym.New(forms[0].Bits)
	}
	return schema, err
}

// pseudonym is a new one for a row of a table, or 0 where its rows have no key to show.
func (g *linkedGroup) pseudonym(table int) uint64 { return g.next(g.pseudonyms[table]) }

func (g *linkedGroup) next(of *pseudonym.Generator) uint64 {
	if of == nil {
		return 0
	}
	number, err := of.Next()
	if err != nil {
		g.exhausted = err
	}
	return number
}

// number is that of one of the group's tables.
func (t *layout) number() int { return t.publication.Membership.Table }

// join has the table share the group's release.
func (t *table) join(g *linkedGroup) {
	if g != nil {
		t.group, t.values, t.layout.attributes = g, g.values[t.layout.number()], g.attributes[t.layout.number()]
	}
}

// guard reads or changes the rows of a guarded release.
func (g *linkedGroup) guard(do func(*people.Guarded) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return do(g.guarded)
}

// change changes the release's rows.
func (g *linkedGroup) change(do func(*people.Maintained) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return do(g.maintained)
}

// settle settles all tables, unless their share of the last settling is still there, and
// takes the share of one. Before all tables are ready, nothing is published.
func (g *linkedGroup) settle(ctx context.Context, table int, now time.Time) (*linkedShares, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ready && g.isPublished() {
		g.whole = false
		noted := g.guarded.Note(table)
		shares := &linkedShares{own: &noted}
		for _, of := range g.followers {
			noted := of.Note(table)
			shares.audiences = append(shares.audiences, &noted)
		}
		return shares, nil
	}
	if !g.ready {
		return nil, nil
	}
	if g.shares[table] == nil {
		shares, err := g.publish(ctx, now)
		if duplicate := (*people.DuplicateKeyError)(nil); errors.As(err, &duplicate) {
			return nil, &TableError{
				Table: g.people.Of(duplicate.Table).Policy.Table, What: "two of its rows have the same key of people",
				Fix: "make it unique at the source, or correct key in people; then 'kproxy reload'",
			}
		}
		if err != nil || g.exhausted != nil {
			return nil, errors.Join(err, g.exhausted)
		}
		g.whole, g.settled, g.shares = !g.settled && !g.restored, true, shares
	}
	share := g.shares[table]
	delete(g.shares, table)
	return share, nil
}

// isPublished reports whether there is a guarded release, of this session or an earlier one. What changes
// before is told with the first release.
func (g *linkedGroup) isPublished() bool { return g.guarded != nil && (g.settled || g.restored) }

// publish brings the releases up to date, and returns what has changed of each table.
func (g *linkedGroup) publish(ctx context.Context, now time.Time) (map[int]*linkedShares, error) {
	shares := make(map[int]*linkedShares)
	if g.guarded != nil {
		changes, err := g.guarded.Publish(ctx, now)
		if err != nil {
			return nil, err
		}
		shares[people.Root] = &linkedShares{own: &changes.Root}
		for i := range changes.Tables {
			shares[i] = &linkedShares{own: &changes.Tables[i]}
		}
		for _, of := range g.followers {
			for i, changes := range of.Changes() {
				shares[people.Root+i].audiences = append(shares[people.Root+i].audiences, &changes)
			}
		}
		return shares, nil
	}
	changes, err := g.maintained.Settle(ctx)
	if err != nil {
		return nil, err
	}
	for _, table := range g.numbers() {
		shares[table] = &linkedShares{own: shareOf(changes, table)}
	}
	for _, of := range g.coarser {
		if changes, err = of.Settle(ctx, changes); err != nil {
			return nil, err
		}
		for table, s := range shares {
			s.audiences = append(s.audiences, &people.FollowedTable{GuardedTable: *shareOf(changes, table)})
		}
	}
	return shares, nil
}

// shareOf is what has changed of a table.
func shareOf(changes *people.MaintainedChanges, table int) *people.GuardedTable {
	if table == people.Root {
		return &people.GuardedTable{TableChanges: changes.Root}
	}
	return &people.GuardedTable{TableChanges: changes.Tables[table]}
}

// prepare finds out which groups are ready at a commit, and has all tables of one written
// where one has changed.
func (t tables) prepare(upTo pglogrepl.LSN) {
	groups := make(map[*linkedGroup]tables)
	for _, of := range t {
		if of.group != nil {
			groups[of.group] = append(groups[of.group], of)
		}
	}
	for group, members := range groups {
		group.present = len(members) == group.size()
		group.ready = group.present && !slices.ContainsFunc(members, func(m *table) bool { return max(m.release.showAt, m.release.position) > upTo })
		if !group.ready || group.settled && !slices.ContainsFunc(members, func(m *table) bool { return m.pending.dirty }) {
			continue
		}
		for _, m := range members {
			m.pending.dirty = true
		}
	}
}

// groupLinked makes the groups of linked tables. A table whose group is not whole does not
// fit its policy.
func (s *session) groupLinked() error {
	members := make(map[string]map[int]*table)
	for _, t := range s.policy {
		if m := t.layout.publication.Membership; m != nil {
			if members[m.People.Kind] == nil {
				members[m.People.Kind] = make(map[int]*table)
			}
			members[m.People.Kind][m.Table] = t
		}
	}
	for _, of := range members {
		if err := s.group(of); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) group(members map[int]*table) error {
	var p catalog.PeoplePublication
	for _, t := range members {
		p.People = t.layout.publication.Membership.People
	}
	if len(members) < 1+len(p.People.Tables) {
		for _, t := range members {
			s.unfit = append(s.unfit, t.layout.name())
			s.policy = slices.DeleteFunc(s.policy, func(of *table) bool { return of == t })
		}
		return nil
	}
	p.Root = members[people.Root].layout.publication
	for i := range p.People.Tables {
		p.Tables = append(p.Tables, members[i].layout.publication)
	}
	g, err := newLinkedGroup(p, s.syncer.config.Seed)
	if err != nil {
		return err
	}
	for _, t := range members {
		t.join(g)
	}
	syncer := s.syncer // the group may outlast the session
	g.progress = func(done, total int) {
		syncer.config.Progress(Progress{Table: p.People.Root, Stage: "anonymizing", Done: done, Total: total})
	}
	return nil
}

// foundGroup is what a session has found in the store of the tables of a group.
type foundGroup struct {
	stored map[int]generation // of each table
	// afresh says that all tables are published afresh, as one of them has to be: readers must not see
	// some of its tables as they were before, and others as they are.
	afresh    bool
	blocked   bool // a table stays halted
	consented bool // the operator has asked for a table to be rebuilt
	seen      bool // readers have seen what guarded updates have shown
}

// endsLineage reports whether tables would be published afresh without the operator's consent though
// readers have seen what guarded updates have shown of them.
func (f *foundGroup) endsLineage() bool { return f.afresh && f.seen && !f.consented }

// add takes over what was found of a table.
func (f *foundGroup) add(t *table, g generation, known, retried bool) {
	guards, fits := known && g.updates == catalog.Guarded.String(), t.layout.fits(g)
	// A generation that readers have seen nothing of was made with consent.
	f.consented = f.consented || g.asked == askRebuild || guards && g.shows != 0 && fits
	f.seen = f.seen || guards && g.shows == 0
	f.blocked = f.blocked || g.staysHalted(fits, retried)
	unseen := t.layout.isGuarded() && g.shows != 0 // of which readers have seen nothing
	f.afresh = f.afresh || !known || unseen || !fits || g.asked == askRebuild || g.noted == askRebuild
	for _, other := range f.stored {
		f.afresh = f.afresh || (other.shows == 0) != (g.shows == 0)
	}
	if f.stored == nil {
		f.stored = make(map[int]generation)
	}
	f.stored[t.layout.number()] = g
}

// findGroups has each group look at what the store has of its tables.
func (s *session) findGroups(found map[catalog.Name]generation) {
	for _, t := range s.policy {
		if t.group != nil {
			g, known := found[t.layout.name()]
			t.group.found.add(t, g, known, s.syncer.retryHalted())
		}
	}
}

// waits reports whether the table is shown, or its group settled for the first time, when the
// position gets to a commit.
func (t *table) waits(upTo pglogrepl.LSN) bool {
	if t.group != nil && (!t.group.present || max(t.release.showAt, t.release.position) > upTo) {
		return false
	}
	return t.release.showAt != 0 && t.release.showAt <= upTo && time.Since(t.release.postponed) >= postponement ||
		t.group != nil && !t.group.settled
}

// generations lists those of the tables in memory.
func (g *linkedGroup) generations() string {
	var list []string
	for _, number := range g.numbers() {
		list = append(list, strconv.FormatInt(g.made[number], 10))
	}
	return strings.Join(list, ", ")
}

// numbers are those of the group's tables, the root first.
func (g *linkedGroup) numbers() []int {
	numbers := []int{people.Root}
	for i := range g.people.Tables {
		numbers = append(numbers, i)
	}
	return numbers
}

// size is the number of the group's tables.
func (g *linkedGroup) size() int { return 1 + len(g.people.Tables) }
