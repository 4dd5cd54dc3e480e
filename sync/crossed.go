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

// A row of a table with several parts shows a class of each, and classes cross: such a release is not packed.
// Audiences see groups of the classes of each part, in rows of their own. The records tell their classes and
// groups, so that both outlast a restart.

// crossedRelease is what is published of a table with several parts: for its own readers, or for an audience.
type crossedRelease struct {
	t        *table
	audience *audience // nil for the table's own readers
	parts    []crossedPart
}

// crossedPart is a part with its classes.
type crossedPart struct {
	*part
	classes classSource
	of      func(id incremental.RecordID) incremental.ClassID
}

// crossed is the release for the table's own readers.
func (s *immediate) crossed() *crossedRelease {
	release := &crossedRelease{t: s.t}
	for _, p := range s.parts {
		release.parts = append(release.parts, crossedPart{p.part, p.partition, p.partition.ClassOf})
	}
	return release
}

// crossedFor is the release for an audience, of the release before it.
func (s *immediate) crossedFor(a *unitedRelease, parts []*part) *crossedRelease {
	finer := s.crossed()
	if n := len(s.audiences); n > 0 {
		finer = s.audiences[n-1].crossed
	}
	release := &crossedRelease{t: s.t, audience: a.audience}
	for i, p := range parts {
		of, groups := finer.parts[i].of, a.groups[i]
		release.parts = append(release.parts, crossedPart{p, groups, func(id incremental.RecordID) incremental.ClassID { return groups.GroupOf(of(id)) }})
	}
	return release
}

// table is the table with the rows.
func (c *crossedRelease) table() string {
	if c.audience != nil {
		return c.audience.relation("release", c.t.release.generation)
	}
	return c.t.release.releaseTable()
}

// publication is what its rows show.
func (c *crossedRelease) publication() *catalog.Publication {
	if c.audience != nil {
		return &c.audience.publication
	}
	return &c.t.layout.publication
}

// columns joins the columns of the parts' classes, each behind prefix.
func (c *crossedRelease) columns(prefix string) string {
	return sqlList(c.parts, func(_ int, p crossedPart) string { return prefix + p.column })
}

// list are the published columns, as releaseListOf.
func (c *crossedRelease) list() string {
	parts := make([]*part, len(c.parts))
	for i, p := range c.parts {
		parts[i] = p.part
	}
	return releaseListOf(c.publication(), parts, noPseudonym)
}

// write writes every row that shows a touched class of any part, in random
// order, so that neither the order of insertion nor which member changed can be
// seen. The rows deleted and the rows written are those of the same records but
// for new and deleted ones: a record that has left a class is in another one that
// is touched.
func (c *crossedRelease) write(batch *visibleStatements, changes []incremental.Changes) {
	for i, p := range c.parts {
		for chunk := range slices.Chunk(slices.Concat(changes[i].Retired, changes[i].Rewrite), writeChunk) {
			batch.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", c.table(), p.column), numbers(chunk))
		}
	}
	c.insert(batch, c.touched(changes))
}

// touched are the records in touched classes, each once, in random order: classes cross, and ids tell the order of
// insertion.
func (c *crossedRelease) touched(changes []incremental.Changes) []incremental.RecordID {
	var ids []incremental.RecordID
	for i, p := range c.parts {
		ids = p.appendMembers(ids, changes[i].Rewrite)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

// appendMembers appends the records of some classes.
func (p crossedPart) appendMembers(ids []incremental.RecordID, classes []incremental.ClassID) []incremental.RecordID {
	var slots []int32
	for _, class := range classes {
		for _, slot := range p.classes.AppendSlots(slots[:0], class) {
			ids = append(ids, p.classes.InSlot(slot))
		}
	}
	return ids
}

// insert writes the rows of some records, some thousands at a time.
func (c *crossedRelease) insert(batch queue, ids []incremental.RecordID) {
	for chunk := range slices.Chunk(ids, writeChunk) {
		c.writeRows(batch, chunk)
	}
}

// writeRows writes the rows of some records, which are in a class of every part.
func (c *crossedRelease) writeRows(batch queue, ids []incremental.RecordID) {
	arguments := []any{recordNumbers(ids)}
	classes := make([][]int64, len(c.parts)) // of each part: of each record
	for i, p := range c.parts {
		classes[i] = make([]int64, len(ids))
		for j, id := range ids {
			classes[i][j] = int64(p.of(id))
		}
		arguments = append(arguments, numbers(classes[i]))
	}
	var shown, joins []string
	for i, p := range c.parts {
		different := slices.Compact(slices.Sorted(slices.Values(classes[i])))
		columns := p.shown(different, p.classes.Generalize)
		first := len(arguments) + 1
		// Values are cast once for each class.
		shown = append(shown, fmt.Sprintf("c%d AS MATERIALIZED (SELECT %s FROM unnest($%d::bigint[]%s) AS u(%s))", i, p.castList(), first, textArrays(first+1, len(columns)),
			strings.Join(append([]string{p.column}, p.generalizedNames("", "")...), ", ")))
		joins = append(joins, fmt.Sprintf(" JOIN c%d USING (%s)", i, p.column))
		arguments = append(append(arguments, numbers(different)), columns...)
	}
	batch.Queue(fmt.Sprintf(`WITH %s
		INSERT INTO %s (%s, %s)
		SELECT %s, %s
		FROM unnest($1::bigint[]%s) AS m(record, %s)%s
		JOIN %s AS r ON r.%[11]s = m.record AND r.%[11]s = ANY($1)
		ORDER BY random()`,
		strings.Join(shown, ", "),
		c.table(), c.columns(""), publishedView{c.publication()}.shownList(), c.columns("m."), c.list(),
		numberArrays(2, len(c.parts)), c.columns(""), strings.Join(joins, ""), c.t.recordsTable(), recordColumn), arguments...)
}

// createCrossedAudiences makes the releases of a table with several parts for audiences, empty, and the views by
// which whoever counts and verifies finds the records with their groups.
func (p *publisher) createCrossedAudiences() (statements []string) {
	s, immediate := p.table.mode.(*immediate)
	if !immediate {
		return nil
	}
	for _, a := range s.audiences {
		var marks, stages, groups []string
		for i, part := range a.crossed.parts {
			marks = append(marks, fmt.Sprintf("NULL::bigint AS %s", part.column))
			names := append([]string{"NULL::bigint"}, part.generalizedNames("NULL::text AS ", "")...)
			stages = append(stages, fmt.Sprintf(", (SELECT %s) AS c%d", strings.Join(names, ", "), i))
			groups = append(groups, fmt.Sprintf("r.%s AS %s", a.audience.groupColumn(i), part.column))
		}
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s AS SELECT %s, %s FROM %s AS r%s WITH NO DATA",
			a.crossed.table(), strings.Join(marks, ", "), a.crossed.list(), p.table.recordsTable(), strings.Join(stages, "")))
		statements = append(statements, fmt.Sprintf("CREATE VIEW %s AS SELECT r.%s, %s, %s FROM %s AS r",
			a.audience.relation("records", p.table.release.generation), recordColumn, strings.Join(groups, ", "), p.table.layout.columns.list("r."), p.table.recordsTable()))
	}
	return statements
}

// fillCrossed writes the first rows of audiences.
func (p *publisher) fillCrossed(ctx context.Context, made targets, s *immediate) error {
	for i, a := range s.audiences {
		all := make([]incremental.Changes, len(a.crossed.parts)) // one part has all records
		for at := range a.groups[0].Classes() {
			all[0].Rewrite = append(all[0].Rewrite, a.groups[0].ClassAt(at))
		}
		err := p.fillFor(ctx, a.crossed.table(), made.releases[i+1], func(to *statements) {
			a.crossed.insert(to, a.crossed.touched(all))
			to.Queue("ANALYZE " + a.crossed.table())
		})
		if err != nil {
			return fmt.Errorf("making the release for audience %s: %w", a.audience.name, err)
		}
	}
	return nil
}

// fillFor fills a table that the publication has made in one transaction.
func (p *publisher) fillFor(ctx context.Context, table string, made uint32, write func(to *statements)) error {
	tx, err := p.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if err := claim(ctx, tx, table, made); err != nil {
		return err
	}
	to := sendTo(ctx, tx)
	write(to)
	if err := to.close(); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// loadCrossed takes over the groups of audiences, which the records tell of.
func (s *immediate) loadCrossed(ctx context.Context, from *storeView) error {
	for part, p := range s.parts {
		finer := p.part.column
		for _, a := range s.audiences {
			column := a.audience.groupColumn(part)
			err := copyOut(ctx, from.first, 2, func(values []value) error {
				var ids [2]int64
				if err := numbersIn(ids[:], values); err != nil {
					return err
				}
				// A class with records in two groups is refused.
				if err := a.groups[part].Load(incremental.ClassID(ids[0]), incremental.ClassID(ids[1])); err != nil {
					return internal(fmt.Errorf("for %s: %w", a.audience.name, err))
				}
				return nil
			}, fmt.Sprintf("SELECT DISTINCT %s, %s FROM %s WHERE %[1]s IS NOT NULL AND %[2]s IS NOT NULL ORDER BY 1, 2", finer, column, s.t.release.placedRecords()))
			if err != nil {
				return err
			}
			finer = column
		}
	}
	return nil
}
