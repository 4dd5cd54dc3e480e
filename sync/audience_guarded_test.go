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
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// coarserReaders keep all versions of what the table's own readers and two audiences see of a guarded table,
// and know whose rows these are.
type coarserReaders struct {
	b        *bench
	names    []string             // of the releases
	of       []map[int64][]string // by person, of each release and version: the class in which it shows the person, and what it shows
	persons  map[int64]int64      // by row
	versions int
}

func newGuardedAudienceBench(t *testing.T, changes ...func(people *catalog.TablePolicy)) (*bench, *coarserReaders) {
	t.Helper()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.exec(sourceTables)
	policy := audiencePolicy(scanned[string](b, "SELECT current_database()"))
	policy.Tables[0].Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: 1}
	for _, change := range changes {
		change(&policy.Tables[0])
	}
	r := &coarserReaders{b: b, names: []string{"release", "release_partners", "release_public"}, persons: map[int64]int64{}}
	for range r.names {
		r.of = append(r.of, map[int64][]string{})
	}
	return b.provide(server, policy), r
}

// look keeps what is shown now.
func (r *coarserReaders) look() {
	b := r.b
	b.t.Helper()
	generation := int64(b.generationOf("people"))
	each := func(sql string, take func(row, class int64, illness string)) {
		rows, err := b.store().Query(b.t.Context(), sql)
		if err != nil {
			b.t.Fatal(err)
		}
		var row, class int64
		var illness string
		if _, err := pgx.ForEachRow(rows, []any{&row, &class, &illness}, func() error { take(row, class, illness); return nil }); err != nil {
			b.t.Fatal(err)
		}
	}
	each("SELECT kproxy_row, id, '' FROM "+storeTable("records", generation).SQL()+" WHERE kproxy_row IS NOT NULL", func(row, id int64, _ string) { r.persons[row] = id })
	for i, name := range r.names {
		each("SELECT kproxy_row, kproxy_class, coalesce(illness, '') FROM "+storeTable(name, generation).SQL(), func(row, class int64, illness string) {
			person, known := r.persons[row]
			if !known {
				b.t.Fatalf("nobody has been seen in row %d", row)
			}
			history := r.of[i][person]
			for len(history) <= r.versions {
				history = append(history, "")
			}
			history[r.versions] = fmt.Sprintf("%d %s", class, illness)
			r.of[i][person] = history
		})
	}
	r.versions++
}

// classesOf is in which class a release has shown a person, in each version.
func (r *coarserReaders) classesOf(release int, person int64) string {
	var classes []string
	for version := range r.versions {
		class := "-"
		if history := r.of[release][person]; version < len(history) && history[version] != "" {
			class, _, _ = strings.Cut(history[version], " ")
		}
		classes = append(classes, class)
	}
	return strings.Join(classes, " ")
}

// check holds each reader by itself to the constraints, and those who pool all releases to those of the finest:
// persons who are in the same classes in all versions cannot be told apart.
func (r *coarserReaders) check() {
	r.b.t.Helper()
	least, values := []int{testK, 3 * testK, 9 * testK}, []int{2, 2, 3}
	for i, name := range r.names {
		atoms := map[string][]int64{}
		for person := range r.of[i] {
			key := r.classesOf(i, person)
			atoms[key] = append(atoms[key], person)
		}
		r.checkAtoms(name, atoms, i, least[i], values[i])
	}
	pooled := map[string][]int64{}
	for person := range r.of[0] {
		key := r.classesOf(0, person) + " | " + r.classesOf(1, person) + " | " + r.classesOf(2, person)
		pooled[key] = append(pooled[key], person)
	}
	r.checkAtoms("all releases", pooled, 0, least[0], values[0])
}

func (r *coarserReaders) checkAtoms(name string, atoms map[string][]int64, release, least, values int) {
	r.b.t.Helper()
	for key, persons := range atoms {
		if len(persons) < least {
			r.b.t.Errorf("%s: %d persons have the history %s", name, len(persons), key)
		}
		for version := range r.versions {
			shown := map[string]bool{}
			for _, person := range persons {
				if history := r.of[release][person]; version < len(history) && history[version] != "" {
					_, illness, _ := strings.Cut(history[version], " ")
					shown[illness] = true
				}
			}
			if len(shown) > 0 && len(shown) < values {
				r.b.t.Errorf("%s: %d persons with the history %s have the illnesses %v", name, len(persons), key, slices.Collect(maps.Keys(shown)))
			}
		}
	}
}

// TestGuardedAudiences: a guarded table's audiences keep their promises over all versions, with every kind of
// change, restarts and a TRUNCATE, each alone and all together.
func TestGuardedAudiences(t *testing.T) {
	t.Parallel()
	b, readers := newGuardedAudienceBench(t)
	random := rand.New(rand.NewPCG(11, 12))
	b.insertPeople(random, 1, 400)
	s, stop := b.run()
	look := func() {
		b.caughtUp(s)
		b.checkStore(s)
		readers.look()
	}
	look()
	name := catalog.Name{Schema: "public", Relation: "people"}
	if status := s.Status().Tables[name].Audiences; status["partners"].Classes == 0 || status["public"].Classes == 0 || status["public"].Reason != "" {
		t.Fatalf("the status is %+v", status)
	}
	columns := scanned[string](b, "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = 'kproxy_audience_public_public.people'::regclass")
	if strings.Contains(columns, "zip") || strings.Contains(columns, "illness") || !strings.Contains(columns, "age kproxy_class kproxy_weight") && !strings.Contains(columns, "kproxy_class kproxy_weight") {
		t.Errorf("the public sees %s", columns)
	}
	next, gone := 1000, 0
	rows := scanned[int](b, "SELECT count(*) FROM kproxy_audience_partners_public.people")
	for round := range 14 {
		for range random.IntN(3) {
			from := random.IntN(90)
			b.exec(fmt.Sprintf([]string{
				"DELETE FROM people WHERE age BETWEEN %d AND %d",
				"UPDATE people SET age = age + 3 WHERE age BETWEEN %d AND %d",
				"UPDATE people SET note = note || 'x' WHERE age BETWEEN %d AND %d",
				"UPDATE people SET illness = 'illness' || (id * 7 + 1) %% 5 WHERE age BETWEEN %d AND %d",
			}[random.IntN(4)], from, from+random.IntN(40)))
		}
		if round%2 == 0 {
			n := random.IntN(60)
			b.insertPeople(random, next, next+n)
			next += n
		}
		if round == 9 {
			b.exec("UPDATE people SET note = 'all', zip = '77' || zip")
		}
		if round == 11 { // whole groups
			b.exec("DELETE FROM people WHERE age > 25")
		}
		look()
		if round%4 == 2 {
			before := readers.versions
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, stop = b.run()
			look()
			for i := range readers.names {
				for person := range readers.of[i] {
					if h := readers.of[i][person]; len(h) >= before && (len(h) == before || h[before] != h[before-1]) && h[before-1] != "" {
						t.Fatalf("a restart changes what release %d shows of %d", i, person)
					}
				}
			}
		}
		now := scanned[int](b, "SELECT count(*) FROM kproxy_audience_partners_public.people")
		gone, rows = gone+max(0, rows-now), now
	}
	readers.check()
	if gone == 0 {
		t.Error("no row of an audience has vanished")
	}
	b.exec("TRUNCATE people")
	look()
	if n := scanned[int](b, "SELECT (SELECT count(*) FROM kproxy_audience_partners_public.people) + (SELECT count(*) FROM kproxy_audience_public_public.people)"); n > 0 {
		t.Errorf("%d rows are shown of an empty table", n)
	}
	b.insertPeople(random, next, next+200)
	look()
	readers.check()
	if scanned[int](b, "SELECT count(*) FROM kproxy_audience_public_public.people") == 0 {
		t.Error("the public sees nothing")
	}
}

// TestVerifierRefusesSpoiledGuardedAudiences: each of several things that could go wrong with what an audience sees is
// found, and the table's own release is not blamed.
func TestVerifierRefusesSpoiledGuardedAudiences(t *testing.T) {
	t.Parallel()
	b, _ := newGuardedAudienceBench(t)
	b.insertPeople(rand.New(rand.NewPCG(5, 6)), 1, 300)
	s, stop := b.run()
	b.caughtUp(s)
	b.exec("UPDATE people SET note = 'changed' WHERE age > 20")
	b.caughtUp(s)
	b.checkStore(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	generation := int64(b.generationOf("people"))
	partners, public := storeTable("release_partners", generation).SQL(), storeTable("release_public", generation).SQL()
	for what, c := range map[string]struct{ sql, check string }{
		"a class in two groups": {
			fmt.Sprintf(`UPDATE %[1]s SET kproxy_class = (SELECT max(kproxy_class) FROM %[1]s) WHERE kproxy_row = (SELECT min(kproxy_row) FROM %[1]s WHERE kproxy_class = (SELECT min(kproxy_class) FROM %[1]s))`, partners),
			"classes are unions of the finer ones",
		},
		"a small group": {
			fmt.Sprintf(`DELETE FROM %[1]s WHERE kproxy_class = (SELECT min(kproxy_class) FROM %[1]s) AND kproxy_row NOT IN (SELECT kproxy_row FROM %[1]s WHERE kproxy_class = (SELECT min(kproxy_class) FROM %[1]s) ORDER BY 1 LIMIT 10)`, partners),
			"12-anonymity",
		},
		"a newer value": {
			fmt.Sprintf(`UPDATE %[1]s SET note = 'new' WHERE kproxy_row = (SELECT min(p.kproxy_row) FROM %[1]s p JOIN %[2]s f USING (kproxy_row))`, public, partners),
			"rows that are shown as the finer release shows them have its values",
		},
		"a forgotten class": {
			fmt.Sprintf(`DELETE FROM %s WHERE kproxy_class = (SELECT min(kproxy_class) FROM %s)`, public, public),
			"it is known of every class of the finer release whether it is shown",
		},
		"another group's weight": {
			fmt.Sprintf(`INSERT INTO %s VALUES (4711, 0.5, 3, 3)`, storeTable("cellweight_public", generation).SQL()),
			"every weight is that of a class",
		},
		"a row in place of nothing": {
			fmt.Sprintf(`INSERT INTO %s VALUES (4711, 4712)`, storeTable("parted_public", generation).SQL()),
			"rows that are not shown as the finer release shows them have their place in it",
		},
	} {
		tx, err := b.store().Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if tag, err := tx.Exec(t.Context(), c.sql); err != nil || tag.RowsAffected() == 0 {
			t.Fatalf("%s: %v, %v", what, tag, err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		report, err := verify.Run(t.Context(), connectTo(t, b.store().Config().ConnString()), b.config.Tables, verify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		people := report[slices.IndexFunc(report, func(r verify.TableReport) bool { return r.Table == "public.people" })]
		if slices.ContainsFunc(people.Checks, func(c verify.Check) bool { return !c.Passed }) {
			t.Errorf("%s: the table's own release is refused: %+v", what, people.Checks)
		}
		found := false
		for _, a := range people.Audiences {
			found = found || slices.ContainsFunc(a.Checks, func(of verify.Check) bool { return of.Name == c.check && !of.Passed })
		}
		if !found {
			t.Errorf("%s: it says %+v", what, people.Audiences)
		}
	}
}
