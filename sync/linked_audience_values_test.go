package sync

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

// valuesOfAudiences are constraints on sensitive values that two audiences of a hospital have of their own.
var valuesOfAudiences = map[string]privacy.Spec{
	"partners": {Model: privacy.AlphaK, Alpha: 0.7, Of: "public.visits.ward"},
	"public":   {Model: privacy.DistinctL, L: 3, Of: "public.visits.ward"},
}

// boundAudiences states them besides k, as policies of single tables have them.
func boundAudiences(h *hospital) {
	for i, seen := range h.audiences["visits"] {
		spec := valuesOfAudiences[seen.Audience]
		spec.Of = "ward"
		h.audiences["visits"][i].Constraints = append(slices.Clone(seen.Constraints), spec)
	}
}

// judgeShares counts at the source which share of the persons of a class, or of those of a cell in its window, has been in a ward, and in how many
// wards they have been.
func (h *hospital) judgeShares(audience string, alpha float64, l int) {
	h.t.Helper()
	store := func(table string) string { return storeTable("release_"+audience, int64(h.generationOf(table))).SQL() }
	records := func(table string) string { return storeTable("records", int64(h.generationOf(table))).SQL() }
	window := "'always'"
	if strings.Contains(h.knows, "/1y") {
		window = "coalesce(extract(year FROM v.admitted)::text, 'none')"
	}
	with := fmt.Sprintf(`WITH person AS (SELECT r.patient_id AS id, l.kproxy_class AS class FROM %s l JOIN %s r ON r.kproxy_record = l.kproxy_row),
		visit AS (SELECT v.patient_id AS id, coalesce(v.ward, '') AS ward, %s AS win, v.visit_id FROM visits v),
		cell AS (SELECT DISTINCT v.patient_id AS id, l.kproxy_class AS class, %s AS win FROM %s l JOIN %s v ON v.kproxy_record = l.kproxy_row WHERE l.patient_id IS NOT NULL)`,
		store("patients"), records("patients"), window, window, store("visits"), records("visits"))
	for what, groups := range map[string]string{
		"a class": "SELECT p.class, p.id, v.ward FROM person p LEFT JOIN visit v ON v.id = p.id",
		"a cell":  "SELECT c.class, c.id, v.ward FROM cell c LEFT JOIN visit v ON v.id = c.id AND v.win = c.win",
	} {
		if what == "a cell" && h.knows == "all" {
			continue // its persons are those of a class
		}
		bad := scanned[string](h.bench, fmt.Sprintf(`%s, g AS (%s), s AS (SELECT class, count(DISTINCT id) AS n, count(DISTINCT ward) AS wards FROM g GROUP BY class),
			shares AS (SELECT class, count(DISTINCT id) AS holders FROM g WHERE ward IS NOT NULL GROUP BY class, ward)
			SELECT coalesce((SELECT string_agg(class || ': ' || holders || ' of ' || n, ', ') FROM shares JOIN s USING (class) WHERE holders > %v * n), '')
				|| coalesce((SELECT string_agg(class || ': ' || wards || ' wards', ', ') FROM s WHERE wards < %d), '')`, with, groups, alpha, l))
		if bad != "" {
			h.t.Fatalf("for %s, %s: %s", audience, what, bad)
		}
	}
}

// TestLinkedAudiencesHoldTheirConstraints: what audiences state of sensitive values holds in unions and cells, through random changes and a restart,
// by a count at the source and by the verifier.
func TestLinkedAudiencesHoldTheirConstraints(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:2", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := newHospitalFor(t, knows, patients, boundAudiences)
			s, stop := h.run()
			h.inStep(s)
			for round := range 7 {
				h.judgeAudiences()
				h.judgeShares("partners", 0.7, 0)
				h.judgeShares("public", 0.7, 3)
				for range 1 + h.random.IntN(25) {
					h.changeHospital(patients)
				}
				if round == 3 {
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					s, stop = h.run()
				}
				h.inStep(s)
			}
			report, err := verify.Run(t.Context(), connectTo(t, h.store().Config().ConnString()), h.config.Tables, verify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, r := range report {
				for _, a := range r.Audiences {
					for _, check := range a.Checks {
						if !check.Passed {
							t.Errorf("%s for %s: %s %q", r.Table, a.Audience, check.Name, check.Examples)
						}
						if strings.Contains(check.Name, valuesOfAudiences[a.Audience].String()) {
							checked++
						}
					}
				}
			}
			if classes := scanned[int](h.bench, "SELECT count(DISTINCT kproxy_class) FROM "+storeTable("release_partners", int64(h.generationOf("patients"))).SQL()); checked < 4 || classes < 2 {
				t.Errorf("%d checks of what audiences state, %d classes", checked, classes)
			}
			h.exec("UPDATE visits SET ward = 'heart'") // of all
			h.inStep(s)
			h.judge()
			status := s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}].Audiences
			if n := scanned[int](h.bench, "SELECT count(*) FROM kproxy_audience_partners_public.visits"); n > 0 || !strings.Contains(status["partners"].Reason, "all persons together violate") {
				t.Errorf("partners see %d rows, and the status is %+v", n, status)
			}
		})
	}
}

// TestVerifierRefusesWardsOfLinkedAudiences: persons of a class or cell of an audience who share a ward too often are found, for the audience alone.
func TestVerifierRefusesWardsOfLinkedAudiences(t *testing.T) {
	t.Parallel()
	h := newHospitalFor(t, "1/1y:2", 120, boundAudiences)
	s, stop := h.run()
	h.inStep(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	// The wards of the visits of one class are those of the store alone: its own readers are promised nothing of them.
	release, records := func(table string) string { return storeTable("release_partners", int64(h.generationOf(table))).SQL() }, func(table string) string { return storeTable("records", int64(h.generationOf(table))).SQL() }
	h.exec(fmt.Sprintf(`UPDATE %[1]s v SET ward = 'heart' WHERE v.patient_id IN (SELECT r.patient_id FROM %[2]s l JOIN %[3]s r ON r.kproxy_record = l.kproxy_row
		WHERE l.kproxy_class = (SELECT min(kproxy_class) FROM %[2]s))`, records("visits"), release("patients"), records("patients")))
	report, err := verify.Run(t.Context(), connectTo(t, h.store().Config().ConnString()), h.config.Tables, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, r := range report {
		for _, a := range r.Audiences {
			for _, check := range a.Checks {
				if !check.Passed && strings.Contains(check.Name, "ward") {
					failed = append(failed, a.Audience+": "+check.Name)
				}
			}
		}
		for _, check := range r.Checks {
			if !check.Passed && strings.Contains(check.Name, "ward") {
				t.Errorf("its own readers are promised %s", check.Name)
			}
		}
	}
	for _, want := range []string{"partners: (0.7,k)-anonymity of public.visits.ward", "partners: (0.7,k)-anonymity of public.visits.ward, in cells", "public: distinct 3-diversity of public.visits.ward"} {
		if !slices.ContainsFunc(failed, func(f string) bool { return f == want }) && !strings.HasPrefix(want, "public") {
			t.Errorf("%q is not among what fails: %q", want, failed)
		}
	}
}
