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

// createPacked makes a packed release, empty, and the views on which others stand: of the
// release, and of the records with their classes.
func (p *publisher) createPacked() []string {
	part := p.table.parts[0]
	columns := []string{part.column + " bigint", catalog.SectionColumn + " integer"}
	for _, c := range part.generalized {
		columns = append(columns, catalog.QuoteIdentifier(c.Name)+" "+c.Type)
	}
	columns = append(columns, fmt.Sprintf("%s %s[]", catalog.MembersColumn, p.table.release.copiedTable()))
	tables := []string{
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s FROM %s AS r WITH NO DATA", p.table.release.copiedTable(), p.table.layout.view().copiedList("r."), p.table.recordsTable()),
		fmt.Sprintf("CREATE TABLE %s (%s) WITH (fillfactor = %d, toast_tuple_target = %d)", p.table.release.packedTable(), strings.Join(columns, ", "), packedFill, packedTarget),
	}
	return append(append(tables, p.spreadRelease()...),
		fmt.Sprintf("CREATE VIEW %s AS SELECT p.%s, %s FROM %s AS p, LATERAL unnest(p.%s) AS m",
			p.table.release.releaseTable(), part.column, p.table.layout.view().unpackedList(), p.table.release.packedTable(), catalog.MembersColumn),
		fmt.Sprintf(`CREATE VIEW %[1]s AS SELECT r.%[2]s, c.%[3]s, %[4]s FROM %[5]s AS r
			LEFT JOIN (SELECT p.%[3]s, m.%[2]s FROM %[6]s AS p, LATERAL unnest(p.%[7]s) AS m) AS c USING (%[2]s)`,
			p.table.release.placedRecords(), recordColumn, part.column, p.table.layout.columns.list("r."), p.table.recordsTable(), p.table.release.packedTable(), catalog.MembersColumn))
}

// allClasses are the classes of a packed table, in random order: their numbers follow the
// method, which orders them by values that are not published.
func (s *immediate) allClasses() []incremental.ClassID {
	partition := s.parts[0].partition
	classes := make([]incremental.ClassID, partition.Classes())
	for i := range classes {
		classes[i] = partition.ClassAt(i)
	}
	rand.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	return classes
}

// fillPacked writes the rows whose members are all held.
func (p *publisher) fillPacked(ctx context.Context, made targets) error {
	return p.packing(ctx, made, func(s *immediate, to *statements) {
		for chunk := range slices.Chunk(s.allClasses(), writeChunk) {
			s.sendPacked(to, s.firstRows(chunk, &p.unheld))
		}
	})
}

// firstRows are rows of new classes, in random order, but for those of classes with members
// that are not held.
func (s *immediate) firstRows(classes []incremental.ClassID, unheld *[]packedRow) (held []packedRow) {
	for _, class := range classes {
		rows := s.divide(class)
		if s.holds(rows) {
			held = append(held, rows...)
			continue
		}
		s.sections.single[class] = struct{}{}
		*unheld = append(*unheld, rows...)
	}
	s.sections.shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	return held
}

// packRest writes the other rows, whose members are looked up in the stored records.
func (p *publisher) packRest(ctx context.Context, made targets) error {
	if len(p.unheld) == 0 {
		return nil
	}
	return p.packing(ctx, made, func(s *immediate, to *statements) {
		for chunk := range slices.Chunk(p.unheld, writeChunk) {
			s.replacePacked(to, nil, chunk, func(incremental.RecordID) bool { return true })
		}
	})
}

// packing writes rows of the packed release in one transaction.
func (p *publisher) packing(ctx context.Context, made targets, write func(s *immediate, to *statements)) error {
	s, is := p.table.mode.(*immediate)
	if !is {
		return internal(fmt.Errorf("the release of %s is not packed", p.table.layout.name()))
	}
	tx, err := p.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if err := claim(ctx, tx, p.table.release.packedTable(), made.release); err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	to := sendTo(ctx, tx)
	write(s, to)
	if err := to.close(); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	return nil
}
