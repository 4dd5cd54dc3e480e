package rewrite

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// text is the SQL that is sent for a text in a session that has done nothing yet.
func (r *Rewriter) text(sql string) (string, error) {
	statement, err := r.Rewrite(sql, nil)
	if err != nil {
		return "", err
	}
	return statement.SQL, nil
}

func TestCacheIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	r := New(Options{CacheBytes: limit})
	c := r.current.Load().cache
	for i := range 3000 {
		// Of very different lengths, some refused.
		sql := fmt.Sprintf("SELECT %d, '%s'", i, strings.Repeat("x", i%700))
		if i%3 == 0 {
			sql = fmt.Sprintf("SELECT * FROM nowhere%d", i)
		}
		_, _ = r.text(sql)
		if c.bytes > limit {
			t.Fatalf("after %d texts the cache holds %d bytes", i+1, c.bytes)
		}
	}
	held := 0
	for _, key := range c.lru.Keys() {
		o, _ := c.lru.Peek(key)
		held += entryBytes(key, o)
	}
	if held != c.bytes {
		t.Errorf("the cache counts %d bytes and holds %d", c.bytes, held)
	}
	if c.lru.Len() == 0 {
		t.Error("nothing is cached")
	}
}

func TestLongTextsAreNotCached(t *testing.T) {
	t.Parallel()
	r := New(Options{CacheBytes: 16 << 10})
	_, _ = r.text("SELECT '" + strings.Repeat("x", 2000) + "'")
	if n := r.current.Load().cache.lru.Len(); n != 0 {
		t.Errorf("%d entries", n)
	}
}

func TestCacheGivesTheSameOutcome(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, sql := range []string{"SELECT * FROM patients", "SELECT * FROM secrets", ""} {
		first := render(r.text(sql))
		if _, hit := r.current.Load().cache.get("", sql); !hit {
			t.Errorf("%q is not cached", sql)
		}
		if second := render(r.text(sql)); second != first {
			t.Errorf("%q: %s, then %s", sql, first, second)
		}
	}
}

func TestSnapshotReplacesOutcomes(t *testing.T) {
	t.Parallel()
	const sql = "SELECT * FROM patients"
	r := New(Options{})
	if _, err := r.text(sql); err == nil {
		t.Fatal("a table is known before any snapshot")
	}
	r.SetSnapshot(clinic())
	if _, err := r.text(sql); err != nil {
		t.Fatalf("published: %v", err)
	}
	name := catalog.Name{Schema: "public", Relation: "patients"}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: name}}}
	r.SetSnapshot(catalog.NewSnapshot(policy, []catalog.Relation{{Name: name}}, map[catalog.Name]string{name: "because"}))
	_, err := r.text(sql)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.SQLState() != stateNotPublished || refusal.Hint() != "because" {
		t.Errorf("withdrawn: %v", err)
	}
}

// TestReads names the tables that a text reads, also from the cache.
func TestReads(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for sql, want := range map[string]string{
		"SELECT 1":               "[]",
		"SELECT * FROM patients": "[public.patients]",
		"SELECT * FROM patients a JOIN public.patients b USING (age), wards": "[public.patients public.wards]",
		"WITH patients AS (SELECT 1) SELECT * FROM patients":                 "[]",
		"PREPARE p AS SELECT (SELECT count(*) FROM hospital.visits)":         "[hospital.visits]",
		"SELECT 1; SELECT age FROM patients":                                 "[public.patients]",
		"SELECT relname FROM pg_class":                                       "[]",
	} {
		for range 2 {
			if statement, err := r.Rewrite(sql, nil); err != nil || fmt.Sprint(statement.Reads) != want {
				t.Errorf("%s: %+v, %v; want to read %s", sql, statement, err, want)
			}
		}
	}
	if statement, err := r.Rewrite("SELECT * FROM patients, secrets", nil); err == nil || statement != nil {
		t.Errorf("a refused text becomes %+v, %v", statement, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if worker == 0 && i%10 == 0 {
					r.SetSnapshot(clinic())
				}
				if _, err := r.text(fmt.Sprintf("SELECT age + %d FROM patients", i%7)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestScrubMessage(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for message, want := range map[string]string{
		`relation "kproxy_release_public.patients" does not exist`:        `relation "public.patients" does not exist`,
		`permission denied for schema kproxy_release_hospital`:            `permission denied for schema hospital`,
		`cannot use "kproxy_release_public"."Patients"`:                   `cannot use "public"."Patients"`,
		`column kproxy_catalog.pg_class.x`:                                `column pg_catalog.pg_class.x`,
		`view "kproxy_catalog"."information_schema_tables"`:               `view "information_schema"."tables"`,
		`view kproxy_catalog.information_schema_columns`:                  `view information_schema.columns`,
		`cannot lock rows in view "information_schema_columns"`:           `cannot lock rows in view "information_schema.columns"`,
		`permission denied for schema kproxy_catalog`:                     `permission denied for schema pg_catalog`,
		`column "age" does not exist`:                                     `column "age" does not exist`,
		`kproxy_release_public.patients, kproxy_release_public.patients.`: `public.patients, public.patients.`,
	} {
		if got := r.ScrubMessage(message); got != want {
			t.Errorf("%s\ngot:  %s\nwant: %s", message, got, want)
		}
	}
	for name := range clinic().PublishedNames() {
		for _, form := range []string{name.String(), name.SQL(), name.Schema} {
			if got := r.ScrubMessage(form); strings.Contains(got, "kproxy_") {
				t.Errorf("%s became %s", form, got)
			}
		}
	}
}

// query2K is some 2 kB of an analyst's SQL.
func query2K() string {
	part := `SELECT p.ward, w.name, count(*) AS n, avg(p.cost) FILTER (WHERE p.age BETWEEN 20 AND 60) AS cost,
		CASE WHEN p.sex = 'f' THEN 'female' ELSE coalesce(p.sex, '?') END AS sex, date_trunc('month', p.admission) AS month
		FROM patients p JOIN wards w ON w.id = p.ward AND w.beds > 3
		WHERE p.diagnosis LIKE 'J%' AND p.age IN (1, 2, 3, 5, 8, 13, 21) AND EXISTS (SELECT 1 FROM hospital.visits v WHERE v.ward = w.id)
		GROUP BY p.ward, w.name, p.sex, date_trunc('month', p.admission) HAVING count(*) > 5`
	return part + " UNION ALL " + part + " UNION ALL " + part + " UNION ALL " + part + " ORDER BY n DESC LIMIT 100"
}

func BenchmarkHit2KB(b *testing.B) {
	r, sql := clinicRewriter(), query2K()
	for b.Loop() {
		if _, err := r.Rewrite(sql, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMiss2KB(b *testing.B) {
	r, sql := clinicRewriter(), query2K()
	snapshot := clinic()
	for b.Loop() {
		if _, err := r.rewrite(sql, nil, snapshot); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseDeparse2KB is the floor for a miss.
func BenchmarkParseDeparse2KB(b *testing.B) {
	sql := query2K()
	for b.Loop() {
		tree, err := pg.Parse(sql)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := pg.Deparse(tree); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPinnedSettings(t *testing.T) {
	t.Parallel()
	r := New(Options{Pinned: []string{"statement_timeout", "Idle_Session_Timeout"}})
	for _, sql := range []string{
		"SET statement_timeout = 0", `SET LOCAL "Statement_Timeout" TO '1h'`, "SET idle_session_timeout TO 5", "SELECT 1; SET SESSION statement_timeout = 1",
	} {
		_, err := r.text(sql)
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.SQLState() != statePrivilege || refusal.Hint() == "" ||
			!strings.Contains(refusal.Error(), "is set by the operator") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"RESET statement_timeout", "SET statement_timeout TO DEFAULT", "SHOW statement_timeout", "SET lock_timeout = 5", "RESET ALL",
	} {
		if _, err := r.text(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := New(Options{}).text("SET statement_timeout = 0"); err != nil {
		t.Errorf("not pinned: %v", err)
	}
}
