package sync

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

// judgeWindows counts, in the store alone, which share of the persons of a class has been in a ward in a window by what an audience sees there, and in how
// many wards they have been; likewise of those of each cell. Where all is known, there is one window.
func (h *hospital) judgeWindows(audience string, alpha float64, l int) {
	h.t.Helper()
	store := func(table string) string { return storeTable("release_"+audience, int64(h.generationOf(table))).SQL() }
	shown := fmt.Sprintf(`WITH visit AS (SELECT kproxy_persons AS class, kproxy_window AS win, kproxy_class AS cell, kproxy_person AS who, coalesce(ward, '') AS ward FROM %s),
		size AS (SELECT kproxy_persons AS class, count(*) AS n FROM %s GROUP BY 1), `, store("visits"), store("patients"))
	groups := map[string]string{"a class": `g AS (SELECT class || ' in window ' || win AS g, v.who, v.ward, n FROM visit v JOIN size s USING (class))`}
	if h.knows != "all" {
		groups["a cell"] = `cells AS (SELECT cell, win, class, who, count(*) OVER (PARTITION BY cell) AS n FROM (SELECT DISTINCT cell, win, class, who FROM visit) c),
			g AS (SELECT cells.cell::text AS g, v.who, v.ward, n FROM cells JOIN visit v USING (class, win, who))`
	}
	for what, query := range groups {
		if bad := scanned[string](h.bench, fmt.Sprintf(`%s %s SELECT coalesce(string_agg(problem, ', '), '') FROM (
			SELECT g || ': ' || count(DISTINCT who) || ' of ' || max(n) AS problem FROM g GROUP BY g, ward HAVING count(DISTINCT who) > %v * max(n)
			UNION ALL SELECT g || ': ' || count(DISTINCT ward) || ' wards' FROM g GROUP BY g HAVING count(DISTINCT ward) < %d) p`, shown, query, alpha, l)); bad != "" {
			h.t.Fatalf("for %s, %s: %s", audience, what, bad)
		}
	}
}

// TestLinkedGuardedAudiencesHoldWhatTheyState: what audiences of guarded tables state of sensitive values holds in all that they see, through random
// changes and a restart, by a count in the store and by the verifier. The tables' own readers are promised nothing of values.
func TestLinkedGuardedAudiencesHoldWhatTheyState(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:4", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := wardHospital(t, knows, patients)
			for range 3 {
				h.visitAgain(patients)
			}
			s, stop := h.run()
			h.inStep(s)
			for round := range 5 {
				h.checkRelease()
				h.judgeWindows("partners", 0.7, 0)
				h.judgeWindows("public", 0.7, 2)
				for range 1 + h.random.IntN(40) {
					h.changeHospital(patients)
				}
				if round == 1 {
					h.visitAgain(patients)
				}
				if round == 3 {
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					s, stop = h.run()
				}
				h.inStep(s)
			}
			h.checkRelease()
			if checked := h.checksOfWards(t); checked < 2 {
				t.Errorf("%d checks of what audiences state", checked)
			}
			if n := scanned[int](h.bench, "SELECT count(*)::int FROM kproxy_audience_partners_public.visits"); n < 50 {
				t.Errorf("partners see %d visits", n)
			}
			status := s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}].Audiences
			if status["partners"].Classes < 2 || status["public"].Withheld < status["partners"].Withheld {
				t.Errorf("the status is %+v", status)
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wardHospital publishes few persons and rows at once, and soon, for audiences that state constraints on wards.
func wardHospital(t *testing.T, knows string, patients int) *hospital {
	t.Helper()
	return newHospitalFor(t, knows, patients, func(h *hospital) {
		h.updates = catalog.Updates{Mode: catalog.Guarded, Within: 300 * time.Millisecond, Rows: 3, RowsWithin: 600 * time.Millisecond}
		h.bindWards()
	})
}

// TestVerifierRefusesWardsOfGuardedAudiences: persons of a class in a window, or of a cell, who share a ward too often in what an audience sees are found,
// for the audience alone.
func TestVerifierRefusesWardsOfGuardedAudiences(t *testing.T) {
	t.Parallel()
	const patients = 120
	h := wardHospital(t, "1/1y:2", patients)
	for range 3 {
		h.visitAgain(patients)
	}
	s, stop := h.run()
	h.inStep(s)
	h.checkRelease()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	release := storeTable("release_partners", int64(h.generationOf("visits"))).SQL()
	h.exec(fmt.Sprintf("UPDATE %[1]s SET ward = 'heart' WHERE kproxy_persons = (SELECT min(kproxy_persons) FROM %[1]s)", release))
	own, broken := h.brokenFor("partners")
	if len(own) > 0 {
		t.Errorf("its own readers are promised %q", own)
	}
	for _, want := range []string{"(0.7,k)-anonymity of public.visits.ward, in cells", "(0.7,k)-anonymity of public.visits.ward, in windows"} {
		if !slices.Contains(broken, want) {
			t.Errorf("%q is not among what fails: %q", want, broken)
		}
	}
}

// bindWards has audiences state constraints on the wards of visits.
func (h *hospital) bindWards() {
	for i, seen := range h.audiences["visits"] {
		spec := privacy.Spec{Model: privacy.AlphaK, Alpha: 0.7, Of: "ward"}
		if seen.Audience == "public" {
			spec = privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "ward"}
		}
		h.audiences["visits"][i].Constraints = append(slices.Clone(seen.Constraints), spec)
	}
}

// checksOfWards counts the checks of the verifier of what audiences state, all of which are to pass.
func (h *hospital) checksOfWards(t *testing.T) (checked int) {
	t.Helper()
	report, err := verify.Run(t.Context(), h.connect(), h.config.Tables, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report {
		for _, a := range r.Audiences {
			for _, check := range a.Checks {
				if !check.Passed {
					t.Errorf("%s for %s: %s %q", r.Table, a.Audience, check.Name, check.Examples)
				}
				if strings.Contains(check.Name, "ward") {
					checked++
				}
			}
		}
	}
	return checked
}
