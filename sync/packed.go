package sync

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// The release of an immediate table with one part is packed: a row of packed_<n> holds
// some records of one class, with what the class shows once and what the records show in
// an array of rows of copied_<n>. A change is then one row to write, or two, instead of one
// for each member of its class. release_<n>, on which the published relation stands, is a view that unpacks
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
	// packedFill and recordsFill are how much of their pages packed rows and records fill at
	// first, in percent: the next version of a row finds room beside it, and no index is
	// written.
	packedFill  = 85
	recordsFill = 90
	// packedTarget is the size in bytes from which on the server compresses a row or stores
	// it elsewhere ("Storage Parameters"); the greatest that it allows.
	packedTarget = 8160
	// inPlace bounds the rows that are changed where they are. Of more, deleting them and
	// sending others takes the server less time, and as much log.
	inPlace = 300
)

// isPacked says which of the two layouts the table's release has.
func (t *table) isPacked() bool {
	return !t.layout.isGuarded() && !t.layout.isLinked() && len(t.parts) == 1
}

func (t *releaseState) packedTable() string { return storeTable("packed", t.generation).SQL() }
func (t *releaseState) copiedTable() string { return storeTable("copied", t.generation).SQL() }

// packedList are the columns of a packed row: their names, and as expressions over c0, the
// row's class and section with its generalized columns of their types, and packed, its members.
func (t *table) packedList() (names, expressions string) {
	part := t.parts[0]
	quoted, values := []string{part.column, catalog.SectionColumn}, []string{"c0." + part.column, "c0." + catalog.SectionColumn}
	for i, c := range part.generalized {
		quoted = append(quoted, catalog.QuoteIdentifier(c.Name))
		values = append(values, fmt.Sprintf("c0.g%d::%s AS %s", i, c.Type, catalog.QuoteIdentifier(c.Name)))
	}
	return strings.Join(append(quoted, catalog.MembersColumn), ", "), strings.Join(append(values, "packed."+catalog.MembersColumn), ", ")
}

// releaseRows is the table with the rows of the release as they are stored.
func (t *table) releaseRows() string {
	if t.layout.isMirrored() {
		return t.recordsTable()
	}
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

// packedAtOnce bounds the rows that are written by one statement inside the server, which then
// takes the records that have not changed from the rows it deletes. Where there are more, where
// nothing was published or it is not known which have changed, all are taken from the
// store, some thousands at a time.
const packedAtOnce = maxGroupRows + maxGroupRows/2

// writePacked writes the rows of what has changed: those whose members are held in memory by
// what is sent, the others inside the server.
func (s *immediate) writePacked(to queue) {
	p := s.plan()
	if len(p.stay) > inPlace {
		for _, row := range p.stay {
			p.gone = append(p.gone, packedKey{row.class, row.section})
		}
		p.made, p.stay = append(p.made, p.stay...), nil
	}
	t := s.t
	for chunk := range slices.Chunk(p.retired, writeChunk) {
		to.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", t.release.packedTable(), s.parts[0].part.column), numbers(chunk))
	}
	for chunk := range slices.Chunk(p.gone, writeChunk) {
		classes, sections := packedKeys(chunk)
		to.Queue(t.packedDeletion(), classes, sections)
	}
	s.writeInServer(to, p)
	s.sections.shuffle(len(p.stay), func(i, j int) { p.stay[i], p.stay[j] = p.stay[j], p.stay[i] })
	s.changePacked(to, p.stay)
	s.restyle(to, p.restyle)
	s.sections.shuffle(len(p.made), func(i, j int) { p.made[i], p.made[j] = p.made[j], p.made[i] })
	s.sendPacked(to, p.made)
}

// packedKeys are arrays of the rows' classes and sections.
func packedKeys(keys []packedKey) (classes, sections *array) {
	classes, sections = newArray(pgtype.Int8OID, 12*len(keys)), newArray(pgtype.Int8OID, 12*len(keys))
	for _, key := range keys {
		classes.addNumber(int64(key.class))
		sections.addNumber(int64(key.section))
	}
	return classes, sections
}

// writeInServer writes rows with members that are not held.
func (s *immediate) writeInServer(to queue, p *packedPlan) {
	rows := p.inServer
	if s.hidden || s.t.pending.spilled || len(rows)+len(p.replaced) > packedAtOnce {
		for chunk := range slices.Chunk(p.replaced, writeChunk) {
			classes, sections := packedKeys(chunk)
			to.Queue(s.t.packedDeletion(), classes, sections)
		}
		for chunk := range slices.Chunk(rows, writeChunk) {
			s.replacePacked(to, nil, chunk, func(incremental.RecordID) bool { return true })
		}
		return
	}
	if len(rows) == 0 {
		return
	}
	s.replacePacked(to, p.replaced, rows, func(id incremental.RecordID) bool {
		_, moved := s.changes[0].Moved[id]
		_, changed := s.t.pending.rows[id]
		return moved || changed
	})
}

// appendMembers appends the members of a row as they are sent by COPY.
func (s *immediate) appendMembers(to []byte, row packedRow) []byte {
	partition := s.parts[0].partition
	to = append(to, '{')
	for i, slot := range row.members {
		if i > 0 {
			to = append(to, ',')
		}
		to = s.t.copies.appendMember(to, partition.InSlot(slot), slot)
	}
	return append(to, '}')
}

// sendPacked sends new rows, whose members are held in memory.
func (s *immediate) sendPacked(to queue, send []packedRow) {
	if len(send) == 0 {
		return
	}
	t := s.t
	names, _ := t.packedList()
	into := fmt.Sprintf("%s (%s)", t.release.packedTable(), names)
	shown := s.newShown()
	rows := newCopyRows()
	for _, row := range send {
		rows = append(strconv.AppendInt(rows, int64(row.class), 10), '\t')
		rows = strconv.AppendInt(rows, int64(row.section), 10)
		for _, v := range shown.of(row.class) {
			rows = appendCopyField(append(rows, '\t'), v)
		}
		rows = append(s.appendMembers(append(rows, '\t'), row), '\n')
		if len(rows) >= copyBytes {
			to.Copy(into, rows)
			rows = newCopyRows()
		}
	}
	to.Copy(into, rows)
}

// changePacked changes rows, whose members are held in memory, where they are.
func (s *immediate) changePacked(to queue, rows []packedRow) {
	if len(rows) == 0 {
		return
	}
	t, part := s.t, s.parts[0].part
	keys := make([]packedKey, len(rows))
	members, shown := newTexts(len(rows)), s.newShown()
	columns := make([]*array, len(part.generalized))
	for i := range columns {
		columns[i] = newTexts(len(rows))
	}
	var text []byte
	for i, row := range rows {
		keys[i] = packedKey{row.class, row.section}
		text = s.appendMembers(text[:0], row)
		plain, err := copyField(string(text))
		if err != nil {
			to.Fail(internal(err))
			return
		}
		members.add(plain)
		for c, v := range shown.of(row.class) {
			columns[c].add(v)
		}
	}
	classes, sections := packedKeys(keys)
	arguments := []any{classes, sections, members}
	for _, c := range columns {
		arguments = append(arguments, c)
	}
	to.Queue(t.packedChange(), arguments...)
}

// packedDeletion deletes the rows with the classes $1 and the sections $2.
func (t *table) packedDeletion() string {
	return fmt.Sprintf("DELETE FROM %[1]s AS p USING unnest($1::bigint[], $2::bigint[]) AS u(class, section) WHERE p.%[2]s = u.class AND p.%[3]s = u.section AND p.%[2]s = ANY($1)",
		t.release.packedTable(), t.parts[0].column, catalog.SectionColumn)
}

// packedChange gives the rows with the classes $1 and the sections $2 the members $3, and
// what else they show.
func (t *table) packedChange() string {
	part := t.parts[0]
	sets := []string{fmt.Sprintf("%s = u.members::%s[]", catalog.MembersColumn, t.release.copiedTable())}
	return fmt.Sprintf("UPDATE %[1]s AS p SET %[2]s FROM unnest($1::bigint[], $2::bigint[], $3::text[]%[3]s) AS u(class, section, members%[4]s) WHERE p.%[5]s = u.class AND p.%[6]s = u.section AND p.%[5]s = ANY($1)",
		t.release.packedTable(), strings.Join(append(part.sets(), sets...), ", "), textArrays(4, len(part.generalized)),
		strings.Join(part.generalizedNames(", ", ""), ""), part.column, catalog.SectionColumn)
}

// sets are assignments of the generalized columns from u.
func (p *part) sets() []string {
	sets := make([]string, len(p.generalized))
	for i, c := range p.generalized {
		sets[i] = fmt.Sprintf("%s = u.g%d::%s", catalog.QuoteIdentifier(c.Name), i, c.Type)
	}
	return sets
}

// restyle has all rows of some classes show what the classes do.
func (s *immediate) restyle(to queue, classes []incremental.ClassID) {
	part := s.parts[0].part
	if len(classes) == 0 || len(part.generalized) == 0 {
		return
	}
	differs := sqlList(part.generalized, func(i int, c generalizedColumn) string { return fmt.Sprintf("u.g%d::%s", i, c.Type) })
	shown := sqlList(part.generalized, func(_ int, c generalizedColumn) string { return "p." + catalog.QuoteIdentifier(c.Name) })
	sql := fmt.Sprintf("UPDATE %[1]s AS p SET %[2]s FROM unnest($1::bigint[]%[3]s) AS u(class%[4]s) WHERE p.%[5]s = u.class AND p.%[5]s = ANY($1) AND ROW(%[6]s)::record OPERATOR(pg_catalog.*<>) ROW(%[7]s)::record",
		s.t.release.packedTable(), strings.Join(part.sets(), ", "), textArrays(2, len(part.generalized)),
		strings.Join(part.generalizedNames(", ", ""), ""), part.column, shown, differs)
	for chunk := range slices.Chunk(classes, writeChunk) {
		of := make([]int64, len(chunk))
		for i, class := range chunk {
			of[i] = int64(class)
		}
		to.Queue(sql, append([]any{numbers(of)}, part.shown(of, s.parts[0].partition.Generalize)...)...)
	}
}

// shownTexts are the generalized columns of classes, of each once.
type shownTexts struct {
	s     *immediate
	texts []value
	large map[incremental.ClassID][]value // of divided classes
}

func (s *immediate) newShown() *shownTexts {
	return &shownTexts{s: s, large: map[incremental.ClassID][]value{}}
}

// of are those of a class, until the next call.
func (t *shownTexts) of(class incremental.ClassID) []value {
	if texts, known := t.large[class]; known {
		return texts
	}
	p := t.s.parts[0]
	t.texts = p.part.published(p.partition.Generalize(class), t.texts[:0])
	if t.s.sections.classes[class] != nil {
		t.large[class] = slices.Clone(t.texts)
	}
	return t.texts
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

// replacePacked deletes some rows and writes others inside the server, in random order. Records
// that are not fresh are among what is deleted.
func (s *immediate) replacePacked(to queue, gone []packedKey, rows []packedRow, fresh func(incremental.RecordID) bool) {
	t, p := s.t, s.parts[0]
	kept, read := newPlacement(packedMembers*len(rows)), newPlacement(0)
	packs, classOf, sectionOf := make([]int64, len(rows)), make([]int64, len(rows)), make([]int64, len(rows))
	for i, row := range rows {
		packs[i], classOf[i], sectionOf[i] = int64(i), int64(row.class), int64(row.section)
		for _, slot := range row.members {
			id := p.partition.InSlot(slot)
			if fresh(id) {
				read.add(int64(id), packs[i])
			} else {
				kept.add(int64(id), packs[i])
			}
		}
	}
	columns := p.part.shown(classOf, p.partition.Generalize)
	goneClasses, goneSections := packedKeys(gone)
	arguments := append([]any{goneClasses, goneSections, kept.records, kept.packs, read.records, read.packs, numbers(packs), numbers(classOf), numbers(sectionOf)}, columns...)
	to.Queue(t.packedReplacement(len(columns)), arguments...)
}

// packedReplacement deletes the rows with the classes $1 and the sections $2 and writes rows:
// which of the deleted members, $3, and of the stored records, $5, lie in which of them, $4
// and $6, and the rows' numbers, $7, classes, $8, and sections, $9, and as many generalized
// columns as there are.
func (t *table) packedReplacement(columns int) string {
	class := t.parts[0].column
	names, expressions := t.packedList()
	members := fmt.Sprintf(`SELECT k.pack, k.record, (m.*)::%[1]s AS member
			FROM gone, unnest(gone.%[2]s) AS m JOIN unnest($3::bigint[], $4::bigint[]) AS k(record, pack) ON k.record = m.%[3]s
			UNION ALL SELECT k.pack, k.record, ROW(%[4]s)::%[1]s
			FROM unnest($5::bigint[], $6::bigint[]) AS k(record, pack) JOIN %[5]s AS r ON r.%[3]s = k.record AND r.%[3]s = ANY($5)`,
		t.release.copiedTable(), catalog.MembersColumn, recordColumn, t.layout.view().copiedList("r."), t.recordsTable())
	return fmt.Sprintf(`WITH gone AS MATERIALIZED (%[1]s RETURNING p.%[2]s),
		packed AS MATERIALIZED (%[3]s)
		INSERT INTO %[4]s (%[5]s) SELECT %[6]s
		FROM packed JOIN unnest($7::bigint[], $8::bigint[], $9::bigint[]%[7]s) AS c0(pack, %[8]s, %[9]s%[10]s) USING (pack) ORDER BY random()`,
		t.packedDeletion(), catalog.MembersColumn, packing("pack", " ORDER BY random()", members), t.release.packedTable(), names, expressions,
		textArrays(10, columns), class, catalog.SectionColumn, strings.Join(t.parts[0].generalizedNames(", ", ""), ""))
}
