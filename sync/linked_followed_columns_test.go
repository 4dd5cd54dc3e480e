package sync

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// guardedColumnsHospital is a hospital with guarded updates whose audiences have columns of their own.
func guardedColumnsHospital(t *testing.T, knows string, patients int, within time.Duration) *hospital {
	t.Helper()
	h := newHospitalFor(t, knows, patients, func(h *hospital) {
		ownColumns(h)
		h.updates = catalog.Updates{Mode: catalog.Guarded, Within: within, Rows: 3, RowsWithin: 2 * within}
	})
	h.visitAgain(patients)
	h.visitAgain(patients)
	return h
}

// shownColumnsOf are the columns of a view with their types.
func (h *hospital) shownColumnsOf(view string) string {
	return scanned[string](h.bench, fmt.Sprintf("SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = '%s'::regclass", view))
}

// TestLinkedGuardedAudiencesHaveColumnsOfTheirOwn: what audiences see of joined tables with guarded updates is as coarse as the policy says, in
// the columns that are theirs, after random changes and restarts, and no row ever shows anything else.
func TestLinkedGuardedAudiencesHaveColumnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:3", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := guardedColumnsHospital(t, knows, patients, 300*time.Millisecond)
			s, stop := h.run()
			releases, seen := []string{"release", "release_partners", "release_public"}, map[string]map[string]shownTable{}
			for _, of := range releases {
				seen[of] = map[string]shownTable{}
			}
			check := func() {
				t.Helper()
				h.inStep(s)
				h.checkRelease()
				h.checkColumns()
				for _, of := range releases {
					seen[of] = h.followsIn(of, seen[of])
				}
			}
			check()
			for view, want := range map[string]string{
				"kproxy_release_public.patients":           "patient_id integer, born date, born_range daterange, kproxy_weight real",
				"kproxy_audience_partners_public.patients": "patient_id integer, born date, born_range daterange, kproxy_weight real",
				"kproxy_audience_public_public.patients":   "patient_id integer, born date, sex text, blood text, kproxy_weight real",
				"kproxy_audience_partners_public.visits":   "visit_id bigint, patient_id integer, admitted daterange, ward text, house text, kproxy_weight real",
				"kproxy_audience_public_public.visits":     "visit_id bigint, patient_id integer, admitted daterange, house text, kproxy_weight real",
				"kproxy_release_public.drugs":              "visit_id bigint, dose integer, dose_range int4range, drug text, house character varying(20), kproxy_weight real",
				"kproxy_audience_public_public.drugs":      "visit_id bigint, dose integer, dose_range int4range, drug text, house character varying(20), kproxy_weight real",
			} {
				if got := h.shownColumnsOf(view); got != want {
					t.Errorf("%s has %s, not %s", view, got, want)
				}
			}
			for round := range 6 {
				for range 1 + h.random.IntN(40) {
					h.changeHospital(patients)
				}
				switch round {
				case 1:
					h.visitAgain(patients)
				case 2, 4:
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					for range 10 {
						h.changeHospital(patients)
					}
					s, stop = h.run()
				}
				check()
			}
			for _, of := range releases {
				if visits := seen[of]["visits"]; len(visits.keyed) < 50 {
					t.Errorf("%s has %d visits with keys", of, len(visits.keyed))
				}
			}
			if n := scanned[int](h.bench, "SELECT count(blood)::int FROM kproxy_audience_public_public.patients"); n == 0 {
				t.Error("the public sees no blood group")
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestGuardedPeopleColumnsRestart: a new session goes on with what waits for an audience as the one before saw it.
func TestGuardedPeopleColumnsRestart(t *testing.T) {
	t.Parallel()
	const patients = 120
	h := guardedColumnsHospital(t, "1/1y:3", patients, 0)
	s, stop := h.run()
	h.inStep(s)
	for range 3 {
		for range 30 {
			h.changeHospital(patients)
		}
		h.inStep(s)
		before := map[string]any{}
		for _, of := range []string{"release", "release_partners", "release_public", "followed_partners", "followed_public"} {
			before[of] = h.contentOf(of)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = h.run()
		h.inStep(s)
		h.checkRelease()
		for of, was := range before {
			if now := h.contentOf(of); !reflect.DeepEqual(now, was) {
				t.Errorf("a restart changes %s from\n%v\nto\n%v", of, was, now)
			}
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// TestVerifierRefusesSpoiledColumnsOfGuardedPeople: what some readers do not see is compared, too, and what an audience sees
// coarser has to be.
func TestVerifierRefusesSpoiledColumnsOfGuardedPeople(t *testing.T) {
	t.Parallel()
	const patients = 100
	h := guardedColumnsHospital(t, "1/1y:1", patients, 300*time.Millisecond)
	s, stop := h.run()
	h.inStep(s)
	h.checkRelease()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	of := func(kind, table string) string { return storeTable(kind, int64(h.generationOf(table))).SQL() }
	for _, c := range []struct {
		table, spoil, promise string
		own                   bool // it is the tables' own readers' release that is found out
	}{
		{of("release", "patients"), "SET blood = 'another' WHERE ctid = (SELECT min(ctid) FROM %[1]s)", "values published as they are are those of the record", true},
		{of("release_partners", "patients"), "SET blood = 'another' WHERE ctid = (SELECT min(ctid) FROM %[1]s)", "values published as they are are those of the record", false},
		{of("release_partners", "patients"), "SET blood = 'another' WHERE ctid = (SELECT min(ctid) FROM %[1]s)", "rows that the finer release shows have its values", false},
		{of("release_partners", "visits"), "SET admitted = daterange(lower(admitted), upper(admitted) - 1) WHERE kproxy_class = (SELECT min(kproxy_class) FROM %[1]s)", "admitted is an interval of the policy", false},
		{of("release_partners", "visits"), "SET admitted = daterange('1800-01-01', '1800-04-01') WHERE kproxy_class = (SELECT min(kproxy_class) FROM %[1]s)", "every value lies within admitted", false},
		{of("release_partners", "visits"), "SET admitted = NULL WHERE ctid = (SELECT min(ctid) FROM %[1]s WHERE admitted IS NOT NULL)", "every class has one generalization", false},
	} {
		h.exec("CREATE TABLE kept AS TABLE " + c.table)
		h.exec(fmt.Sprintf("UPDATE %[1]s "+c.spoil, c.table))
		own, broken := h.brokenFor("partners")
		if c.own {
			broken = own
		}
		if !slices.Contains(broken, c.promise) || !c.own && len(own) > 0 {
			t.Errorf("%s %s breaks %q, and not %q; for the tables' own readers %q", c.table, c.spoil, broken, c.promise, own)
		}
		h.exec("DELETE FROM " + c.table + "; INSERT INTO " + c.table + " SELECT * FROM kept; DROP TABLE kept")
	}
	h.checkRelease()
}
