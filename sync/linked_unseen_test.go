package sync

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

// TestAudiencesOfSomeTables: of tables that an audience does not see, there is a release, of which those of later audiences
// are made, and neither a view nor a grant, nor a word in the status, through changes, a restart, and another list.
func TestAudiencesOfSomeTables(t *testing.T) {
	t.Parallel()
	const patients = 120
	for name, updates := range map[string]catalog.Updates{
		"immediate": {Mode: catalog.Immediate}, "guarded": {Mode: catalog.Guarded, Within: 300 * time.Millisecond, Rows: 3, RowsWithin: 600 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hide := func(h *hospital, partners, public string) {
				for table, audiences := range h.audiences {
					audiences[0].Unseen, audiences[1].Unseen = table == partners, table == public
				}
			}
			h := newHospitalFor(t, "1/1y:2", patients, func(h *hospital) { h.updates = updates })
			hide(h, "drugs", "patients")
			h.config.Tables = h.linkedPublications(h.config.Reader)
			s, stop := h.run()
			h.inStep(s)
			h.seeSome(s, "drugs", "patients")
			for range 25 {
				h.changeHospital(patients)
			}
			h.inStep(s)
			h.seeSome(s, "drugs", "patients")
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			if updates.Mode == catalog.Immediate {
				hide(h, "visits", "drugs")
				h.config.Tables = h.linkedPublications(h.config.Reader)
			}
			s, stop = h.run()
			h.inStep(s)
			if updates.Mode == catalog.Immediate {
				h.seeSome(s, "visits", "drugs")
			} else {
				h.seeSome(s, "drugs", "patients")
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// seeSome looks for what two audiences see, each of which does not see one table.
func (h *hospital) seeSome(s *Syncer, partners, public string) {
	h.t.Helper()
	for audience, unseen := range map[string]string{"partners": partners, "public": public} {
		var want []string
		for table := range h.audiences {
			_, told := s.Status().Tables[catalog.Name{Schema: "public", Relation: table}].Audiences[audience]
			if told == (table == unseen) {
				h.t.Errorf("the status of %s tells of %s: %t", table, audience, told)
			}
			if table != unseen {
				want = append(want, table)
			}
		}
		slices.Sort(want)
		role := map[string]string{"partners": h.audiences["drugs"][0].Role, "public": h.audiences["drugs"][1].Role}[audience]
		const views = `SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class WHERE relkind = 'v' AND relnamespace = $1::text::regnamespace`
		schema := catalog.ReleaseSchemaFor(audience, "public")
		if got := scanned[string](h.bench, views, schema); got != strings.Join(want, " ") {
			h.t.Errorf("%s has the views %s, not %v", audience, got, want)
		}
		if got := scanned[string](h.bench, views+" AND has_table_privilege($2::text, oid, 'SELECT')", schema, role); got != strings.Join(want, " ") {
			h.t.Errorf("%s may read %s, not %v", audience, got, want)
		}
	}
	report, err := verify.Run(h.t.Context(), connectTo(h.t, h.store().Config().ConnString()), h.config.Tables, verify.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	unseen := map[string]bool{}
	for _, r := range report {
		for _, a := range r.Audiences {
			if a.Unseen {
				unseen[a.Audience+" "+strings.TrimPrefix(r.Table, "public.")] = true
			}
			for _, c := range a.Checks {
				if !c.Passed {
					h.t.Errorf("%s for %s: %+v", r.Table, a.Audience, c)
				}
			}
			if a.Rows == 0 && h.updates.Mode == catalog.Immediate { // rows of guarded tables may wait for others
				h.t.Errorf("%s for %s has no rows", r.Table, a.Audience)
			}
		}
	}
	if want := map[string]bool{"partners " + partners: true, "public " + public: true}; !maps.Equal(unseen, want) {
		h.t.Errorf("verify says that %v are not seen, not %v", unseen, want)
	}
}
