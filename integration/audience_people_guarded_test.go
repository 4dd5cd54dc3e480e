package integration

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// joinedVersions are what a user of psql has seen of tables about the same persons, version by version: rows of visits by
// the ward, which in this test is another one for each, joined with those of patients, likewise known by a number.
type joinedVersions struct {
	user     string
	least    int
	patients []map[string]string // what is published of each, by number
	visits   []map[string]joinedVisit
}

type joinedVisit struct{ patient, shown string }

func (v *joinedVersions) look(t *testing.T, s *site) {
	t.Helper()
	table := func(sql string) (rows [][]string) {
		o := run(t, sql, nil, "psql", "-X", "-A", "-t", "-F", "|", s.of(v.user)).must(t)
		for line := range strings.Lines(o.stdout) {
			rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "|"))
		}
		return rows
	}
	patients, visits := map[string]string{}, map[string]joinedVisit{}
	for _, r := range table("SELECT nr, born_range, sex, postcode_range FROM patients") {
		patients[r[0]] = strings.Join(r[1:], " ")
	}
	// Who joins sees the pseudonym of a member of the class: the number behind it is what an attacker has to guess.
	for _, r := range table("SELECT v.ward, p.nr, v.admitted_range, p.born_range, p.sex, p.postcode_range FROM visits v JOIN patients p USING (patient_id)") {
		visits[r[0]] = joinedVisit{r[1], strings.Join(r[2:], " ")}
	}
	v.patients, v.visits = append(v.patients, patients), append(v.visits, visits)
}

// courses are what each row has shown in all versions.
func courses[R any](user string, versions []map[string]R, text func(R) string, into map[string]string) {
	for version, rows := range versions {
		for row, shown := range rows {
			into[row] += fmt.Sprintf("%s %d: %s; ", user, version, text(shown))
		}
	}
}

// check compares all versions: of whoever is known by the root record, or by one visit whatever comes to light of it in
// any version, so many persons are left. Alone, these are the audience's k; pooled with finer readers, theirs.
func (v *joinedVersions) check(t *testing.T, least int, others ...*joinedVersions) {
	t.Helper()
	patients, visits := map[string]string{}, map[string]string{}
	for _, seen := range append([]*joinedVersions{v}, others...) {
		courses(seen.user, seen.patients, func(shown string) string { return shown }, patients)
		courses(seen.user, seen.visits, func(shown joinedVisit) string { return shown.shown }, visits)
	}
	alike, candidates := map[string]int{}, map[string]map[string]bool{}
	for _, course := range patients {
		alike[course]++
	}
	for course, n := range alike {
		if n < least {
			t.Errorf("%s, with %d others: %d patients with the history %s", v.user, len(others), n, course)
		}
	}
	for visit, course := range visits {
		if candidates[course] == nil {
			candidates[course] = map[string]bool{}
		}
		for _, version := range v.visits {
			if joined, shown := version[visit]; shown {
				candidates[course][joined.patient] = true
			}
		}
	}
	for course, persons := range candidates {
		if len(persons) == 0 && len(others) > 0 {
			continue // it came after the last look, and was seen by others alone, who are checked by themselves
		}
		if len(persons) < least {
			t.Errorf("%s, with %d others: %d patients have a visit with the history %s", v.user, len(others), len(persons), course)
		}
	}
}

// TestGuardedAudiencesJoinPeople has psql join guarded tables about the same persons, as a user of the tables' own readers
// and as one of an audience, and compare all versions, alone and together, while rows come and go and kproxy is killed.
func TestGuardedAudiencesJoinPeople(t *testing.T) {
	t.Parallel()
	sql := strings.NewReplacer("sex text, postcode integer);", "sex text, postcode integer, nr int);", "10000 + (random() * 90)::int FROM", "10000 + (random() * 90)::int, i FROM").Replace(hospitalSQL) +
		"; UPDATE visits SET ward = 'ward ' || visit_id"
	tables := strings.NewReplacer("updates: immediate", "updates: {mode: guarded, within: 1s, rows: 5, rows_within: 2s}", "knows: {rows: 1, per: 1y}", "knows: {rows: 1, per: 1y, crowd: 4}", "hierarchy: numeric}}}", "hierarchy: numeric}, nr: insensitive}, acknowledge: {joinable: [nr]}}",
		"ward: sensitive}}", "ward: sensitive}, acknowledge: {joinable: [ward]}}").Replace(hospitalTables)
	s := siteWithReaders(t, sqlSite(sql, tables+peopleAudiences), "partner")
	p := s.serve(t)
	_, number := s.asks(t)
	const joined = " FROM visits v JOIN patients p USING (patient_id)"
	admin := connect(t, s.admin)
	all := scalar[int](t, admin, "SELECT count(*)"+joined)
	for user, share := range map[string]int{clientUser: 8, "partner": 5} {
		if n := number(user, "SELECT count(*)"+joined); n > all || n < all*share/10 {
			t.Errorf("%s joins %d of %d visits", user, n, all)
		}
		if n := number(user, "SELECT count(*) FROM labs JOIN visits USING (visit_id) JOIN patients USING (patient_id)"); n == 0 {
			t.Errorf("%s joins no laboratory values", user)
		}
	}
	if n := number("partner", "SELECT count(*) FROM patients"); n < 500 {
		t.Errorf("partners see %d patients", n)
	}
	fine, partner := &joinedVersions{user: clientUser, least: 5}, &joinedVersions{user: "partner", least: 15}
	look := func() {
		for _, v := range []*joinedVersions{fine, partner} {
			v.look(t, s)
		}
	}
	look()
	for i, change := range []string{
		"DELETE FROM patients WHERE patient_id % 50 = 3",
		"INSERT INTO visits SELECT 2000000 + patient_id, patient_id, '2024-05-05'::date + patient_id % 90, 'ward ' || (2000000 + patient_id) FROM patients",
		"INSERT INTO patients SELECT i, 'Name', date '1950-01-01' + i, 'f', 10000 + i % 90, i FROM generate_series(5000, 5200) i",
		"DELETE FROM visits WHERE admitted < '2023-09-01'",
		"UPDATE visits SET admitted = admitted + 400 WHERE visit_id % 10 = 1; INSERT INTO visits SELECT 3000000 + patient_id, patient_id, '2023-05-05'::date + patient_id % 90, 'ward ' || (3000000 + patient_id) FROM patients",
	} {
		execute(t, admin, change)
		if i == 2 {
			p.end(t, syscall.SIGKILL)
			p = s.serve(t)
		}
		eventually(t, "the change is applied", func() bool {
			for _, table := range []string{"patients", "visits"} {
				records := scalar[string](t, admin, "SELECT 'kproxy_store.records_' || generation FROM kproxy_store.generation WHERE table_name = $1", table)
				if scalar[int](t, admin, "SELECT count(*) FROM "+records) != scalar[int](t, admin, "SELECT count(*) FROM "+table) {
					return false
				}
			}
			return true
		})
		look()
	}
	fine.check(t, 5)
	partner.check(t, 15)
	fine.check(t, 5, partner)
	if first, last := partner.visits[0], partner.visits[len(partner.visits)-1]; len(last) == 0 || len(last) == len(first) {
		t.Errorf("partners see %d visits and then %d", len(first), len(last))
	}
	commandsTellOfPartners(t, s)
}

// commandsTellOfPartners: commands know the audience of partners, and what it does not see.
func commandsTellOfPartners(t *testing.T, s *site) {
	t.Helper()
	if _, err := connect(t, s.of("partner")).Exec(t.Context(), "SELECT drug FROM prescriptions"); sqlState(t, err) != "42703" {
		t.Errorf("partners read a hidden column: %v", err)
	}
	for _, command := range []string{"verify", "check", "status"} {
		o := s.kproxy(t, command)
		if o.code != 0 || !strings.Contains(o.stdout, "partners") {
			t.Errorf("%s:\n%s%s", command, o.stdout, o.stderr)
		}
	}
	if o := s.kproxy(t, "export", "visits", "--audience", "partners", "--out", "-").must(t); !strings.Contains(o.stdout, "admitted_range") {
		t.Errorf("what is exported: %s%s", o.stdout, o.stderr)
	}
	report := s.kproxy(t, "report", "--json").must(t).stdout
	if !strings.Contains(report, `"partners"`) {
		t.Errorf("the report says nothing of partners: %s", report)
	}
}
