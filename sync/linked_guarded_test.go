package sync

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// guardedHospital publishes few persons and rows at once, and soon.
func guardedHospital(t *testing.T, knows string, patients int, bounds ...privacy.Spec) *hospital {
	t.Helper()
	soon := catalog.Updates{Mode: catalog.Guarded, Within: 300 * time.Millisecond, Rows: 3, RowsWithin: 600 * time.Millisecond}
	return newHospitalWith(t, pgtest.Shared(t), knows, soon, patients, bounds...)
}

// TestLinkedGuarded: guarded tables follow random changes, restarts among them, and no version shows
// more of the one before than whole groups that have gone.
func TestLinkedGuarded(t *testing.T) {
	t.Parallel()
	ward := privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "public.visits.ward"}
	for _, c := range []struct {
		name, knows string
		bounds      []privacy.Spec
	}{{"windows", "1/1y:3", nil}, {"one window", "1:3", nil}, {"all is known", "all", nil}, {"diverse", "1/1y:3", []privacy.Spec{ward}}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := guardedHospital(t, c.knows, patients, c.bounds...)
			s, stop := h.run()
			h.inStep(s)
			seen := h.versions()
			for round := range 12 {
				for range 1 + h.random.IntN(40) {
					h.changeHospital(patients)
				}
				switch round {
				case 3, 6, 9:
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					for range 10 {
						h.changeHospital(patients)
					}
					s, stop = h.run()
				case 10:
					h.exec("TRUNCATE drugs")
				}
				h.inStep(s)
				h.checkRelease()
				seen = h.follows(seen)
			}
			if shown := seen["visits"]; len(shown.keyed) == 0 || len(shown.rows) < 50 {
				t.Errorf("of %d rows, %d have keys", len(shown.rows), len(shown.keyed))
			}
		})
	}
}

// shownTable are the published rows of a table, by kproxy's numbers.
type shownTable struct {
	rows  map[int64]string // what readers see, but the weight
	cells map[int64][]int64
	keyed map[int64]bool
}

// versions is what readers see of all tables.
func (h *hospital) versions() map[string]shownTable {
	h.t.Helper()
	return h.versionsIn("release")
}

// versionsIn is what readers of some releases see.
func (h *hospital) versionsIn(release string) map[string]shownTable {
	h.t.Helper()
	ctx := h.t.Context()
	tx, err := h.connect().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		h.t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	all := make(map[string]shownTable)
	for _, table := range []string{"patients", "visits", "drugs"} {
		var generation int64
		if err := tx.QueryRow(ctx, "SELECT generation FROM kproxy_store.generation WHERE table_name = $1", table).Scan(&generation); err != nil {
			h.t.Fatal(err)
		}
		rows, err := tx.Query(ctx, fmt.Sprintf("SELECT kproxy_row, kproxy_class, kproxy_persons IS NOT NULL, to_jsonb(l)::text FROM %s l", storeTable(release, generation).SQL()))
		if err != nil {
			h.t.Fatal(err)
		}
		of := shownTable{rows: make(map[int64]string), cells: make(map[int64][]int64), keyed: make(map[int64]bool)}
		var row, cell int64
		var keyed bool
		var text string
		if _, err := pgx.ForEachRow(rows, []any{&row, &cell, &keyed, &text}, func() error {
			of.rows[row] = text
			of.cells[cell] = append(of.cells[cell], row)
			if keyed {
				of.keyed[row] = true
			}
			return nil
		}); err != nil {
			h.t.Fatal(err)
		}
		all[table] = of
	}
	return all
}

// follows compares what readers see with the version before: rows stay as they are, cells neither grow
// nor shrink, but go as wholes.
func (h *hospital) follows(before map[string]shownTable) map[string]shownTable {
	h.t.Helper()
	return h.followsIn("release", before)
}

func (h *hospital) followsIn(release string, before map[string]shownTable) map[string]shownTable {
	h.t.Helper()
	now := h.versionsIn(release)
	for table, was := range before {
		is := now[table]
		for cell, rows := range was.cells {
			stayed := slices.DeleteFunc(slices.Clone(rows), func(row int64) bool { return is.rows[row] == "" })
			if len(stayed) > 0 && (len(stayed) < len(rows) || len(is.cells[cell]) != len(rows)) {
				h.t.Errorf("%s: cell %d had %d rows, of which %d are left among %d", table, cell, len(rows), len(stayed), len(is.cells[cell]))
			}
			for _, row := range stayed {
				if is.rows[row] != was.rows[row] {
					h.t.Errorf("%s: row %d changed from %s to %s", table, row, was.rows[row], is.rows[row])
				}
			}
		}
	}
	if h.t.Failed() {
		h.t.FailNow()
	}
	return now
}

// TestGuardedGroupRestarts: what a new session takes over is what the one before had.
func TestGuardedGroupRestarts(t *testing.T) {
	t.Parallel()
	const patients = 120
	// Nothing is published for the time that has passed.
	h := newHospitalWith(t, pgtest.Shared(t), "1/1y:3", catalog.Updates{Mode: catalog.Guarded, Rows: 3}, patients)
	s, stop := h.run()
	h.inStep(s)
	for round := range 4 {
		for range 30 {
			h.changeHospital(patients)
		}
		if round == 2 { // rows of all tables are noted, and not published, while one is halted
			h.exec("ALTER TABLE visits RENAME ward TO other")
			await(t, "visits are halted", func() bool {
				return s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}].State == Halted
			})
			h.exec("DELETE FROM patients WHERE patient_id % 7 = 3")
			h.exec("INSERT INTO patients SELECT n, 'back', date '1960-01-01' + n, 'f', 'A' FROM generate_series(3, 60, 7) n")
			h.exec("ALTER TABLE visits RENAME other TO ward")
		}
		h.inStep(s)
		before := h.figuresInStep(s)
		seen := h.versions()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = h.run()
		h.inStep(s)
		h.checkRelease()
		if after := h.figuresInStep(s); after != before {
			t.Errorf("%s after a restart, %s before", after, before)
		}
		if now := h.versions(); !reflect.DeepEqual(now, seen) {
			t.Error("a restart changes what readers see")
		}
	}
}

// TestGuardedGroupReturnsAtOnce: what is deleted and inserted again in one transaction stands for itself.
func TestGuardedGroupReturnsAtOnce(t *testing.T) {
	t.Parallel()
	h := guardedHospital(t, "1/1y:3", 60)
	s, stop := h.run()
	h.inStep(s)
	for _, c := range []struct{ table, some string }{{"visits", "visit_id % 4 = 1"}, {"patients", "patient_id % 5 = 2"}, {"drugs", "dose % 3 = 1"}} {
		h.exec(fmt.Sprintf("CREATE TEMP TABLE gone AS SELECT * FROM %[1]s WHERE %[2]s; DELETE FROM %[1]s WHERE %[2]s; INSERT INTO %[1]s SELECT * FROM gone; DROP TABLE gone", c.table, c.some))
		h.inStep(s)
		h.checkRelease()
		if stale := s.Status().Tables[catalog.Name{Schema: "public", Relation: c.table}].Stale; stale == 0 {
			t.Errorf("no row of %s has come back", c.table)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// TestFewPersonsOutlastARestart: too few persons for a class wait, over a restart, too, until there are enough.
func TestFewPersonsOutlastARestart(t *testing.T) {
	t.Parallel()
	h := guardedHospital(t, "1/1y:3", 8)
	h.exec("INSERT INTO drugs VALUES (gen_random_uuid(), 987654, 1, 'of no visit')")
	s, stop := h.run()
	patients := catalog.Name{Schema: "public", Relation: "patients"}
	waiting := func() int { return s.Status().Tables[patients].Waiting }
	await(t, "8 patients wait", func() bool { return waiting() == 8 })
	for range 2 {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = h.run()
		await(t, "8 patients wait after a restart", func() bool { return s.Status().Tables[patients].State == Published && waiting() == 8 })
	}
	h.exec("INSERT INTO patients SELECT n, 'new', date '1960-01-01' + n, 'f', 'A' FROM generate_series(1001, 1030) n")
	await(t, "all patients are published", func() bool { return waiting() == 0 && s.Status().Tables[patients].Withheld == 0 })
	h.checkRelease()
	if n := scanned[int](h.bench, "SELECT count(*)::int FROM kproxy_release_public.patients"); n != 38 {
		t.Errorf("%d patients are published", n)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// TestSpilledBeforeTheFirstRelease: what a large transaction brings while not all tables are there yet is
// published with them, and stands at its rows.
func TestSpilledBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	h := guardedHospital(t, "1/1y:3", 60)
	var publications atomic.Int32
	var spilled atomic.Bool
	hold := make(chan struct{})
	h.config.Failpoint = func(name string) {
		switch {
		case name == FailBeforePublication && publications.Add(1) == 3:
			<-hold
		case name == FailSpilled:
			spilled.Store(true)
		}
	}
	s, err := New(h.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	await(t, "two tables are there", func() bool { return publications.Load() == 3 })
	h.exec(fmt.Sprintf("INSERT INTO patients SELECT n, 'new', date '1930-01-01' + n %% 20000, 'f', 'A' FROM generate_series(1001, 1000 + %d) n", spillRows+500))
	await(t, "the transaction is spilled", spilled.Load)
	close(hold)
	await(t, "all tables are published", func() bool {
		for _, name := range []string{"patients", "visits", "drugs"} {
			if of := s.Status().Tables[catalog.Name{Schema: "public", Relation: name}]; of.State != Published || of.Preparing || of.Records == 0 {
				return false
			}
		}
		return true
	})
	h.inStep(s)
	h.checkRelease()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestWeightsFollowGhosts: weights leave out those who have left, stay as they are while fewer than k more do, over
// a restart, too, and go with the rows.
func TestWeightsFollowGhosts(t *testing.T) {
	t.Parallel()
	h := guardedHospital(t, "1/1y:3", 60)
	s, stop := h.run()
	h.inStep(s)
	weight := func() float64 {
		return scanned[float64](h.bench, "SELECT coalesce(round(sum(kproxy_weight::numeric), 3), 0)::float8 FROM kproxy_release_public.patients")
	}
	if w := weight(); w != 60 {
		t.Errorf("60 patients weigh %g", w)
	}
	h.exec("DELETE FROM patients WHERE patient_id % 2 = 0")
	h.inStep(s)
	before := weight()
	if before < 29.9 || before > 40 {
		t.Errorf("30 patients are left and weigh %g", before)
	}
	for i := range 2 {
		if i > 0 {
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, stop = h.run()
		}
		h.exec(fmt.Sprintf("DELETE FROM patients WHERE patient_id = %d", 1+2*i))
		h.inStep(s)
		if w := weight(); w != before {
			t.Errorf("patients weigh %g, and %g after one has left", before, w)
		}
	}
	h.exec("DELETE FROM patients")
	h.inStep(s)
	h.checkRelease()
	generation := h.generationOf("patients")
	if n := scanned[int](h.bench, fmt.Sprintf("SELECT count(*)::int FROM kproxy_store.cellweight_%d WHERE kproxy_class <> 0 OR kproxy_weight <> 1", generation)); n != 0 || weight() != 0 {
		t.Errorf("%d weights are left of nobody", n)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// figuresInStep are the figures once the row by which inStep waits has gone from them, too.
func (h *hospital) figuresInStep(s *Syncer) string {
	h.t.Helper()
	visits := scanned[int](h.bench, "SELECT count(*)::int FROM visits")
	await(h.t, "the figures are in step", func() bool {
		return s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}].Records == visits
	})
	return h.figures(s)
}

// figures are those of all tables.
func (h *hospital) figures(s *Syncer) string {
	tables := s.Status().Tables
	var text []string
	for _, name := range slices.SortedFunc(maps.Keys(tables), func(a, b catalog.Name) int { return strings.Compare(a.String(), b.String()) }) {
		t := tables[name]
		text = append(text, fmt.Sprintf("%s: %d records, %d classes, %d withheld, %d waiting, %d stale, %d ghosts, %d expired", name, t.Records, t.Classes, t.Withheld, t.Waiting, t.Stale, t.Ghosts, t.Expired))
	}
	return strings.Join(text, "; ")
}

// TestGuardedGroupKeepsLineage: what readers have seen is not published in other classes before the
// operator asks for it.
func TestGuardedGroupKeepsLineage(t *testing.T) {
	t.Parallel()
	h := guardedHospital(t, "1/1y:3", 60)
	s, stop := h.run()
	h.inStep(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	seen := h.seen()
	h.knows = "1:3"
	h.config.Tables = h.linkedPublications(h.config.Reader)
	// What was asked for outlasts a session that ends when one table has joined.
	var cut atomic.Bool
	h.config.Failpoint = func(name string) {
		if name == FailAfterJoin && cut.CompareAndSwap(true, false) {
			h.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", h.config.Owner.User)
		}
	}
	s, err := New(h.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	all := func(is func(TableStatus) bool) func() bool {
		return func() bool {
			tables := s.Status().Tables
			return len(tables) == 3 && !slices.ContainsFunc(slices.Collect(maps.Values(tables)), func(t TableStatus) bool { return !is(t) })
		}
	}
	await(t, "all tables are halted", all(func(t TableStatus) bool {
		return t.State == Halted && strings.Contains(t.Problem, "could single people out") && strings.Contains(t.Fix, "--new-lineage")
	}))
	if now := h.seen(); now != seen {
		t.Error("tables are published anew although nobody has asked for it")
	}
	cut.Store(true)
	if err := Rebuild(t.Context(), h.config.Owner, h.config.Slot, []catalog.Name{{Schema: "public", Relation: "patients"}}); err != nil { // which join first
		t.Fatal(err)
	}
	await(t, "the connections are cut", func() bool { return !cut.Load() })
	await(t, "all tables are published", all(func(t TableStatus) bool { return t.State == Published && !t.Preparing }))
	h.inStep(s)
	h.checkRelease()
	if n := scanned[int](h.bench, "SELECT count(*)::int FROM pg_class WHERE relnamespace = 'kproxy_store'::regnamespace AND relkind = 'r' AND relname ~ '^cellweight_'"); n != 3 {
		t.Errorf("3 tables have %d tables of weights", n)
	}
}

// TestVerifierRefusesSpoiledGuardedTables: each promise about guarded tables is broken by a change of the
// store that breaks it.
func TestVerifierRefusesSpoiledGuardedTables(t *testing.T) {
	t.Parallel()
	const patients = 80
	h := guardedHospital(t, "1/1y:3", patients)
	s, stop := h.run()
	h.inStep(s)
	h.exec("DELETE FROM patients WHERE patient_id % 9 = 4")
	h.exec("UPDATE visits SET ward = 'moved' WHERE visit_id % 5 = 0")
	h.inStep(s)
	h.checkRelease()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	of := func(kind, table string) string { return storeTable(kind, int64(h.generationOf(table))).SQL() }
	release, records, weights, roots := of("release", "visits"), of("records", "visits"), of("cellweight", "visits"), of("release", "patients")
	const keyed = " WHERE ctid = (SELECT min(ctid) FROM %[1]s WHERE kproxy_persons IS NOT NULL)"
	for _, c := range []struct{ table, spoil, promise string }{
		{release, "UPDATE %[1]s SET kproxy_row = kproxy_row + 1000000" + keyed, "every published record has a row"},
		{release, "UPDATE %[1]s SET kproxy_row = (SELECT max(kproxy_row) FROM %[1]s) WHERE kproxy_row = (SELECT min(kproxy_row) FROM %[1]s WHERE kproxy_persons IS NOT NULL)", "every row has a number of its own, and a class"},
		{records, "UPDATE %[1]s SET kproxy_row = (SELECT max(kproxy_row) FROM %[1]s) WHERE kproxy_row = (SELECT min(kproxy_row) FROM %[1]s)", "no two records share a row"},
		{records, "UPDATE %[1]s SET kproxy_expired = true WHERE kproxy_row = (SELECT min(kproxy_row) FROM %[1]s)", "no record is published that is withheld or waits"},
		{records, "UPDATE %[1]s SET kproxy_stale = NULL, kproxy_row = NULL WHERE kproxy_row = (SELECT min(kproxy_row) FROM %[1]s)", "only published records are published as they were"},
		{weights, "INSERT INTO %[1]s SELECT min(kproxy_class), 0.5, 0, 0 FROM " + release + " ON CONFLICT (kproxy_class) DO UPDATE SET kproxy_weight = 0.5", "every class has one weight, which tells of no more rows than stand for nobody or have changed"},
		{weights, "INSERT INTO %[1]s SELECT DISTINCT kproxy_class, 0.5::real, 0, 0 FROM " + release + " ON CONFLICT (kproxy_class) DO UPDATE SET kproxy_weight = 0.5", "every class has one weight, which tells of no more rows than stand for nobody or have changed"},
		{weights, "INSERT INTO %[1]s VALUES (1000000, 1, 0, 0)", "every weight is that of a class"},
		{roots, "UPDATE %[1]s SET kproxy_person = kproxy_person + 1", "the persons of a class are numbered from 0 on"},
		{release, "UPDATE %[1]s SET kproxy_persons = NULL" + keyed, "rows have keys where their persons are told, and only there"},
		{release, "UPDATE %[1]s SET kproxy_window = kproxy_window + 1" + keyed, "a class is one of persons of one class in one window"},
		{release, "UPDATE %[1]s SET kproxy_window = kproxy_window + 1", "rows lie in the windows that they are marked with"},
		{release, "UPDATE %[1]s SET kproxy_person = kproxy_person + 1 WHERE kproxy_persons IS NOT NULL", "a row with keys belongs to a row of the same person"},
		{release, "UPDATE %[1]s l SET kproxy_parent = o.kproxy_row, kproxy_person = o.kproxy_person FROM " + roots + " o" +
			" WHERE o.kproxy_persons = l.kproxy_persons AND o.kproxy_person = (l.kproxy_person + 1) %% 3", "a row with keys belongs to that of the record that its record belongs to"},
		{release, "DELETE FROM %[1]s WHERE kproxy_class = (SELECT min(kproxy_class) FROM %[1]s) AND ctid > (SELECT min(ctid) FROM %[1]s WHERE kproxy_class = (SELECT min(kproxy_class) FROM %[1]s))", "4 persons have a row with keys that shows the same"},
		{"kproxy_store.departed", "UPDATE %[1]s SET row = row + 1000000", "every key of who has left leads to a row of nobody"},
		{"kproxy_store.generation", "UPDATE %[1]s SET ghosts = ghosts + 1", "the store tells how fresh the release is"},
	} {
		h.exec("CREATE TABLE kept AS TABLE " + c.table)
		h.exec(fmt.Sprintf(c.spoil, c.table))
		if broken := h.brokenPromises(); !slices.Contains(broken, c.promise) {
			t.Errorf("%s breaks %q, and not %q", fmt.Sprintf(c.spoil, c.table), broken, c.promise)
		}
		h.exec("DELETE FROM " + c.table + "; INSERT INTO " + c.table + " SELECT * FROM kept; DROP TABLE kept")
	}
	h.checkRelease()
}

// brokenPromises are the checks that fail for any table.
func (h *hospital) brokenPromises() (broken []string) {
	h.t.Helper()
	report, err := verify.Run(h.t.Context(), h.connect(), h.config.Tables, verify.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, table := range report {
		for _, check := range table.Checks {
			if !check.Passed {
				broken = append(broken, check.Name)
			}
		}
	}
	return broken
}
