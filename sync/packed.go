package sync

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
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

func (t *releaseState) copiedTable() string { return storeTable("copied", t.generation).SQL() }

// classSource is a division of a table's records into classes: the maintained partition.
type classSource interface {
	Classes() int
	ClassAt(place int) incremental.ClassID
	AppendSlots(list []int32, class incremental.ClassID) []int32
	Generalize(class incremental.ClassID) []hierarchy.Generalization
	NextClass() incremental.ClassID
	SlotOf(id incremental.RecordID) int32
	InSlot(slot int32) incremental.RecordID
}

// packedRelease is a packed release of a table. It belongs to the goroutine of its table.
type packedRelease struct {
	t          *table
	part       *part // what it shows of its classes
	classes    classSource
	sections   *sections
	audience   *audience      // who sees it; nil for the table's own readers
	summary    *storedSummary // changes with it; nil where none is stored, or yet
	k          int            // the fewest members of a class
	concealing bool           // conceals columns
	hidden     bool           // the stored release is empty, as all records are withheld
	unheld     []packedRow    // of a release that is made, those whose members are not all held in memory
}

// newPackedRelease makes an empty release for an audience, or, with nil, for the table's own readers.
func newPackedRelease(t *table, part *part, a *audience, k int, classes classSource) *packedRelease {
	s := &packedRelease{t: t, part: part, audience: a, classes: classes, sections: newSections(), k: k}
	s.concealing = s.conceals()
	return s
}

// stored notes that the store has all classes that there are.
func (s *packedRelease) stored() {
	s.hidden, s.sections.next = s.classes.Classes() == 0, s.classes.NextClass()
}

// table is the table with the packed rows.
func (s *packedRelease) table() string {
	if s.audience != nil {
		return s.audience.relation("packed", s.t.release.generation)
	}
	return s.t.release.packedTable()
}

// unpacked is the view that unpacks the rows.
func (s *packedRelease) unpacked() string {
	if s.audience != nil {
		return s.audience.relation("release", s.t.release.generation)
	}
	return s.t.release.releaseTable()
}

// placedRecords are the records with their classes of this release, for whoever verifies it.
func (s *packedRelease) placedRecords() string {
	if s.audience != nil {
		return s.audience.relation("records", s.t.release.generation)
	}
	return s.t.release.placedRecords()
}

// view is what is published of it.
func (s *packedRelease) view() publishedView {
	if s.audience != nil {
		return s.audience.view()
	}
	return s.t.layout.view()
}

func (t *releaseState) packedTable() string { return storeTable("packed", t.generation).SQL() }

// list are the columns of a packed row: their names, and as expressions over c0, the
// row's class and section with its generalized columns of their types, and packed, its members.
func (s *packedRelease) list() (names, expressions string) {
	part := s.part
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

// allReleaseRows are releaseRows of the table's own readers and of its audiences.
func (t *table) allReleaseRows() []string {
	all, kind := []string{t.releaseRows()}, "release"
	if t.layout.isMirrored() {
		return all
	}
	if t.isPacked() {
		kind = "packed"
	}
	for i := range t.layout.audiences {
		all = append(all, t.layout.audiences[i].relation(kind, t.release.generation))
	}
	return all
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

// write writes the rows of what has changed: those whose members are held in memory by
// what is sent, the others inside the server.
func (s *packedRelease) write(to queue, changes incremental.Changes) {
	p := s.plan(changes)
	if len(p.stay) > inPlace {
		for _, row := range p.stay {
			p.gone = append(p.gone, packedKey{row.class, row.section})
		}
		p.made, p.stay = append(p.made, p.stay...), nil
	}
	for chunk := range slices.Chunk(p.retired, writeChunk) {
		for _, table := range s.tables() {
			to.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", table, s.part.column), numbers(chunk))
		}
	}
	s.delete(to, p.gone)
	s.writeInServer(to, p)
	s.sections.shuffle(len(p.stay), func(i, j int) { p.stay[i], p.stay[j] = p.stay[j], p.stay[i] })
	s.changePacked(to, p.stay)
	s.restyle(to, p.restyle)
	s.sections.shuffle(len(p.made), func(i, j int) { p.made[i], p.made[j] = p.made[j], p.made[i] })
	s.sendPacked(to, p.made)
}

// tables are those whose rows have the sections of the release.
func (s *packedRelease) tables() []string {
	if s.summary == nil {
		return []string{s.table()}
	}
	return []string{s.table(), s.summary.table()}
}

// delete deletes rows.
func (s *packedRelease) delete(to queue, gone []packedKey) {
	for chunk := range slices.Chunk(gone, writeChunk) {
		classes, sections := packedKeys(chunk)
		for _, table := range s.tables() {
			to.Queue(deletionFrom(table, s.part.column), classes, sections)
		}
	}
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
func (s *packedRelease) writeInServer(to queue, p *packedPlan) {
	rows := p.inServer
	if s.hidden || s.t.pending.spilled || len(rows)+len(p.replaced) > packedAtOnce {
		s.delete(to, p.replaced)
		for chunk := range slices.Chunk(rows, writeChunk) {
			s.replacePacked(to, nil, chunk, func(incremental.RecordID) bool { return true })
		}
		return
	}
	if len(rows) == 0 {
		return
	}
	s.replacePacked(to, p.replaced, rows, func(id incremental.RecordID) bool {
		_, moved := p.changes.Moved[id]
		_, changed := s.t.pending.rows[id]
		return moved || changed
	})
}

// appendMembers appends the members of a row as they are sent by COPY.
func (s *packedRelease) appendMembers(to []byte, row packedRow) []byte {
	partition := s.classes
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
func (s *packedRelease) sendPacked(to queue, send []packedRow) {
	if len(send) == 0 {
		return
	}
	names, _ := s.list()
	into := fmt.Sprintf("%s (%s)", s.table(), names)
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
	if s.summary != nil {
		s.summary.add(to, send)
	}
}

// changePacked changes rows, whose members are held in memory, where they are.
func (s *packedRelease) changePacked(to queue, rows []packedRow) {
	if len(rows) == 0 {
		return
	}
	part := s.part
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
	to.Queue(s.change(), arguments...)
}

// deletionFrom deletes the rows with the classes $1 and the sections $2.
func deletionFrom(table, class string) string {
	return fmt.Sprintf("DELETE FROM %[1]s AS p USING unnest($1::bigint[], $2::bigint[]) AS u(class, section) WHERE p.%[2]s = u.class AND p.%[3]s = u.section AND p.%[2]s = ANY($1)",
		table, class, catalog.SectionColumn)
}

// change gives the rows with the classes $1 and the sections $2 the members $3, and
// what else they show.
func (s *packedRelease) change() string {
	part := s.part
	sql := fmt.Sprintf("UPDATE %[1]s AS p SET %[2]s FROM (SELECT class, section, members::%[3]s[] AS members%[4]s FROM unnest($1::bigint[], $2::bigint[], $3::text[]%[5]s) AS t(class, section, members%[6]s) OFFSET 0) AS u WHERE p.%[7]s = u.class AND p.%[8]s = u.section AND p.%[7]s = ANY($1)",
		s.table(), strings.Join(append(part.sets(), catalog.MembersColumn+" = u.members"), ", "), s.t.release.copiedTable(), part.typed(), textArrays(4, len(part.generalized)),
		strings.Join(part.generalizedNames(", ", ""), ""), part.column, catalog.SectionColumn)
	if s.summary != nil {
		return s.summary.changing(sql)
	}
	return sql
}

// sets are assignments of the generalized columns from u, which has them of their types.
func (p *part) sets() []string {
	sets := make([]string, len(p.generalized))
	for i, c := range p.generalized {
		sets[i] = fmt.Sprintf("%s = u.g%d", catalog.QuoteIdentifier(c.Name), i)
	}
	return sets
}

// typed continues a list by the generalized columns, of their types. A statement casts them in a subquery that OFFSET keeps
// apart: Citus refuses to assign what is cast by the session's settings, as texts to arrays and dates are.
func (p *part) typed() string {
	list := ""
	for i, c := range p.generalized {
		list += fmt.Sprintf(", g%[1]d::%[2]s AS g%[1]d", i, c.Type)
	}
	return list
}

// restyle has all rows of some classes show what the classes do.
func (s *packedRelease) restyle(to queue, classes []incremental.ClassID) {
	part := s.part
	if len(classes) == 0 || len(part.generalized) == 0 {
		return
	}
	shown := sqlList(part.generalized, func(_ int, c generalizedColumn) string { return "p." + catalog.QuoteIdentifier(c.Name) })
	sql := fmt.Sprintf("UPDATE %[1]s AS p SET %[2]s FROM (SELECT class%[3]s FROM unnest($1::bigint[]%[4]s) AS t(class%[5]s) OFFSET 0) AS u WHERE p.%[6]s = u.class AND p.%[6]s = ANY($1) AND pg_catalog.record_image_ne(ROW(%[7]s), ROW(%[8]s))",
		s.table(), strings.Join(part.sets(), ", "), part.typed(), textArrays(2, len(part.generalized)),
		strings.Join(part.generalizedNames(", ", ""), ""), part.column, shown, strings.Join(part.generalizedNames("u.", ""), ", "))
	if s.summary != nil {
		sql = s.summary.restyling(sql)
	}
	for chunk := range slices.Chunk(classes, writeChunk) {
		of := make([]int64, len(chunk))
		for i, class := range chunk {
			of[i] = int64(class)
		}
		to.Queue(sql, append([]any{numbers(of)}, part.shown(of, s.classes.Generalize)...)...)
	}
}

// shownTexts are the generalized columns of classes, of each once.
type shownTexts struct {
	s     *packedRelease
	texts []value
	large map[incremental.ClassID][]value // of divided classes
}

func (s *packedRelease) newShown() *shownTexts {
	return &shownTexts{s: s, large: map[incremental.ClassID][]value{}}
}

// of are those of a class, until the next call.
func (t *shownTexts) of(class incremental.ClassID) []value {
	if texts, known := t.large[class]; known {
		return texts
	}
	s := t.s
	t.texts = s.part.published(s.classes.Generalize(class), t.texts[:0])
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
func (s *packedRelease) replacePacked(to queue, gone []packedKey, rows []packedRow, fresh func(incremental.RecordID) bool) {
	if s.t.layout.isSealed() {
		s.replaceSealed(to, gone, rows)
		return
	}
	kept, read := newPlacement(packedMembers*len(rows)), newPlacement(0)
	packs, classOf, sectionOf := make([]int64, len(rows)), make([]int64, len(rows)), make([]int64, len(rows))
	for i, row := range rows {
		packs[i], classOf[i], sectionOf[i] = int64(i), int64(row.class), int64(row.section)
		for _, slot := range row.members {
			id := s.classes.InSlot(slot)
			if fresh(id) {
				read.add(int64(id), packs[i])
			} else {
				kept.add(int64(id), packs[i])
			}
		}
	}
	columns := s.part.shown(classOf, s.classes.Generalize)
	goneClasses, goneSections := packedKeys(gone)
	if s.summary != nil && len(gone) > 0 {
		to.Queue(deletionFrom(s.summary.table(), s.part.column), goneClasses, goneSections)
	}
	arguments := append([]any{goneClasses, goneSections, kept.records, kept.packs, read.records, read.packs, numbers(packs), numbers(classOf), numbers(sectionOf)}, columns...)
	to.Queue(s.replacement(len(columns)), arguments...)
}

// copiedList are the number of a record and what the release shows of it as it is. In the place of a column that its readers do not see
// stands NULL, also of a domain that has none: a member is wide, and so has a row of its own, by what they see. Where a row
// ends they can tell, by the order of a scan.
func (s *packedRelease) copiedList(prefix string) string {
	names := []string{prefix + recordColumn}
	for _, c := range s.t.layout.publication.Copied() {
		name := catalog.QuoteIdentifier(c.Source)
		if s.shows(c) {
			names = append(names, prefix+name)
		} else {
			names = append(names, fmt.Sprintf("(NULL::%s).%s", s.t.release.copiedTable(), name))
		}
	}
	return strings.Join(names, ", ")
}

// shows reports whether the release's readers see a column of members.
func (s *packedRelease) shows(c catalog.PublishedColumn) bool {
	return slices.ContainsFunc(s.view().publication.Columns, func(of catalog.PublishedColumn) bool { return of.Part == catalog.Copy && of.Source == c.Source })
}

// conceals reports whether members have columns that the release's readers do not see. What is held in memory has these,
// and is not held at all where they are wide.
func (s *packedRelease) conceals() bool {
	return slices.ContainsFunc(s.t.layout.publication.Copied(), func(c catalog.PublishedColumn) bool { return !s.shows(c) })
}

// replacement deletes the rows with the classes $1 and the sections $2 and writes rows:
// which of the deleted members, $3, and of the stored records, $5, lie in which of them, $4
// and $6, and the rows' numbers, $7, classes, $8, and sections, $9, and as many generalized
// columns as there are.
func (s *packedRelease) replacement(columns int) string {
	t, class := s.t, s.part.column
	names, expressions := s.list()
	members := fmt.Sprintf(`SELECT k.pack, k.record, (m.*)::%[1]s AS member
			FROM gone, unnest(gone.%[2]s) AS m JOIN unnest($3::bigint[], $4::bigint[]) AS k(record, pack) ON k.record = m.%[3]s
			UNION ALL SELECT k.pack, k.record, ROW(%[4]s)::%[1]s
			FROM unnest($5::bigint[], $6::bigint[]) AS k(record, pack) JOIN %[5]s AS r ON r.%[3]s = k.record AND r.%[3]s = ANY($5)`,
		t.release.copiedTable(), catalog.MembersColumn, recordColumn, s.copiedList("r."), t.recordsTable())
	with := fmt.Sprintf(`gone AS MATERIALIZED (%s RETURNING p.%s),
		packed AS MATERIALIZED (%s)`, deletionFrom(s.table(), class), catalog.MembersColumn, packing("pack", " ORDER BY random()", members))
	insertion := fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s
		FROM packed JOIN unnest($7::bigint[], $8::bigint[], $9::bigint[]%s) AS c0(pack, %s, %s%s) USING (pack) ORDER BY random()`,
		s.table(), names, expressions, textArrays(10, columns), class, catalog.SectionColumn, strings.Join(s.part.generalizedNames(", ", ""), ""))
	if s.summary != nil {
		return s.summary.inserting(with, insertion)
	}
	return "WITH " + with + "\n\t\t" + insertion
}
