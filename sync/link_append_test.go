package sync

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// indexesOf are the indexes that the store has of a link's tables about patients, by what they index, with the link's name left out.
func (h *hospital) indexesOf(link string) string {
	h.t.Helper()
	var all []string
	for _, table := range []string{"patients", "visits", "drugs"} {
		for _, kind := range []string{"release", "followed", "cellweight"} {
			of := storeTable(kind+"_"+link, int64(h.generationOf(table)))
			found := scanned[string](h.bench, fmt.Sprintf(`SELECT coalesce(string_agg(replace(i.relname, %s, '') || ' ' || substring(pg_get_indexdef(i.oid) FROM 'USING .*'), ', ' ORDER BY i.relname), 'none')
				FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = %s::regclass`, catalog.QuoteLiteral(of.Relation), catalog.QuoteLiteral(of.SQL())))
			all = append(all, table+" "+kind+": "+found)
		}
	}
	return strings.Join(all, "\n")
}

// TestAppendedLinksAreIndexed: what the store has of an audience that came to guarded tables about persons later is indexed as
// what it has of one that was there from the beginning, whatever names audiences have and had.
func TestAppendedLinksAreIndexed(t *testing.T) {
	t.Parallel()
	const patients = 120
	h := guardedAudienceHospital(t, "1/1y:3", patients)
	h.visitAgain(patients)
	all := slices.Clone(h.config.Tables)
	shownTo := func(change func(audiences []catalog.AudiencePolicy) []catalog.AudiencePolicy) {
		h.config.Tables = slices.Clone(all)
		for i := range h.config.Tables {
			p := &h.config.Tables[i].Policy
			p.Audiences = change(slices.Clone(p.Audiences))
		}
	}
	const links = "partners=partners public=public"
	want := ""
	for _, step := range []struct {
		links  string // each audience with what its tables are called by
		stored []string
		change func(audiences []catalog.AudiencePolicy) []catalog.AudiencePolicy
	}{
		{"partners=partners", []string{"partners"}, func(a []catalog.AudiencePolicy) []catalog.AudiencePolicy { return a[:1] }},
		{links, []string{"partners", "public"}, func(a []catalog.AudiencePolicy) []catalog.AudiencePolicy { return a }},
		{"public=partners =public", []string{"partners", "public"}, func(a []catalog.AudiencePolicy) []catalog.AudiencePolicy {
			a[0].Audience = "public" // what partners saw
			return a[:1]
		}},
		{"=partners =public public=public2", []string{"partners", "public", "public2"}, func(a []catalog.AudiencePolicy) []catalog.AudiencePolicy {
			a[1].Constraints = []privacy.Spec{{Model: privacy.K, K: a[1].Constraints[0].K + 10}}
			return a[1:]
		}},
	} {
		shownTo(step.change)
		s, stop := h.run()
		h.inStep(s)
		h.checkRelease()
		if found := h.linksOfAll(); found != step.links {
			t.Fatalf("the links are %s, not %s", found, step.links)
		}
		for _, link := range step.stored {
			found := h.indexesOf(link)
			if want == "" {
				want = found
			}
			if found != want {
				t.Errorf("where links are %s, of %s there are the indexes\n%s\nand not\n%s", step.links, link, found, want)
			}
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	for _, index := range []string{"patients release: _key", "visits release: _key", "_link", "(kproxy_row)"} {
		if !strings.Contains(want, index) {
			t.Errorf("there is no index %s in\n%s", index, want)
		}
	}
}
