package sync

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// ownColumns has audiences of a hospital see columns coarser and in other forms, and the public alone blood groups and sexes.
func ownColumns(h *hospital) {
	value, ranged := catalog.FormValue, catalog.FormRange
	h.hidden = map[string][]string{"patients": {"blood", "sex"}}
	h.audiences["patients"][0].Hidden = []string{"blood", "sex"}
	h.audiences["patients"][0].Columns = []catalog.AudienceColumn{{Name: "born", Limits: hierarchy.Coarseness{Units: []hierarchy.Unit{hierarchy.Year, hierarchy.Decade, hierarchy.Century}}}}
	h.audiences["patients"][1].Hidden = nil
	h.audiences["patients"][1].Columns = []catalog.AudienceColumn{{Name: "born", Limits: hierarchy.Coarseness{Units: []hierarchy.Unit{hierarchy.Century}}, Publish: &value}}
	h.audiences["visits"][0].Columns = []catalog.AudienceColumn{{Name: "admitted", Limits: hierarchy.Coarseness{Units: []hierarchy.Unit{hierarchy.Quarter, hierarchy.Year, hierarchy.Decade}}, Publish: &ranged}}
	h.audiences["visits"][1].Hidden = []string{"ward"}
	h.audiences["drugs"][1].Columns = []catalog.AudienceColumn{{Name: "dose", Limits: hierarchy.Coarseness{Steps: []float64{50, 200}}}}
}

// checkColumns holds the labels that audiences see against what they may be, and against those of the finer release.
func (h *hospital) checkColumns() {
	h.t.Helper()
	for view, forbidden := range map[string]string{
		"kproxy_audience_partners_public.patients": "born_range NOT IN (daterange(date_trunc('year', lower(born_range))::date, (date_trunc('year', lower(born_range)) + interval '1 year')::date), daterange(date_trunc('decade', lower(born_range))::date, (date_trunc('decade', lower(born_range)) + interval '10 years')::date)) AND upper(born_range) - lower(born_range) < 36524",
		"kproxy_audience_partners_public.visits":   "admitted <> daterange(date_trunc('quarter', lower(admitted))::date, upper(admitted)) OR upper(admitted) - lower(admitted) NOT BETWEEN 90 AND 3653",
		"kproxy_audience_public_public.drugs":      "upper(dose_range) - lower(dose_range) NOT IN (50, 200) OR lower(dose_range) % 50 <> 0",
	} {
		if n := scanned[int](h.bench, "SELECT count(*) FROM "+view+" WHERE "+forbidden); n > 0 {
			h.t.Fatalf("%d rows of %s are such that %s", n, view, forbidden)
		}
	}
	for table, covers := range map[string]string{"patients": "c.born_range @> f.born_range", "visits": "c.admitted @> f.admitted_range"} {
		generation := int64(h.generationOf(table))
		if n := scanned[int](h.bench, fmt.Sprintf("SELECT count(*) FROM %s c JOIN %s f USING (kproxy_row) WHERE NOT %s", storeTable("release_partners", generation).SQL(), storeTable("release", generation).SQL(), covers)); n > 0 {
			h.t.Fatalf("%d rows of %s have labels that do not cover the finer ones", n, table)
		}
	}
}

// TestLinkedAudiencesHaveColumnsOfTheirOwn: what audiences see of joined tables is as coarse as the policy says, in the columns that are theirs, after
// random changes and a restart.
func TestLinkedAudiencesHaveColumnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:2", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := newHospitalFor(t, knows, patients, ownColumns, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.9, Of: "public.patients.blood"})
			s, stop := h.run()
			check := func() {
				t.Helper()
				h.inStep(s)
				h.judgeAudiences()
				h.checkColumns()
			}
			check()
			for view, want := range map[string]string{
				"kproxy_release_public.patients":           "patient_id integer, born date, born_range daterange",
				"kproxy_audience_partners_public.patients": "patient_id integer, born date, born_range daterange",
				"kproxy_audience_public_public.patients":   "patient_id integer, born date, sex text, blood text",
				"kproxy_audience_partners_public.visits":   "visit_id bigint, patient_id integer, admitted daterange, ward text, house text",
				"kproxy_audience_public_public.visits":     "visit_id bigint, patient_id integer, admitted daterange, house text",
				"kproxy_release_public.drugs":              "visit_id bigint, dose integer, dose_range int4range, drug text, house character varying(20)",
				"kproxy_audience_public_public.drugs":      "visit_id bigint, dose integer, dose_range int4range, drug text, house character varying(20)",
			} {
				if got := h.shownColumnsOf(view); got != want {
					t.Errorf("%s has %s, not %s", view, got, want)
				}
			}
			if n := scanned[int](h.bench, "SELECT count(DISTINCT born_range) FROM kproxy_audience_partners_public.patients"); n < 2 && knows != "all" {
				t.Errorf("partners see %d different labels, which tests little", n)
			}
			for round := range 6 {
				for range 1 + h.random.IntN(25) {
					h.changeHospital(patients)
				}
				if round == 3 {
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					s, stop = h.run()
				}
				check()
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
