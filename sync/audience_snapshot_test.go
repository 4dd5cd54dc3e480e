package sync

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// snapshots has a reader look again and again, each time in a transaction of its own that sees one commit, while others make changes.
type snapshots struct {
	t    *testing.T
	conn *pgx.Conn
	last string
	seen int // different ones
}

// await looks until the changes are made and some of what they do was seen. Each look returns what is wrong, or nothing, and what it saw.
func (s *snapshots) await(made <-chan struct{}, look func(tx pgx.Tx) (wrong, saw string)) {
	s.t.Helper()
	for done := false; !done; {
		select {
		case <-made:
			done = true // after one look more
		default:
		}
		tx, err := s.conn.BeginTx(s.t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			s.t.Fatal(err)
		}
		wrong, saw := look(tx)
		if err := tx.Rollback(context.WithoutCancel(s.t.Context())); err != nil {
			s.t.Fatal(err)
		}
		if wrong != "" {
			s.t.Fatalf("in one snapshot, after %d others: %s", s.seen, wrong)
		}
		if saw != s.last {
			s.last = saw
			s.seen++
		}
	}
}

// ask is what a query of a snapshot gives, as text.
func (s *snapshots) ask(tx pgx.Tx, sql string) (text string) {
	s.t.Helper()
	if err := tx.QueryRow(s.t.Context(), sql).Scan(&text); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return text
}

// publishedFor is what an audience, or without a name the tables' own readers, see of a table.
func publishedFor(audience, table string) string {
	if audience == "" {
		return catalog.Published(publicTable(table)).SQL()
	}
	return catalog.PublishedFor(audience, publicTable(table)).SQL()
}

// unitedAlike is wrong where an audience of an immediate table sees other rows than the table's own readers, by columns that both see; it may see nothing.
func (s *snapshots) unitedAlike(tx pgx.Tx, table, columns string, audiences ...string) (wrong, saw string) {
	figures := fmt.Sprintf("SELECT (count(*), coalesce(md5(string_agg((%[1]s)::text, ',' ORDER BY (%[1]s)::text)), ''))::text FROM ", columns)
	saw = s.ask(tx, figures+publishedFor("", table))
	for _, a := range audiences {
		if of := s.ask(tx, figures+publishedFor(a, table)); of != saw && of != "(0,\"\")" {
			return fmt.Sprintf("%s sees %s of %s, its own readers %s", a, of, table, saw), saw
		}
	}
	return "", saw
}

// withheldTogether is wrong where an audience of an immediate table about persons sees rows that the release before does not have, or lacks some of its rows while it
// sees others without keys: only where all of these together are of too few persons are they withheld.
func (s *snapshots) withheldTogether(tx pgx.Tx, table, link string, generation int64, audiences ...string) (wrong, saw string) {
	finer := storeTable("release", generation).SQL()
	for _, a := range audiences {
		release := storeTable("release_"+a, generation).SQL()
		counts := s.ask(tx, fmt.Sprintf(`SELECT concat_ws(' ', (SELECT count(*) FROM %[1]s WHERE kproxy_row NOT IN (SELECT kproxy_row FROM %[2]s)),
			least((SELECT count(*) FROM %[2]s WHERE kproxy_row NOT IN (SELECT kproxy_row FROM %[1]s)), (SELECT count(*) FROM %[1]s WHERE %[3]s)), (SELECT count(*) FROM %[1]s))`, release, finer, link))
		if !strings.HasPrefix(counts, "0 0 ") {
			return fmt.Sprintf("rows of %s that %s sees alone, or lacks beside others without keys: %s", table, a, counts), ""
		}
		saw, finer = saw+counts+"; ", release
	}
	return "", saw
}

// followedAlike is wrong where, of a guarded table, rows of a release with keys are neither shown by the next one nor of classes that wait for it, or
// both, or where a view shows other rows than there are.
func (s *snapshots) followedAlike(tx pgx.Tx, table string, generation int64, linked bool, audiences ...string) (wrong, saw string) {
	keyed, waiting := "true", " WHERE shown_in IS NULL" // others are shown in classes of former rows
	if linked {
		keyed, waiting = "f.kproxy_persons IS NOT NULL", ""
	}
	finer := "release"
	for _, a := range audiences {
		release := "release_" + a
		shown := "SELECT kproxy_row FROM " + storeTable(release, generation).SQL()
		if !linked { // a row may be another one in the finer release by now
			shown = fmt.Sprintf("SELECT coalesce(p.now, l.kproxy_row) FROM %s l LEFT JOIN %s p USING (kproxy_row)", storeTable(release, generation).SQL(), storeTable("parted_"+a, generation).SQL())
		}
		waits := fmt.Sprintf("f.kproxy_class IN (SELECT class FROM %s%s)", storeTable("followed_"+a, generation).SQL(), waiting)
		counts := s.ask(tx, fmt.Sprintf(`SELECT concat_ws(' ', count(*) FILTER (WHERE shown AND waits), count(*) FILTER (WHERE NOT shown AND NOT waits), count(*))
			FROM (SELECT f.kproxy_row IN (%[1]s) AS shown, %[2]s AS waits FROM %[3]s f WHERE %[4]s) x`, shown, waits, storeTable(finer, generation).SQL(), keyed))
		if !strings.HasPrefix(counts, "0 0 ") {
			return fmt.Sprintf("rows of %s of %s that %s sees and that wait, or neither: %s", finer, table, a, counts), ""
		}
		saw += counts + s.ask(tx, "SELECT count(*)::text FROM "+storeTable(release, generation).SQL()) + "; "
		if view, rows := s.ask(tx, "SELECT count(*)::text FROM "+publishedFor(a, table)), s.ask(tx, "SELECT count(*)::text FROM "+storeTable(release, generation).SQL()); view != rows {
			return fmt.Sprintf("%s sees %s rows of %s, of %s", a, view, table, rows), ""
		}
		finer = release
	}
	return "", saw
}

// TestSnapshotsOfAudiencesAgree: whoever has a snapshot sees the releases of all audiences as of one commit, in both modes, of tables and
// of tables about the same persons: all rows of the finer release are shown by the coarser one, or of classes that wait for it, or are withheld.
func TestSnapshotsOfAudiencesAgree(t *testing.T) {
	t.Parallel()
	const steps, patients = 200, 120
	audiences := []string{"partners", "public"}
	run := func(t *testing.T, b *bench, one func(i int), inStep func(), look func(s *snapshots, tx pgx.Tx) (wrong, saw string)) {
		t.Helper()
		s := &snapshots{t: t, conn: b.connect()}
		made := make(chan struct{})
		go func() {
			defer close(made)
			for i := range steps {
				one(i)
			}
		}()
		s.await(made, func(tx pgx.Tx) (wrong, saw string) { return look(s, tx) })
		inStep()
		for s.seen < 2 { // what waits appears soon
			s.await(made, func(tx pgx.Tx) (wrong, saw string) { return look(s, tx) })
		}
	}
	t.Run("immediate", func(t *testing.T) {
		t.Parallel()
		b := newAudienceBench(t)
		b.insertRandomPeople()
		s, _ := b.run()
		b.caughtUp(s)
		run(t, b, changingPeople(b), func() { b.caughtUp(s) }, func(s *snapshots, tx pgx.Tx) (string, string) {
			return s.unitedAlike(tx, "people", "note, mood", audiences...)
		})
	})
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		b, _ := newGuardedAudienceBench(t)
		b.insertRandomPeople()
		s, _ := b.run()
		b.caughtUp(s)
		generation := int64(b.generationOf("people"))
		run(t, b, changingPeople(b), func() { b.caughtUp(s) }, func(s *snapshots, tx pgx.Tx) (string, string) {
			return s.followedAlike(tx, "people", generation, false, audiences...)
		})
	})
	hospitals := map[string]func(t *testing.T) *hospital{
		"immediate people": func(t *testing.T) *hospital { return newAudienceHospital(t, "1/1y:3", patients) },
		"guarded people":   func(t *testing.T) *hospital { return guardedAudienceHospital(t, "1/1y:3", patients) },
	}
	for name, hospitalOf := range hospitals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hospitalOf(t)
			h.visitAgain(patients)
			s, _ := h.run()
			h.inStep(s)
			generations := map[string]int64{}
			for _, table := range []string{"patients", "visits", "drugs"} {
				generations[table] = int64(h.generationOf(table))
			}
			run(t, h.bench, func(i int) { h.visit(i % patients); h.changeHospital(patients) }, func() { h.inStep(s) }, func(s *snapshots, tx pgx.Tx) (wrong, saw string) {
				for _, c := range []struct{ table, keyless string }{{"patients", "true"}, {"visits", "patient_id IS NULL"}, {"drugs", "visit_id IS NULL"}} {
					var of string
					if name == "guarded people" {
						wrong, of = s.followedAlike(tx, c.table, generations[c.table], true, audiences...)
					} else {
						wrong, of = s.withheldTogether(tx, c.table, c.keyless, generations[c.table], audiences...)
					}
					if saw += of; wrong != "" {
						return wrong, saw
					}
				}
				return "", saw
			})
		})
	}
}

// changingPeople makes one of some changes.
func changingPeople(b *bench) func(i int) {
	conn := b.connect()
	return func(i int) {
		sql := []string{
			"UPDATE people SET age = (age + 7) % 90 WHERE id % 41 = ", "DELETE FROM people WHERE id % 97 = ", "UPDATE people SET illness = 'illness1' WHERE id % 53 = ",
			"INSERT INTO people (id, age, zip, job, illness) SELECT i, i % 80, '1' || i % 900, 'job' || i % 3, 'illness' || i % 5 FROM generate_series(1, 5) j, LATERAL (SELECT 10000 + 10 * $ + j) AS x(i) WHERE 0 = ",
		}[i%4]
		n := i % 37
		if i%4 == 3 {
			n = 0
		}
		if _, err := conn.Exec(context.Background(), strings.ReplaceAll(sql, "$", fmt.Sprint(i))+fmt.Sprint(n)); err != nil {
			b.t.Error(err)
		}
	}
}

// insertRandomPeople inserts some.
func (b *bench) insertRandomPeople() {
	b.t.Helper()
	b.exec("INSERT INTO people (id, age, weight, zip, job, note, illness) SELECT i, i * 7 % 90, i % 60, '1' || i * 13 % 900, 'job' || i % 3, 'note' || i % 9, 'illness' || i % 5 FROM generate_series(1, 300) i")
}
