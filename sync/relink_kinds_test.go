package sync

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// restate has the tables of a kind made for other audiences, those that a function makes of the hospital's for each table.
func (h *hospital) restate(change func(table string, audiences []catalog.AudiencePolicy) []catalog.AudiencePolicy) {
	h.t.Helper()
	all := h.audiences
	h.audiences = map[string][]catalog.AudiencePolicy{}
	for table, audiences := range all {
		h.audiences[table] = change(table, slices.Clone(audiences))
	}
	h.config.Tables = h.linkedPublications(h.config.Reader)
	h.audiences = all
}

// linksOfAll are the links of the tables of a kind, which each of them has to have.
func (h *hospital) linksOfAll() string {
	h.t.Helper()
	var lineages []catalog.Lineage
	if err := json.Unmarshal([]byte(scanned[string](h.bench, "SELECT json_agg(lineage::json ORDER BY table_name)::text FROM kproxy_store.generation")), &lineages); err != nil {
		h.t.Fatal(err)
	}
	links := make([]string, len(lineages))
	for i, of := range lineages {
		for _, l := range of.Links {
			links[i] += fmt.Sprintf("%s=%s ", l.Audience, l.Store)
		}
	}
	if slices.Sort(links); len(links) != 3 || len(slices.Compact(slices.Clone(links))) != 1 {
		h.t.Fatalf("the links are %q", links)
	}
	return strings.TrimSpace(links[0])
}

// mayRead are the tables of which an audience has views that its role may read, and those of which it has views.
func (h *hospital) mayRead(audience string, place int) (reads, views string) {
	h.t.Helper()
	const listed = `SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class WHERE relkind = 'v' AND relnamespace = $1::text::regnamespace`
	schema := catalog.ReleaseSchemaFor(audience, "public")
	return scanned[string](h.bench, listed+" AND has_table_privilege($2::text, oid, 'SELECT')", schema, h.audiences["drugs"][place].Role), scanned[string](h.bench, listed, schema)
}

// TestOneTableOfGuardedPeopleChanges: where an audience is to see other columns of one table of a kind, or another list of tables, it gets
// another release of all of them.
func TestOneTableOfGuardedPeopleChanges(t *testing.T) {
	t.Parallel()
	const patients = 150
	h := guardedAudienceHospital(t, "1/1y:3", patients)
	h.visitAgain(patients)
	h.visitAgain(patients)
	s, stop := h.run()
	h.inStep(s)
	h.checkRelease()
	generation := h.generationOf("patients")
	for _, c := range []struct {
		links, reads string
		change       func(table string, a *catalog.AudiencePolicy)
	}{
		{"partners=partners =public public=public2", "drugs patients visits", func(table string, a *catalog.AudiencePolicy) {
			if table == "visits" {
				a.Hidden = []string{"ward"}
			}
		}},
		{"partners=partners =public =public2 public=public3", "patients visits", func(table string, a *catalog.AudiencePolicy) {
			if a.Unseen = table == "drugs"; table == "visits" {
				a.Hidden = []string{"ward"}
			}
		}},
	} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		h.restate(func(table string, audiences []catalog.AudiencePolicy) []catalog.AudiencePolicy {
			c.change(table, &audiences[1])
			return audiences
		})
		s, stop = h.run()
		h.inStep(s)
		h.checkRelease()
		for range 30 {
			h.changeHospital(patients)
		}
		h.inStep(s)
		h.checkRelease()
		if links := h.linksOfAll(); links != c.links {
			t.Errorf("the links are %s, not %s", links, c.links)
		}
		if now := h.generationOf("patients"); now != generation {
			t.Errorf("a new lineage is begun")
		}
		if columns := h.shownColumnsOf("kproxy_audience_public_public.visits"); strings.Contains(columns, "ward") {
			t.Errorf("the public sees %s", columns)
		}
		if reads, views := h.mayRead("public", 1); reads != c.reads || views != c.reads {
			t.Errorf("the public reads %s of %s, not %s", reads, views, c.reads)
		}
		for _, table := range []string{"patients", "visits", "drugs"} {
			status := s.Status().Tables[publicTable(table)]
			if status.State != Published {
				t.Errorf("%s: %+v", table, status)
			}
			if table == "patients" && status.Audiences["public"].Classes == 0 {
				t.Errorf("the public sees nothing: %+v", status.Audiences)
			}
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// TestUnseenTablesOfGuardedPeopleAsAudiencesChange: who does not see a table of a kind does not come to see it where audiences are removed, are there again,
// or take another's release over, and who did ceases to.
func TestUnseenTablesOfGuardedPeopleAsAudiencesChange(t *testing.T) {
	t.Parallel()
	const patients = 120
	h := guardedAudienceHospital(t, "1/1y:3", patients)
	for table, audiences := range h.audiences {
		audiences[0].Unseen = table == "drugs"
	}
	h.visitAgain(patients)
	h.config.Tables = h.linkedPublications(h.config.Reader)
	l := h.start()
	generation := 0
	for _, c := range []struct {
		audiences        []int // those of the hospital that there are
		named            string
		links            string
		partners, public string
	}{
		{[]int{0, 1}, "", "partners=partners public=public", "patients visits", "drugs patients visits"},
		{[]int{1}, "", "=partners public=public", "", "drugs patients visits"},
		{[]int{0, 1}, "", "partners=partners public=public", "patients visits", "drugs patients visits"},
		{nil, "", "=partners =public", "", ""},
		{[]int{1}, "", "=partners public=public", "", "drugs patients visits"},
		{[]int{0}, "public", "public=partners =public", "", "patients visits"}, // the public sees what partners did
		{[]int{0}, "", "partners=partners =public", "patients visits", ""},
	} {
		h.restate(func(_ string, audiences []catalog.AudiencePolicy) (all []catalog.AudiencePolicy) {
			for _, place := range c.audiences {
				a := audiences[place]
				if c.named != "" {
					a.Audience, a.Role = c.named, audiences[1].Role
				}
				all = append(all, a)
			}
			return all
		})
		if l.Reload(h.config.Tables); generation == 0 {
			l.settled()
			h.inStep(l.Syncer)
		}
		l.eventually("the links are "+c.links, func() bool { return h.linksOfAll() == c.links })
		l.settled()
		for range 15 {
			h.changeHospital(patients)
		}
		l.settled()
		h.inStep(l.Syncer)
		h.checkRelease()
		if generation == 0 {
			generation = h.generationOf("patients")
		}
		if now := h.generationOf("patients"); now != generation {
			t.Fatalf("at %s a new lineage is begun", c.links)
		}
		for place, audience := range []string{"partners", "public"} {
			want := []string{c.partners, c.public}[place]
			if reads, views := h.mayRead(audience, place); reads != want || views != want {
				t.Errorf("at %s, %s reads %q of %q, not %q", c.links, audience, reads, views, want)
			}
			if _, told := l.Status().Tables[publicTable("drugs")].Audiences[audience]; told != strings.Contains(want, "drugs") {
				t.Errorf("at %s, the status of drugs tells of %s: %t", c.links, audience, told)
			}
		}
	}
	l.stop()
}

// TestAudienceAppendedBehindColumnsOfItsOwn: an audience with columns of its own that comes behind one with others sees unions of what that shows, in the forms
// that are its own.
func TestAudienceAppendedBehindColumnsOfItsOwn(t *testing.T) {
	t.Parallel()
	const patients = 150
	h := guardedColumnsHospital(t, "1/1y:3", patients, 0)
	h.hidden = nil // partners alone do not see columns that the public does
	behind := func(n int) {
		h.restate(func(_ string, audiences []catalog.AudiencePolicy) []catalog.AudiencePolicy { return audiences[:n] })
	}
	behind(1)
	s, stop := h.run()
	h.inStep(s)
	h.checkRelease()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	behind(2)
	for restart := range 2 {
		s, stop = h.run()
		h.inStep(s)
		for range 30 {
			h.changeHospital(patients)
		}
		h.visitAgain(patients)
		h.inStep(s)
		h.checkRelease()
		h.checkColumns()
		if links := h.linksOfAll(); links != "partners=partners public=public" {
			t.Errorf("the links are %s", links)
		}
		for view, want := range map[string]string{
			"kproxy_audience_public_public.patients": "patient_id integer, born date, sex text, blood text, kproxy_weight real",
			"kproxy_audience_public_public.visits":   "visit_id bigint, patient_id integer, admitted daterange, house text, kproxy_weight real",
			"kproxy_audience_public_public.drugs":    "visit_id bigint, dose integer, dose_range int4range, drug text, house character varying(20), kproxy_weight real",
		} {
			if got := h.shownColumnsOf(view); got != want {
				t.Errorf("%s has %s, not %s", view, got, want)
			}
		}
		for _, table := range []string{"patients", "visits"} {
			if n := scanned[int](h.bench, "SELECT count(*)::int FROM kproxy_audience_public_public."+table); n == 0 {
				t.Errorf("restart %d: the public sees nothing of %s: %+v", restart, table, s.Status().Tables[publicTable(table)])
			}
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}
