package sync

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// releasedRow is a row of a guarded release.
type releasedRow struct {
	class, person int64
	sealed        bool
	row           []value // of its record, when it was made
}

// storedWeight is that of a class, a group or the table.
type storedWeight struct {
	share           float32
	ghosts, persons int64
}

// guardedMirror is the store of a guarded table beside its records: what the statements that it
// was sent have made of it.
type guardedMirror struct {
	t        *testing.T
	of       *table
	rows     map[int64]releasedRow
	weights  map[int64]storedWeight
	departed map[string]string // class, row and what had changed, by hash
	secret   []byte
}

// follow does what the server does, which has the records already.
func (m *guardedMirror) follow(s *sent, records rowMirror) {
	m.t.Helper()
	for _, q := range s.statements {
		switch {
		case strings.HasPrefix(q.sql, "DELETE FROM "+m.of.release.releaseTable()+" "):
			m.delete(q.arguments)
		case strings.HasPrefix(q.sql, "INSERT INTO "+m.of.release.releaseTable()+" "):
			m.insert(q.arguments, records)
		case strings.HasPrefix(q.sql, "INSERT INTO "+m.of.release.weightTable()+" "):
			m.weigh(q.arguments)
		case strings.HasPrefix(q.sql, "DELETE FROM "+m.of.release.weightTable()+" AS w"):
			m.forget(numbersOf(m.t, q.arguments[0]))
		case strings.HasPrefix(q.sql, "DELETE FROM "+m.of.release.weightTable()+" "):
			for _, number := range q.arguments[0].([]int64) {
				delete(m.weights, number)
			}
		case strings.HasPrefix(q.sql, "UPDATE kproxy_store.generation SET hash_key"):
			m.secret = q.arguments[3].([]byte)
		case strings.HasPrefix(q.sql, "DELETE FROM kproxy_store.departed"):
			for _, h := range q.arguments[1].([][]byte) {
				delete(m.departed, hex.EncodeToString(h))
			}
		case strings.HasPrefix(q.sql, "INSERT INTO kproxy_store.departed"):
			classes, rows := q.arguments[2].(*array).elements(m.t), q.arguments[3].(*array).elements(m.t)
			for i, h := range q.arguments[1].([][]byte) {
				m.departed[hex.EncodeToString(h)] = classes[i].text + "\t" + rows[i].text + "\t" + q.arguments[4].([]string)[i]
			}
		}
	}
}

// numbersOf are the elements of an array of numbers.
func numbersOf(t *testing.T, argument any) (all []int64) {
	t.Helper()
	for _, id := range argument.(*array).ids(t) {
		all = append(all, int64(id))
	}
	return all
}

func (m *guardedMirror) delete(arguments []any) {
	from, gone := numbersOf(m.t, arguments[0]), numbersOf(m.t, arguments[1])
	if got := numbersOf(m.t, arguments[2]); !slices.Equal(got, distinct(from)) {
		m.t.Errorf("rows of the classes %v are looked for in %v", distinct(from), got)
	}
	for i, id := range gone {
		if row, there := m.rows[id]; !there || row.class != from[i] {
			m.t.Errorf("row %d is deleted from class %d, and is of %d, %t", id, from[i], row.class, there)
		}
		delete(m.rows, id)
	}
}

// distinct are numbers, ascending, each once.
func distinct(numbers []int64) []int64 {
	return slices.Compact(slices.Sorted(slices.Values(numbers)))
}

// insert adds rows, whose classes have to hold the values of their records.
func (m *guardedMirror) insert(arguments []any, records rowMirror) {
	ids, classes, numbers := numbersOf(m.t, arguments[0]), numbersOf(m.t, arguments[1]), numbersOf(m.t, arguments[2])
	persons, sealed := numbersOf(m.t, arguments[3]), arguments[4].([]bool)
	p := m.of.parts[0]
	var columns [][]value
	for _, column := range arguments[5:] {
		columns = append(columns, column.(*array).elements(m.t))
	}
	if len(columns) != len(p.generalized) {
		m.t.Fatalf("%d columns are published, and %d sent", len(p.generalized), len(columns))
	}
	for i, id := range ids {
		if _, twice := m.rows[numbers[i]]; twice {
			m.t.Errorf("row %d is inserted twice", numbers[i])
		}
		row := records.known(m.t, incremental.RecordID(id)).row
		m.rows[numbers[i]] = releasedRow{classes[i], persons[i], sealed[i], slices.Clone(row)}
		for at, c := range p.generalized {
			var lower, upper int
			text := columns[at][i].text
			if _, err := fmt.Sscanf(text, `["%d","%d"]`, &lower, &upper); c.Part != catalog.Range || err != nil {
				continue
			}
			if age, _ := strconv.Atoi(row[m.of.layout.columns.index("age")].text); age < lower || age > upper {
				m.t.Errorf("somebody of the age %d is published with %s", age, text)
			}
		}
	}
}

func (m *guardedMirror) weigh(arguments []any) {
	numbers, shares, ghosts, persons := arguments[0].([]int64), arguments[1].([]float32), arguments[2].([]int64), arguments[3].([]int64)
	if len(numbers) == 0 || len(numbers) != len(shares) || len(numbers) != len(ghosts) || len(numbers) != len(persons) {
		m.t.Errorf("%d classes have %d weights of %d ghosts and %d persons", len(numbers), len(shares), len(ghosts), len(persons))
	}
	for i, number := range numbers {
		m.weights[number] = storedWeight{shares[i], ghosts[i], persons[i]}
	}
}

// forget has the weights of classes go of which no row is left.
func (m *guardedMirror) forget(classes []int64) {
	for _, class := range classes {
		if !slices.ContainsFunc(slices.Collect(maps.Values(m.rows)), func(r releasedRow) bool { return r.class == class }) {
			delete(m.weights, class)
		}
	}
}

// compare holds the release against the records and the figures.
func (m *guardedMirror) compare(records rowMirror) {
	m.t.Helper()
	status, classes, published, waiting, expired, stale := m.of.mode.status(), map[int64]bool{}, map[string]bool{}, 0, 0, 0
	for id, one := range records {
		class, row, changed, since, withheld := one.places[0], one.places[1], one.places[2], one.places[3], one.places[4]
		if row == "NULL" {
			if withheld == "true" {
				expired++
			} else {
				waiting++
			}
			if class != "NULL" || changed != "NULL" || since == "NULL" {
				m.t.Errorf("record %d, which is not published, stands at %v", id, one.places)
			}
			continue
		}
		if since != "NULL" {
			stale++
		}
		number, _ := strconv.ParseInt(row, 10, 64)
		if r, there := m.rows[number]; !there || fmt.Sprint(r.class) != class || published[row] || (changed == "NULL") != (since == "NULL") {
			m.t.Errorf("record %d stands at %v, and row %d is of class %d, %t", id, one.places, number, r.class, there)
		}
		published[row] = true
	}
	shares := map[int64][2]int{} // rows of a class, and those that stand for somebody
	for id, row := range m.rows {
		classes[row.class] = true
		of := shares[row.class]
		of[0]++
		if published[fmt.Sprint(id)] {
			of[1]++
		}
		shares[row.class] = of
	}
	sum, k := 0.0, m.of.layout.constraints.K()
	for class, of := range shares {
		w, there := m.weights[class]
		if !there {
			w.share = 1
		}
		table, whole := m.weights[0]
		if !whole {
			table.share = 1
		}
		sum += float64(of[0]) * lineage.Rated(float64(w.share), float64(table.share))
		// Readers know of ghosts as soon as they are k more, and no longer when they are k fewer.
		if ghosts := of[0] - of[1]; m.of.layout.subject < 0 && (int(w.ghosts)-ghosts >= k || ghosts-int(w.ghosts) >= k) {
			m.t.Errorf("of %d rows of class %d, %d stand for somebody, and the weight is %v", of[0], class, of[1], w)
		}
	}
	if m.of.layout.subject < 0 && math.Abs(sum-float64(len(published))) > float64(k)+1e-4*float64(len(m.rows)) {
		m.t.Errorf("weights add up to %.1f of %d rows, of which %d stand for somebody", sum, len(m.rows), len(published))
	}
	for number := range m.weights {
		if _, there := shares[number]; number > 0 && !there {
			m.t.Errorf("class %d has a weight and no rows", number)
		}
	}
	withheld := 0
	if len(classes) == 0 {
		withheld = len(records)
	}
	if status.Records != len(records) || status.Classes != len(classes) || status.Waiting != waiting || status.Expired != expired || status.Stale != stale ||
		status.Ghosts != len(m.rows)-len(published) || status.Withheld != withheld || (status.Reason == "") != (len(classes) > 0) {
		m.t.Errorf("%d records, of which %d wait, %d are withheld, and %d stale; %d classes, %d ghosts: %+v", len(records), waiting, expired, stale, len(classes), len(m.rows)-len(published), status)
	}
}

// lines are what the store sends of it: records, release, who has left, and weights.
func (m *guardedMirror) lines(records rowMirror) (all [4][][]any) {
	add := func(at int, fields ...value) {
		var text []byte
		for i, v := range fields {
			if i > 0 {
				text = append(text, '\t')
			}
			text = appendCopyField(text, v)
		}
		all[at] = append(all[at], []any{string(append(text, '\n'))})
	}
	for _, id := range slices.Sorted(maps.Keys(records)) {
		fields := []value{{text: fmt.Sprint(id)}}
		for i, place := range records[id].places {
			v := value{text: place, null: place == "NULL"}
			if moment, err := time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", place); i == 3 && err == nil {
				v.text = fmt.Sprint(moment.UnixMicro())
			}
			if i == 4 {
				v.text = place[:1]
			}
			// The server sends since before what has changed.
			fields = append(fields, v)
		}
		fields[3], fields[4] = fields[4], fields[3]
		for _, c := range m.of.layout.codedColumns() {
			fields = append(fields, records[id].row[c])
		}
		add(0, fields...)
	}
	for _, id := range slices.Sorted(maps.Keys(m.rows)) {
		r := m.rows[id]
		fields := []value{{text: fmt.Sprint(r.class)}, {text: fmt.Sprint(id)}, {text: fmt.Sprint(r.person)}, {text: fmt.Sprint(r.sealed)[:1]}}
		for _, c := range m.of.layout.sensitive {
			fields = append(fields, r.row[c])
		}
		add(1, fields...)
	}
	for _, hash := range slices.Sorted(maps.Keys(m.departed)) {
		fields := []value{{text: hash}}
		for field := range strings.SplitSeq(m.departed[hash], "\t") {
			fields = append(fields, value{text: field})
		}
		id, _ := strconv.ParseInt(fields[2].text, 10, 64)
		for _, c := range m.of.layout.copied {
			fields = append(fields, m.rows[id].row[c])
		}
		add(2, fields...)
	}
	for _, number := range slices.Sorted(maps.Keys(m.weights)) {
		w := m.weights[number]
		add(3, value{text: fmt.Sprint(number)}, value{text: fmt.Sprint(w.ghosts)}, value{text: fmt.Sprint(w.persons)}, value{text: fmt.Sprint(w.share)})
	}
	return all
}

// load has another table take over the store from a server.
func (m *guardedMirror) load(records rowMirror, policy catalog.TablePolicy) *table {
	m.t.Helper()
	lines := m.lines(records)
	server := newMemoryServer(m.t,
		answer{words: "kproxy_store.departed", rows: lines[2]}, answer{words: "extract(epoch FROM", rows: lines[0]}, answer{words: catalog.SealedColumn, rows: lines[1]}, answer{words: catalog.DiscountedColumn, rows: lines[3]})
	conn := server.session().store.conn.PgConn()
	loaded := memoryTable(m.t, policy)
	loaded.now = m.of.now
	g := generation{
		number: m.of.release.generation, nextRecord: m.of.nextRecord, nextClass: m.of.mode.nextClass(), lsn: 100, shows: 200, previous: 3,
		returned: m.of.mode.status().Returned, secret: m.secret,
	}
	if err := loaded.loadGeneration(m.t.Context(), viewAsItIs(conn), g, 5, func(int) {}); err != nil {
		m.t.Fatal(err)
	}
	if loaded.release.position != 100 || loaded.release.showAt != 200 || loaded.release.previous != 3 || loaded.release.generation != g.number || loaded.nextRecord != g.nextRecord || loaded.mode.nextClass() != g.nextClass {
		m.t.Errorf("generation %d is loaded, which is shown from %s", loaded.release.generation, loaded.release.showAt)
	}
	return loaded
}

// guardedSeen counts what there was to be loaded.
type guardedSeen struct{ rows, waiting, stale, expired, ghosts, weights, sealed, departed, returned int }

func (seen *guardedSeen) note(m *guardedMirror) {
	status := m.of.mode.status()
	seen.rows += len(m.rows)
	seen.waiting += status.Waiting
	seen.stale += status.Stale
	seen.expired += status.Expired
	seen.ghosts += status.Ghosts
	seen.departed += len(m.departed)
	seen.returned += status.Returned
	seen.weights += len(m.weights)
	for _, row := range m.rows {
		if row.sealed {
			seen.sealed++
		}
	}
}

// TestGuardedIsLoadedAsItWas runs random transactions against guarded tables: their releases
// hold together with the records and the figures, and another process that loads what the store
// has then knows the same of it.
func TestGuardedIsLoadedAsItWas(t *testing.T) {
	t.Parallel()
	policies := guardedTables()
	delete(policies, "guarded_parts")
	policies["late"] = guardedVisits("late", "rounded-partition", "", catalog.Updates{Crowd: 4, Deadline: 400 * time.Millisecond}, ofSize)
	var seen guardedSeen
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		policy := policies[name]
		policy.Table.Relation = "visits"
		c := newMemoryCase(t, policy, 3)
		at := time.UnixMicro(1_700_000_000_123_456)
		c.of.now = func() time.Time { return at }
		m := &guardedMirror{t: t, of: c.of, rows: map[int64]releasedRow{}, weights: map[int64]storedWeight{}, departed: map[string]string{}}
		for step := range 40 {
			if step%16 == 0 {
				c.transaction(80)
			}
			if c.few(policy.Updates.Deadline == 0); step%16 == 8 {
				c.diagnose()
			}
			if c.leaveOrReturn(step); step == 18 {
				clear(c.source)
				c.check(c.alone(c.of.deleteAllUntilCommit))
			}
			at = at.Add(150 * time.Millisecond)
			s := settleAndSend(t, c.of)
			c.stored.follow(t, c.of, s)
			m.follow(s, c.stored)
			m.compare(c.stored)
			if step%4 == 3 {
				compareLoaded(t, c.of, m.load(c.stored, policy), c.stored)
				seen.note(m)
			}
			if t.Failed() {
				t.Fatalf("%s, step %d", name, step)
			}
		}
	}
	for i, counts := 0, reflect.ValueOf(seen); i < counts.NumField(); i++ {
		if counts.Field(i).Int() == 0 {
			t.Errorf("nothing is loaded of %s", counts.Type().Field(i).Name)
		}
	}
}

// few makes some changes, or hardly any.
func (c *memoryCase) few(some bool) {
	c.t.Helper()
	c.check(c.alone(func() error {
		for range 1 + c.random.IntN(map[bool]int{false: 3, true: 15}[some]) {
			c.one()
		}
		return nil
	}))
}

// diagnose has everybody suffer from something else, and nothing else change.
func (c *memoryCase) diagnose() {
	c.t.Helper()
	illness := c.of.layout.columns.index("illness")
	c.check(c.alone(func() error {
		for i, key := range slices.Sorted(maps.Keys(c.source)) {
			row := slices.Clone(c.source[key])
			row[illness].text = fmt.Sprint(row[illness].text, i%5)
			if err := c.of.update(c.keyColumns(row), slices.Clone(row)); err != nil {
				return err
			}
			c.source[key] = row
		}
		return nil
	}))
}

// leaveOrReturn has a row leave in a transaction of its own, or the one that left before come
// back.
func (c *memoryCase) leaveOrReturn(step int) {
	c.t.Helper()
	const key = "-1"
	if row, there := c.source[key]; there && step%2 == 1 {
		c.check(c.alone(func() error { return c.of.delete(c.keyColumns(row)) }))
		delete(c.source, key)
	} else if !there {
		row := c.of.layout.visitOf(-1, 30, nil)
		c.source[key] = slices.Clone(row)
		c.check(c.alone(func() error { return c.of.insert(row) }))
	}
}

// alone makes a change in a transaction of its own.
func (c *memoryCase) alone(change func() error) error {
	c.at += 8
	c.of.beginTransaction(c.at)
	if err := change(); err != nil {
		return err
	}
	return c.of.endTransaction(func() error { return nil })
}

// compareLoaded compares what two tables know of the same store.
func compareLoaded(t *testing.T, was, is *table, records rowMirror) {
	t.Helper()
	before, after := was.mode.(*guarded), is.mode.(*guarded)
	for _, s := range []*guarded{before, after} { // nothing is due, and places are known then
		if err := s.settle(t.Context(), s.t.clock()); err != nil || len(s.changes.Rows)+len(s.changes.Gone)+len(s.changes.Weights) > 0 {
			t.Errorf("%d rows are published anew: %v", len(s.changes.Rows), err)
		}
	}
	one, other := after.status(), before.status()
	for _, status := range []*TableStatus{&one, &other} {
		status.OldestWaiting, status.OldestStale = status.OldestWaiting.UTC(), status.OldestStale.UTC()
	}
	if !reflect.DeepEqual(one, other) {
		t.Errorf("loaded as %+v, and it was %+v", one, other)
	}
	for id := range records {
		want, got := is.encode(records[id].row, nil), is.mode.row(id)
		if fmt.Sprint(got.cells, got.sensitive) != fmt.Sprint(want.cells, want.sensitive) || is.layout.subject >= 0 && got.subject != want.subject {
			t.Errorf("record %d is loaded as %v, and is stored as %v", id, got, want)
		}
		if found, known := is.keys.find(is.keyOf(records[id].row)); !known || found != id {
			t.Errorf("the key of record %d leads to %d, %t", id, found, known)
		}
		one, other := placesOf(after.place([]incremental.RecordID{id}))(0), placesOf(before.place([]incremental.RecordID{id}))(0)
		if !slices.Equal(one, other) {
			t.Errorf("record %d stands at %v, and was at %v", id, one, other)
		}
	}
	if one, other := slices.Sorted(maps.Keys(hashesOf(after))), slices.Sorted(maps.Keys(hashesOf(before))); !slices.Equal(one, other) {
		t.Errorf("of those who have left, %d are known, and were %d", len(one), len(other))
	}
	rows := map[incremental.ClassID]int{}
	for id := range before.lineage.Classes() {
		rows[id] = len(before.lineage.RowsOf(id))
	}
	for id := range after.lineage.Classes() {
		if rows[id] -= len(after.lineage.RowsOf(id)); rows[id] != 0 {
			t.Errorf("class %d has %d rows less", id, rows[id])
		}
	}
}

// hashesOf are the hashes of the records of a guarded table that have left.
func hashesOf(s *guarded) map[string]bool {
	hashes := map[string]bool{}
	for h := range s.returns.ghosts {
		hashes[hex.EncodeToString(h[:])] = true
	}
	return hashes
}
