package sync

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// A packed release is made from what is held of the records in memory, as a touched class
// is later on: the server need not join, sort and pack the records.

// createMembers makes the type of members. That of a sealed table is made with the records.
func (p *publisher) createMembers() []string {
	if p.table.layout.isSealed() {
		return nil
	}
	members := p.table.release.copiedTable()
	return append([]string{fmt.Sprintf("CREATE TABLE %s AS SELECT %s FROM %s AS r WITH NO DATA", members, p.table.layout.view().copiedList("r."), p.table.recordsTable())},
		p.spreadMembers(members)...)
}

// createPacked makes the packed releases, empty, and the views on which others stand: of the
// releases, and of the records with their classes.
func (p *publisher) createPacked() (tables []string) {
	stored := p.table.layout.columns.list("r.")
	if p.table.layout.isSealed() {
		stored = "r." + catalog.CiphertextColumn
	}
	for _, release := range p.immediate().packedReleases() {
		tables = append(tables, release.create()...)
		tables = append(tables, p.spread(release.table(), release.part.column)...)
		tables = append(tables, fmt.Sprintf("CREATE VIEW %s AS SELECT p.%s, %s FROM %s AS p", release.unpacked(), release.part.column, release.view().unpackedList(release.member()), release.members()),
			fmt.Sprintf(`CREATE VIEW %[1]s AS SELECT r.%[2]s, c.%[3]s, %[4]s FROM %[5]s AS r
			LEFT JOIN (SELECT p.%[3]s, (p.%[7]s).%[2]s FROM %[6]s AS p) AS c USING (%[2]s)`,
				release.placedRecords(), recordColumn, release.part.column, stored, p.table.recordsTable(), release.members(), release.member()))
	}
	return tables
}

// members is a query with a row for each member of the packed rows. It unnests them in the list of what it selects: in
// FROM, the members of each row would go through a store of tuples of their own.
func (s *packedRelease) members() string {
	columns := "p." + s.part.column
	for _, c := range s.part.generalized {
		columns += ", p." + catalog.QuoteIdentifier(c.Name)
	}
	return fmt.Sprintf("(SELECT %s, unnest(p.%s) AS %s FROM %s AS p)", columns, catalog.MembersColumn, s.member(), s.table())
}

// member is the quoted name of the member in rows of members. Plans show it to clients.
func (s *packedRelease) member() string {
	name := "member"
	for slices.ContainsFunc(s.part.generalized, func(c generalizedColumn) bool { return c.Name == name }) {
		name += "_"
	}
	return catalog.QuoteIdentifier(name)
}

// create makes the table with the packed rows.
func (s *packedRelease) create() []string {
	columns := []string{s.part.column + " bigint", catalog.SectionColumn + " integer"}
	for _, c := range s.part.generalized {
		columns = append(columns, catalog.QuoteIdentifier(c.Name)+" "+c.Type)
	}
	columns = append(columns, fmt.Sprintf("%s %s[]", catalog.MembersColumn, s.t.release.copiedTable()))
	return []string{fmt.Sprintf("CREATE TABLE %s (%s) WITH (fillfactor = %d, toast_tuple_target = %d)", s.table(), strings.Join(columns, ", "), packedFill, packedTarget)}
}

// immediate is the mode of a packed table.
func (p *publisher) immediate() *immediate { return p.table.mode.(*immediate) }

// allClasses are the classes of a packed table, in random order: their numbers follow the
// method, which orders them by values that are not published.
func (s *packedRelease) allClasses() []incremental.ClassID {
	classes := make([]incremental.ClassID, s.classes.Classes())
	for i := range classes {
		classes[i] = s.classes.ClassAt(i)
	}
	rand.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	return classes
}

// fillPacked writes the rows whose members are all held.
func (p *publisher) fillPacked(ctx context.Context, made targets) error {
	for i, release := range p.immediate().packedReleases() {
		err := p.packing(ctx, release, made.releases[i], func(to *statements) {
			for chunk := range slices.Chunk(release.allClasses(), writeChunk) {
				release.sendPacked(to, release.firstRows(chunk))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// firstRows are rows of new classes, in random order, but for those of classes with members
// that are not held.
func (s *packedRelease) firstRows(classes []incremental.ClassID) (held []packedRow) {
	for _, class := range classes {
		rows := s.divide(class)
		if s.holds(rows) {
			held = append(held, rows...)
			continue
		}
		s.sections.single[class] = struct{}{}
		s.unheld = append(s.unheld, rows...)
	}
	s.sections.shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	return held
}

// packRest writes the other rows, whose members are looked up in the stored records.
func (p *publisher) packRest(ctx context.Context, made targets) error {
	for i, release := range p.immediate().packedReleases() {
		if len(release.unheld) == 0 {
			continue
		}
		err := p.packing(ctx, release, made.releases[i], func(to *statements) {
			for chunk := range slices.Chunk(release.unheld, writeChunk) {
				release.replacePacked(to, nil, chunk, func(incremental.RecordID) bool { return true })
			}
		})
		if err != nil {
			return err
		}
		release.unheld = nil
	}
	return nil
}

// storeSummary makes the stored summary of all packed rows, where the table is to have one. From here on it changes with them.
func (p *publisher) storeSummary(ctx context.Context) error {
	summary := p.table.summary()
	if summary == nil {
		return nil
	}
	p.immediate().packed.summary = summary
	return p.fenced(ctx, summary.make(), "storing the summary")
}

// packing writes rows of a packed release in one transaction.
func (p *publisher) packing(ctx context.Context, release *packedRelease, made uint32, write func(to *statements)) error {
	tx, err := p.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if err := claim(ctx, tx, release.table(), made); err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	to := sendTo(ctx, tx)
	write(to)
	if err := to.close(); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	return nil
}
