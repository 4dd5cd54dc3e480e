package sync

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// draws are how often what must be random is looked at: of up to twenty places, none is
// missed once in a thousand million such tests.
const draws = 600

// fillMemory inserts visits with numbers from 1 on, of the ages, as one transaction.
func fillMemory(t *testing.T, of *table, ages ...int) {
	t.Helper()
	for i, age := range ages {
		if err := of.insert(of.layout.visitOf(i+1, age, nil)); err != nil {
			t.Fatal(err)
		}
	}
	settleAndSend(t, of)
}

// ages are those of classes, each of as many records as k.
func agesOf(classes, k int) (ages []int) {
	for class := range classes {
		for range k {
			ages = append(ages, 10*class)
		}
	}
	return ages
}

// change gives a record another illness, in a transaction of its own.
func (t *table) change(id, age int, illness string) error {
	row := t.layout.visitOf(id, age, map[string]string{"illness": illness})
	return t.update(row, slices.Clone(row))
}

// sentRow is a row of a packed release on its way to the server.
type sentRow struct {
	packedKey
	members []int64
	changed bool // where it is
}

var memberNumber = regexp.MustCompile(`"\((\d+)`)

// membersOf are the numbers of the records in an array of members.
func membersOf(t *testing.T, text string) (members []int64) {
	t.Helper()
	for _, m := range memberNumber.FindAllStringSubmatch(text, -1) {
		number, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, number)
	}
	return members
}

// packedOf is the packed release of a table's own readers; nil where rows hold the values.
func packedOf(of *table) *packedRelease {
	if s, is := of.mode.(*immediate); is {
		return s.packed
	}
	return nil
}

// packedRows are the rows of the release that are sent from memory, in their order: those that
// are changed where they are, then new ones.
func (s *sent) packedRows(t *testing.T, of *table) (rows []sentRow) {
	t.Helper()
	for _, one := range s.statements {
		if one.sql != packedOf(of).change() {
			continue
		}
		classes, sections, members := one.arguments[0].(*array).ids(t), one.arguments[1].(*array).ids(t), one.arguments[2].(*array).elements(t)
		for i := range classes {
			rows = append(rows, sentRow{packedKey{incremental.ClassID(classes[i]), int32(sections[i])}, membersOf(t, members[i].text), true})
		}
	}
	for _, c := range s.copied {
		if !strings.HasPrefix(c.into, of.release.packedTable()+" ") {
			continue
		}
		for _, row := range c.rows {
			class, failure := strconv.ParseInt(row[0].text, 10, 64)
			section, err := strconv.ParseInt(row[1].text, 10, 32)
			if failure != nil || err != nil {
				t.Fatal(failure, err)
			}
			rows = append(rows, sentRow{packedKey{incremental.ClassID(class), int32(section)}, membersOf(t, row[len(row)-1].text), false})
		}
	}
	return rows
}

// TestPackedOrderTellsNothing changes a record of each of six classes of many again and again. In
// the row of its class it stands at every place, since the members' order would tell who has come
// last; and of the classes that are sent together, each comes first now and then, among them ones
// that nothing has changed in. All members of an undivided class are sent, each once.
func TestPackedOrderTellsNothing(t *testing.T) {
	t.Parallel()
	const k, classes, changed = 9, 30, 6
	of := memoryTable(t, sizeOnly(k))
	fillMemory(t, of, agesOf(classes, k)...)
	places, first, covers := map[int]bool{}, map[incremental.ClassID]bool{}, map[incremental.ClassID]bool{}
	for i := range draws {
		of.changeAll(t, k, changed, fmt.Sprint(i))
		own := map[incremental.ClassID]bool{}
		for class := range changed {
			own[partsOf(of)[0].partition.ClassOf(incremental.RecordID(1+k*class))] = true
		}
		rows := settleAndSend(t, of).packedRows(t, of)
		first[rows[0].class] = true
		for _, row := range rows {
			if !row.changed || row.section != onlySection {
				t.Fatalf("class %d is not changed where it is: %v", row.class, row)
			}
			if place := slices.Index(row.members, 1); place >= 0 {
				places[place] = true
			}
			if !own[row.class] {
				covers[row.class] = true
			}
			var want []int64
			for _, id := range partsOf(of)[0].partition.Members(row.class) {
				want = append(want, int64(id))
			}
			slices.Sort(row.members)
			if !slices.Equal(row.members, want) {
				t.Fatalf("class %d is sent with %v, and has %v", row.class, row.members, want)
			}
		}
		if len(rows) < 2*changed-2 || len(rows) > 2*changed { // some of those drawn may be the same
			t.Fatalf("%d rows are sent", len(rows))
		}
	}
	if len(places) != k || len(first) != classes || len(covers) != classes-changed {
		t.Errorf("the record stood at the places %v alone, the classes %v came first, and %d others were sent", places, first, len(covers))
	}
}

// changeAll changes the first record of each of some classes with as many records as k.
func (t *table) changeAll(tb testing.TB, k, classes int, illness string) {
	tb.Helper()
	for class := range classes {
		if err := t.change(1+k*class, 10*class, illness); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestPackedInTheServerTellsNothing has rows of the release made inside the server, which is
// told who lies in which row: a changed record must lie in the first as in the last. What has
// changed is read from the store, all else taken from the rows that are deleted.
func TestPackedInTheServerTellsNothing(t *testing.T) {
	t.Parallel()
	const k = 40
	for _, spilled := range []bool{false, true} {
		of := memoryTable(t, sizeOnly(k))
		of.copies = nil // as that of a table with a column of an enumeration
		fillMemory(t, of, agesOf(1, k)...)
		packs := map[int]bool{}
		for i := range draws / 4 {
			if err := of.change(1, 0, fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
			of.pending.spilled = spilled
			class := partsOf(of)[0].partition.ClassOf(1)
			var gone []incremental.RecordID
			var read, kept map[incremental.RecordID]int
			for _, s := range settleAndSend(t, of).statements {
				if !strings.Contains(s.sql, of.release.packedTable()) {
					continue
				}
				gone = append(gone, s.arguments[0].(*array).ids(t)...)
				if len(s.arguments) > 2 {
					kept, read = placed(t, s.arguments[2], s.arguments[3]), placed(t, s.arguments[4], s.arguments[5])
				}
			}
			if gone = slices.Compact(gone); !slices.Equal(gone, []incremental.RecordID{incremental.RecordID(class)}) {
				t.Fatalf("rows of the classes %v are deleted, not of %d alone", gone, class)
			}
			if _, changed := read[1]; !changed || !spilled && len(read) != 1 || spilled && len(kept) > 0 || len(read)+len(kept) != k {
				t.Fatalf("spilled %t: of %d members, %d are read from the store and %d kept", spilled, k, len(read), len(kept))
			}
			of := map[int]int{}
			for _, pack := range kept {
				of[pack]++
			}
			for _, pack := range read {
				of[pack]++
			}
			for pack, members := range of {
				if members > packedMembers || pack >= len(of) {
					t.Fatalf("row %d of %d has %d members", pack, len(of), members)
				}
			}
			packs[read[1]] = true
		}
		if len(packs) != (k+packedMembers-1)/packedMembers {
			t.Errorf("the changed record lay in the rows %v alone", packs)
		}
	}
}

// placed reads in which row each record is to lie.
func placed(t *testing.T, records, packs any) map[incremental.RecordID]int {
	t.Helper()
	of, in := map[incremental.RecordID]int{}, packs.(*array).ids(t)
	for i, id := range records.(*array).ids(t) {
		if _, twice := of[id]; twice {
			t.Fatalf("record %d lies in two rows", id)
		}
		of[id] = int(in[i])
	}
	return of
}

// TestRowsOfPartsTellNothing looks at the records whose rows are written of a table with two
// parts: each once, and the changed one among the others at any place.
func TestRowsOfPartsTellNothing(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
	fillMemory(t, of, agesOf(1, 7)...)
	s := of.mode.(*immediate)
	first := map[incremental.RecordID]bool{}
	for i := range draws / 2 {
		if err := of.change(1, 0, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if err := s.settle(t.Context(), of.clock()); err != nil {
			t.Fatal(err)
		}
		ids := s.crossed().touched(s.changes)
		first[ids[0]] = true
		slices.Sort(ids)
		if !slices.Equal(ids, []incremental.RecordID{1, 2, 3, 4, 5, 6, 7}) {
			t.Fatalf("the rows of %v are written", ids)
		}
		of.written()
	}
	if len(first) != 7 {
		t.Errorf("of seven rows, %v came first", first)
	}
}

// TestNewRowsOfGuardedTellNothing looks at the order of a batch's rows, which must not be that
// in which they came or that of their classes.
func TestNewRowsOfGuardedTellNothing(t *testing.T) {
	t.Parallel()
	policy := sizeOnly(3)
	policy.Suppression, policy.Updates = 0, catalog.Updates{Mode: catalog.Guarded}
	first := map[incremental.RecordID]bool{}
	for range draws / 3 {
		of := memoryTable(t, policy)
		for i, age := range agesOf(3, 3) {
			if err := of.insert(of.layout.visitOf(i+1, age, nil)); err != nil {
				t.Fatal(err)
			}
		}
		if err := of.mode.settle(t.Context(), of.clock()); err != nil {
			t.Fatal(err)
		}
		s := &sent{}
		to := s.sink(t)
		of.mode.writeRelease(&visibleStatements{statements: to})
		if err := to.close(); err != nil {
			t.Fatal(err)
		}
		for _, one := range s.statements {
			if strings.HasPrefix(one.sql, "INSERT INTO "+of.release.releaseTable()) {
				first[one.arguments[0].(*array).ids(t)[0]] = true
			}
		}
	}
	if len(first) != 9 {
		t.Errorf("of nine rows, %v came first", first)
	}
}
