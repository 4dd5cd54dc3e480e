package sync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pseudonym"
)

// Audiences of guarded tables about the same persons see releases that follow that of the tables' own readers
// (people.GuardedCoarser). Their rows are copied from those of the release before when they appear, as records may
// have changed since. The store keeps beside them which classes and cells of that release wait, with what is published
// of these, and which of them are never shown.

// withheldLabels stands for what is published of a class that is never shown.
const withheldLabels = "null"

// waitingTable has the classes of the release before that wait.
func (s *linkedRelease) waitingTable() string {
	return s.audience.followedTable(s.t.release.generation)
}

// createFollowing makes what audiences of guarded linked tables have beside their rows, empty.
func (t *table) createFollowing() (statements []string) {
	for i := range t.layout.audiences {
		statements = append(statements, t.createFollowingOf(&t.layout.audiences[i])...)
	}
	return statements
}

func (t *table) createFollowingOf(a *audience) []string {
	return []string{
		weightsTable(a.weightTable(t.release.generation), t.parts[0].column),
		fmt.Sprintf("CREATE TABLE %s (class bigint PRIMARY KEY, labels jsonb NOT NULL)", a.followedTable(t.release.generation)),
	}
}

// createFollowed makes an audience's rows, empty, with the columns that are hidden from it, too, for audiences behind it.
func (t *table) createFollowed(a *audience) string {
	return fmt.Sprintf("CREATE TABLE %s AS SELECT %s, %s FROM %s WITH NO DATA",
		a.relation("release", t.release.generation), listed(marksOf(t.parts[0]), ""), a.keptList(), t.release.releaseTable())
}

// placedFor is a view of the records with the rows in which an audience sees them, for whoever verifies it.
func (t *table) placedFor(a *audience) string {
	return fmt.Sprintf("CREATE VIEW %[1]s AS SELECT r.%[2]s, %[3]s, l.%[4]s, r.%[5]s, r.%[6]s, r.%[7]s, coalesce(r.%[8]s AND l.%[4]s IS NOT NULL, false) AS %[8]s"+
		" FROM %[9]s AS r LEFT JOIN %[10]s AS l ON l.%[4]s = r.%[4]s",
		a.relation("records", t.release.generation), recordColumn, t.layout.columns.list("r."), catalog.RowColumn, catalog.SinceColumn, catalog.ExpiredColumn, catalog.PoolingColumn, catalog.StaleColumn,
		t.recordsTable(), a.relation("release", t.release.generation))
}

// addFollowers makes the releases for audiences of guarded tables, each of the one before, with pseudonyms of
// their own.
func (g *linkedGroup) addFollowers(seed uint64) error {
	return g.eachAudience(func(k int, pseudonyms map[int]*pseudonym.Generator, o people.CoarserOptions) error {
		o.K, o.Seed = k, seed
		follower, err := g.guarded.AddCoarser(o)
		if err != nil {
			return fmt.Errorf("tables of %s: %w", g.people.People.Kind, err)
		}
		g.followers, g.pseudonymsFor = append(g.followers, follower), append(g.pseudonymsFor, pseudonyms)
		return nil
	})
}

// pseudonymState is what the pseudonyms of a table are made of, those for audiences last; nil without any.
func (g *linkedGroup) pseudonymState(table int) (state []byte) {
	if g.pseudonyms[table] == nil {
		return nil
	}
	state = slices.Clone(g.pseudonyms[table].State())
	for _, of := range g.pseudonymsFor {
		state = append(state, of[table].State()...)
	}
	return state
}

// resumePseudonyms goes on where pseudonymState was.
func (g *linkedGroup) resumePseudonyms(table int, state []byte) error {
	generators := []*pseudonym.Generator{g.pseudonyms[table]}
	for _, of := range g.pseudonymsFor {
		generators = append(generators, of[table])
	}
	for i, of := range generators {
		size := len(state) / (len(generators) - i)
		if err := of.Resume(state[:size]); err != nil {
			return fmt.Errorf("taking over pseudonyms: %w", err)
		}
		state = state[size:]
	}
	return nil
}

// writeFollowed writes what has changed for an audience, after the release before, whose rows are in a table.
func (s *linkedGuarded) writeFollowed(to *visibleStatements, a *linkedRelease, finer string) {
	if a.whole {
		to.Queue("DELETE FROM " + a.table())
	} else {
		a.deleteRows(to, func(delete string) string {
			return fmt.Sprintf("WITH gone AS (%s RETURNING l.*) DELETE FROM %s AS w USING (SELECT DISTINCT %[3]s FROM gone) AS g WHERE w.%[3]s = g.%[3]s",
				delete, a.audience.weightTable(s.t.release.generation), s.part.column)
		})
	}
	for chunk := range slices.Chunk(a.newRows(), writeChunk) {
		s.copyRows(to, a, finer, chunk)
	}
	s.writeWeights(to, a.share.Weights, a.audience.weightTable(s.t.release.generation))
	a.writeWaiting(to.unseen())
	if a.whole {
		a.indexKeys(to)
		to.Queue("ANALYZE " + a.table())
	}
}

// copyRows copies rows of the release before, found by what they belong to there, with what is published of
// their cells here.
func (s *linkedGuarded) copyRows(to queue, a *linkedRelease, finer string, rows []newRow) {
	m := markedRows(rows)
	origins := make([]*int64, len(rows))
	for i, r := range rows {
		origins[i] = storedNumber(int64(a.followed.Origin[r.ID]))
	}
	columns, kept := m.shown(a.part), publishedView{&a.audience.kept}
	condition := ""
	if s.number != people.Root {
		condition = " AND " + a.links(func(c catalog.PublishedColumn, name string) string {
			return name + " = " + s.t.layout.publication.Membership.Form(c).SQL(c, "c0.origin")
		})
	}
	names := append([]string{markNames, "origin"}, a.part.generalizedNames("", "")...)
	to.Queue(fmt.Sprintf(`INSERT INTO %[1]s (%[2]s, %[3]s)
		SELECT %[4]s, %[5]s
		FROM unnest(%[6]s, $10::bigint[]%[7]s) AS c0(%[8]s)
		JOIN %[9]s AS l ON l.%[10]s = c0.record AND l.%[10]s = ANY($1)%[11]s
		ORDER BY random()`,
		a.table(), listed(s.marks(), ""), kept.shownList(), selectedMarks, a.part.coarserList(kept, s.pseudonym),
		markArrays, textArrays(11, len(columns)), strings.Join(names, ", "), finer, catalog.RowColumn, condition),
		append(append(m.arguments(), origins), columns...)...)
}

// writeWaiting notes which classes of the release before wait.
func (s *linkedRelease) writeWaiting(to queue) {
	if s.whole {
		to.Queue("DELETE FROM " + s.waitingTable())
	}
	for chunk := range slices.Chunk(s.followed.Settled, writeChunk) {
		to.Queue(fmt.Sprintf("DELETE FROM %s WHERE class = ANY($1)", s.waitingTable()), chunk)
	}
	waiting := make([]shownClass, len(s.followed.Waiting))
	for i, cell := range s.followed.Waiting {
		waiting[i] = shownClass{cell.Cell, cell.Values}
	}
	s.t.noteWaiting(to, s.audience, waiting)
	for chunk := range slices.Chunk(s.followed.Withheld, writeChunk) {
		to.Queue(fmt.Sprintf("UPDATE %s SET labels = '%s' WHERE class = ANY($1)", s.waitingTable(), withheldLabels), chunk)
	}
}

// reasonFor is why an audience sees nothing of tables that are published.
func reasonFor(f people.FollowedFreshness) string {
	if f.Classes >= f.Least {
		return fmt.Sprintf("all persons of %d classes of the release before together violate what is stated for the audience", f.Classes)
	}
	return fmt.Sprintf("%d classes of persons of the release before wait for others: %d are united at least", f.Classes, f.Least)
}

// followedStatus tells what is published of a table for audiences; it is empty where there are none.
func (g *linkedGroup) followedStatus(table int) map[string]AudienceStatus {
	if len(g.followers) == 0 {
		return nil
	}
	all := make(map[string]AudienceStatus, len(g.followers))
	for i, of := range g.people.Of(table).Policy.Audiences {
		if of.Unseen {
			continue
		}
		status := AudienceStatus{Classes: g.followers[i].Classes(), Withheld: g.guarded.Len(table) - g.followers[i].Live(table)}
		if status.Classes == 0 && g.isPublished() {
			status.Reason = reasonFor(g.followers[i].Freshness(people.Root))
		}
		all[of.Audience] = status
	}
	return all
}
