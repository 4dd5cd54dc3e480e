package sync

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// twins are two tables of which one is updated, and in the other one the same rows are
// replaced. What readers see of them must be the same.
type twins struct {
	name             string
	guarded, persons bool
	parted           bool // rows are replaced by moving them to another partition
}

const stays = "(id int, region int, tag int, person text, age int, note text, illness text NOT NULL, PRIMARY KEY (id, region))"

// stay is a row of a table of stays: the tag names it while its key changes.
type stay struct {
	id, region, tag, age int
	illness              string
}

func (r stay) values() string {
	return fmt.Sprintf("(%d, %d, %d, 'p%d', %d, 'note', '%s')", r.id, r.region, r.tag, r.tag, r.age, r.illness)
}

func (w twins) updated() string  { return w.name + "_updated" }
func (w twins) replaced() string { return w.name + "_replaced" }

func (w twins) cases() []tableCase {
	one := func(name string) tableCase {
		c := tableCase{name: name, ddl: "CREATE TABLE " + name + " " + stays, numeric: []string{"age"}, sensitive: []string{"illness"}, insensitive: []string{"tag", "note"}, guarded: w.guarded}
		if w.persons {
			c.subject = "person"
		}
		return c
	}
	updated, replaced := one(w.updated()), one(w.replaced())
	if w.parted {
		replaced.ddl += onTable(" PARTITION BY LIST (region); CREATE TABLE %T_0 PARTITION OF %T FOR VALUES IN (0); CREATE TABLE %T_1 PARTITION OF %T DEFAULT", w.replaced())
	}
	return []tableCase{updated, replaced}
}

// random makes the statements of a transaction in both tables. Each row is concerned by one
// of its operations.
func (w twins) random(r *rand.Rand, rows map[int]*stay, next *int) (updated, replaced string) {
	var a, b strings.Builder
	insert := func(s *stay) string { return "INSERT INTO %T VALUES " + s.values() + ";" }
	change := func(s *stay) {
		before := *s
		s.age, s.illness = r.IntN(70), fmt.Sprintf("illness %d", r.IntN(5))
		if w.persons { // another key
			s.region = 1 - s.region
			if !w.parted && r.IntN(2) == 0 {
				*next++
				s.id = *next
			}
		}
		at := fmt.Sprintf(" WHERE id = %d AND region = %d;", before.id, before.region)
		update := fmt.Sprintf("UPDATE %%T SET id = %d, region = %d, age = %d, illness = '%s'", s.id, s.region, s.age, s.illness) + at
		a.WriteString(update)
		if w.parted {
			b.WriteString(update)
		} else {
			b.WriteString("DELETE FROM %T" + at + insert(s))
		}
	}
	tags := slices.Sorted(maps.Keys(rows))
	if !w.parted && r.IntN(5) == 0 { // emptied and loaded anew
		b.WriteString("CREATE TEMP TABLE loaded AS SELECT * FROM %T; TRUNCATE %T;")
		for _, tag := range tags {
			s := rows[tag]
			if r.IntN(3) == 0 {
				before := *s
				s.age, s.illness = r.IntN(70), fmt.Sprintf("illness %d", r.IntN(5))
				fmt.Fprintf(&a, "UPDATE %%T SET age = %d, illness = '%s' WHERE id = %d AND region = %d;", s.age, s.illness, before.id, before.region)
				fmt.Fprintf(&b, "UPDATE loaded SET age = %d, illness = '%s' WHERE id = %d AND region = %d;", s.age, s.illness, before.id, before.region)
			}
		}
		b.WriteString("INSERT INTO %T SELECT * FROM loaded ORDER BY tag; DROP TABLE loaded;")
		return a.String(), b.String()
	}
	for range r.IntN(8) {
		*next++
		s := &stay{id: *next, tag: *next, age: r.IntN(70), illness: fmt.Sprintf("illness %d", r.IntN(5))}
		rows[s.tag] = s
		a.WriteString(insert(s))
		b.WriteString(insert(s))
	}
	// Persons are recognized at the commit, in the order in which they came first.
	r.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	tags = tags[:min(len(tags), 1+r.IntN(12))]
	if w.persons {
		slices.Sort(tags)
	}
	for i, tag := range tags {
		switch kind := r.IntN(6); {
		case kind == 0:
			gone := fmt.Sprintf("DELETE FROM %%T WHERE tag = %d;", tag)
			a.WriteString(gone)
			b.WriteString(gone)
			delete(rows, tag)
		case kind == 1 && !w.persons: // changed twice
			change(rows[tag])
			change(rows[tag])
		case kind == 2: // nobody comes
			nobody := stay{id: 1000000 + i, tag: 1000000 + i, illness: "illness 1"}
			b.WriteString(insert(&nobody) + fmt.Sprintf("DELETE FROM %%T WHERE id = %d;", nobody.id))
		default:
			change(rows[tag])
		}
	}
	return a.String(), b.String()
}

// stateOf is where each record of a table of stays stands, by its tag, and the figures.
func (b *bench) stateOf(s *Syncer, table string) string {
	b.t.Helper()
	p := b.chosen([]string{table})[0]
	of, err := newTable(p)
	if err != nil {
		b.t.Fatal(err)
	}
	of.release.generation = int64(b.generationOf(table))
	columns := []string{"tag", "age", "illness"}
	switch {
	case p.Policy.Updates.Mode == catalog.Immediate && p.Policy.Subject == "":
		columns = append(columns, of.parts[0].column)
	case p.Policy.Updates.Mode == catalog.Guarded:
		columns = append(columns, of.parts[0].column, catalog.RowColumn, catalog.ChangedColumn, catalog.SinceColumn+" IS NULL")
	}
	rows, err := b.source.Query(b.t.Context(), fmt.Sprintf("SELECT ROW(%s)::text FROM %s ORDER BY tag", strings.Join(columns, ", "), of.release.placedRecords()))
	if err != nil {
		b.t.Fatal(err)
	}
	places, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.t.Fatal(err)
	}
	var published int
	b.scan([]any{&published}, "SELECT count(*) FROM "+viewOf(table))
	f := s.Status().Tables[publicTable(table)]
	if p.Policy.Updates.Mode == catalog.Immediate && p.Policy.Subject != "" {
		f.Classes = 0
	}
	return fmt.Sprintf("%d rows, %d waiting, %d stale, %d ghosts, %d withheld\n%d classes\n", published, f.Waiting, f.Stale, f.Ghosts, f.Withheld, f.Classes) + strings.Join(places, "\n")
}

// TestReplacedIsUpdated runs random transactions on two tables each: one of them is updated,
// and in the other one rows are deleted and inserted, emptied and loaded anew, or moved to
// another partition. Classes and rows must have the same numbers after each, but for immediate
// tables of persons, whose classes depend on the order of changes; and the figures must be the
// same where the last one is applied after a restart.
func TestReplacedIsUpdated(t *testing.T) {
	t.Parallel()
	var pairs []twins
	var cases []tableCase
	for _, w := range []twins{
		{name: "immediate"},
		{name: "guarded", guarded: true},
		{name: "persons", persons: true},
		{name: "guarded_persons", guarded: true, persons: true},
		{name: "moved", persons: true, parted: true},
		{name: "guarded_moved", guarded: true, persons: true, parted: true},
	} {
		pairs, cases = append(pairs, w), append(cases, w.cases()...)
	}
	b := tablesBench(t, cases...)
	s, stop := b.run()
	r, next := rand.New(rand.NewPCG(11, 0)), make([]int, len(pairs))
	rows := make([]map[int]*stay, len(pairs))
	for i, w := range pairs {
		rows[i] = map[int]*stay{}
		var fill []string
		for next[i] < 90 {
			next[i]++
			one := &stay{id: next[i], tag: next[i], age: r.IntN(70), illness: fmt.Sprintf("illness %d", r.IntN(5))}
			rows[i][one.tag] = one
			fill = append(fill, one.values())
		}
		for _, table := range []string{w.updated(), w.replaced()} {
			b.script("INSERT INTO " + table + " VALUES " + strings.Join(fill, ", "))
		}
	}
	seen := map[string]bool{}
	const rounds = 24
	for round := range rounds {
		if round == rounds-1 {
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		}
		for i, w := range pairs {
			updated, replaced := w.random(r, rows[i], &next[i])
			b.script("BEGIN; " + onTable(updated, w.updated()) + onTable(replaced, w.replaced()) + "COMMIT")
		}
		if round == rounds-1 {
			s, _ = b.run() // the tables that were truncated are compared with their sources
		}
		b.calm(s)
		for _, w := range pairs {
			updated, replaced := b.stateOf(s, w.updated()), b.stateOf(s, w.replaced())
			if round == rounds-1 { // records are numbered in another order where they are loaded
				updated, _, _ = strings.Cut(updated, "\n")
				replaced, _, _ = strings.Cut(replaced, "\n")
			}
			if updated != replaced {
				t.Fatalf("round %d, %s: updated\n%s\nreplaced\n%s", round, w.name, updated, replaced)
			}
			seen[updated] = true
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d states were compared", len(seen))
	}
	b.settled(s)
}

// TestReplaced counts who comes and who leaves by single transactions of a guarded table.
func TestReplaced(t *testing.T) {
	t.Parallel()
	guarded := func(c tableCase) tableCase { c.guarded = true; return c }
	of := func(w twins) tableCase { return guarded(w.cases()[1]) }
	b := tablesBench(t, guarded(person("plain")), guarded(person("given")), guarded(person("undone")), guarded(person("other")), guarded(journal("keyless")),
		of(twins{name: "persons", persons: true}), of(twins{name: "moved", parted: true}), of(twins{name: "moved_persons", parted: true, persons: true}))
	plain := []string{"plain", "given", "undone", "other", "keyless"}
	b.fillPersons(30, plain...)
	for _, table := range []string{"persons_replaced", "moved_replaced", "moved_persons_replaced"} {
		b.script("INSERT INTO " + table + " SELECT i, 0, i, 'p' || i, i % 70, 'note', 'illness ' || i % 5 FROM generate_series(1, 30) i")
	}
	s, _ := b.run()
	await := func(b *bench, table string, waiting, stale, ghosts int) {
		b.t.Helper()
		f := s.Status().Tables[publicTable(table)]
		if f.Waiting != waiting || f.Stale != stale || f.Ghosts != ghosts {
			b.t.Errorf("%s: %d wait, %d are stale, %d ghosts; %d, %d and %d expected", table, f.Waiting, f.Stale, f.Ghosts, waiting, stale, ghosts)
		}
	}
	for i, step := range []struct {
		table, name, sql       string
		waiting, stale, ghosts int // that it adds
	}{
		{"plain", "as it was", "BEGIN; DELETE FROM plain WHERE id = 1; INSERT INTO plain VALUES (1, 1, 'note 1', 'illness 1'); COMMIT", 0, 0, 0},
		{"plain", "changed", "BEGIN; DELETE FROM plain WHERE id = 1; INSERT INTO plain VALUES (1, 2, 'note 1', 'illness 1'); COMMIT", 0, 1, 0},
		{"plain", "a chain", "BEGIN; DELETE FROM plain WHERE id = 1; INSERT INTO plain VALUES (1, 9, '', 'x'); UPDATE plain SET age = 3 WHERE id = 1; DELETE FROM plain WHERE id = 1; INSERT INTO plain VALUES (1, 4, '', 'illness 1'); COMMIT", 0, 0, 0},
		{"plain", "inserted and deleted", "BEGIN; INSERT INTO plain VALUES (100, 2, '', 'x'); DELETE FROM plain WHERE id = 100; INSERT INTO plain VALUES (100, 2, '', 'x'); DELETE FROM plain WHERE id = 100; COMMIT", 0, 0, 0},
		{"plain", "deleted, inserted and deleted", "BEGIN; DELETE FROM plain WHERE id = 2; INSERT INTO plain VALUES (2, 2, '', 'x'); DELETE FROM plain WHERE id = 2; COMMIT", 0, 0, 1},
		{"plain", "in a later transaction", "BEGIN; DELETE FROM plain WHERE id = 3; COMMIT; INSERT INTO plain VALUES (3, 3, 'note 3', 'illness 3')", 0, 1, 0},
		{"given", "a key that is given to another", "BEGIN; DELETE FROM given WHERE id = 4; UPDATE given SET id = 4 WHERE id = 5; DELETE FROM given WHERE id = 4; INSERT INTO given VALUES (4, 5, 'note 5', 'illness 0'); COMMIT", 0, 0, 1},
		{"undone", "rolled back", "BEGIN; DELETE FROM undone WHERE id = 6; SAVEPOINT s; INSERT INTO undone VALUES (6, 1, '', 'x'); ROLLBACK TO s; COMMIT; BEGIN; SAVEPOINT s; DELETE FROM undone; ROLLBACK TO s; DELETE FROM undone WHERE id = 7; INSERT INTO undone VALUES (7, 7, 'note 7', 'illness 2'); COMMIT", 0, 0, 1},
		{"other", "two tables", "BEGIN; DELETE FROM other; DELETE FROM plain WHERE id = 8; INSERT INTO other SELECT i, i % 70, 'note ' || i, 'illness ' || i % 5 FROM generate_series(1, 30) i; INSERT INTO plain VALUES (8, 8, 'note 8', 'illness 3'); COMMIT", 0, 0, 0},
		{"other", "reloaded", "BEGIN; DELETE FROM other WHERE id < 9; INSERT INTO other VALUES (300, 1, '', 'x'); TRUNCATE other; INSERT INTO other SELECT i, i % 70, 'note ' || i, 'illness ' || i % 5 FROM generate_series(1, 31) i; TRUNCATE other; INSERT INTO other SELECT i, i % 70, 'note ' || i, 'illness ' || i % 5 FROM generate_series(1, 29) i; COMMIT", 0, 0, 1},
		{"keyless", "equal rows", "BEGIN; INSERT INTO keyless VALUES (1, 1, 'note 1', 'illness 1'); DELETE FROM keyless WHERE ctid = (SELECT min(ctid) FROM keyless WHERE id = 1); DELETE FROM keyless WHERE id = 2; INSERT INTO keyless VALUES (2, 2, 'note 2', 'illness 2'); COMMIT", 0, 0, 0},
		{"keyless", "another row", "BEGIN; DELETE FROM keyless WHERE id = 3; INSERT INTO keyless VALUES (3, 4, 'note 3', 'illness 3'); COMMIT", 1, 0, 1},
		{"persons_replaced", "another key", "BEGIN; DELETE FROM persons_replaced WHERE id = 1; INSERT INTO persons_replaced VALUES (101, 0, 1, 'p1', 1, 'note', 'illness 1'); COMMIT", 0, 0, 0},
		{"persons_replaced", "one of two", "BEGIN; DELETE FROM persons_replaced WHERE id = 2; INSERT INTO persons_replaced VALUES (102, 0, 2, 'p2', 2, 'note', 'illness 2'), (103, 0, 2, 'p2', 2, 'note', 'illness 2'); COMMIT", 1, 0, 0},
		{"persons_replaced", "who was inserted before a TRUNCATE", "BEGIN; INSERT INTO persons_replaced VALUES (104, 0, 104, 'p4', 2, 'note', 'illness 2'); TRUNCATE persons_replaced; INSERT INTO persons_replaced SELECT i + 200, 0, i, 'p' || i, i % 70, 'note', 'illness ' || i % 5 FROM generate_series(1, 30) i WHERE i <> 4; COMMIT", -1, 0, 1},
		{"moved_replaced", "to another partition", "UPDATE moved_replaced SET region = 1 WHERE id = 1", 1, 0, 1},
		{"moved_replaced", "there and back", "BEGIN; UPDATE moved_replaced SET region = 1 WHERE id = 2; UPDATE moved_replaced SET region = 0 WHERE id = 2; COMMIT", 0, 0, 0},
		{"moved_persons_replaced", "a person to another partition", "UPDATE moved_persons_replaced SET region = 1 WHERE id = 1", 0, 0, 0},
	} {
		t.Run(fmt.Sprintf("%d %s %s", i, step.table, step.name), func(t *testing.T) {
			b := b.within(t)
			b.calm(s)
			f := s.Status().Tables[publicTable(step.table)]
			b.script(step.sql)
			b.calm(s)
			await(b, step.table, f.Waiting+step.waiting, f.Stale+step.stale, f.Ghosts+step.ghosts)
		})
	}
	b.settled(s)
}
