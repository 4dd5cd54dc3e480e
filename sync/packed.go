package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// The release of an immediate table with one part is packed: a row of packed_<n> holds
// some records of one class, with what the class shows once and what the records show in
// an array of rows of copied_<n>. A touched class is then one row to write instead of its
// members'. release_<n>, on which the published relation stands, is a view that unpacks
// it; of other tables it is a table.
//
// The packed rows also tell which class a record is in, as a member has its record's
// number: where the classes of many records change, their own rows do not. stored_<n> has
// the records, and records_<n>, a table elsewhere, is a view of them with their classes.
//
// A row of a table with several parts shows a class of each, and those of guarded tables
// are written one by one: they stay as they are.

const (
	// packedMembers bounds the records of a packed row, and packedWidth the bytes of each:
	// a wider record has a row of its own. So packed rows lie in the heap itself, as what
	// lies elsewhere costs readers several times as much.
	packedMembers = 16
	packedWidth   = 450
	// packedTarget is the size in bytes from which on the server compresses a row or stores
	// it elsewhere ("Storage Parameters"); the greatest that it allows.
	packedTarget = 8160
)

// isPacked says which of the two layouts the table's release has.
func (t *table) isPacked() bool {
	return !t.layout.isGuarded() && !t.layout.isLinked() && len(t.parts) == 1
}

func (t *releaseState) packedTable() string { return storeTable("packed", t.generation).SQL() }
func (t *releaseState) copiedTable() string { return storeTable("copied", t.generation).SQL() }

// packedList are the columns of a packed row: their names, and as expressions over c0, the
// class with its generalized columns of their types, and packed, its members.
func (t *table) packedList() (names, expressions string) {
	part := t.parts[0]
	quoted, values := []string{part.column}, []string{"c0." + part.column}
	for i, c := range part.generalized {
		quoted = append(quoted, catalog.QuoteIdentifier(c.Name))
		values = append(values, fmt.Sprintf("c0.g%d::%s AS %s", i, c.Type, catalog.QuoteIdentifier(c.Name)))
	}
	return strings.Join(append(quoted, catalog.MembersColumn), ", "), strings.Join(append(values, "packed."+catalog.MembersColumn), ", ")
}

// releaseRows is the table with the rows of the release as they are stored.
func (t *table) releaseRows() string {
	if t.isPacked() {
		return t.release.packedTable()
	}
	return t.release.releaseTable()
}

// packing is a query that packs members in an order, those with the same keys into one
// row.
func packing(keys, order, members string) string {
	return fmt.Sprintf(`SELECT %[1]s, array_agg(member%[2]s) AS %[3]s FROM (%[4]s) AS s
		GROUP BY %[1]s, CASE WHEN pg_column_size(member) > %[5]d THEN record END`, keys, order, catalog.MembersColumn, members, packedWidth)
}

// packedAtOnce bounds the classes that are written by one statement, which then takes the
// records that have not changed from the rows it deletes. Where there are more, where
// nothing was published or it is not known which have changed, all are taken from the
// store, some thousands at a time.
const packedAtOnce = maxGroupRows + maxGroupRows/2

// writePacked replaces the rows of the classes that are gone or touched: those whose
// members are held in memory by rows that are sent, the others inside the server.
func (s *immediate) writePacked(to queue) {
	gone := slices.Concat(s.changes[0].Retired, s.changes[0].Rewrite)
	held, touched := s.held(s.changes[0].Rewrite)
	if len(gone) <= packedAtOnce && !s.hidden && !s.t.pending.spilled {
		s.replacePacked(to, gone, touched, func(id incremental.RecordID) bool {
			_, changed := s.t.pending.rows[id]
			return changed
		})
	} else {
		for chunk := range slices.Chunk(gone, writeChunk) {
			s.replacePacked(to, chunk, nil, nil)
		}
		for chunk := range slices.Chunk(touched, writeChunk) {
			s.replacePacked(to, nil, chunk, func(incremental.RecordID) bool { return true })
		}
	}
	rand.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	s.sendPacked(to, held)
}

// held are those of some classes whose members are all held in memory, and the others.
func (s *immediate) held(classes []incremental.ClassID) (held, others []incremental.ClassID) {
	if s.t.copies == nil {
		return nil, classes
	}
	var members []int32
	for _, class := range classes {
		members = s.parts[0].partition.AppendSlots(members[:0], class)
		if s.t.copies.have(members) {
			held = append(held, class)
		} else {
			others = append(others, class)
		}
	}
	return held, others
}

// sendPacked writes the rows of some classes, whose members are held in memory, those of
// each in random order.
func (s *immediate) sendPacked(to queue, classes []incremental.ClassID) {
	if len(classes) == 0 {
		return
	}
	t, p := s.t, s.parts[0]
	names, _ := t.packedList()
	into := fmt.Sprintf("%s (%s)", t.release.packedTable(), names)
	var members []int32
	var texts []value
	var shown []byte
	rows := newCopyRows()
	for _, class := range classes {
		members = p.partition.AppendSlots(members[:0], class)
		rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		shown = strconv.AppendInt(shown[:0], int64(class), 10)
		texts = p.part.published(p.partition.Generalize(class), texts[:0])
		for _, v := range texts {
			shown = appendCopyField(append(shown, '\t'), v)
		}
		for pack := range slices.Chunk(members, packedMembers) {
			rows = append(append(rows, shown...), "\t{"...)
			for i, slot := range pack {
				if i > 0 {
					rows = append(rows, ',')
				}
				rows = t.copies.appendMember(rows, p.partition.InSlot(slot), slot)
			}
			rows = append(rows, "}\n"...)
		}
		if len(rows) >= copyBytes {
			to.Copy(into, rows)
			rows = newCopyRows()
		}
	}
	to.Copy(into, rows)
}

// placement tells which record lies in which new row.
type placement struct{ records, packs *array }

func newPlacement(room int) placement {
	return placement{newArray(pgtype.Int8OID, 12*room), newArray(pgtype.Int8OID, 12*room)}
}

func (p placement) add(record, pack int64) {
	p.records.addNumber(record)
	p.packs.addNumber(pack)
}

// replacePacked deletes the rows of some classes and writes those of others, in random
// order. Records that are not fresh are among what is deleted.
func (s *immediate) replacePacked(to queue, gone, classes []incremental.ClassID, fresh func(incremental.RecordID) bool) {
	t, p := s.t, s.parts[0]
	if len(classes) == 0 {
		if len(gone) > 0 {
			to.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", t.release.packedTable(), p.part.column), numbers(gone))
		}
		return
	}
	kept, read := newPlacement(2*t.layout.constraints.K()*len(classes)), newPlacement(0)
	var packs, classOf []int64 // of each new row
	var members []int32
	for _, class := range classes {
		members = p.partition.AppendSlots(members[:0], class)
		rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for pack := range slices.Chunk(members, packedMembers) {
			number := int64(len(packs))
			packs, classOf = append(packs, number), append(classOf, int64(class))
			for _, slot := range pack {
				id := p.partition.InSlot(slot)
				if fresh(id) {
					read.add(int64(id), number)
				} else {
					kept.add(int64(id), number)
				}
			}
		}
	}
	columns := p.part.shown(classOf, p.partition.Generalize)
	arguments := append([]any{numbers(gone), kept.records, kept.packs, read.records, read.packs, numbers(packs), numbers(classOf)}, columns...)
	to.Queue(t.packedReplacement(len(columns)), arguments...)
}

// packedReplacement deletes the classes $1 and writes rows: which of the deleted members,
// $2, and of the stored records, $4, lie in which of them, $3 and $5, and the rows' numbers,
// $6, classes, $7, and as many generalized columns as there are.
func (t *table) packedReplacement(columns int) string {
	class := t.parts[0].column
	names, expressions := t.packedList()
	members := fmt.Sprintf(`SELECT k.pack, k.record, (m.*)::%[1]s AS member
			FROM gone, unnest(gone.%[2]s) AS m JOIN unnest($2::bigint[], $3::bigint[]) AS k(record, pack) ON k.record = m.%[3]s
			UNION ALL SELECT k.pack, k.record, ROW(%[4]s)::%[1]s
			FROM unnest($4::bigint[], $5::bigint[]) AS k(record, pack) JOIN %[5]s AS r ON r.%[3]s = k.record AND r.%[3]s = ANY($4)`,
		t.release.copiedTable(), catalog.MembersColumn, recordColumn, t.layout.view().copiedList("r."), t.recordsTable())
	return fmt.Sprintf(`WITH gone AS MATERIALIZED (DELETE FROM %[1]s WHERE %[2]s = ANY($1) RETURNING %[3]s),
		packed AS MATERIALIZED (%[4]s)
		INSERT INTO %[1]s (%[5]s) SELECT %[6]s
		FROM packed JOIN unnest($6::bigint[], $7::bigint[]%[7]s) AS c0(pack, %[2]s%[8]s) USING (pack) ORDER BY random()`,
		t.release.packedTable(), class, catalog.MembersColumn, packing("pack", " ORDER BY random()", members), names, expressions,
		textArrays(8, columns), strings.Join(t.parts[0].generalizedNames(", ", ""), ""))
}
