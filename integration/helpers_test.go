package integration

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestHelpers has analysts ask for counts of the hospital by way of the helpers, and holds
// them against the source.
func TestHelpers(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	defer p.end(t, syscall.SIGTERM)
	admin, client := connect(t, s.admin), connect(t, s.url())
	t.Run("ranges", func(t *testing.T) { testOverlaps(t, admin, client) })
	t.Run("labels", func(t *testing.T) { testLabelCounts(t, admin, client) })
	t.Run("names", func(t *testing.T) { testHelperNames(t, client) })
	t.Run("psql", func(t *testing.T) {
		for command, want := range map[string]string{
			`\df kproxy.over*`: "wanted daterange",
			`\dn`:              "kproxy",
			`SELECT "column", k FROM kproxy.describe('patients') WHERE role = 'quasi-identifying' LIMIT 1`:                                  "birth_date | 5",
			`PREPARE q(date) AS SELECT round(sum(kproxy.overlap(birth_date_range, $1, 'infinity'))) FROM patients; EXECUTE q('0001-01-01')`: "600",
			`EXPLAIN SELECT count(*) FROM patients WHERE kproxy.possible(birth_date_range, '1980-01-01', '1990-01-01')`:                     "birth_date_range &&",
		} {
			if o := run(t, "", nil, "psql", "-X", "-c", command, s.url()).must(t); !strings.Contains(o.stdout, want) || strings.Contains(o.stdout, s.owner) {
				t.Errorf("%s:\n%s", command, o.stdout)
			}
		}
	})
	t.Run("notices", func(t *testing.T) { testHelperNotices(t, s) })
	t.Run("another policy", func(t *testing.T) {
		k := func() int {
			conn := connect(t, s.url())
			defer conn.Close(context.Background())
			return scalar[int](t, conn, "SELECT coalesce(max(k), 0) FROM kproxy.tables() WHERE \"table\" = 'patients'")
		}
		eventually(t, "k is 5", func() bool { return k() == 5 })
		s.replace(t, "- k: 5", "- k: 7")
		s.kproxy(t, "reload").must(t)
		eventually(t, "k is 7", func() bool { return k() == 7 })
		execute(t, admin, "ALTER TABLE patients RENAME COLUMN occupation TO job")
		eventually(t, "a withdrawn table is not described", func() bool { return k() == 0 })
	})
}

// testHelperNotices: who mistypes a name is told so, and of what is not published no more than
// of what there is not.
func testHelperNotices(t *testing.T, s *site) {
	for command, want := range map[string]string{
		"SELECT count(*) FROM kproxy.describe('patient')":                                                    `NOTICE:  no table "patient" is published`,
		"SELECT count(*) FROM kproxy.describe('secrets')":                                                    `NOTICE:  no table "secrets" is published`,
		"SELECT count(*) FROM kproxy.labels('patients', 'occupaton')":                                        `no column "occupaton" with a taxonomy or an order is published in a table "patients"`,
		"SELECT count(*) FROM kproxy.labels('patients', 'name', 'Ann')":                                      `no column "name" with a taxonomy`,
		"SELECT count(*) FROM kproxy.describe('patients')":                                                   "",
		"SELECT count(*) FROM kproxy.labels('patients', 'occupation')":                                       "",
		"SELECT count(*) FROM kproxy.describe('public.patients'), labels('patients', 'occupation', 'nurse')": "",
	} {
		o := run(t, "", nil, "psql", "-X", "-c", command, s.url()).must(t)
		if want == "" && o.stderr != "" || !strings.Contains(o.stderr, want) || want != "" && !strings.Contains(o.stderr, "HINT:") {
			t.Errorf("%s tells\n%s", command, o.stderr)
		}
	}
}

// testOverlaps: the truth lies between what is certain and what is possible, and near to
// what is expected.
func testOverlaps(t *testing.T, admin, client *pgx.Conn) {
	random := rand.New(rand.NewPCG(8, 3))
	off := 0.0
	for range 40 {
		low := time.Date(1930+random.IntN(70), time.Month(1+random.IntN(12)), 1+random.IntN(28), 0, 0, 0, 0, time.UTC)
		high := low.AddDate(1+random.IntN(20), 0, 0)
		truth := scalar[int](t, admin, "SELECT count(*) FROM patients WHERE birth_date >= $1 AND birth_date < $2", low, high)
		var expected float64
		var certain, possible int
		err := client.QueryRow(t.Context(), `SELECT sum(kproxy.overlap(birth_date_range, $1, $2)), count(*) FILTER (WHERE kproxy.certain(birth_date_range, $1, $2)),
			count(*) FILTER (WHERE kproxy.possible(birth_date_range, $1, $2)) FROM patients`, low, high).Scan(&expected, &certain, &possible)
		if err != nil {
			t.Fatal(err)
		}
		if certain > truth || truth > possible || expected < float64(certain) || expected > float64(possible) {
			t.Errorf("from %s to %s there are %d: %d are certain, %.1f expected, %d possible", low, high, truth, certain, expected, possible)
		}
		off += math.Abs(expected - float64(truth))
	}
	if off /= 40; off > 0.1*patients {
		t.Errorf("expected counts are off by %.1f of %d patients on average", off, patients)
	}
}

func testLabelCounts(t *testing.T, admin, client *pgx.Conn) {
	for _, c := range []struct{ source, helper string }{
		{"postcode LIKE '101%'", "(postcode, '101*')"},
		{"postcode = '10115'", "(postcode, '10115')"},
		{"sex = 'F'", "(sex, 'F')"},
		{"occupation = 'nurse'", "(occupation, 'nurse', 'patients', 'occupation')"},
		{"occupation IN (SELECT unnest($1::text[]))", "(occupation, 'care and teaching', 'public.patients', 'occupation')"},
	} {
		var arguments []any
		if strings.Contains(c.source, "$1") {
			rows, err := client.Query(t.Context(), "SELECT label FROM kproxy.labels('patients', 'occupation', 'care and teaching') WHERE certain")
			if err != nil {
				t.Fatal(err)
			}
			labels, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil || len(labels) < 3 {
				t.Fatalf("labels %v: %v", labels, err)
			}
			arguments = append(arguments, labels)
		}
		truth := scalar[int](t, admin, "SELECT count(*) FROM patients WHERE "+c.source, arguments...)
		var expected float64
		var certain, possible int
		err := client.QueryRow(t.Context(), fmt.Sprintf(`SELECT coalesce(sum(kproxy.overlap%[1]s), 0), count(*) FILTER (WHERE kproxy.certain%[1]s),
			count(*) FILTER (WHERE kproxy.possible%[1]s) FROM patients`, c.helper)).Scan(&expected, &certain, &possible)
		if err != nil {
			t.Fatal(err)
		}
		if certain > truth || truth > possible || expected > float64(possible)+1e-6 {
			t.Errorf("%s there are %d: %d are certain, %.1f expected, %d possible", c.source, truth, certain, expected, possible)
		}
	}
}

// testHelperNames: helpers come last on the search path, and nothing else of their schema,
// or of the one behind it, can be reached.
func testHelperNames(t *testing.T, client *pgx.Conn) {
	for _, sql := range []string{
		"SELECT overlap(birth_date_range, '1980-01-01', '1990-01-01') FROM patients LIMIT 1",
		`SELECT count(*) FROM describe('patients'::regclass)`,
		`SELECT kproxy.describe('patients')`,
		`SET search_path = kproxy, public; SELECT count(*) FROM tables()`,
		"SELECT sum(overlap(r, low, high)) FROM (SELECT birth_date_range AS r, date '1980-01-01' AS low, date '1990-01-01' AS high FROM patients) p",
		"SELECT avg(kproxy.overlap(p.occupation, l.label, 'patients', 'occupation')) FROM (SELECT occupation FROM patients LIMIT 20) p, kproxy.labels('patients', 'occupation') l",
	} {
		results, err := client.PgConn().Exec(t.Context(), sql).ReadAll()
		if err != nil || len(results[len(results)-1].Rows) == 0 {
			t.Errorf("%s: no rows, or %v", sql, err)
		}
	}
	for _, sql := range []string{
		"SELECT * FROM kproxy.described", "SELECT * FROM kproxy_catalog.described", "SELECT * FROM kproxy_catalog.label", "SELECT * FROM kproxy_store.description",
		"SELECT kproxy_catalog.meaning('patients', 'occupation', 'nurse')", "SELECT kproxy.meaning('patients', 'occupation', 'nurse')",
		"SELECT ('a'::text).certain", "SELECT kproxy.overlap(name, 'a') FROM patients", "CREATE FUNCTION kproxy.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"SELECT 'kproxy.described'::regclass", "TABLE kproxy.label", "SELECT * FROM kproxy.describe('kproxy_store.records_1'::regclass)",
	} {
		if _, err := client.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s is answered", sql)
		}
	}
	for _, sql := range []string{
		"SELECT count(*) FROM kproxy.describe('icd10')", "SELECT count(*) FROM kproxy.describe('secrets')", "SELECT count(*) FROM kproxy.describe('kproxy_store.records_1')",
		"SELECT count(*) FROM pg_class WHERE relname IN ('described', 'described_column', 'described_key', 'label', 'description')",
		"SELECT count(*) FROM information_schema.tables WHERE table_schema LIKE 'kproxy%'",
		"SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE nspname LIKE 'kproxy%' AND (prosrc <> '' OR nspname <> 'kproxy')",
	} {
		if n := scalar[int](t, client, sql); n != 0 {
			t.Errorf("%s: %d", sql, n)
		}
	}
}

// TestGuardedTablesAreDescribedByTheDay: no time is finer, and nothing tells of who waits.
func TestGuardedTablesAreDescribedByTheDay(t *testing.T) {
	t.Parallel()
	o := folkSite(siteOptions{}, 5)
	o.tables = strings.Replace(o.tables, "    updates: immediate\n", "    "+guardedUpdates+"\n", 1)
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	defer s.serve(t).end(t, syscall.SIGTERM)
	client := connect(t, s.url())
	var published, updates, freshness string
	eventually(t, "folk is described", func() bool {
		err := client.QueryRow(t.Context(), `SELECT to_char(published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), updates, freshness FROM kproxy.tables()`).Scan(&published, &updates, &freshness)
		return err == nil
	})
	today := time.Now().UTC().Format(time.DateOnly)
	if published != today+" 00:00:00.000000" || updates != "guarded" || freshness != "batches, the newest of "+today {
		t.Errorf("published at %s, %s, %s", published, updates, freshness)
	}
	var weighted, rows float64
	err := client.QueryRow(t.Context(), "SELECT sum(kproxy.overlap(age_range, 0, 200) * kproxy_weight), sum(kproxy_weight) FROM folk WHERE age_range IS NOT NULL").Scan(&weighted, &rows)
	if err != nil || math.Abs(weighted-rows) > 1e-6 {
		t.Errorf("of %v persons %v are of some age: %v", rows, weighted, err)
	}
	if n := scalar[int](t, client, `SELECT count(*) FROM kproxy.describe('folk') WHERE role IS NULL AND "column" IN ('kproxy_class', 'kproxy_weight')`); n != 2 {
		t.Errorf("%d of kproxy's own columns are described", n)
	}
}

// TestCountsKnowHowFarTheyAreOff deletes persons, some of a class and then many, and compares what kproxy.counts
// says with the source.
func TestCountsKnowHowFarTheyAreOff(t *testing.T) {
	t.Parallel()
	o := folkSite(siteOptions{}, 5)
	o.tables = strings.Replace(o.tables, "    updates: immediate\n", "    "+guardedUpdates+"\n", 1)
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	defer s.serve(t).end(t, syscall.SIGTERM)
	client := connect(t, s.url())
	eventually(t, "folk is described", func() bool {
		return scalar[int](t, client, "SELECT count(*) FROM kproxy.counts('folk')") == 1
	})
	admin := connect(t, s.admin)
	for gone := 1; gone < 120; gone += 1 + gone/3 {
		execute(t, admin, "DELETE FROM folk WHERE id IN (SELECT id FROM folk ORDER BY md5(id::text) LIMIT $1)", 1+gone/3)
		eventually(t, "the deletions are in the store", func() bool {
			return scalar[int](t, admin, "SELECT count(*) FROM folk") == scalar[int](t, admin, "SELECT records FROM (SELECT count(*) AS records FROM kproxy_store.records_1) r")
		})
		if n := scalar[int](t, client, "SELECT off_by FROM kproxy.counts('public.folk'::regclass)"); n != 3 {
			t.Fatalf("off by %d at most", n)
		}
		var rows, counted, offBy, there, untold int // in one snapshot: batches are published meanwhile
		const figures = "SELECT c.*, (SELECT count(*) FROM kproxy_store.release_1) - ghosts, untold FROM kproxy.counts('public.folk') c, kproxy_store.generation"
		if err := admin.QueryRow(t.Context(), figures).Scan(&rows, &counted, &offBy, &there, &untold); err != nil {
			t.Fatal(err)
		}
		if offBy != 3 || counted > rows || max(counted-there, there-counted) > offBy || untold != counted-there {
			t.Fatalf("%d rows, %d of them counted, %d untold, off by %d at most; there are %d", rows, counted, untold, offBy, there)
		}
	}
	if n := scalar[int](t, client, "SELECT count(*) FROM kproxy.counts('secrets')"); n != 0 {
		t.Errorf("a table that is not published has %d counts", n)
	}
}
