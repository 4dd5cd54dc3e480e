package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestGuardedAudiencesOfPeopleHaveColumnsOfTheirOwn: with guarded updates, too, each audience has its columns, while rows come, change and leave and
// kproxy is killed, and no row that stays shows anything else than at first.
func TestGuardedAudiencesOfPeopleHaveColumnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	tables := strings.NewReplacer("updates: immediate", "updates: {mode: guarded, within: 1s, rows: 5, rows_within: 2s}", "knows: {rows: 1, per: 1y}", "knows: {rows: 1, per: 1y, crowd: 4}", "constraints: [{k: 5}]", "constraints: [{k: 5}, {alpha: 0.9, of: public.visits.ward}]").Replace(hidingWards(hospitalTables))
	s := siteWithReaders(t, sqlSite(hospitalSQL, tables+peopleColumns), "partner", "press")
	p := s.serve(t)
	const weight = ", kproxy_weight real"
	s.seesPeopleColumns(t, weight)
	ask, number := s.asks(t)
	admin := connect(t, s.admin)
	rows := func(user string) map[string]string {
		shown := map[string]string{}
		for line := range strings.Lines(ask(user, "SELECT v.visit_id || '|' || to_jsonb(v) - 'kproxy_weight' FROM visits v WHERE visit_id IS NOT NULL")) {
			id, row, _ := strings.Cut(strings.TrimSpace(line), "|")
			shown[id] = row
		}
		return shown
	}
	users := []string{clientUser, "partner", "press"}
	seen := map[string]map[string]string{}
	for _, user := range users {
		if seen[user] = rows(user); len(seen[user]) < 100 {
			t.Errorf("%s sees %d visits", user, len(seen[user]))
		}
	}
	for i, change := range []string{
		"UPDATE visits SET ward = 'another'; UPDATE patients SET born = born + 3000 WHERE patient_id % 3 = 1",
		"INSERT INTO visits SELECT 2000000 + patient_id, patient_id, '2024-05-05'::date + patient_id % 90, (ARRAY['eye', 'heart', 'skin'])[1 + patient_id % 3] FROM patients",
		"DELETE FROM visits WHERE admitted < '2023-06-01'",
	} {
		execute(t, admin, change)
		if i == 1 {
			p.end(t, syscall.SIGKILL)
			p = s.serve(t)
			eventually(t, "the press sees new visits", func() bool {
				return number("press", "SELECT count(*) FROM visits WHERE admitted @> date '2024-06-01'") > 0 && len(rows("press")) > len(seen["press"])
			})
		}
		for _, user := range users {
			now, stayed := rows(user), 0
			for id, row := range seen[user] {
				if now[id] != "" && now[id] != row {
					t.Fatalf("%s sees %s, and saw %s", user, now[id], row)
				}
				if now[id] != "" {
					stayed++
				}
			}
			if seen[user] = now; stayed == 0 {
				t.Errorf("%s sees nothing again", user)
			}
		}
	}
	s.seesPeopleColumns(t, weight)
	for command, want := range map[string]string{
		"verify": "press",
		"check":  "public.visits: its own readers with any of partners, press: 5-anonymity, (0.9,k)-anonymity of ward; they join ward (of press)",
		"status": "press",
	} {
		if o := s.kproxy(t, command); o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("%s does not say %q:\n%s%s", command, want, o.stdout, o.stderr)
		}
	}
	for audience, want := range map[string]string{"partners": "visit_id,patient_id,admitted,kproxy_weight", "press": "visit_id,patient_id,admitted,ward,kproxy_weight"} {
		if o := s.kproxy(t, "export", "visits", "--audience", audience, "--out", "-").must(t); !strings.HasPrefix(o.stdout, want) {
			t.Errorf("what is exported for %s: %.200s%s", audience, o.stdout, o.stderr)
		}
	}
	if report := s.kproxy(t, "report", "--json").must(t).stdout; !strings.Contains(report, `"press"`) {
		t.Errorf("the report says nothing of the press: %s", report)
	}
	s.replace(t, "units: [decade, century], publish: value", "units: [century], publish: value")
	if o := s.kproxy(t, "reload"); !strings.Contains(o.stdout+o.stderr, "lineage") {
		t.Errorf("reload does not warn of a new lineage:\n%s%s", o.stdout, o.stderr)
	}
}
