package rewrite

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

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
		`pg_catalog.sum is not an ordered-set aggregate`:                  `sum is not an ordered-set aggregate`,
		`WITHIN GROUP is required for aggregate pg_catalog.mode`:          `WITHIN GROUP is required for aggregate mode`,
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
