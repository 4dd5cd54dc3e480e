package sync

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// memoryStore is a store whose transactions take effect when they commit.
type memoryStore struct {
	t        *testing.T
	position pglogrepl.LSN
	tables   map[catalog.Name]*table
	mirrors  map[catalog.Name]rowMirror
	lsn      map[catalog.Name]pglogrepl.LSN // up to where each table has all
	dropped  bool                           // a look finds that a column has gone
}

// storeTx is a transaction of a memoryStore.
type storeTx struct {
	pgx.Tx
	on    *memoryStore
	from  string
	to    string
	sent  sent
	looks int
}

func (tx *storeTx) Exec(_ context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	if strings.HasPrefix(sql, "UPDATE kproxy_store.position SET lsn") {
		tx.from, tx.to = arguments[2].(string), arguments[3].(string)
		if tx.from != tx.on.position.String() || arguments[0] != "slot" || arguments[1] != int64(5) {
			return pgconn.NewCommandTag("UPDATE 0"), nil
		}
	}
	return pgconn.NewCommandTag("UPDATE 1"), nil
}

// noResults are those of statements that return no rows.
type noResults struct{ pgx.BatchResults }

func (noResults) Close() error { return nil }

func (tx *storeTx) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	for _, q := range b.QueuedQueries {
		tx.sent.order = append(tx.sent.order, queuedStatement{q.SQL, q.Arguments})
	}
	return noResults{}
}

// lookedAt is a row with what a table is.
type lookedAt struct {
	table   *table
	dropped bool
}

func (r lookedAt) Scan(into ...any) error {
	now := r.table.definition.bound
	if r.dropped {
		now.Columns = now.Columns[:len(now.Columns)-1]
	}
	text, err := json.Marshal(now)
	*into[0].(*string), *into[1].(*string) = r.table.layout.name().Schema, r.table.layout.name().Relation
	*into[2].(*[]byte), *into[3].(*bool) = text, true
	return err
}

func (tx *storeTx) QueryRow(_ context.Context, _ string, arguments ...any) pgx.Row {
	tx.looks++
	for _, of := range tx.on.tables {
		if arguments[0] == uint32(of.layout.publication.Relation.OID) {
			return lookedAt{of, tx.on.dropped}
		}
	}
	return nil
}

func (tx *storeTx) Rollback(context.Context) error { return nil }

func (tx *storeTx) Commit(context.Context) error {
	t := tx.on.t
	to, err := pglogrepl.ParseLSN(tx.to)
	if err != nil || to < tx.on.position {
		t.Errorf("the position moves from %s to %q: %v", tx.on.position, tx.to, err)
	}
	tx.on.position = to
	for name, of := range tx.on.tables {
		tx.on.mirrors[name].follow(t, of, &tx.sent)
	}
	for _, one := range tx.sent.order {
		s, is := one.(queuedStatement)
		if !is || !strings.HasPrefix(s.sql, "UPDATE kproxy_store.generation SET next_class") {
			continue
		}
		at, err := pglogrepl.ParseLSN(*s.arguments[14].(*string))
		name := catalog.Name{Schema: s.arguments[0].(string), Relation: s.arguments[1].(string)}
		if err != nil || at < tx.on.lsn[name] || at < to {
			t.Errorf("the position of %s moves from %s to %s: %v", name, tx.on.lsn[name], at, err)
		}
		tx.on.lsn[name] = at
	}
	if tx.looks == 0 && len(tx.sent.order) > 0 {
		t.Error("something is published without a look at the table")
	}
	return nil
}

// walMessage is one message of the stream, with where the WAL stands behind it.
type walMessage struct {
	m  message
	at pglogrepl.LSN // where it is sent again from, as the commit of its transaction ends; 0 amid one
}

// wal is a stream of transactions.
type wal struct {
	messages []walMessage
	at       pglogrepl.LSN
	xid      uint32
}

func (w *wal) put(kind byte, parts ...any) {
	text := []byte{kind}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			text = append(text, p...)
		case []byte:
			text = append(text, p...)
		default:
			text, _ = binary.Append(text, binary.BigEndian, p)
		}
	}
	w.messages = append(w.messages, walMessage{m: message{data: text}})
}

func tupleOf(row []value) []byte {
	text := binary.BigEndian.AppendUint16(nil, uint16(len(row)))
	for _, v := range row {
		switch {
		case v.null:
			text = append(text, nullColumn)
		case v.kept:
			text = append(text, keptColumn)
		default:
			text = append(binary.BigEndian.AppendUint32(append(text, textColumn), uint32(len(v.text))), v.text...)
		}
	}
	return text
}

// whole is a row with the columns that the store does not keep.
func (t *layout) whole(row []value) []value {
	var all []value
	for _, c := range t.publication.Relation.Columns {
		if i := t.columns.index(c.Name); i >= 0 {
			all = append(all, row[i])
		} else {
			all = append(all, value{text: "not kept"})
		}
	}
	return all
}

func (w *wal) describe(of *table) {
	var columns []byte
	for _, c := range of.layout.publication.Relation.Columns {
		columns = append(append(append(columns, 0), c.Name...), 0)
		columns = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(columns, uint32(c.TypeOID)), uint32(c.Modifier))
	}
	w.put('R', uint32(of.layout.publication.Relation.OID), of.layout.name().Schema, uint8(0), of.layout.name().Relation, uint8(0), uint8('d'), uint16(len(of.layout.publication.Relation.Columns)), columns)
}

// random are transactions that change tables and their sources.
func (w *wal) random(random *rand.Rand, tables []*table, sources map[*table]sourceRows) {
	next := 0
	for range 60 {
		w.at += 10
		final := w.at + 50
		w.xid++
		w.put('B', uint64(final), uint64(0), w.xid)
		for _, of := range tables {
			if w.xid == 1 || random.IntN(10) == 0 {
				w.describe(of)
			}
		}
		for range random.IntN(9) {
			of := tables[random.IntN(2)]
			rows, oid := sources[of], uint32(of.layout.publication.Relation.OID)
			keys := slices.Sorted(maps.Keys(rows))
			switch kind := random.IntN(12); {
			case len(keys) == 0 || kind < 6:
				next++
				row := of.layout.visitOf(next, random.IntN(60), map[string]string{"illness": fmt.Sprint(random.IntN(4))})
				rows[fmt.Sprint(next)] = row
				w.put('I', oid, "N", tupleOf(of.layout.whole(row)))
			case kind == 6 && random.IntN(4) == 0:
				clear(rows)
				w.put('T', uint32(1), uint8(0), oid)
			case kind < 9:
				key := keys[random.IntN(len(keys))]
				w.put('D', oid, "K", tupleOf(of.layout.whole(rows[key])))
				delete(rows, key)
			default:
				key := keys[random.IntN(len(keys))]
				row := slices.Clone(rows[key])
				row[of.layout.columns.index("age")].text = fmt.Sprint(random.IntN(60))
				sentRow := slices.Clone(row)
				sentRow[of.layout.columns.index("job")] = value{kept: true}
				rows[key] = row
				w.put('U', oid, "N", tupleOf(of.layout.whole(sentRow)))
			}
		}
		w.at = final + 8
		w.put('C', uint8(0), uint64(final), uint64(w.at), uint64(0))
		w.messages[len(w.messages)-1].at = w.at
		if random.IntN(5) == 0 {
			w.at += 5
			w.messages = append(w.messages, walMessage{m: message{keepalive: w.at}})
		}
	}
}

// TestStreamIsAppliedOnce gives an applier a random stream of two tables, which have parts of it
// already, and sends parts of it again, as after a join: each change is applied exactly once,
// in whatever groups; what is shown, acknowledged and stored is at a commit boundary, and
// nothing is published but after a look at the table.
func TestStreamIsAppliedOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 7))
		store := &memoryStore{t: t, tables: map[catalog.Name]*table{}, mirrors: map[catalog.Name]rowMirror{}, lsn: map[catalog.Name]pglogrepl.LSN{}}
		var tables []*table
		sources := map[*table]sourceRows{}
		for i, name := range []string{"visits", "others"} {
			of := boundTable(t)
			parts := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
			parts.definition = of.definition
			parts.layout.publication.Policy.Table.Relation, parts.layout.publication.Relation.Name.Relation = name, name
			parts.layout.publication.Relation.OID += catalog.OID(i)
			parts.definition.bound.OID += catalog.OID(i)
			parts.release.generation += int64(i)
			tables, sources[parts] = append(tables, parts), sourceRows{}
			store.tables[parts.layout.name()], store.mirrors[parts.layout.name()] = parts, rowMirror{}
		}
		w := &wal{at: 1000}
		w.random(random, tables, sources)

		a := memoryApplier(tables...)
		store.position, a.session.position = 900, 900
		st := &stream{}
		a.stream = st
		var boundaries []int // messages from which on the stream can be sent again
		for i := 0; i < len(w.messages); i++ {
			one := w.messages[i]
			a.writer.spilled = nil
			if one.at != 0 {
				a.writer.spilled = &storeTx{on: store}
			}
			if err := a.handle(t.Context(), one.m); err != nil {
				t.Fatal(err)
			}
			if one.at == 0 {
				continue
			}
			boundaries = append(boundaries, i)
			a.group.moreReceived = random.IntN(3) > 0
			if err := a.flushIfDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if random.IntN(4) == 0 {
				if err := a.writer.awaitAll(t.Context()); err != nil {
					t.Fatal(err)
				}
				if a.session.position != store.position || a.session.shared.ack.lsn() != 0 && a.session.shared.ack.lsn() != store.position {
					t.Fatalf("the position is %s in memory, %s in the store, and %s is acknowledged", a.session.position, store.position, a.session.shared.ack.lsn())
				}
			}
			if random.IntN(12) == 0 && a.group.rows == 0 { // the stream begins anew, as tables have joined
				if err := a.writer.awaitAll(t.Context()); err != nil {
					t.Fatal(err)
				}
				back := boundaries[max(0, len(boundaries)-1-random.IntN(6))]
				a.session.position, a.end, a.lastWithChanges = w.messages[back].at, 0, 0
				store.position = a.session.position
				a.session.shared.ack.stored.Store(uint64(a.session.position))
				i = back
			}
		}
		a.group.moreReceived, a.writer.spilled = false, &storeTx{on: store}
		if err := a.flush(t.Context(), max(a.end, a.session.position)); err != nil {
			t.Fatal(err)
		}
		for of, rows := range sources {
			if got, want := store.mirrors[of.layout.name()].rows(), rows.rows(); !slices.Equal(got, want) {
				t.Fatalf("seed %d: the store of %s has\n%s\nand the source\n%s", seed, of.layout.name(), strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if stands := a.streamPosition(); stands != w.messages[boundaries[len(boundaries)-1]].at {
			t.Errorf("the stream stands at %s", stands)
		}
	}
}

// TestNothingIsPublishedOfAnAlteredTable has a look find that a column has gone: the table is
// halted, and neither rows nor position move.
func TestNothingIsPublishedOfAnAlteredTable(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	of.release.generation = 7
	store := &memoryStore{t: t, position: 900, tables: map[catalog.Name]*table{of.layout.name(): of}, mirrors: map[catalog.Name]rowMirror{of.layout.name(): {}}, lsn: map[catalog.Name]pglogrepl.LSN{}, dropped: true}
	w := &wal{}
	w.put('B', uint64(1000), uint64(0), uint32(1))
	w.describe(of)
	w.put('I', uint32(1000), "N", tupleOf(of.layout.whole(of.layout.visitOf(1, 30, nil))))
	w.put('C', uint8(0), uint64(1000), uint64(1008), uint64(0))
	a := memoryApplier(of)
	a.session.position, a.stream = 900, &stream{}
	for _, one := range w.messages {
		if err := a.handle(t.Context(), one.m); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(of.describedBy, []uint32{1}) {
		t.Errorf("the table was described by %v", of.describedBy)
	}
	a.writer.spilled = &storeTx{on: store}
	p := a.session.tables.definitionChecks()
	if len(p) != 1 || !slices.Equal(p[0].after, []uint32{1}) || p[0].detail != accept.Whole || of.describedBy != nil {
		t.Errorf("it is to be proved: %+v", p)
	}
	of.describedBy = []uint32{1}
	err := a.flush(t.Context(), a.end)
	if halt := (*TableError)(nil); !errors.As(err, &halt) || halt.Table != of.layout.name() || a.session.position != 900 || store.position != 900 || a.session.shared.ack.lsn() != 0 {
		t.Errorf("it ends with %v at %s", err, a.session.position)
	}
	of.pending.dirty, of.release.showAt = false, 0
	if p := a.session.tables.definitionChecks(); len(p) > 0 {
		t.Error("a table of which nothing is published is looked at")
	}
	of.release.showAt = 5
	if p := a.session.tables.definitionChecks(); len(p) != 1 || p[0].detail != accept.WithoutLeaves {
		t.Errorf("a table that is to be shown is to be proved: %+v", p)
	}
}

// TestIdleStreamMovesOn has the stream bring transactions that change no table. The position
// follows where it is far behind, or has not moved for long, or a release waits to be shown;
// else nothing is written.
func TestIdleStreamMovesOn(t *testing.T) {
	t.Parallel()
	const from = pglogrepl.LSN(900)
	for _, test := range []struct {
		name  string
		end   pglogrepl.LSN
		idle  time.Duration
		shows pglogrepl.LSN
		moves bool
	}{
		{name: "near", end: from + idleBytes - 1, idle: time.Second - 1},
		{name: "far", end: from + idleBytes, moves: true},
		{name: "late", end: from + 1, idle: time.Second, moves: true},
		{name: "nothing new", end: from, idle: time.Hour},
		{name: "behind", end: from - 1, idle: time.Hour},
		{name: "a release is not reached", end: from + 2, shows: from + 3},
		{name: "readers of a release have been waited for", end: from + 2, shows: from + 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			of := boundTable(t)
			of.release.showAt, of.release.postponed = test.shows, time.Now()
			store := &memoryStore{t: t, position: from, tables: map[catalog.Name]*table{of.layout.name(): of}, mirrors: map[catalog.Name]rowMirror{of.layout.name(): {}}}
			a := memoryApplier(of)
			a.due.Stop()
			a.session.position, a.stream = from, &stream{}
			time.Sleep(test.idle)
			w := &wal{}
			w.put('B', uint64(test.end-1), uint64(0), uint32(1))
			w.put('C', uint8(0), uint64(test.end-1), uint64(test.end), uint64(0))
			for _, one := range w.messages {
				if err := a.handle(t.Context(), one.m); err != nil {
					t.Fatal(err)
				}
			}
			if got := pglogrepl.LSN(a.session.shared.consumed.Load()); got != test.end {
				t.Errorf("%s: %s is consumed", test.name, got)
			}
			a.writer.spilled = &storeTx{on: store}
			if err := a.flushIfDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := from
			if test.moves {
				want = test.end
			}
			if a.session.position != want || store.position != want {
				t.Errorf("%s: the position is %s", test.name, a.session.position)
			}
		})
	}
}

// TestGroupsTakeWhatHasCome hands messages to the applier together: a transaction behind which
// there is more of the stream is not sent on its way alone.
func TestGroupsTakeWhatHasCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		parts := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
		parts.definition = of.definition
		store := &memoryStore{
			t: t, position: 900, tables: map[catalog.Name]*table{of.layout.name(): parts}, mirrors: map[catalog.Name]rowMirror{of.layout.name(): {}},
			lsn: map[catalog.Name]pglogrepl.LSN{},
		}
		a := memoryApplier(parts)
		a.due.Stop()
		waiting := make(chan []message, 1)
		a.session.position, a.stream = 900, &stream{messages: waiting}
		w := &wal{}
		for i := range 3 {
			w.put('B', uint64(1000+10*i), uint64(0), uint32(i+1))
			if i == 0 {
				w.describe(parts)
			}
			w.put('I', uint32(1000), "N", tupleOf(parts.layout.whole(parts.layout.visitOf(i, 30, nil))))
			w.put('C', uint8(0), uint64(1000+10*i), uint64(1008+10*i), uint64(0))
		}
		var all []message
		for _, one := range w.messages {
			all = append(all, one.m)
		}
		// Up to a commit and one message more; up to a commit, while more waits; and the rest.
		for i, step := range []struct {
			batch   []message
			waits   bool
			flights int
		}{{all[:5], false, 0}, {all[5:7], true, 0}, {all[7:], false, 1}} {
			a.writer.spilled = nil
			if step.waits {
				waiting <- nil
			}
			if step.flights > 0 {
				<-waiting
				a.writer.spilled = &storeTx{on: store}
			}
			if err := a.take(t.Context(), step.batch); err != nil {
				t.Fatal(err)
			}
			if len(a.writer.batches) != step.flights || (a.group.rows > 0) != (step.flights == 0) {
				t.Errorf("step %d: %d groups are on their way, with %d rows left", i, len(a.writer.batches), a.group.rows)
			}
		}
		if err := a.writer.awaitAll(t.Context()); err != nil || len(store.mirrors[of.layout.name()]) != 3 || a.session.position != 1028 {
			t.Errorf("%d rows are stored up to %s: %v", len(store.mirrors[of.layout.name()]), a.session.position, err)
		}
	})
}
