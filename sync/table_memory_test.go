package sync

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// visitsRelation is the table of visits as a look at the catalogs finds it.
func visitsRelation() catalog.Relation {
	name := catalog.Name{Schema: "public", Relation: "visits"}
	r := catalog.Relation{OID: 1000, Name: name, Kind: catalog.KindTable, Key: []string{"id"}, PrimaryKey: []string{"id"}, ReplicaIdentity: 'd'}
	for i, c := range []struct {
		name, base, format string
		oid                catalog.OID
	}{
		{"id", "int4", "integer", 23},
		{"person", "text", "text", 25},
		{"age", "int4", "integer", 23},
		{"zip", "text", "text", 25},
		{"sex", "text", "text", 25},
		{"job", "text", "text", 25},
		{"illness", "text", "text", 25},
		{"cost", "numeric", "numeric", 1700},
	} {
		r.Columns = append(r.Columns, catalog.Column{
			Name: c.name, Number: int16(i + 1), Type: c.format, TypeOID: c.oid, Modifier: -1, BaseFormat: c.format, BaseType: c.base,
			Deterministic: true, NotNull: c.name == "id",
		})
	}
	return r
}

// memoryTable is an empty table of visits that no server knows.
func memoryTable(t *testing.T, policy catalog.TablePolicy) *table {
	t.Helper()
	publication, problems := catalog.Publish(policy, visitsRelation())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	of, err := newTable(publication)
	if err != nil {
		t.Fatal(err)
	}
	if err := of.begin(7, 1, 1, 1); err != nil {
		t.Fatal(err)
	}
	return of
}

// sizeOnly is a policy for visits whose classes are of k records.
func sizeOnly(k int) catalog.TablePolicy {
	return visitsPolicy("visits", "rounded-partition", "", privacy.Spec{Model: privacy.K, K: k})
}

// visitOf is a row of visits in the order of the table's columns.
func (t *layout) visitOf(id, age int, more map[string]string) []value {
	of := map[string]string{"id": fmt.Sprint(id), "age": fmt.Sprint(age), "zip": "10115", "sex": "f", "job": "nurse", "illness": "flu", "cost": "1", "person": fmt.Sprint("p", id)}
	maps.Copy(of, more)
	values := make([]value, len(t.columns))
	for i, c := range t.columns {
		values[i].text = of[c.Name]
	}
	return values
}

// sent is what a table has for the server: its statements, and the rows that are copied.
type sent struct {
	statements []queuedStatement
	copied     []copiedRows
	order      []any // of both
}

type queuedStatement struct {
	sql       string
	arguments []any
}

type copiedRows struct {
	into string
	rows [][]value
}

// sink gathers what is sent.
func (s *sent) sink(t *testing.T) *statements {
	t.Helper()
	return &statements{send: func(c chunk) error {
		if c.batch == nil {
			copied := copiedRows{into: c.into}
			columns := strings.Count(c.into, ",") + 1
			reader := &copyReader{columns: columns, row: func(row []value) error {
				copied.rows = append(copied.rows, slices.Clone(row))
				return nil
			}}
			if _, err := reader.Write(bytes.Clone(c.rows)); err != nil {
				t.Fatalf("COPY %s takes no %q: %v", c.into, c.rows, err)
			}
			s.copied, s.order = append(s.copied, copied), append(s.order, copied)
			return reader.Close()
		}
		for _, q := range c.batch.QueuedQueries {
			one := queuedStatement{q.SQL, q.Arguments}
			s.statements, s.order = append(s.statements, one), append(s.order, one)
		}
		return nil
	}}
}

// elements reads an array as the server does.
func (a *array) elements(t *testing.T) (elements []value) {
	t.Helper()
	count, rest := int(binary.BigEndian.Uint32(a.bytes[12:])), a.bytes[arrayHeader:]
	number := binary.BigEndian.Uint32(a.bytes[8:]) == 20
	for range count {
		length := binary.BigEndian.Uint32(rest)
		rest = rest[4:]
		switch {
		case length == math.MaxUint32:
			if a.bytes[7] != 1 {
				t.Fatal("an array has a NULL, and says that it has none")
			}
			elements = append(elements, value{null: true})
			continue
		case number:
			elements = append(elements, value{text: strconv.FormatUint(binary.BigEndian.Uint64(rest), 10)})
		default:
			elements = append(elements, value{text: string(rest[:length])})
		}
		rest = rest[length:]
	}
	if len(rest) > 0 || binary.BigEndian.Uint32(a.bytes) != 1 || binary.BigEndian.Uint32(a.bytes[16:]) != 1 {
		t.Fatalf("an array is malformed: %x", a.bytes)
	}
	return elements
}

// ids are the elements of an array of numbers.
func (a *array) ids(t *testing.T) (ids []incremental.RecordID) {
	t.Helper()
	for _, v := range a.elements(t) {
		id, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, incremental.RecordID(id))
	}
	return ids
}

// settleAndSend settles a table, and returns what it has for the server.
func settleAndSend(t *testing.T, of *table) *sent {
	t.Helper()
	s := &sent{}
	to := s.sink(t)
	if err := of.write(t.Context(), to, 0); err != nil {
		t.Fatal(err)
	}
	if err := to.close(); err != nil {
		t.Fatal(err)
	}
	of.written()
	return s
}

// rowMirror is a table of the store: what the statements that it was sent have made of it.
type rowMirror map[incremental.RecordID]*mirrored

// mirrored is a row with where its record stands, of a table whose records tell that.
type mirrored struct {
	row    []value
	places []string
}

var setColumn = regexp.MustCompile(`"?(\w+)"? = u\.c(\d+)`)

// follow does to the mirror what the server does to the records of a table. Statements that
// are about something else are left out.
func (m rowMirror) follow(t *testing.T, of *table, s *sent) {
	t.Helper()
	for _, one := range s.order {
		switch one := one.(type) {
		case copiedRows:
			if !strings.HasPrefix(one.into, of.recordsTable()+" ") {
				continue
			}
			for _, row := range one.rows {
				id, err := strconv.ParseInt(row[0].text, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				m.add(t, incremental.RecordID(id), row[1:])
			}
		case queuedStatement:
			switch {
			case one.sql == "DELETE FROM "+of.recordsTable():
				clear(m)
			case strings.HasPrefix(one.sql, "DELETE FROM "+of.recordsTable()+" "):
				for _, id := range one.arguments[0].(*array).ids(t) {
					if _, there := m[id]; !there {
						t.Fatalf("record %d is deleted, which is not there", id)
					}
					delete(m, id)
				}
			case strings.HasPrefix(one.sql, "INSERT INTO "+of.recordsTable()+" "):
				m.insert(t, of, one)
			case strings.HasPrefix(one.sql, "UPDATE "+of.recordsTable()+" ") && strings.Contains(one.sql, " = u.c"):
				m.update(t, of, one)
			case strings.HasPrefix(one.sql, "UPDATE "+of.recordsTable()+" "):
				places := placesOf(one.arguments[1:])
				for i, id := range one.arguments[0].(*array).ids(t) {
					m.known(t, id).places = places(i)
				}
			}
		}
	}
}

func (m rowMirror) add(t *testing.T, id incremental.RecordID, row []value) {
	t.Helper()
	if _, twice := m[id]; twice {
		t.Fatalf("record %d is inserted, which is there", id)
	}
	m[id] = &mirrored{row: slices.Clone(row)}
}

func (m rowMirror) known(t *testing.T, id incremental.RecordID) *mirrored {
	t.Helper()
	if m[id] == nil {
		t.Fatalf("record %d is updated, which is not there", id)
	}
	return m[id]
}

// placesOf gives, of the records that a statement is about, where each stands.
func placesOf(columns []any) func(i int) []string {
	return func(i int) (places []string) {
		for _, column := range columns {
			if at := reflect.ValueOf(column).Index(i); at.Kind() != reflect.Pointer || !at.IsNil() {
				places = append(places, fmt.Sprint(reflect.Indirect(at)))
			} else {
				places = append(places, "NULL")
			}
		}
		return places
	}
}

// insert adds records with where they stand.
func (m rowMirror) insert(t *testing.T, of *table, s queuedStatement) {
	t.Helper()
	first := 1 + len(of.keptPlaces())
	places := placesOf(s.arguments[1:first])
	columns := make([][]value, len(of.layout.columns))
	for i := range columns {
		columns[i] = s.arguments[first+i].(*array).elements(t)
	}
	for i, id := range s.arguments[0].(*array).ids(t) {
		row := make([]value, len(columns))
		for column := range columns {
			row[column] = columns[column][i]
		}
		m.add(t, id, row)
		m[id].places = places(i)
	}
}

// update changes columns of records that are there.
func (m rowMirror) update(t *testing.T, of *table, s queuedStatement) {
	t.Helper()
	for i, set := range setColumn.FindAllStringSubmatch(s.sql, -1) {
		column := of.layout.columns.index(set[1])
		texts := s.arguments[1+i].(*array).elements(t)
		for j, id := range s.arguments[0].(*array).ids(t) {
			m.known(t, id).row[column] = texts[j]
		}
	}
}

// rows are the mirror's rows as texts, sorted.
func (m rowMirror) rows() (rows []string) {
	for _, one := range m {
		rows = append(rows, fmt.Sprint(one.row))
	}
	slices.Sort(rows)
	return rows
}

// sourceRows is the source's side: its rows by key.
type sourceRows map[string][]value

func (s sourceRows) rows() (rows []string) {
	for _, row := range s {
		rows = append(rows, fmt.Sprint(row))
	}
	slices.Sort(rows)
	return rows
}

// memoryCase runs random transactions of the source against a table in memory.
type memoryCase struct {
	t       *testing.T
	of      *table
	random  *rand.Rand
	source  sourceRows
	stored  rowMirror
	numbers map[string]incremental.RecordID // of each key, as of the last commit
	next    int
	at      pglogrepl.LSN
}

func newMemoryCase(t *testing.T, policy catalog.TablePolicy, seed uint64) *memoryCase {
	return &memoryCase{
		t: t, of: memoryTable(t, policy), random: rand.New(rand.NewPCG(seed, 0)),
		source: sourceRows{}, stored: rowMirror{}, numbers: map[string]incremental.RecordID{},
	}
}

// row is a random row of a key.
func (c *memoryCase) row(id int) []value {
	row := c.of.layout.visitOf(id, c.random.IntN(60), map[string]string{
		"illness": []string{"flu", "gout", "", "a\tb\\c\n"}[c.random.IntN(4)], "person": fmt.Sprint("p", c.random.IntN(40)),
		"job": strings.Repeat("long ", c.random.IntN(2)*200),
	})
	if c.random.IntN(4) == 0 {
		row[c.of.layout.columns.index("zip")] = value{null: true}
	}
	return row
}

func (c *memoryCase) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// keyColumns are the columns of the key alone, as an old row has them.
func (c *memoryCase) keyColumns(row []value) []value {
	old := make([]value, len(row))
	for _, i := range c.of.layout.key {
		old[i] = row[i]
	}
	return old
}

// one makes one change of the open transaction.
func (c *memoryCase) one() {
	c.t.Helper()
	keys := slices.Sorted(maps.Keys(c.source))
	kind := c.random.IntN(20)
	if len(keys) == 0 || kind < 9 {
		c.next++
		row := c.row(c.next)
		c.source[fmt.Sprint(c.next)] = slices.Clone(row)
		c.check(c.of.insert(row))
		return
	}
	key := keys[c.random.IntN(len(keys))]
	before := c.source[key]
	id, err := strconv.Atoi(key)
	c.check(err)
	switch {
	case kind < 11: // deleted
		delete(c.source, key)
		c.check(c.of.delete(c.keyColumns(before)))
	case kind < 13: // deleted, and inserted again
		row := c.row(id)
		c.check(c.of.delete(c.keyColumns(before)))
		c.source[key] = slices.Clone(row)
		c.check(c.of.insert(row))
	case kind < 15: // with another key
		c.next++
		row := c.row(c.next)
		delete(c.source, key)
		c.source[fmt.Sprint(c.next)] = slices.Clone(row)
		c.check(c.of.update(c.keyColumns(before), row))
	default: // some values are not sent
		row := c.row(id)
		c.source[key] = slices.Clone(row)
		for i := range row {
			if c.random.IntN(3) == 0 {
				c.source[key][i] = before[i]
				row[i] = value{kept: true}
			}
		}
		c.check(c.of.update(c.keyColumns(before), row))
	}
}

// transaction makes some changes in one transaction, which may spill or begin with a TRUNCATE.
func (c *memoryCase) transaction(changes int) {
	c.t.Helper()
	c.at += 8
	c.of.beginTransaction(c.at)
	before := maps.Clone(c.source)
	emptied := c.random.IntN(12) == 0
	if emptied {
		clear(c.source)
		c.check(c.of.deleteAllUntilCommit())
	}
	for range c.random.IntN(changes) {
		c.one()
		if c.random.IntN(60) == 0 {
			c.spill()
		}
	}
	if emptied && c.random.IntN(2) == 0 { // it is loaded again
		for key, row := range before {
			if _, there := c.source[key]; !there {
				c.source[key] = slices.Clone(row)
				c.check(c.of.insert(slices.Clone(row)))
			}
		}
	}
	c.check(c.of.endTransaction(func() error { c.spill(); return nil }))
}

func (c *memoryCase) spill() {
	c.t.Helper()
	s := &sent{}
	c.check(c.of.spill(c.t.Context(), s.sink(c.t)))
	c.stored.follow(c.t, c.of, s)
}

// compare writes what has changed, and compares store and memory with the source.
func (c *memoryCase) compare() {
	c.t.Helper()
	c.stored.follow(c.t, c.of, settleAndSend(c.t, c.of))
	if got, want := c.stored.rows(), c.source.rows(); !slices.Equal(got, want) {
		c.t.Fatalf("the store has\n%s\nand the source\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if records := c.of.mode.status().Records; records != len(c.source) {
		c.t.Fatalf("%d records are in memory, and %d rows in the source", records, len(c.source))
	}
	numbers := map[string]incremental.RecordID{}
	for id, stored := range c.stored {
		row := stored.row
		if s, is := c.of.mode.(*immediate); is && len(c.of.keptPlaces()) > 0 {
			if places := placesOf(s.place([]incremental.RecordID{id}))(0); !slices.Equal(stored.places, places) {
				c.t.Fatalf("record %d stands at %v, and in the store at %v", id, places, stored.places)
			}
		}
		want, got := c.of.encode(row, nil), c.of.mode.row(id)
		if fmt.Sprint(got.cells, got.sensitive) != fmt.Sprint(want.cells, want.sensitive) || c.of.layout.subject >= 0 && got.subject != want.subject {
			c.t.Fatalf("record %d is %v in memory, and %v in the store", id, got, want)
		}
		numbers[row[c.of.layout.key[0]].text] = id
		if known, is := c.of.keys.find(c.of.keyOf(row)); !is || known != id {
			c.t.Fatalf("the key of record %d leads to %d", id, known)
		}
		if c.of.copies.holds(slotOf(c.of, id)) && !c.of.copies.same(id, row) {
			c.t.Fatalf("what is held of record %d is not what the store has", id)
		}
	}
	for key, id := range numbers {
		if before, was := c.numbers[key]; was && before != id && c.of.layout.subject < 0 {
			c.t.Fatalf("the row %s is record %d, and was %d", key, id, before)
		}
	}
	c.numbers = numbers
	if c.of.pending.dirty || c.of.pending.count != 0 || c.of.pending.bytes != 0 || len(c.of.pending.rows)+len(c.of.pending.deleted) > 0 || c.of.deletes.keys != nil || c.of.pending.truncated {
		c.t.Fatalf("something is left to be written: %d rows, %d bytes", c.of.pending.count, c.of.pending.bytes)
	}
}

// TestStoreFollowsTheStream runs random transactions against tables of each kind, without a
// server: what is sent to the store makes it hold the rows of the source, each once, whatever
// is written early, deleted and inserted again, moved to another key or left out of the
// stream; and memory agrees with the store. The row of a key that stays is the same record.
func TestStoreFollowsTheStream(t *testing.T) {
	t.Parallel()
	guarded := sizeOnly(3)
	guarded.Suppression, guarded.Updates = 0, catalog.Updates{Mode: catalog.Guarded}
	ofPersons := visitsPolicy("visits", "rounded-partition", "person", ofSize)
	for name, policy := range map[string]catalog.TablePolicy{
		"packed": sizeOnly(3), "persons": ofPersons, "parts": visitsPolicy("visits", "rounded-partition", "", homes, persons), "guarded": guarded,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				c := newMemoryCase(t, policy, seed)
				for range 25 {
					for range 1 + c.random.IntN(3) {
						c.transaction(40)
					}
					c.compare()
				}
			}
		})
	}
}

// partsOf are the maintained partitions of an immediate table.
func partsOf(of *table) []*maintained { return of.mode.(*immediate).parts }

// slotOf is where what is copied of a record is held, -1 in a table that holds none.
func slotOf(of *table, id incremental.RecordID) int32 {
	if of.copies == nil {
		return -1
	}
	return of.copies.partition.SlotOf(id)
}
