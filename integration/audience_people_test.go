package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const peopleAudiences = `audiences:
  partners:
    readers: [partner]
    people:
      patient: {constraints: [{k: 15}], hide: [public.prescriptions.drug]}
`

// asks has psql ask as users for one value, as text and as a number.
func (s *site) asks(t *testing.T) (ask func(user, sql string) string, number func(user, sql string) int) {
	t.Helper()
	ask = func(user, sql string) string {
		t.Helper()
		return strings.TrimSpace(psql(t, s.of(user), sql).must(t).stdout)
	}
	return ask, func(user, sql string) int {
		t.Helper()
		n, err := strconv.Atoi(ask(user, sql))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// TestAudiencesJoinPeople has psql join tables about the same persons, as a user of the tables' own readers and as one of an
// audience, who sees fewer and coarser classes, keys of its own, and no hidden column.
func TestAudiencesJoinPeople(t *testing.T) {
	t.Parallel()
	o := sqlSite(hospitalSQL, hospitalTables+peopleAudiences)
	o.settings = fmt.Sprintf("console: {listen: %s, users: [{name: admin, verifier: '%s'}]}\n", freeAddress(t), clientVerifier(t))
	s := siteWithReaders(t, o, "partner")
	s.serve(t)
	ask, number := s.asks(t)
	const joined = " FROM visits v JOIN patients p USING (patient_id)"
	admin := connect(t, s.admin)
	all := scalar[int](t, admin, "SELECT count(*)"+joined)
	for _, user := range []string{clientUser, "partner"} {
		if n := number(user, "SELECT count(*)"+joined); n > all || n < all*8/10 {
			t.Errorf("%s joins %d of %d visits", user, n, all)
		}
		if n := number(user, "SELECT count(*) FROM patients"); n != 600 {
			t.Errorf("%s sees %d patients", user, n)
		}
		if n := number(user, "SELECT count(*) FROM labs JOIN visits USING (visit_id) JOIN patients USING (patient_id)"); n == 0 {
			t.Errorf("%s joins no laboratory values", user)
		}
		// Of whoever is known by the root row and one visit, so many are left.
		k := map[string]int{clientUser: 5, "partner": 15}[user]
		if n := number(user, "SELECT min(n) FROM (SELECT count(DISTINCT patient_id) AS n FROM (SELECT v.patient_id, v.admitted_range, p.born_range, p.sex, p.postcode_range"+joined+") j GROUP BY admitted_range, born_range, sex, postcode_range) a"); n < k {
			t.Errorf("%s can tell %d persons from others", user, n)
		}
	}
	classes := "SELECT count(*) FROM (SELECT DISTINCT born_range, sex, postcode_range FROM patients) a"
	if own, coarse := number(clientUser, classes), number("partner", classes); own <= coarse || coarse < 2 {
		t.Errorf("the tables have %d classes, and partners see %d", own, coarse)
	}
	keys := "SELECT string_agg(patient_id::text, ',' ORDER BY patient_id) FROM patients"
	own := "," + ask(clientUser, keys) + ","
	common := 0
	for _, key := range strings.Split(ask("partner", keys), ",") {
		if strings.Contains(own, ","+key+",") {
			common++
		}
	}
	if common > 3 { // by chance
		t.Errorf("%d keys are those of the finer release", common)
	}
	if _, err := connect(t, s.of("partner")).Exec(t.Context(), "SELECT drug FROM prescriptions"); sqlState(t, err) != "42703" {
		t.Errorf("partners read a hidden column: %v", err)
	}
	if ask(clientUser, "SELECT count(drug) > 0 FROM prescriptions") != "t" {
		t.Error("the column is hidden from all")
	}
	execute(t, admin, "DELETE FROM patients WHERE patient_id % 50 = 3; UPDATE visits SET admitted = admitted + 400 WHERE visit_id % 10 = 1")
	left := scalar[int](t, admin, "SELECT count(*) FROM patients")
	for _, user := range []string{clientUser, "partner"} {
		eventually(t, user+" sees the change", func() bool { return number(user, "SELECT count(*) FROM patients") == left })
	}
	s.keepsFiguresOfPartners(t)
	for _, command := range []string{"verify", "check", "status"} {
		o := s.kproxy(t, command)
		if o.code != 0 || !strings.Contains(o.stdout, "partners") {
			t.Errorf("%s:\n%s%s", command, o.stdout, o.stderr)
		}
	}
	t.Log(s.kproxy(t, "status").stdout)
	t.Log(s.kproxy(t, "explain", "--user", "partner", "SELECT count(*)"+joined).must(t).stdout)
	if n := number("partner", "SELECT count(*) FROM kproxy.describe('visits') WHERE k = 15"); n == 0 {
		t.Error(fmt.Sprint("partners are told of another k: ", ask("partner", "SELECT string_agg(k::text, ' ') FROM kproxy.describe('visits')")))
	}
}

// keepsFiguresOfPartners holds the figures that the console keeps of all tables to what partners can count, and to the
// losses of the tables' own readers, who lose less.
func (s *site) keepsFiguresOfPartners(t *testing.T) {
	t.Helper()
	const kept = `SELECT f.table_name, f.figures #> '{Audiences,partners,Losses}' <> 'null', (f.figures #>> '{Audiences,partners,Rows}')::bigint,
		(f.figures #>> '{Audiences,partners,Losses,Whole}')::float8 >= (f.figures #>> '{Losses,Whole}')::float8
		FROM kproxy_store.figures f JOIN kproxy_store.generation g USING (table_schema, table_name) WHERE f.figures ->> 'Position' = g.lsn::text`
	store, partner := connect(t, s.admin), connect(t, s.of("partner"))
	eventually(t, "the console keeps the figures of what partners see", func() bool {
		rows, err := store.Query(t.Context(), kept)
		if err != nil {
			t.Fatal(err)
		}
		counted := make(map[string]int64)
		var table string
		var measured, losesMore *bool
		var n *int64
		_, err = pgx.ForEachRow(rows, []any{&table, &measured, &n, &losesMore}, func() error {
			if measured != nil && *measured && n != nil && losesMore != nil && *losesMore {
				counted[table] = *n
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for table, n := range counted {
			if scalar[int64](t, partner, "SELECT count(*) FROM "+table) != n {
				return false
			}
		}
		return len(counted) == scalar[int](t, store, "SELECT count(*) FROM kproxy_store.generation")
	})
}

const valuedAudiences = `audiences:
  partners:
    readers: [partner]
    people:
      patient: {constraints: [{k: 15}, {alpha: 0.7, of: public.visits.ward}]}
`

// TestAudiencesOfPeopleHoldWhatTheyState has psql look, as a user of the tables' own readers and as one of an audience, for the share of the persons of
// a cell who have been in the same ward in its year.
func TestAudiencesOfPeopleHoldWhatTheyState(t *testing.T) {
	t.Parallel()
	s := siteWithReaders(t, sqlSite(hospitalSQL, hospitalTables+valuedAudiences), "partner")
	s.serve(t)
	ask, number := s.asks(t)
	const share = `WITH seen AS (SELECT v.patient_id, v.admitted_range, extract(year FROM v.admitted) AS year, v.ward, p.born_range, p.sex, p.postcode_range FROM visits v JOIN patients p USING (patient_id)),
		cell AS (SELECT DISTINCT born_range, sex, postcode_range, year, admitted_range, patient_id FROM seen),
		had AS (SELECT DISTINCT born_range, sex, postcode_range, year, patient_id, ward FROM seen),
		sized AS (SELECT born_range, sex, postcode_range, year, admitted_range, count(*) AS size FROM cell GROUP BY born_range, sex, postcode_range, year, admitted_range)
		SELECT max(100 * n / size) FROM (SELECT count(*) AS n, born_range, sex, postcode_range, year, admitted_range FROM cell JOIN had USING (born_range, sex, postcode_range, year, patient_id)
			GROUP BY born_range, sex, postcode_range, year, admitted_range, ward) h JOIN sized USING (born_range, sex, postcode_range, year, admitted_range)`
	if own := number(clientUser, share); own <= 70 {
		t.Errorf("the tables' own readers see at most %d %% of a cell in one ward: the test shows nothing", own)
	}
	holds := func() {
		t.Helper()
		if coarse := number("partner", share); coarse > 70 {
			t.Errorf("partners see %d %% of a cell in one ward", coarse)
		}
	}
	holds()
	if n := number("partner", "SELECT count(*) FROM (SELECT DISTINCT born_range, sex, postcode_range FROM patients) a"); n < 2 {
		t.Errorf("partners see %d classes", n)
	}
	admin := connect(t, s.admin)
	execute(t, admin, "UPDATE visits SET ward = 'eye' WHERE visit_id % 5 = 0; DELETE FROM patients WHERE patient_id % 50 = 3")
	left := scalar[int](t, admin, "SELECT count(*) FROM patients")
	eventually(t, "partners see the change", func() bool { return number("partner", "SELECT count(*) FROM patients") == left })
	holds()
	if o := s.kproxy(t, "check"); o.code != 0 || !strings.Contains(o.stdout, "partners sees public.visits by 15-anonymity, (0.7,k)-anonymity of ward") {
		t.Errorf("check:\n%s%s", o.stdout, o.stderr)
	}
	if o := s.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("verify:\n%s%s", o.stdout, o.stderr)
	}
	execute(t, admin, "UPDATE visits SET ward = 'heart'")
	eventually(t, "partners see nothing", func() bool {
		return strings.Contains(psql(t, s.of("partner"), "SELECT count(*) FROM visits").stderr, "is not published now")
	})
	if ask(clientUser, "SELECT count(*) > 0 FROM visits") != "t" {
		t.Error("the tables' own readers see nothing, either")
	}
	if o := s.kproxy(t, "status"); !strings.Contains(o.stdout, "all persons together violate") {
		t.Errorf("status:\n%s%s", o.stdout, o.stderr)
	}
}
