package integration

import (
	"strings"
	"testing"
)

// TestGuardedAudiencesOfPeopleHoldWhatTheyState has psql look, as a user of the tables' own readers and as one of an audience, for the share of the persons
// of a class who have been in the same ward in a year. What violates the audience's constraint is shown to the tables' own readers alone.
func TestGuardedAudiencesOfPeopleHoldWhatTheyState(t *testing.T) {
	t.Parallel()
	tables := strings.NewReplacer("updates: immediate", "updates: {mode: guarded, within: 1s, rows: 5, rows_within: 2s}", "knows: {rows: 1, per: 1y}", "knows: {rows: 1, per: 1y, crowd: 4}").Replace(hospitalTables)
	s := siteWithReaders(t, sqlSite(hospitalSQL, tables+valuedAudiences), "partner")
	s.serve(t)
	_, number := s.asks(t)
	const share = `WITH had AS (SELECT DISTINCT p.born_range, p.sex, p.postcode_range, extract(year FROM v.admitted) AS year, v.ward, v.patient_id FROM visits v JOIN patients p USING (patient_id)),
		class AS (SELECT born_range, sex, postcode_range, count(*) AS size FROM patients GROUP BY 1, 2, 3)
		SELECT coalesce(max(100 * n / size), 0) FROM (SELECT count(*) AS n, born_range, sex, postcode_range FROM had GROUP BY born_range, sex, postcode_range, year, ward) h JOIN class USING (born_range, sex, postcode_range)`
	in := func(year string) string {
		return "SELECT count(*) FROM visits WHERE visit_id IS NOT NULL AND extract(year FROM admitted) = " + year
	}
	holds := func() {
		t.Helper()
		if coarse := number("partner", share); coarse > 70 {
			t.Errorf("partners see %d %% of a class in one ward", coarse)
		}
		for command, want := range map[string]string{"check": "partners sees public.visits by 15-anonymity, (0.7,k)-anonymity of ward", "verify": "partners"} {
			if o := s.kproxy(t, command); o.code != 0 || !strings.Contains(o.stdout, want) {
				t.Errorf("%s:\n%s%s", command, o.stdout, o.stderr)
			}
		}
	}
	eventually(t, "partners see visits", func() bool { return number("partner", "SELECT count(*) FROM visits") > 50 })
	holds()
	admin := connect(t, s.admin)
	execute(t, admin, "INSERT INTO visits SELECT 2000000 + patient_id, patient_id, '2026-05-05'::date + patient_id % 60, 'heart' FROM patients")
	eventually(t, "the tables' own readers see visits to one ward", func() bool { return number(clientUser, in("2026")) > 100 })
	execute(t, admin, "INSERT INTO visits SELECT 3000000 + patient_id, patient_id, '2027-05-05'::date + patient_id % 60, (ARRAY['eye', 'heart', 'skin'])[1 + patient_id % 3] FROM patients")
	eventually(t, "partners see visits to several", func() bool { return number("partner", in("2027")) > 20 })
	if n := number("partner", in("2026")); n > 0 {
		t.Errorf("partners see %d visits of a year in which all were in one ward", n)
	}
	if own := number(clientUser, share); own <= 70 {
		t.Errorf("the tables' own readers see at most %d %% of a class in one ward: the test shows nothing", own)
	}
	holds()
}
