package lineage_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// stricter are constraints of two audiences, each with those before.
var stricter = map[string][2]privacy.ConstraintSet{
	"k":         {{privacy.KAnonymity{K: 5}}, {privacy.KAnonymity{K: 9}}},
	"distinct":  {{privacy.KAnonymity{K: 4}, privacy.DistinctDiversity{L: 2, Name: "s"}, privacy.DistinctDiversity{L: 2, Attribute: 1, Name: "t"}}, {privacy.KAnonymity{K: 6}, privacy.DistinctDiversity{L: 3, Name: "s"}, privacy.DistinctDiversity{L: 2, Attribute: 1, Name: "t"}}},
	"entropy":   {{privacy.KAnonymity{K: 4}, privacy.EntropyDiversity{L: 2, Name: "s"}}, {privacy.KAnonymity{K: 6}, privacy.EntropyDiversity{L: 2.5, Name: "s"}}},
	"recursive": {{privacy.KAnonymity{K: 5}, privacy.RecursiveDiversity{L: 2, C: 2, Name: "s"}}, {privacy.KAnonymity{K: 7}, privacy.RecursiveDiversity{L: 2, C: 1.5, Name: "s"}}},
	"alpha":     {{privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.5, Name: "s"}}, {privacy.KAnonymity{K: 8}, privacy.AlphaBound{Alpha: 0.45, Name: "s"}}},
}

// coarseRow is a row of a coarser release with all that became of it.
type coarseRow struct {
	id     lineage.RowID
	group  incremental.ClassID
	shows  *shownRow // of the lineage: whose values it has
	person uint32
	sealed bool
	since  int
	until  int        // 0 while it is shown
	next   *coarseRow // the one that took its place
}

// course tells what becomes of a row for a reader who has no other release. What had changed of its record when
// another took its place is known to such a reader.
func (r *coarseRow) course() string {
	course := fmt.Sprint(r.until)
	if r.next != nil {
		how := ""
		for s := r.shows; s != r.next.shows; s = s.next {
			how = union(how, s.how)
		}
		course += fmt.Sprintf(" %q changed, group %d: %s", how, r.next.group, r.next.course())
	}
	return course
}

// coarseReader has kept every version of a coarser release, and is its store.
type coarseReader struct {
	m           *model
	level       int
	before      *coarseReader // of the release that this one follows; nil for the lineage
	constraints privacy.ConstraintSet
	attributes  []anonymizer.Attribute // as the release shows them
	specs       []hierarchy.Spec       // likewise
	labels      map[incremental.ClassID][]hierarchy.Generalization
	release     *lineage.Coarser
	rows        map[lineage.RowID]*coarseRow // of the present version
	ever        map[incremental.ClassID][]*coarseRow
	of          map[*member][]*coarseRow
	classes     map[incremental.ClassID]map[incremental.ClassID]bool // of the lineage, by group
	weights     map[incremental.ClassID]lineage.Weight
	units       map[incremental.ClassID]lineage.CoarserUnit
	parted      map[lineage.RowID]lineage.RowID
	last        incremental.ClassID // the greatest number of a group so far
	renewed     int
	cut         int
}

// newCoarseReader reads a release that follows another one, or the lineage. Without limits of its own it shows as much as what it follows.
func newCoarseReader(m *model, before *coarseReader, constraints privacy.ConstraintSet, limited bool) *coarseReader {
	level := 1
	if before != nil {
		level = before.level + 1
	}
	r := &coarseReader{
		m: m, level: level, before: before, constraints: constraints, rows: map[lineage.RowID]*coarseRow{}, ever: map[incremental.ClassID][]*coarseRow{},
		of: map[*member][]*coarseRow{}, classes: map[incremental.ClassID]map[incremental.ClassID]bool{}, weights: map[incremental.ClassID]lineage.Weight{}, units: map[incremental.ClassID]lineage.CoarserUnit{}, parted: map[lineage.RowID]lineage.RowID{},
	}
	r.attributes, r.specs, r.labels = m.source.Data.Attributes, m.source.Data.Specs, map[incremental.ClassID][]hierarchy.Generalization{}
	if before != nil {
		r.attributes, r.specs = anonymizer.Following(before.attributes), before.specs
	}
	if limited {
		r.attributes, r.specs = anonymizertest.Limited(m.t, r.attributes, r.specs)
	}
	r.add()
	return r
}

func (o *coarseReader) add() {
	var err error
	o.release, err = o.m.lineage.AddLimited(o.attributes, o.constraints)
	o.m.must(err)
}

// restart loads the release from what was told of it.
func (o *coarseReader) restart() {
	before, next := o.release.Freshness(), o.release.NextGroup()
	o.add()
	o.release.StartAt(next)
	o.load()
	o.m.require(o.release.Freshness() == before, "level %d: freshness %+v after loading, %+v before", o.level, o.release.Freshness(), before)
}

func (o *coarseReader) load() {
	var rows []lineage.StoredRow
	for _, r := range o.rows {
		rows = append(rows, lineage.StoredRow{ID: r.id, Class: r.group, Person: r.person, Sensitive: r.shows.values.Sensitive, Sealed: r.sealed})
	}
	o.m.must(o.release.Load(rows, o.parted, slices.Collect(maps.Values(o.units)), o.weights))
}

// version takes over what the last version changed, and checks it.
func (o *coarseReader) version() error {
	c := o.release.Changes()
	gone := map[*member]*coarseRow{}
	for i, id := range c.Gone {
		r := o.rows[id]
		if r == nil || r.group != c.GoneFrom[i] {
			return fmt.Errorf("row %d is gone and was not there", id)
		}
		r.until = o.m.journal.version
		gone[r.shows.member] = r
		delete(o.rows, id)
	}
	created := map[incremental.ClassID]map[incremental.ClassID]bool{} // of what classes
	finer := map[incremental.ClassID]map[incremental.ClassID]bool{}   // likewise, of those of the release before
	for _, n := range c.Rows {
		shows := o.finer(n.ID)
		if shows == nil || o.rows[n.ID] != nil || c.Classes[n.Class] == nil {
			return fmt.Errorf("row %d is new, and the lineage does not show it, or it is there", n.ID)
		}
		r := &coarseRow{id: n.ID, group: n.Class, shows: shows, person: n.Person, sealed: n.Sealed, since: o.m.journal.version}
		if before := gone[shows.member]; before != nil {
			before.next = r
			o.renewed++
			delete(gone, shows.member)
		} else if earlier := o.of[shows.member]; len(earlier) > 0 {
			return fmt.Errorf("row %d is new, and its record was in row %d, which was not replaced", n.ID, earlier[0].id)
		}
		o.rows[n.ID] = r
		o.ever[n.Class] = append(o.ever[n.Class], r)
		o.of[shows.member] = append(o.of[shows.member], r)
		if created[n.Class] == nil {
			created[n.Class], finer[n.Class] = map[incremental.ClassID]bool{}, map[incremental.ClassID]bool{}
		}
		finer[n.Class][n.From] = true
		if o.before == nil {
			created[n.Class][n.From] = true
		} else {
			maps.Copy(created[n.Class], o.before.classes[n.From])
		}
	}
	for member, r := range gone {
		if o.cut++; !member.deleted {
			return fmt.Errorf("row %d is gone, and its record is there", r.id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.Classes)) {
		if o.last++; id != o.last { // gaps would tell of classes that others see
			return fmt.Errorf("group %d is the next after %d", id, o.last-1)
		}
	}
	for id, classes := range created {
		o.classes[id] = classes
		var values []anonymizertest.Row // of all rows that the classes had when their labels were made
		for class := range classes {
			for _, r := range o.m.journal.classes[class].ever {
				values = append(values, r.values)
			}
		}
		seen := *o.m.source
		seen.Data = &workload.Data{Specs: o.specs, Attributes: o.attributes}
		if err := seen.CheckCovers(values, c.Classes[id]); err != nil {
			return fmt.Errorf("group %d: %w", id, err)
		}
		o.labels[id] = c.Classes[id]
		if err := o.checkLabels(id, finer[id]); err != nil {
			return err
		}
	}
	o.store(c)
	return o.checkWeights()
}

// checkLabels: what is published of a group follows from the labels that the release before has published for its classes.
func (o *coarseReader) checkLabels(id incremental.ClassID, classes map[incremental.ClassID]bool) error {
	for a, attribute := range o.attributes {
		var shown []hierarchy.Generalization
		for _, class := range slices.Sorted(maps.Keys(classes)) {
			published := o.published(class)
			shown = append(shown, hierarchy.Show(attribute.Hierarchy, published[a]))
		}
		if want := hierarchy.Union(attribute.Hierarchy, shown); o.labels[id][a] != want {
			return fmt.Errorf("group %d shows %+v of %s, and its classes tell %+v", id, o.labels[id][a], attribute.Name, want)
		}
	}
	return nil
}

// published is what the release before has published of a class.
func (o *coarseReader) published(class incremental.ClassID) []hierarchy.Generalization {
	if o.before != nil {
		return o.before.labels[class]
	}
	return o.m.journal.classes[class].box
}

// finer is what the release before shows in a row.
func (o *coarseReader) finer(id lineage.RowID) *shownRow {
	if o.before == nil {
		return o.m.journal.rows[id]
	}
	if r := o.before.rows[id]; r != nil {
		return r.shows
	}
	return nil
}

// store keeps what a restart needs.
func (o *coarseReader) store(c lineage.CoarserChanges) {
	for id, w := range c.Weights {
		w.Share = float64(float32(w.Share))
		o.weights[id] = w
		if id < 0 && w.Ghosts == 0 {
			delete(o.weights, id)
		}
	}
	for _, id := range c.Settled {
		delete(o.units, id)
	}
	for _, u := range c.Units {
		u.Labels = slices.Clone(u.Labels)
		o.units[u.Class] = u
	}
	for id := range c.Unparted {
		delete(o.parted, id)
	}
	maps.Copy(o.parted, c.Parted)
	shown := map[incremental.ClassID]bool{}
	for _, r := range o.rows {
		shown[r.group] = true
	}
	maps.DeleteFunc(o.weights, func(id incremental.ClassID, _ lineage.Weight) bool { return id > 0 && !shown[id] })
}

// checkWeights: they add up to the number of rows that stand for somebody, but for the rows of k persons.
func (o *coarseReader) checkWeights() error {
	table, weighed, present, by, most := 1.0, 0.0, 0, map[uint32]int{}, 1
	if w, told := o.weights[0]; told {
		table = w.Share
	}
	for _, r := range o.rows {
		share := 1.0
		if w, told := o.weights[r.group]; told {
			share = w.Share
		}
		weighed += lineage.Rated(share, table)
		if !r.shows.member.deleted {
			present++
		}
		if o.m.source.Persons > 0 {
			by[r.person]++
			most = max(most, by[r.person])
		}
	}
	if off := math.Abs(weighed - float64(present)); off > float64(o.constraints.K()*most)+1e-3*float64(present) {
		return fmt.Errorf("weights add up to %.1f, and %d records are published", weighed, present)
	}
	return nil
}

// checkAlone: whoever has this release only, in all versions, tells rows of a group apart by what becomes of
// them. Those that cannot be told apart satisfy the constraints of the audience, and so does each version.
func (o *coarseReader) checkAlone() error {
	for id, ever := range o.ever {
		atoms, versions := map[string][]*coarseRow{}, map[int]bool{0: true}
		for _, r := range ever {
			atoms[r.course()] = append(atoms[r.course()], r)
			versions[r.until] = true
		}
		for course, rows := range atoms {
			if err := o.check(rows); err != nil {
				return fmt.Errorf("group %d, the rows until version %s: %w", id, course, err)
			}
		}
		for version := range versions {
			left := slices.DeleteFunc(slices.Clone(ever), func(r *coarseRow) bool { return r.until != 0 && r.until <= version })
			if err := o.check(left); len(left) > 0 && err != nil {
				return fmt.Errorf("group %d after version %d: %w", id, version, err)
			}
		}
	}
	return nil
}

func (o *coarseReader) check(rows []*coarseRow) error {
	values := make([]anonymizertest.Row, len(rows))
	for i, r := range rows {
		if values[i] = r.shows.values; o.m.source.Persons > 0 {
			values[i].Subject = r.person // who has left altogether before a restart, and comes back, is another one
		}
	}
	group := o.m.source.Group(values)
	return anonymizertest.CheckConstraints(group, group, o.constraints)
}

// history is all that the release has shown of a record.
func (o *coarseReader) history(b *member) (history string) {
	for _, r := range o.of[b] {
		history += fmt.Sprintf("group %d, versions %d to %d; ", r.group, r.since, r.until)
	}
	return history
}

// checkPooled: whoever has all releases, in all versions, cannot tell apart what the readers of the lineage
// alone cannot.
func checkPooled(m *model, readers []*coarseReader) error {
	for id, class := range m.journal.classes {
		atoms := map[string]string{}
		for _, r := range class.ever {
			history := ""
			for _, o := range readers {
				history += o.history(r.member) + "| "
			}
			course := r.course()
			if before, known := atoms[course]; known && before != history {
				return fmt.Errorf("class %d: rows until version %s have %q and %q", id, course, before, history)
			}
			atoms[course] = history
		}
	}
	return nil
}

// tide has all who are in one group change in the same way, class by class, or leave; some of them do not. Others come.
func (o *coarseReader) tide() {
	m := o.m
	for range m.random.IntN(12) {
		m.next++
		m.insert(m.next, m.source.Row())
	}
	id, exists := m.roster.Any(m.random)
	if !exists || len(o.of[m.members[id]]) == 0 {
		m.publish()
		return
	}
	rows := o.of[m.members[id]]
	what, code, few := m.random.IntN(6), uint32(m.random.IntN(2)), m.random.IntN(3)
	for i, r := range o.ever[rows[len(rows)-1].group] {
		b := r.shows.member
		if r.until != 0 || b.deleted || few == 0 && m.random.IntN(3) == 0 {
			continue
		}
		values := b.values
		values.Sensitive, values.Copied = slices.Clone(values.Sensitive), slices.Clone(values.Copied)
		switch fresh := m.source.Row(); what {
		case 0:
			m.leave(b.id)
			continue
		case 1:
			values.Raw = fresh.Raw
		case 2:
			values.Copied[0]++
		case 3: // to few values
			values.Sensitive[0] = (values.Sensitive[0] + 1 + code*uint32(i%2)) % 2
		default:
			values.Sensitive[0] = (values.Sensitive[0] + 1 + fresh.Sensitive[0]) % uint32(m.source.Shape.Sensitive)
		}
		m.modify(b.id, values)
		if i%7 == 6 && m.random.IntN(4) == 0 {
			m.publish()
		}
	}
	m.publish()
	if m.random.IntN(4) == 0 {
		m.restart()
		m.publish()
	}
}

// limits are which of two audiences show less of attributes than what they follow.
var limits = [][2]bool{{true, true}, {true, false}, {false, true}, {}}

// coarsened is a model with two coarser releases.
func coarsened(t *testing.T, random *rand.Rand, s setting, sets [2]privacy.ConstraintSet, limited [2]bool) (*model, []*coarseReader) {
	m := newModel(t, random, s)
	one := newCoarseReader(m, nil, sets[0], limited[0])
	readers := []*coarseReader{one, newCoarseReader(m, one, sets[1], limited[1])}
	m.versioned = func() {
		for _, o := range readers {
			if err := o.version(); err != nil {
				m.must(fmt.Errorf("level %d: %w", o.level, err))
			}
		}
	}
	m.restarted = func() {
		for _, o := range readers {
			o.restart()
		}
	}
	return m, readers
}

func checkReaders(m *model, readers []*coarseReader) error {
	var errs []error
	for _, o := range readers {
		if err := o.checkAlone(); err != nil {
			errs = append(errs, fmt.Errorf("level %d: %w", o.level, err))
		}
	}
	return errors.Join(append(errs, checkPooled(m, readers))...)
}

// TestCoarserGuarantee runs random operations with restarts. Readers of each coarser release, in all versions,
// are held to its constraints, and those who pool all to what the lineage tells alone.
func TestCoarserGuarantee(t *testing.T) {
	t.Parallel()
	rounds, tides := 30, 36
	if testing.Short() {
		rounds, tides = 20, 12
	}
	for seed := range seeds() {
		for what, audiences := range stricter {
			for _, persons := range []int{0, 60} {
				t.Run(fmt.Sprintf("%s/persons=%d/seed=%d", what, persons, seed), func(t *testing.T) {
					t.Parallel()
					groups, renewed, cut := 0, 0, 0
					for i, name := range methods.Names() {
						random := rand.New(rand.NewPCG(uint64(900+i), uint64(1000*seed+len(what)+persons)))
						s := randomSetting(random, sets[what], persons)
						s.method, _ = methods.Named(name)
						s.options.Deadline, s.options.Batch = 0, 0
						if methods.Refusal(s.method, newModel(t, rand.New(rand.NewPCG(1, 1)), s).source.Data.Attributes, s.constraints) != nil {
							continue
						}
						m, readers := coarsened(t, random, s, audiences, limits[(i+seed)%len(limits)])
						m.operate(rounds)
						for i := range tides {
							readers[i%2].tide()
						}
						m.must(checkReaders(m, readers))
						for _, o := range readers {
							groups, renewed, cut = groups+len(o.ever), renewed+o.renewed, cut+o.cut
						}
					}
					t.Logf("%d groups, %d rows replaced, %d vanished", groups, renewed, cut)
					if groups == 0 || renewed == 0 && what == "k" || cut == 0 {
						t.Errorf("%d groups, %d rows replaced, %d vanished", groups, renewed, cut)
					}
				})
			}
		}
	}
}

// TestCoarserHistoryIsOfTheFiner plays histories twice, as TestHistoryIsOfItsAtoms does: where readers of the
// lineage see the same both times, so do those of the coarser releases.
func TestCoarserHistoryIsOfTheFiner(t *testing.T) {
	t.Parallel()
	for what, audiences := range stricter {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			compared, groups := 0, 0
			for seed := range uint64(40) {
				s := setting{attributes: 3, constraints: sets[what], method: partition.RoundedPartition{}, sensitive: 2}
				s.options = lineage.Options{Crowd: 3, Least: 1}
				play := func(codes map[incremental.RecordID][]uint32) (*model, []string) {
					m, readers := coarsened(t, rand.New(rand.NewPCG(seed, 13)), s, audiences, limits[seed%4])
					m.play(codes)
					var told []string
					for _, o := range readers {
						groups += len(o.ever)
						for b, rows := range o.of {
							told = append(told, fmt.Sprintf("level %d, record %d of %v: %s", o.level, b.id, b.since, o.history(b))+fmt.Sprint(rows[0].sealed))
						}
						for id, labels := range o.labels {
							told = append(told, fmt.Sprintf("level %d, group %d shows %+v", o.level, id, labels))
						}
					}
					slices.Sort(told)
					return m, told
				}
				one, first := play(nil)
				two, second := play(exchange(one.journal))
				if !slices.Equal(batches(one.journal), batches(two.journal)) || !slices.Equal(courses(one.journal), courses(two.journal)) {
					continue
				}
				if compared++; !slices.Equal(first, second) {
					t.Fatalf("seed %d: the histories differ", seed)
				}
			}
			if compared < 5 || groups == 0 {
				t.Errorf("%d histories could be compared, with %d groups", compared, groups)
			}
		})
	}
}
