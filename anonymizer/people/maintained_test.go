package people_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// world is a source of several tables, a maintained release of it, and what readers see:
// the release is judged by these two alone.
type world struct {
	t           *testing.T
	random      *rand.Rand
	k           int
	knows       people.Knows
	alpha       float64 // 1 for none
	l           int     // different values of each sensitive attribute; 0 for none
	constraints privacy.ConstraintSet
	windows     int32
	maintained  *people.Maintained
	follows     follower // of changes; maintained
	shape       people.Shape
	attributes  [][]anonymizer.Attribute // table, the root first
	parents     []int
	unknown     []bool // of each table: no outsider knows a row
	source      []map[incremental.RecordID]people.Row
	seen        []map[incremental.RecordID]seenRow
	stored      []map[incremental.RecordID]incremental.ClassID // as a store has them
	versions    map[[2]int64]int                               // of a row's other values, by table and ID
	nextID      incremental.RecordID
	start       func() *people.Maintained
	within      *world                                                       // a finer release, whose rows alone can be published; nil for all
	class       func(table int, id incremental.RecordID) incremental.ClassID // what a store has; nil for that of maintained
}

// follower is what follows the changes of a world.
type follower interface {
	Insert(table int, r people.Row) error
	Modify(table int, r people.Row) error
	Delete(table int, id incremental.RecordID) error
	Truncate(table int) error
}

// seenRow is a published row.
type seenRow struct {
	people.PublishedRow
	cell    int64
	pooled  bool
	values  []hierarchy.Generalization
	version int
}

// sensitiveOf is the number of sensitive attributes of each table.
var sensitiveOf = []int{0, 0, 1, 1, 0}

func newWorld(t *testing.T, seed uint64, k int, knows people.Knows, windows int32, alpha float64) *world {
	t.Helper()
	date := attribute("date", hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate})
	number := attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 3)), k: k, knows: knows, alpha: alpha, windows: windows, parents: []int{0, people.Root, 0, people.Root, 1}, versions: map[[2]int64]int{}}
	w.unknown = []bool{false, false, false, seed >= 3, seed >= 2}
	if seed >= 6 {
		w.parents[4] = 2 // doses hang on allergies, of which nobody knows
	}
	w.attributes = [][]anonymizer.Attribute{{date, number}, {date}, {number}, {}, {}}
	shape := &w.shape
	shape.Root = w.attributes[0]
	for i, name := range []string{"visits", "prescriptions", "allergies", "doses"} {
		order := -1
		if i == 0 {
			order = 0
		}
		shape.Tables = append(shape.Tables, people.TableShape{Name: name, Attributes: w.attributes[i+1], Sensitive: sensitiveOf[i+1], Parent: w.parents[i+1], Order: order, Unknown: w.unknown[i+1]})
	}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
	if alpha < 1 {
		constraints = append(constraints, privacy.AlphaBound{Alpha: alpha}, privacy.AlphaBound{Alpha: alpha, Attribute: 1})
	}
	var pseudonym uint64
	w.start = func() *people.Maintained {
		m, err := people.NewMaintained(*shape, constraints, knows, people.MaintainedOptions{
			Method: method, Seed: seed, Random: w.random, Pseudonym: func(int) uint64 { pseudonym++; return pseudonym },
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	w.constraints = constraints
	w.maintained = w.start()
	w.follows = w.maintained
	for range w.attributes {
		w.stored = append(w.stored, map[incremental.RecordID]incremental.ClassID{})
		w.source = append(w.source, map[incremental.RecordID]people.Row{})
		w.seen = append(w.seen, map[incremental.RecordID]seenRow{})
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// anyKey is the key of a random row of a table, or now and then of one that does not exist.
func (w *world) anyKey(table int) people.Key {
	if len(w.source[table]) == 0 || w.random.IntN(20) == 0 {
		return people.Key{byte(w.random.IntN(5)), 255}
	}
	return w.source[table][w.anyRow(table)].Key
}

func (w *world) anyRow(table int) incremental.RecordID {
	ids := slices.Sorted(maps.Keys(w.source[table]))
	return ids[w.random.IntN(len(ids))]
}

func (w *world) newRow(table int) people.Row {
	w.nextID++
	r := people.Row{ID: w.nextID, Key: people.Key{byte(w.nextID), byte(w.nextID >> 8), byte(w.nextID >> 16), 1}}
	if _, taken := w.source[table][w.nextID]; !taken && w.random.IntN(10) == 0 {
		r.Key = people.Key{byte(w.random.IntN(5)), 255} // rows may wait for it
		for _, other := range w.source[table] {
			if other.Key == r.Key {
				r.Key = people.Key{}
			}
		}
	}
	w.draw(table, &r)
	return r
}

func (w *world) draw(table int, r *people.Row) {
	if table > 0 {
		r.Of = w.anyKey(1 + w.parents[table])
	}
	if table == 0 || w.parents[table] == people.Root {
		r.Window = int32(w.random.IntN(int(w.windows)))
	}
	if table == 0 {
		r.Window = 0
	}
	if sensitiveOf[table] > 0 {
		r.Sensitive = []uint32{uint32(w.random.IntN(12) * w.random.IntN(12) / 12)}
	}
	r.Cells = make([]hierarchy.Cell, len(w.attributes[table]))
	for a := range r.Cells {
		if r.Cells[a] = float64(w.random.IntN(100)); w.random.IntN(30) == 0 {
			r.Cells[a] = hierarchy.OffScale()
		}
	}
}

// operate makes a random change.
func (w *world) operate() { w.operateOn([]int{0, 1, 1, 1, 2, 2, 3, 4}[w.random.IntN(8)]) }

// grow makes random changes of persons, and then of all tables.
func (w *world) grow(persons, all int) {
	for range persons {
		w.operateOn(0)
	}
	for range all {
		w.operate()
	}
}

// scramble gives the values of the rows of each cell to one another, and returns the number of rows.
func (w *world) scramble(table int, cells []people.PublishedCell) (rows int) {
	for _, cell := range cells {
		var ids []incremental.RecordID
		for _, r := range cell.Rows {
			ids = append(ids, r.ID)
		}
		w.maintained.Scramble(table, ids, w.random)
		rows += len(ids)
	}
	return rows
}

func (w *world) operateOn(table int) {
	switch op := w.random.IntN(10); {
	case op == 0 && len(w.source[table]) > 0:
		w.replace(table)
	case op < 5 || len(w.source[table]) == 0:
		r := w.newRow(table)
		w.must(w.follows.Insert(table-1, r))
		w.source[table][r.ID] = r
	case op < 7:
		id := w.anyRow(table)
		w.must(w.follows.Delete(table-1, id))
		delete(w.source[table], id)
	default:
		r := w.source[table][w.anyRow(table)]
		was := r
		w.draw(table, &r)
		if w.random.IntN(2) == 0 {
			r.Of, r.Window = was.Of, was.Window // its values alone
			if w.random.IntN(2) == 0 {
				r = was // or values that the release does not know
			}
		}
		w.must(w.follows.Modify(table-1, r))
		w.source[table][r.ID] = r
		w.versions[[2]int64{int64(table), int64(r.ID)}]++
	}
}

// replace gives the key of a row to a new one, before or after the row is deleted.
func (w *world) replace(table int) {
	id := w.anyRow(table)
	r := w.newRow(table)
	r.Key = w.source[table][id].Key
	last := w.random.IntN(2) == 0
	if !last {
		w.must(w.follows.Delete(table-1, id))
	}
	w.must(w.follows.Insert(table-1, r))
	if last {
		w.must(w.follows.Delete(table-1, id))
	}
	delete(w.source[table], id)
	w.source[table][r.ID] = r
}

// settle has readers see what has changed, as a store would.
func (w *world) settle() {
	before := make([]map[incremental.RecordID]seenRow, len(w.seen))
	for table := range w.seen {
		before[table] = maps.Clone(w.seen[table])
	}
	defer w.pseudonymsAreNew(before)
	changes, err := w.maintained.Settle(w.t.Context())
	w.must(err)
	w.follow(0, changes.Root)
	for i, c := range changes.Tables {
		w.follow(i+1, c)
	}
	for table, rows := range w.source {
		for id := range rows {
			if class := w.maintained.Class(table-1, id); class != w.stored[table][id] {
				w.t.Errorf("table %d: row %d is in class %d, and the store has %d", table, id, class, w.stored[table][id])
			}
		}
	}
}

// restart begins anew with what a store has, the tables in any order.
func (w *world) restart() {
	w.maintained = w.start()
	w.follows = w.maintained
	for _, table := range w.random.Perm(len(w.source)) {
		clear(w.seen[table])
		for _, id := range slices.Sorted(maps.Keys(w.source[table])) {
			w.must(w.maintained.Restore(table-1, w.source[table][id], w.stored[table][id]))
			if got, there := w.maintained.Row(table-1, id); !there || got.Of != w.source[table][id].Of || !slices.Equal(got.Sensitive, w.source[table][id].Sensitive) {
				w.t.Errorf("table %d: row %d is %+v, want %+v", table, id, got, w.source[table][id])
			}
		}
	}
}

// restartsAlike: persons are in the same classes after a restart, and so are pooled rows, if
// nothing has changed. Where classes violate a constraint, others may be united than before,
// and other rows pooled.
func (w *world) restartsAlike() {
	before := make([]map[incremental.RecordID]incremental.ClassID, len(w.stored))
	for table := range w.stored {
		before[table] = maps.Clone(w.stored[table])
	}
	w.restart()
	w.settle()
	for table := range w.source {
		for id := range w.source[table] {
			if was, now := before[table][id], w.stored[table][id]; was != now && (table == 0 || w.alpha == 1) {
				w.t.Errorf("table %d: row %d was in class %d, and is in %d after a restart", table, id, was, now)
			}
		}
	}
}

// pseudonymsAreNew where anything else of a row is: else what was published of it before
// could be intersected with what is published now. A row that no outsider knows may be replaced
// alone, below the same pseudonym of its person.
func (w *world) pseudonymsAreNew(before []map[incremental.RecordID]seenRow) {
	for table := range w.seen {
		for id, now := range w.seen[table] {
			was, known := before[table][id]
			if !known || now.pooled || was.pooled {
				continue
			}
			changed := was.cell != now.cell
			alone := w.unknown[table] && w.alpha == 1
			if changed == (was.Own == now.Own) || w.knows.All && !alone && changed == (was.Person == now.Person) {
				w.t.Errorf("table %d: row %d was %+v, and is %+v", table, id, was, now)
			}
		}
	}
}

// leave has all persons but some vanish.
func (w *world) leave(persons int) {
	for id := range w.source[0] {
		if len(w.source[0]) > persons {
			w.must(w.follows.Delete(people.Root, id))
			delete(w.source[0], id)
		}
	}
}

// truncate empties a table.
func (w *world) truncate(table int) {
	w.must(w.follows.Truncate(table - 1))
	clear(w.source[table])
}

func (w *world) follow(table int, c people.TableChanges) {
	for i, id := range c.Gone {
		was, there := w.seen[table][id]
		if !there {
			w.t.Fatalf("table %d: row %d vanishes, which is not published", table, id)
		}
		if table > 0 && c.GoneOf[i] != was.Of {
			w.t.Errorf("table %d: row %d vanishes below %d, and was published below %d", table, id, c.GoneOf[i], was.Of)
		}
		delete(w.seen[table], id)
	}
	for _, id := range c.Moved {
		class := w.maintained.Class
		if w.class != nil {
			class = w.class
		}
		w.stored[table][id] = class(table-1, id)
	}
	for _, cell := range c.Cells {
		for _, r := range cell.Rows {
			if _, there := w.seen[table][r.ID]; there {
				w.t.Fatalf("table %d: row %d is published twice", table, r.ID)
			}
			w.seen[table][r.ID] = seenRow{r, cell.ID, cell.Pooled, cell.Values, w.versions[[2]int64{int64(table), int64(r.ID)}]}
		}
	}
}

// person is who a row of the source belongs to, and its window; 0 for nobody.
func (w *world) person(table int, id incremental.RecordID) (incremental.RecordID, int32) {
	if table == 0 {
		return id, 0
	}
	r := w.source[table][id]
	for parent, above := range w.source[1+w.parents[table]] {
		if above.Key == r.Of && r.Of != (people.Key{}) {
			person, window := w.person(1+w.parents[table], parent)
			if w.parents[table] == people.Root {
				window = r.Window
			}
			return person, window
		}
	}
	return 0, 0
}

// check judges what is published by the source and the guarantee.
func (w *world) check() error {
	classes := map[incremental.RecordID]int64{}
	for id, r := range w.seen[0] {
		classes[id] = r.cell
	}
	for table := range w.seen {
		if err := w.checkTable(table, classes); err != nil {
			return fmt.Errorf("table %d: %w", table, err)
		}
	}
	if w.knows.All {
		return w.treesAlike(classes)
	}
	return nil
}

// cellOf is what the rows of a published cell have in common.
type cellOf struct {
	persons map[incremental.RecordID]bool
	class   int64
	window  int32
	parent  int64
	pooled  bool
}

func (w *world) checkTable(table int, classes map[incremental.RecordID]int64) error {
	cells, waiting := map[int64]*cellOf{}, map[incremental.RecordID]bool{}
	for id := range w.source[table] {
		person, _ := w.person(table, id)
		if w.within != nil && w.within.seen[table][id].cell == 0 {
			continue
		}
		if _, published := w.seen[table][id]; !published && person != 0 && classes[person] != 0 {
			waiting[person] = true // in a pool of too few persons
		}
	}
	for id, r := range w.seen[table] {
		source, exists := w.source[table][id]
		if !exists {
			return fmt.Errorf("row %d is published and does not exist", id)
		}
		if r.version != w.versions[[2]int64{int64(table), int64(id)}] {
			return fmt.Errorf("row %d is published as it was", id)
		}
		person, window := w.person(table, id)
		if classes[person] == 0 {
			return fmt.Errorf("row %d of nobody who is published is", id)
		}
		for a, c := range source.Cells {
			if !covers(w.attributes[table][a].Hierarchy, r.values[a], c) {
				return fmt.Errorf("row %d has %v and shows %v", id, c, r.values[a])
			}
		}
		if c := cells[r.cell]; c == nil {
			cells[r.cell] = &cellOf{map[incremental.RecordID]bool{person: true}, classes[person], window, w.parentCell(table, source), r.pooled}
		} else {
			c.persons[person] = true
			if !r.pooled && (c.class != classes[person] || c.window != window && !w.knows.All || c.parent != w.parentCell(table, source)) {
				return fmt.Errorf("cell %d has rows of several classes, windows or parents' cells", r.cell)
			}
		}
		if r.pooled && w.unknown[table] && (w.parents[table] == people.Root || w.parentCell(table, source) > 0 && !w.parentPooled(table, source)) {
			return fmt.Errorf("row %d has no keys, and what it belongs to has", id)
		}
		if err := w.checkKeys(table, source, r, person); err != nil {
			return fmt.Errorf("row %d: %w", id, err)
		}
	}
	for id, c := range cells {
		if w.unknown[table] && !c.pooled {
			continue
		}
		if len(c.persons) < w.k {
			return fmt.Errorf("cell %d (pooled %t) has %d persons", id, c.pooled, len(c.persons))
		}
		if err := w.frequencies(table, id, c); err != nil {
			return fmt.Errorf("cell %d (pooled %t): %w", id, c.pooled, err)
		}
	}
	if len(waiting) >= w.k && w.alpha == 1 && w.l == 0 {
		return fmt.Errorf("rows of %d persons are not published", len(waiting))
	}
	return nil
}

// frequencies: no value is held by more than alpha of the persons of a class, of a cell in its
// window, or of a pooled class in its rows.
func (w *world) frequencies(table int, id int64, c *cellOf) error {
	type value struct {
		table int
		code  uint32
	}
	holders := map[value]map[incremental.RecordID]bool{}
	for of := range w.source {
		if sensitiveOf[of] == 0 || c.pooled && of != table {
			continue
		}
		for row, r := range w.source[of] {
			person, window := w.person(of, row)
			switch {
			case !c.persons[person]:
			case c.pooled && w.seen[of][row].cell != id:
			case !c.pooled && table > 0 && !w.knows.All && window != c.window:
			default:
				v := value{of, r.Sensitive[0]}
				if holders[v] == nil {
					holders[v] = map[incremental.RecordID]bool{}
				}
				holders[v][person] = true
			}
		}
	}
	if w.l > 0 {
		for of := range w.source {
			if sensitiveOf[of] == 0 || c.pooled && of != table {
				continue
			}
			values := [][]incremental.RecordID{}
			for v, by := range holders {
				if v.table == of {
					values = append(values, slices.Collect(maps.Keys(by)))
				}
			}
			if len(values) < w.l || everyoneHasOne(values, w.l-1, len(c.persons)) {
				return fmt.Errorf("the %d values of table %d are not %d-diverse among %d persons", len(values), of, w.l, len(c.persons))
			}
		}
	}
	for v, by := range holders {
		if float64(len(by)) > w.alpha*float64(len(c.persons)) {
			return fmt.Errorf("value %d of table %d is held by %d of %d persons", v.code, v.table, len(by), len(c.persons))
		}
	}
	return nil
}

// everyoneHasOne reports whether there are so many values that each of the persons has one of them.
func everyoneHasOne(holders [][]incremental.RecordID, values, persons int, have ...incremental.RecordID) bool {
	slices.Sort(have)
	if have = slices.Compact(have); len(have) == persons {
		return true
	}
	for i := range holders {
		if values > 0 && everyoneHasOne(holders[i+1:], values-1, persons, slices.Concat(have, holders[i])...) {
			return true
		}
	}
	return false
}

// covers reports whether a published date or number stands for a value.
func covers(h hierarchy.Hierarchy, g hierarchy.Generalization, c hierarchy.Cell) bool {
	if g.Hidden || hierarchy.IsOffScale(c) {
		return g.Hidden
	}
	return h.Encode(g.Lower) <= c && c <= h.Encode(g.Upper)
}

func (w *world) parentCell(table int, r people.Row) int64 {
	if table == 0 || w.parents[table] == people.Root {
		return 0
	}
	for id, above := range w.source[1+w.parents[table]] {
		if above.Key == r.Of {
			return w.seen[1+w.parents[table]][id].cell
		}
	}
	return 0
}

func (w *world) parentPooled(table int, r people.Row) bool {
	for id, above := range w.source[1+w.parents[table]] {
		if above.Key == r.Of {
			return w.seen[1+w.parents[table]][id].pooled
		}
	}
	return false
}

// checkKeys: a row in a cell joins the published row of its parent, and a person of the
// same class, whose rows of one window all do.
func (w *world) checkKeys(table int, source people.Row, r seenRow, person incremental.RecordID) error {
	if r.pooled {
		if r.Own != 0 || r.Of != 0 || r.Person != 0 {
			return errors.New("it is pooled and has keys")
		}
		return nil
	}
	for id, of := range w.seen[0] {
		if of.Own != r.Person {
			continue
		}
		if of.cell != w.seen[0][person].cell || w.knows.All && id != person {
			return errors.New("it has the pseudonym of a person of another class")
		}
		if table > 0 && w.parents[table] == people.Root && r.Of != r.Person {
			return errors.New("it hangs on another row than that of its person")
		}
		if table > 0 && w.parents[table] != people.Root {
			for id, above := range w.source[1+w.parents[table]] {
				if above.Key == source.Of && w.seen[1+w.parents[table]][id].Own != r.Of {
					return errors.New("it hangs on another row than its own")
				}
			}
		}
		return nil
	}
	return errors.New("it has a pseudonym that no person has")
}

// aliases: in a window, each person of a class has one pseudonym, and no two the same.
func (w *world) aliases() error {
	type holder struct {
		pseudonym uint64
		window    int32
	}
	persons, pseudonyms := map[holder]incremental.RecordID{}, map[string]uint64{}
	for table := 1; table < len(w.seen); table++ {
		for id, r := range w.seen[table] {
			if r.pooled {
				continue
			}
			person, window := w.person(table, id)
			if other, taken := persons[holder{r.Person, window}]; taken && other != person {
				return fmt.Errorf("persons %d and %d have one pseudonym in window %d", person, other, window)
			}
			persons[holder{r.Person, window}] = person
			name := fmt.Sprint(person, " ", window)
			if other, has := pseudonyms[name]; has && other != r.Person {
				return fmt.Errorf("person %d has two pseudonyms in window %d", person, window)
			}
			pseudonyms[name] = r.Person
		}
	}
	return nil
}

func (w *world) treesAlike(classes map[incremental.RecordID]int64) error {
	trees := map[int64]string{}
	for id, class := range classes {
		tree := w.tree(0, id)
		if first, known := trees[class]; known && first != tree {
			return fmt.Errorf("class %d: one tree is %s, another %s", class, first, tree)
		}
		trees[class] = tree
	}
	return nil
}

func (w *world) tree(table int, id incremental.RecordID) string {
	var below []string
	key := w.source[table][id].Key
	for child := 1; child < len(w.seen); child++ {
		if 1+w.parents[child] != table || w.unknown[child] || key == (people.Key{}) {
			continue
		}
		for row, r := range w.source[child] {
			if shown, published := w.seen[child][row]; r.Of == key && published && !shown.pooled {
				below = append(below, fmt.Sprint(child, ":", shown.cell, w.tree(child, row)))
			}
		}
	}
	slices.Sort(below)
	return "(" + strings.Join(below, " ") + ")"
}

// TestMaintainedReleasesHold: whatever happens to the tables, in any order, what readers see
// satisfies the guarantee after each Settle.
func TestMaintainedReleasesHold(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}, "one row, crowd of 1": {Crowd: 1}} {
		for _, windows := range []int32{1, 3} {
			for seed := range uint64(4) {
				alpha := []float64{1, 0.6}[seed%2]
				t.Run(fmt.Sprintf("%s, %d windows, seed %d", name, windows, seed), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, seed, 3, knows, windows, alpha)
					for range 300 {
						w.operate()
					}
					kept, pooled := 0, 0
					for round := range 25 {
						w.settle()
						for _, rows := range w.seen[1:] {
							for _, r := range rows {
								if r.pooled {
									pooled++
								} else {
									kept++
								}
							}
						}
						for _, check := range []func() error{w.check, w.aliases} {
							if err := check(); err != nil {
								t.Fatalf("round %d: %v", round, err)
							}
						}
						for range 1 + w.random.IntN(60) {
							w.operate()
						}
						switch round {
						case 5:
							w.settle()
							w.restartsAlike()
						case 9, 12: // and changes come before the first Settle
							w.settle()
							w.restart()
							for range 20 {
								w.operate()
							}
						case 15:
							w.truncate(1)
						case 18: // until there are enough persons again, nothing can be published
							w.leave(2)
						case 21:
							w.truncate(0)
						}
					}
					if fewest := 25 / (1 + int(seed)); kept < fewest || pooled < fewest {
						t.Errorf("%d rows had keys and %d were pooled: the test shows nothing", kept, pooled)
					}
				})
			}
		}
	}
}

// TestUnknownRowsChangeAlone: where rows that no outsider knows change, nothing else that is
// published does, unless a person has a first row in a window.
func TestUnknownRowsChangeAlone(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}} {
		for seed := uint64(4); seed < 12; seed += 2 {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, seed, 3, knows, 2, 1)
				for range 600 {
					w.operate()
				}
				w.settle()
				alone, changes, replaced := 0, 0, 0
				for round := range 60 {
					known := []map[incremental.RecordID]seenRow{maps.Clone(w.seen[0]), maps.Clone(w.seen[1]), maps.Clone(w.seen[2])}
					unknown := []map[incremental.RecordID]seenRow{maps.Clone(w.seen[3]), maps.Clone(w.seen[4])}
					for range 1 + w.random.IntN(4) {
						w.operateOn(3 + w.random.IntN(2))
						changes++
					}
					w.settle()
					for _, check := range []func() error{w.check, w.aliases} {
						if err := check(); err != nil {
							t.Fatalf("round %d: %v", round, err)
						}
					}
					same := true
					for table, before := range known {
						same = same && maps.EqualFunc(before, w.seen[table], func(a, b seenRow) bool { return a.PublishedRow == b.PublishedRow && a.cell == b.cell })
					}
					if !same {
						continue
					}
					alone++
					for i, before := range unknown {
						for id, r := range w.seen[3+i] {
							if before[id].PublishedRow != r.PublishedRow || before[id].cell != r.cell {
								replaced++
							}
						}
					}
				}
				if alone < 15 || replaced > 6*changes {
					t.Errorf("known rows stayed in %d of 60 rounds, and %d unknown ones were replaced for %d changes", alone, replaced, changes)
				}
				w.restartsAlike()
			})
		}
	}
}

// TestWrongRowsChangeNothing: what is refused leaves the release as it is.
func TestWrongRowsChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 3, people.Knows{Crowd: 1}, 1, 1)
	for range 200 {
		w.operate()
	}
	w.settle()
	taken := w.source[1][w.anyRow(1)]
	for taken.Key == (people.Key{}) {
		taken = w.source[1][w.anyRow(1)]
	}
	few, twice := w.newRow(1), w.newRow(1)
	few.Cells = nil
	twice.Key = taken.Key
	for name, test := range map[string]struct {
		err  error
		want error
	}{
		"a known row":         {w.maintained.Insert(0, taken), incremental.ErrDuplicate},
		"an unknown row":      {w.maintained.Modify(0, w.newRow(1)), incremental.ErrUnknown},
		"nothing to delete":   {w.maintained.Delete(0, 1<<40), incremental.ErrUnknown},
		"too few cells":       {w.maintained.Insert(0, few), nil},
		"too few, and known":  {w.maintained.Modify(0, people.Row{ID: taken.ID, Key: taken.Key, Of: taken.Of}), nil},
		"too few, in persons": {w.maintained.Insert(people.Root, people.Row{ID: 1 << 41}), nil},
	} {
		if test.err == nil || test.want != nil && !errors.Is(test.err, test.want) {
			t.Errorf("%s: error %v, want %v", name, test.err, test.want)
		}
	}
	changes, err := w.maintained.Settle(t.Context())
	if err != nil || len(changes.Root.Cells) > 0 || slices.ContainsFunc(changes.Tables, func(c people.TableChanges) bool { return len(c.Gone)+len(c.Cells) > 0 }) {
		t.Errorf("%+v, %v", changes, err)
	}
	for table := range w.source {
		if n := w.maintained.Len(table - 1); n != len(w.source[table]) {
			t.Errorf("table %d: %d rows, %d expected", table, n, len(w.source[table]))
		}
	}
	w.must(w.maintained.Insert(0, twice))
	if _, err := w.maintained.Settle(t.Context()); !errors.As(err, new(*people.DuplicateKeyError)) {
		t.Errorf("two rows of one key: %v", err)
	}
}

// TestUnsupportedReleases are refused before anything is inserted.
func TestUnsupportedReleases(t *testing.T) {
	t.Parallel()
	k := privacy.KAnonymity{K: 2}
	for name, c := range map[string]privacy.ConstraintSet{
		"some attributes": {privacy.KAnonymity{K: 2, Over: []int{0}}},
		"all persons":     {k, privacy.TCloseness{T: 0.5}},
	} {
		if _, err := people.NewMaintained(people.Shape{}, c, people.Knows{}, people.MaintainedOptions{Method: method}); err == nil {
			t.Errorf("%s are supported", name)
		}
	}
	behind := people.Shape{Tables: []people.TableShape{{Name: "visits", Parent: 0}}}
	if _, err := people.NewMaintained(behind, privacy.ConstraintSet{k}, people.Knows{}, people.MaintainedOptions{Method: method}); err == nil {
		t.Error("a table stands before its parent")
	}
}

// TestPersonsTooMuchAlike are withheld until they are not any more.
func TestPersonsTooMuchAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 3, people.Knows{Crowd: 1}, 1, 0.5)
	for id := range incremental.RecordID(12) {
		person := people.Row{ID: id + 1, Key: people.Key{byte(id), 1}, Cells: []hierarchy.Cell{float64(id), 1}}
		allergy := people.Row{ID: id + 1, Of: person.Key, Sensitive: []uint32{uint32(id) % 2}}
		w.must(w.maintained.Insert(people.Root, person))
		w.must(w.maintained.Insert(2, allergy))
		w.source[0][person.ID], w.source[3][allergy.ID] = person, allergy
	}
	change := func(code uint32) {
		for id, allergy := range w.source[3] {
			if id%3 == 0 {
				allergy.Sensitive = []uint32{code}
				w.must(w.maintained.Modify(2, allergy))
				w.source[3][id] = allergy
			}
		}
	}
	for round, step := range []struct {
		code uint32
		seen bool
	}{{0, false}, {0, false}, {9, true}, {1, false}, {5, true}} {
		change(step.code)
		w.settle()
		if err := w.check(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if got := len(w.seen[0]) == 12 && len(w.seen[3]) == 12; got != step.seen || (w.maintained.Feasible() == nil) != step.seen {
			t.Fatalf("round %d: %d persons and %d rows are published, %v", round, len(w.seen[0]), len(w.seen[3]), w.maintained.Feasible())
		}
		if (w.maintained.Classes() > 0) != step.seen {
			t.Errorf("round %d: %d classes", round, w.maintained.Classes())
		}
	}
}

// TestTooFewPersons: the reason names what the policy says, not the product.
func TestTooFewPersons(t *testing.T) {
	t.Parallel()
	number := attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	shape := people.Shape{Root: []anonymizer.Attribute{number}, Tables: []people.TableShape{{Name: "visits", Parent: people.Root, Order: -1}}}
	for _, c := range []struct {
		knows people.Knows
		why   string
	}{
		{people.Knows{Crowd: 4}, "a class has 12 persons or more (k = 3, crowd 4), and there are 2"},
		{people.Knows{All: true}, "3-anonymity needs 3 records and the table has 2"},
	} {
		m, err := people.NewMaintained(shape, privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, c.knows, people.MaintainedOptions{
			Method: method, Random: rand.New(rand.NewPCG(1, 2)), Pseudonym: func(int) uint64 { return 0 },
		})
		if err != nil {
			t.Fatal(err)
		}
		for p := range 2 {
			if err := m.Insert(people.Root, people.Row{ID: incremental.RecordID(p + 1), Key: rowKey(people.Root, p), Cells: []hierarchy.Cell{float64(p)}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if why := m.Feasible(); why == nil || why.Error() != c.why {
			t.Errorf("%+v: %v, want %s", c.knows, why, c.why)
		}
	}
}
