package sync

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

// guardedAudienceHospital publishes few persons and rows at once, and soon, for two audiences, too.
func guardedAudienceHospital(t *testing.T, knows string, patients int) *hospital {
	t.Helper()
	return newHospitalFor(t, knows, patients, func(h *hospital) {
		h.updates = catalog.Updates{Mode: catalog.Guarded, Within: 300 * time.Millisecond, Rows: 3, RowsWithin: 600 * time.Millisecond}
	})
}

// visitAgain has all patients come, so that most classes have rows.
func (h *hospital) visitAgain(patients int) {
	for id := range patients {
		h.visit(id)
	}
}

// TestLinkedGuardedAudiences: audiences' releases of guarded tables follow random changes, restarts among them. No
// version shows more of the one before than whole cells that have gone, and the verifier is content with every one.
func TestLinkedGuardedAudiences(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:3", "1:2", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := guardedAudienceHospital(t, knows, patients)
			h.visitAgain(patients)
			h.visitAgain(patients)
			s, stop := h.run()
			h.inStep(s)
			h.checkRelease()
			audiences := []string{"release_partners", "release_public"}
			seen := map[string]map[string]shownTable{}
			for _, of := range audiences {
				seen[of] = h.versionsIn(of)
			}
			for round := range 10 {
				for range 1 + h.random.IntN(40) {
					h.changeHospital(patients)
				}
				switch round {
				case 2:
					h.visitAgain(patients)
				case 3, 6:
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					for range 10 {
						h.changeHospital(patients)
					}
					s, stop = h.run()
				case 8:
					h.exec("TRUNCATE drugs")
				}
				h.inStep(s)
				h.checkRelease()
				for _, of := range audiences {
					seen[of] = h.followsIn(of, seen[of])
				}
			}
			if visits := seen["release_partners"]["visits"]; len(visits.rows) < 50 || len(visits.keyed) < len(visits.rows) {
				t.Errorf("partners see %d visits, %d of them with keys", len(visits.rows), len(visits.keyed))
			}
			joined := scanned[int](h.bench, "SELECT count(*)::int FROM kproxy_audience_partners_public.visits v JOIN kproxy_audience_partners_public.patients p USING (patient_id)")
			if visits := len(seen["release_partners"]["visits"].rows); joined != visits {
				t.Errorf("%d of %d visits join a patient", joined, visits)
			}
			if status := s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}].Audiences; status["partners"].Classes < 2 || status["public"].Classes < 1 {
				t.Errorf("the status is %+v", status)
			}
			h.exec("DELETE FROM patients")
			h.inStep(s)
			for _, table := range []string{"patients", "visits", "drugs"} {
				await(t, "nothing is shown of nobody", func() bool {
					return scanned[int](h.bench, "SELECT count(*)::int FROM kproxy_audience_partners_public."+table) == 0
				})
			}
			h.checkRelease()
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestGuardedPeopleAudiencesRestart: a new session shows audiences what the one before did.
func TestGuardedPeopleAudiencesRestart(t *testing.T) {
	t.Parallel()
	const patients = 120
	h := newHospitalFor(t, "1/1y:3", patients, func(h *hospital) { h.updates = catalog.Updates{Mode: catalog.Guarded, Rows: 3} })
	h.visitAgain(patients)
	s, stop := h.run()
	h.inStep(s)
	for range 3 {
		for range 30 {
			h.changeHospital(patients)
		}
		h.inStep(s)
		before := map[string]any{}
		for _, of := range []string{"release_partners", "release_public", "followed_partners", "cellweight_partners"} {
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

// contentOf is what tables of one kind hold, of each table.
func (h *hospital) contentOf(kind string) (all []string) {
	for _, table := range []string{"patients", "visits", "drugs"} {
		all = append(all, scanned[string](h.bench, fmt.Sprintf("SELECT coalesce(string_agg(l::text, ';' ORDER BY l::text), '') FROM %s l", storeTable(kind, int64(h.generationOf(table))).SQL())))
	}
	return all
}

// TestVerifierRefusesSpoiledGuardedPeopleAudiences: each promise about what an audience sees is broken by a change of the
// store that breaks it, and tables that are found so are halted.
func TestVerifierRefusesSpoiledGuardedPeopleAudiences(t *testing.T) {
	t.Parallel()
	const patients = 100
	h := guardedAudienceHospital(t, "1/1y:1", patients)
	h.visitAgain(patients)
	s, stop := h.run()
	h.inStep(s)
	for range 40 {
		h.changeHospital(patients)
	}
	h.inStep(s)
	h.checkRelease()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	of := func(kind, table string) string { return storeTable(kind, int64(h.generationOf(table))).SQL() }
	release, waiting, weights, roots := of("release_partners", "visits"), of("followed_partners", "visits"), of("cellweight_partners", "visits"), of("release_partners", "patients")
	const one = " WHERE ctid = (SELECT min(ctid) FROM %[1]s)"
	for _, c := range []struct{ table, spoil, promise string }{
		{release, "UPDATE %[1]s SET kproxy_class = 1000000" + one, "classes are unions of the finer ones"},
		{release, "DELETE FROM %[1]s" + one, "classes are unions of the finer ones"},
		{roots, "DELETE FROM %[1]s" + one, "classes are unions of the finer ones"},
		{release, "UPDATE %[1]s SET ward = 'another'" + one, "rows that the finer release shows have its values"},
		{waiting, "DELETE FROM %[1]s" + one, "it is known of every class of the finer release whether it is shown"},
		{waiting, "INSERT INTO %[1]s VALUES (1000000, '[]')", "it is known of every class of the finer release whether it is shown"},
		{weights, "INSERT INTO %[1]s VALUES (1000000, 1, 0, 0)", "every weight is that of a class"},
		{release, "UPDATE %[1]s SET kproxy_person = kproxy_person + 1", "a row with keys belongs to a row of the same person"},
		{release, "UPDATE %[1]s SET kproxy_persons = NULL, patient_id = NULL, house = NULL, visit_id = NULL" + one, "every row has keys, and those of the finer release that has it have them"},
		{release, "UPDATE %[1]s l SET kproxy_person = (SELECT min(o.kproxy_person) FROM %[1]s o WHERE o.kproxy_persons = l.kproxy_persons AND o.kproxy_window = l.kproxy_window)", "a pseudonym of a window leads to one of the finer release"},
		{release, `INSERT INTO %[1]s SELECT (jsonb_populate_record(l, '{"kproxy_row": 1000000}')).* FROM %[1]s l
			WHERE kproxy_row = (SELECT min(kproxy_row) FROM %[1]s JOIN ` + of("release", "visits") + ` USING (kproxy_row))`, "a pseudonym of a window leads to one of the finer release"},
	} {
		h.exec("CREATE TABLE kept AS TABLE " + c.table)
		h.exec(fmt.Sprintf(c.spoil, c.table))
		own, broken := h.brokenFor("partners")
		if !slices.Contains(broken, c.promise) || len(own) > 0 {
			t.Errorf("%s breaks %q, and not %q; for the tables' own readers %q", fmt.Sprintf(c.spoil, c.table), broken, c.promise, own)
		}
		h.exec("DELETE FROM " + c.table + "; INSERT INTO " + c.table + " SELECT * FROM kept; DROP TABLE kept")
	}
	h.checkRelease()
	h.exec("DELETE FROM " + waiting)
	s, stop = h.run()
	await(t, "the tables are halted", func() bool {
		return s.Status().Tables[catalog.Name{Schema: "public", Relation: "patients"}].State == Halted
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// brokenFor are the checks that fail for the own readers of any table, and for an audience.
func (h *hospital) brokenFor(audience string) (own, broken []string) {
	h.t.Helper()
	report, err := verify.Run(h.t.Context(), h.connect(), h.config.Tables, verify.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, table := range report {
		for _, check := range table.Checks {
			if !check.Passed {
				own = append(own, check.Name)
			}
		}
		for _, a := range table.Audiences {
			for _, check := range a.Checks {
				if a.Audience == audience && !check.Passed {
					broken = append(broken, check.Name)
				}
			}
		}
	}
	return own, broken
}

// TestLinkedGuardedAudiencesHoldConstraints: where values count, what audiences see satisfies the constraints, too, through random changes and
// restarts, and what is withheld from them stays so.
func TestLinkedGuardedAudiencesHoldConstraints(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:4", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := newHospitalFor(t, knows, patients, func(h *hospital) {
				h.updates = catalog.Updates{Mode: catalog.Guarded, Within: 300 * time.Millisecond, RowsWithin: 600 * time.Millisecond}
			}, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.9, Of: "public.visits.ward"}, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "public.patients.blood"})
			h.visitAgain(patients)
			s, stop := h.run()
			h.inStep(s)
			h.checkRelease()
			for round := range 4 {
				for range 1 + h.random.IntN(40) {
					h.changeHospital(patients)
				}
				if round == 1 {
					h.visitAgain(patients)
				}
				h.inStep(s)
				h.checkRelease()
				if round != 2 {
					continue
				}
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				waiting := storeTable("followed_partners", int64(h.generationOf("visits"))).SQL()
				h.exec("UPDATE " + waiting + " SET labels = 'null' WHERE class = (SELECT min(class) FROM " + waiting + ")")
				withheld := "SELECT count(*)::int FROM " + waiting + " WHERE labels = 'null'"
				before := scanned[int](h.bench, withheld)
				s, stop = h.run()
				h.inStep(s)
				h.checkRelease()
				if n := scanned[int](h.bench, withheld); n < before {
					t.Errorf("%d cells are withheld, of %d", n, before)
				}
			}
			if n := scanned[int](h.bench, "SELECT count(*)::int FROM kproxy_audience_partners_public.visits"); n == 0 {
				t.Error("partners see no visits")
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
