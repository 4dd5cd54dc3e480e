package sync

import (
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog"
)

// partsTable is a table of two parts, accepted with the columns of its relation, whose rows are
// written by statements alone.
func partsTable(t *testing.T) *table {
	t.Helper()
	of := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
	of.definition = boundTable(t).definition
	return of
}

// storedApplier applies tables to a store in memory, which stands at 900.
func storedApplier(t *testing.T, tables ...*table) (*applier, *memoryStore) {
	t.Helper()
	store := &memoryStore{t: t, position: 900, tables: map[catalog.Name]*table{}, mirrors: map[catalog.Name]rowMirror{}, lsn: map[catalog.Name]pglogrepl.LSN{}}
	for _, of := range tables {
		store.tables[of.layout.name()], store.mirrors[of.layout.name()] = of, rowMirror{}
	}
	a := memoryApplier(tables...)
	a.due.Stop()
	a.session.position, a.stream, a.writer.spilled = 900, &stream{}, &storeTx{on: store}
	return a, store
}

// transaction are the messages of one that inserts so many visits.
func (w *wal) transaction(of *table, final pglogrepl.LSN, rows int) []message {
	w.messages = nil
	w.xid++
	w.put('B', uint64(final), uint64(0), w.xid)
	w.describe(of)
	for i := range rows {
		w.put('I', uint32(of.layout.publication.Relation.OID), "N", tupleOf(of.layout.whole(of.layout.visitOf(int(w.xid)*10000+i, 30, nil))))
	}
	w.put('C', uint8(0), uint64(final), uint64(final+8), uint64(0))
	var all []message
	for _, one := range w.messages {
		all = append(all, one.m)
	}
	return all
}

func handleAll(t *testing.T, a *applier, messages []message) {
	t.Helper()
	for _, m := range messages {
		if err := a.handle(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTransactionsAreFollowed hands the messages of transactions over, one at a time, and looks
// at what is known of the open one, of its tables and of its group.
func TestTransactionsAreFollowed(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	a, _ := storedApplier(t, of)
	messages := (&wal{xid: 6}).transaction(of, 1000, 2)
	a.transaction.hasChanges = true
	handleAll(t, a, messages[:1])
	if !a.transaction.open || a.transaction.hasChanges || a.transaction.commitAt != 1000 || a.transaction.number != 7 || a.end != 0 {
		t.Errorf("a transaction has begun: %+v", a)
	}
	handleAll(t, a, messages[1:2])
	if a.transaction.hasChanges || len(a.transaction.changed) > 0 || !slices.Equal(of.describedBy, []uint32{7}) {
		t.Errorf("a relation is described by %v, which changes %d tables", of.describedBy, len(a.transaction.changed))
	}
	handleAll(t, a, messages[2:4])
	if !a.transaction.hasChanges || !slices.Equal(a.transaction.changed, []*table{of}) || of.deletes.commitAt != 1000 || a.group.rows != 2 || a.group.began.IsZero() || a.relations.lastChange[1000] != 1000 {
		t.Errorf("%d tables are changed by %d rows, %t", len(a.transaction.changed), a.group.rows, a.transaction.hasChanges)
	}
	since := a.group.began
	handleAll(t, a, messages[4:])
	if a.transaction.open || a.end != 1008 || a.lastWithChanges != 1008 || len(a.transaction.changed) > 0 || of.deletes.commitAt != 0 || a.session.shared.consumed.Load() != 0 || a.group.began != since {
		t.Errorf("a transaction has ended at %s, of a group that began at %v", a.end, a.group.began)
	}
	handleAll(t, a, (&wal{xid: 7}).transaction(of, 1100, 0))
	if a.end != 1108 || a.lastWithChanges != 1008 || a.session.shared.consumed.Load() != 0 {
		t.Errorf("a transaction without changes ends at %s, after changes up to %s", a.end, a.lastWithChanges)
	}
	a.group.rows = 0
	for i, flights := range [][]*batch{{{}}, nil} {
		a.writer.batches = flights
		handleAll(t, a, (&wal{}).transaction(of, 1200, 0))
		if got := a.session.shared.consumed.Load(); (got == 1208) != (i == 1) {
			t.Errorf("with %d groups on their way, %d is consumed", len(flights), got)
		}
	}
	// Types, origins and messages change no row, but are something to move on over.
	a.transaction.hasChanges = false
	w := &wal{}
	w.put('O', uint64(5), "origin", uint8(0))
	if handleAll(t, a, []message{w.messages[0].m}); !a.transaction.hasChanges {
		t.Error("the origin of a transaction is nothing")
	}
}

// TestTablesHaveWhatLiesBefore has rows come for a table that has some of them, or cannot take
// them.
func TestTablesHaveWhatLiesBefore(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	failure := errors.New("of another type")
	for _, test := range []struct {
		lsn   pglogrepl.LSN
		table *table
		err   error
		takes bool
	}{
		{1001, of, nil, false}, {1000, of, nil, true}, {999, of, nil, true}, {0, nil, failure, false}, {1001, of, failure, false}, {999, of, failure, true},
	} {
		a, _ := storedApplier(t, of)
		of.release.position, of.deletes.commitAt, a.transaction.commitAt = test.lsn, 0, 1000
		r := &relation{table: test.table, err: test.err, message: &pglogrepl.RelationMessage{RelationID: 5}}
		for range 2 {
			got, err := a.relations.tableOf(r, &a.transaction)
			if (got != nil) != test.takes || test.takes && !errors.Is(err, test.err) || !test.takes && err != nil || a.relations.lastChange[5] != 1000 {
				t.Errorf("from %s on: %v, %v, heard %v", test.lsn, got, err, a.relations.lastChange)
			}
		}
		if want := map[bool]int{true: 1}[test.takes]; len(a.transaction.changed) != want {
			t.Errorf("%d tables are changed, not %d", len(a.transaction.changed), want)
		}
	}
}

// TestMessagesThatCannotBe gives the applier messages that are cut short, speak of relations
// which nobody knows, or lack a row.
func TestMessagesThatCannotBe(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	refuses := func(name string, m message) {
		t.Helper()
		a, _ := storedApplier(t, of)
		if err := a.handle(t.Context(), m); err == nil || transient(err) {
			t.Errorf("%s is handled: %v", name, err)
		}
	}
	whole := (&wal{}).transaction(of, 1000, 0)
	for i, needed := range map[int]int{0: 1 + 8 + 8 + 4, len(whole) - 1: 1 + 1 + 8 + 8} {
		for length := 1; length < needed; length++ {
			refuses("a short message", message{data: whole[i].data[:length]})
		}
	}
	w := &wal{}
	w.put('I', uint32(99), "N", tupleOf(nil))
	w.put('T', uint32(1), uint8(0), uint32(99))
	w.put('Z')
	for _, one := range w.messages {
		refuses("a message of "+string(one.m.data[:1]), one.m)
	}
	row := of.layout.visitOf(1, 30, nil)
	w = &wal{}
	w.put('D', uint32(1000), "K", tupleOf(of.layout.whole(row))) // of nobody
	w.put('I', uint32(1000), "N", tupleOf(of.layout.whole(row))[:5])
	for _, one := range w.messages {
		a, _ := storedApplier(t, of)
		handleAll(t, a, (&wal{}).transaction(of, 1000, 0)[:2])
		if err := a.handle(t.Context(), one.m); err == nil || transient(err) {
			t.Errorf("the row of a message of %s is applied: %v", one.m.data[:1], err)
		}
		a.relations.known[1000].err = errMessage
		if err := a.handle(t.Context(), one.m); !errors.Is(err, errMessage) {
			t.Errorf("the row of a relation that cannot be applied is: %v", err)
		}
	}
	if err := of.insert(row); err != nil { // so that a change of it could be applied
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind pglogrepl.MessageType
		c    change
	}{
		{pglogrepl.MessageTypeInsert, change{old: row}},
		{pglogrepl.MessageTypeDelete, change{new: row}},
		{pglogrepl.MessageTypeUpdate, change{old: row}},
		{pglogrepl.MessageTypeTruncate, change{old: row, new: row}},
	} {
		if err := of.apply(test.kind, test.c); !errors.Is(err, errMessage) {
			t.Errorf("a change of the kind %s without its row is applied: %v", test.kind, err)
		}
	}
}

// TestChangesOfEachKind applies one change after the other to a row.
func TestChangesOfEachKind(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	one, other := of.layout.visitOf(1, 30, nil), of.layout.visitOf(2, 40, nil)
	steps := []struct {
		kind pglogrepl.MessageType
		c    change
		age  float64 // of what is left
		has  []value
	}{
		{pglogrepl.MessageTypeInsert, change{new: one}, 30, one},
		{pglogrepl.MessageTypeUpdate, change{new: of.layout.visitOf(1, 31, nil)}, 31, one},
		{pglogrepl.MessageTypeUpdate, change{old: one, new: other}, 40, other},
		{pglogrepl.MessageTypeDelete, change{old: other}, 0, nil},
	}
	for i, step := range steps {
		if err := of.apply(step.kind, step.c); err != nil {
			t.Fatal(err)
		}
		for _, row := range [][]value{one, other} {
			_, known := of.keys.find(of.keyOf(row))
			if want := step.has != nil && row[0] == step.has[0]; known != want {
				t.Errorf("step %d: the row %s is known: %t", i, row[0].text, known)
			}
		}
		if step.has != nil && of.mode.row(1).cells[0] != step.age {
			t.Errorf("step %d: the age is %v", i, of.mode.row(1).cells[0])
		}
	}
}

// TestTruncatedTables has the stream tell of tables that were truncated.
func TestTruncatedTables(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	a, _ := storedApplier(t, of)
	handleAll(t, a, (&wal{xid: 6}).transaction(of, 1000, 3))
	a.group.rows, a.transaction.hasChanges = 0, false
	w := &wal{xid: 7}
	messages := w.transaction(of, 1100, 0)
	w.put('T', uint32(1), uint8(0), uint32(1000))
	messages = slices.Insert(messages, 2, w.messages[len(w.messages)-1].m)
	handleAll(t, a, messages)
	if records := of.mode.status().Records; records != 0 || a.group.rows != 1 || !slices.Equal(of.truncations, truncations{8}) || !a.transaction.hasChanges || !of.pending.dirty {
		t.Errorf("%d records are left, by %d changes in the transactions %v", records, a.group.rows, of.truncations)
	}
	truncate := &pglogrepl.TruncateMessage{RelationIDs: []uint32{1000}}
	a.relations.known[1000].leaf = true
	halt := (*TableError)(nil)
	if err := a.truncate(truncate); !errors.As(err, &halt) || !halt.resync {
		t.Errorf("a partition is truncated: %v", err)
	}
	a.relations.known[1000].err = errMessage
	if err := a.truncate(truncate); !errors.Is(err, errMessage) {
		t.Errorf("a table that cannot be applied is truncated: %v", err)
	}
	// What another table has already, or nobody applies, is left out.
	a.relations.known[1000] = &relation{message: a.relations.known[1000].message}
	if err := a.truncate(truncate); err != nil || a.group.rows != 1 || len(of.truncations) != 1 {
		t.Errorf("a table that is not applied is truncated: %v", err)
	}
}

// TestLargeTransactionsSpill has rows of an open transaction come until they are too many, or too
// large, to be held.
func TestLargeTransactionsSpill(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rows, bytes int
		amid, want  bool
	}{
		{spillRows - 2, 0, true, false},
		{spillRows - 1, 0, true, true},
		{spillRows - 1, 0, false, false},
		{0, spillBytes - 1000, true, false},
		{0, spillBytes, true, true},
		{0, spillBytes, false, false},
	} {
		of := partsTable(t)
		a, _ := storedApplier(t, of)
		var points []string
		a.session.syncer.config.Failpoint = func(name string) { points = append(points, name) }
		messages := (&wal{}).transaction(of, 1000, 1)
		handleAll(t, a, messages[:2])
		of.pending.count, of.pending.bytes, a.transaction.open = test.rows, test.bytes, test.amid
		handleAll(t, a, messages[2:3])
		if of.pending.spilled != test.want || (of.pending.count == 0) != test.want || slices.Contains(points, FailSpilled) != test.want {
			t.Errorf("%+v: spilled is %t, with %d rows left", test, of.pending.spilled, of.pending.count)
		}
	}
}

// TestRowsOfDeletedSpill has a transaction that leaves many records behind end: they are written
// as they come to too many, and none twice.
func TestRowsOfDeletedSpill(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	const records = 20
	for id := range records {
		if err := of.insert(of.layout.visitOf(id, 30, nil)); err != nil {
			t.Fatal(err)
		}
	}
	of.written()
	of.beginTransaction(5)
	for id := range records {
		if err := of.delete(of.layout.visitOf(id, 30, nil)); err != nil {
			t.Fatal(err)
		}
	}
	of.pending.count = spillRows - 10
	spills, failure := 0, errors.New("full")
	err := of.endTransaction(func() error {
		if spills++; spills == 2 {
			return failure
		}
		of.pending.count = spillRows - 5
		return nil
	})
	if !errors.Is(err, failure) || spills != 2 || len(of.pending.deleted) != 15 || !slices.IsSorted(of.pending.deleted) {
		t.Errorf("%d records are forgotten with %d spills: %v", len(of.pending.deleted), spills, err)
	}
}

// TestSpillingFails has the store refuse the rows of an open transaction, and of one that ends.
func TestSpillingFails(t *testing.T) {
	t.Parallel()
	failure := &StopError{What: "no room"}
	failing := func(of *table) *applier {
		a, _ := storedApplier(t, of)
		handleAll(t, a, (&wal{}).transaction(of, 1000, 1))
		a.writer.spilled, a.writer.batches = nil, []*batch{{ended: make(chan struct{}), err: failure}}
		close(a.writer.batches[0].ended)
		return a
	}
	of := partsTable(t)
	a := failing(of)
	messages := (&wal{xid: 1}).transaction(of, 1100, 1)
	handleAll(t, a, messages[:2])
	of.pending.count = spillRows
	if err := a.handle(t.Context(), messages[2]); !errors.Is(err, failure) || of.pending.spilled {
		t.Errorf("rows that are not written are forgotten: %v", err)
	}
	of = partsTable(t)
	a = failing(of)
	messages = (&wal{xid: 1}).transaction(of, 1100, 0)
	handleAll(t, a, messages[:2])
	if _, err := a.relations.tableOf(a.relations.known[1000], &a.transaction); err != nil {
		t.Fatal(err)
	}
	if err := of.delete(of.layout.visitOf(10000, 30, nil)); err != nil {
		t.Fatal(err)
	}
	of.pending.count = spillRows
	if err := a.handle(t.Context(), messages[2]); !errors.Is(err, failure) {
		t.Errorf("a transaction ends whose rows are not written: %v", err)
	}
}
