package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// Audiences of a guarded table see releases that follow its lineage (lineage.Coarser). Each has rows of its
// own, copied from those of the release before when a group is made: they stay where that has others. The
// store keeps beside them which rows have others, and which classes wait, as no row is ever rewritten.

// coarserRelease is what an audience sees of a guarded table.
type coarserRelease struct {
	audience *audience
	release  *lineage.Coarser
	part     *part  // what its rows show of groups
	finer    string // the table with the rows of the release before
	changes  lineage.CoarserChanges
}

func (a *audience) weightTable(generation int64) string {
	return a.relation("cellweight", generation)
}

// coarserTables are the tables that a generation of a guarded table has for an audience: rows, weights, classes
// that are not shown as they are, and rows that are not.
func (a *audience) coarserTables(generation int64) []string {
	return []string{a.relation("release", generation), a.weightTable(generation), a.followedTable(generation), a.partedTable(generation)}
}

func (a *audience) followedTable(generation int64) string { return a.relation("followed", generation) }

func (a *audience) partedTable(generation int64) string { return a.relation("parted", generation) }

// addAudiences has an empty release follow for each audience.
func (s *guarded) addAudiences() error {
	for i := range s.t.layout.audiences {
		a := &s.t.layout.audiences[i]
		release, err := s.lineage.AddLimited(a.attributes, a.constraints)
		if err != nil {
			return fmt.Errorf("for audience %s: %w", a.name, err)
		}
		s.audiences = append(s.audiences, &coarserRelease{audience: a, release: release, part: newPart(0, s.part.attributes, a.constraints, a.kept)})
	}
	return nil
}

// settleAudiences takes what the last settling has changed for audiences.
func (s *guarded) settleAudiences() {
	finer := s.t.release.releaseTable()
	for _, a := range s.audiences {
		a.changes, a.finer = a.release.Changes(), finer
		finer = a.audience.relation("release", s.t.release.generation)
	}
}

// createCoarser makes the tables of audiences, empty.
func (t *table) createCoarser() (statements []string) {
	if t.layout.isLinked() {
		return t.createFollowing()
	}
	for i := range t.layout.audiences {
		statements = append(statements, t.createCoarserOf(i)...)
	}
	return statements
}

// createCoarserOf makes the tables of the audience at a place.
func (t *table) createCoarserOf(place int) []string {
	class, records, a := t.parts[0].column, t.recordsTable(), &t.layout.audiences[place]
	if place > 0 {
		records = t.layout.audiences[place-1].relation("records", t.release.generation)
	}
	of, marks := a.coarserTables(t.release.generation), (&guarded{part: t.parts[0]}).marks()
	return []string{
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s, %s FROM %s WITH NO DATA", of[0], listed(marks, ""), a.keptList(), t.release.releaseTable()),
		weightsTable(of[1], class),
		fmt.Sprintf("CREATE TABLE %s (class bigint PRIMARY KEY, shown_in bigint, changed text, withheld boolean NOT NULL, labels jsonb NOT NULL)", of[2]),
		fmt.Sprintf("CREATE TABLE %s (%s bigint PRIMARY KEY, now bigint NOT NULL)", of[3], catalog.RowColumn),
		// For whoever verifies it: the records with the rows in which the audience sees them.
		fmt.Sprintf(`CREATE VIEW %[1]s AS SELECT r.%[2]s, %[3]s, l.%[4]s, l.%[5]s, r.%[6]s,
			CASE WHEN l.now <> l.%[5]s THEN coalesce(r.%[7]s, '-infinity') ELSE r.%[7]s END AS %[7]s, r.%[8]s FROM %[9]s AS r
			LEFT JOIN (SELECT s.%[4]s, s.%[5]s, coalesce(p.now, s.%[5]s) AS now FROM %[10]s AS s LEFT JOIN %[11]s AS p USING (%[5]s)) AS l ON l.now = r.%[5]s`,
			a.relation("records", t.release.generation), recordColumn, t.layout.columns.list("r."), class, catalog.RowColumn, catalog.ChangedColumn, catalog.SinceColumn, catalog.ExpiredColumn, records, of[0], of[3]),
	}
}

// keptList are the columns that rows for the audience have beside their marks, as expressions over the table's own release.
func (a *audience) keptList() string {
	var list []string
	for _, c := range a.kept.Columns {
		name := catalog.QuoteIdentifier(c.Name)
		switch {
		case c.Part == catalog.ClassNumber || c.Part == catalog.Weight:
		case c.Generalized(): // it may have another type
			list = append(list, fmt.Sprintf("NULL::%s AS %s", c.Type, name))
		default:
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// weightsTable makes a table of weights, of what a column numbers.
func weightsTable(name, column string) string {
	return fmt.Sprintf("CREATE TABLE %s (%s bigint PRIMARY KEY, %s real NOT NULL, %s bigint NOT NULL, %s bigint NOT NULL)",
		name, column, catalog.WeightColumn, catalog.DiscountedColumn, catalog.LeaversColumn)
}

// fillAudiences writes the first rows of audiences, once the finer ones are there and can be found.
func (p *publisher) fillAudiences(ctx context.Context, made targets) error {
	if s, is := p.table.mode.(*immediate); is && !p.table.isPacked() {
		return p.fillCrossed(ctx, made, s)
	}
	s, is := p.table.mode.(*guarded)
	if !is || len(s.audiences) == 0 {
		return nil
	}
	tx, err := p.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("making the releases for audiences: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	for i, a := range s.audiences {
		if err := claim(ctx, tx, a.audience.relation("release", p.table.release.generation), made.releases[i+1]); err != nil {
			return fmt.Errorf("making the release for audience %s: %w", a.audience.name, err)
		}
	}
	to := sendTo(ctx, tx)
	s.writeAudiences(&visibleStatements{statements: to})
	for _, a := range s.audiences {
		to.Queue("ANALYZE " + a.audience.relation("release", p.table.release.generation))
	}
	if err := to.close(); err != nil {
		return fmt.Errorf("making the releases for audiences: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("making the releases for audiences: %w", err)
	}
	return nil
}

// writeAudiences writes what has changed for audiences, after the release that they follow.
func (s *guarded) writeAudiences(batch *visibleStatements) {
	for _, a := range s.audiences {
		of := a.audience.coarserTables(s.t.release.generation)
		s.deleteRows(batch, of[0], a.changes.Gone, a.changes.GoneFrom)
		rows := slices.Clone(a.changes.Rows)
		rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for chunk := range slices.Chunk(rows, writeChunk) {
			s.copyRows(batch, a, of[0], chunk)
		}
		s.writeWeights(batch, of[1], of[0], a.changes.Weights, a.changes.GoneFrom)
		a.writeUnits(batch.unseen(), of[2])
		a.writeParted(batch.unseen(), of[3])
	}
}

// copyRows copies rows of the release before, with what is published of their groups.
func (s *guarded) copyRows(batch queue, a *coarserRelease, into string, rows []lineage.CoarserRow) {
	from, groups := make([]int64, len(rows)), make([]int64, len(rows))
	ids, persons, sealed := make([]int64, len(rows)), make([]int64, len(rows)), make([]bool, len(rows))
	for i, r := range rows {
		from[i], groups[i], ids[i], persons[i], sealed[i] = int64(r.From), int64(r.Class), int64(r.ID), int64(r.Person), r.Sealed
	}
	columns := a.part.shown(groups, func(id incremental.ClassID) []hierarchy.Generalization { return a.changes.Classes[id] })
	classes, kept := slices.Compact(slices.Sorted(slices.Values(from))), publishedView{&a.audience.kept}
	batch.Queue(fmt.Sprintf(`INSERT INTO %[1]s (%[2]s, %[3]s)
		SELECT c0.class, c0.id, c0.person, c0.sealed, %[4]s
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[]%[5]s) AS c0(%[6]s)
		JOIN %[7]s AS l ON l.%[8]s = c0.origin AND l.%[9]s = c0.id AND l.%[8]s = ANY($%[10]d)
		ORDER BY random()`,
		into, listed(s.marks(), ""), kept.shownList(), a.part.coarserList(kept, noPseudonym),
		textArrays(6, len(columns)), strings.Join(append([]string{"origin", "class", "id", "person", "sealed"}, a.part.generalizedNames("", "")...), ", "),
		a.finer, s.part.column, catalog.RowColumn, 6+len(columns)),
		append(append([]any{numbers(from), numbers(groups), numbers(ids), numbers(persons), sealed}, columns...), numbers(classes))...)
}

// coarserList are the columns of shownList as expressions over c0, a group with its generalized columns as text,
// and l, a row of the release before.
func (p *part) coarserList(v publishedView, pseudonym func(catalog.PublishedColumn) string) string {
	var list []string
	for _, c := range v.publication.Columns {
		switch {
		case c.Part == catalog.ClassNumber || c.Part == catalog.Weight:
		case c.Part == catalog.Pseudonym:
			list = append(list, pseudonym(c))
		case c.Generalized():
			i := slices.IndexFunc(p.generalized, func(g generalizedColumn) bool { return g.Name == c.Name })
			list = append(list, fmt.Sprintf("c0.g%d::%s", i, c.Type))
		default:
			list = append(list, "l."+catalog.QuoteIdentifier(c.Name))
		}
	}
	return strings.Join(list, ", ")
}

// writeUnits notes the classes that the audience does not see as they are.
func (a *coarserRelease) writeUnits(batch queue, table string) {
	gone := slices.Clone(a.changes.Settled)
	for _, u := range a.changes.Units {
		gone = append(gone, u.Class)
	}
	for chunk := range slices.Chunk(gone, writeChunk) {
		batch.Queue(fmt.Sprintf("DELETE FROM %s WHERE class = ANY($1)", table), numbers(chunk))
	}
	for chunk := range slices.Chunk(a.changes.Units, writeChunk) {
		classes, groups, changed := make([]int64, len(chunk)), make([]*int64, len(chunk)), make([]*string, len(chunk))
		withheld, labels := make([]bool, len(chunk)), make([]string, len(chunk))
		for i, u := range chunk {
			classes[i], groups[i], withheld[i] = int64(u.Class), storedNumber(int64(u.Group)), u.Withheld
			if u.Group != 0 {
				changed[i] = &u.Changed
			}
			text, err := json.Marshal(u.Labels)
			if err != nil {
				batch.Fail(internal(err))
				return
			}
			labels[i] = string(text)
		}
		batch.Queue(fmt.Sprintf("INSERT INTO %s (class, shown_in, changed, withheld, labels) SELECT u.class, u.shown_in, u.changed, u.withheld, u.labels::jsonb FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::boolean[], $5::text[]) AS u(class, shown_in, changed, withheld, labels)", table),
			numbers(classes), groups, changed, withheld, labels)
	}
}

// writeParted notes the rows in whose place the release before has others.
func (a *coarserRelease) writeParted(batch queue, table string) {
	gone, rows := make([]int64, 0, len(a.changes.Unparted)), make([]int64, 0, len(a.changes.Parted))
	for id := range a.changes.Unparted {
		gone = append(gone, int64(id))
	}
	for id := range a.changes.Parted {
		gone, rows = append(gone, int64(id)), append(rows, int64(id))
	}
	slices.Sort(gone)
	slices.Sort(rows)
	for chunk := range slices.Chunk(gone, writeChunk) {
		batch.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", table, catalog.RowColumn), numbers(chunk))
	}
	for chunk := range slices.Chunk(rows, writeChunk) {
		now := make([]int64, len(chunk))
		for i, id := range chunk {
			now[i] = int64(a.changes.Parted[lineage.RowID(id)])
		}
		batch.Queue(fmt.Sprintf("INSERT INTO %s (%s, now) SELECT * FROM unnest($1::bigint[], $2::bigint[])", table, catalog.RowColumn), numbers(chunk), numbers(now))
	}
}

// audienceStatus is empty where there are no audiences.
func (s *guarded) audienceStatus(classes int) map[string]AudienceStatus {
	if len(s.audiences) == 0 {
		return nil
	}
	all := make(map[string]AudienceStatus, len(s.audiences))
	for _, a := range s.audiences {
		status := AudienceStatus{Classes: a.release.Groups(), NextClass: a.release.NextGroup(), Withheld: s.lineage.Len() - a.release.Live()}
		if status.Classes == 0 {
			status.Reason = s.audienceReason(a.release.Freshness(), classes)
		}
		all[a.audience.name] = status
	}
	return all
}

// audienceReason is why nothing is published for an audience.
func (s *guarded) audienceReason(f lineage.CoarserFreshness, classes int) string {
	of := "records"
	if s.t.layout.subject >= 0 {
		of = "persons"
	}
	switch {
	case classes == 0:
		return "nothing is published of the table"
	case f.Waiting > 0:
		return fmt.Sprintf("%d rows wait for others: the audience's groups are made of %d %s at least", f.Waiting, f.Least, of)
	case f.Withheld > 0:
		return fmt.Sprintf("%d rows are withheld for good: they violated the audience's constraints together", f.Withheld)
	}
	return "nothing is published for the audience before"
}

// shownFor is what the published view of an audience stands on.
func (t *table) shownFor(a *audience) string {
	if t.layout.isMirrored() {
		return t.shownRelease()
	}
	release := a.relation("release", t.release.generation)
	if !a.publication.WeighsApart() {
		return release
	}
	return weighed(release, a.weightTable(t.release.generation), t.parts[0].column)
}
