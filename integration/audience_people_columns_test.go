package integration

import (
	"strings"
	"testing"
)

// peopleColumns has partners see tables about the same persons coarser, and the press, in other forms and with a column that the tables hide from
// their own readers.
const peopleColumns = `audiences:
  partners:
    readers: [partner]
    people:
      patient:
        constraints: [{k: 15}]
        columns:
          public.patients.born: {units: [year, decade, century]}
          public.patients.postcode: {steps: [10, 50, 200]}
          public.visits.admitted: {units: [month, quarter, year, decade], publish: range}
  press:
    readers: [press]
    people:
      patient:
        constraints: [{k: 30}]
        hide: [public.prescriptions.drug, public.patients.sex]
        show: [public.visits.ward]
        columns:
          public.patients.born: {units: [decade, century], publish: value}
`

// hidingWards has the tables' own readers not see wards.
func hidingWards(tables string) string {
	return strings.Replace(tables, "public.visits: {columns", "public.visits: {hide: [ward], columns", 1)
}

// seesPeopleColumns has psql join as a user of each audience: columns, types and labels are those of the audience. All tables have some further
// columns of kproxy's.
func (s *site) seesPeopleColumns(t *testing.T, further string) {
	t.Helper()
	ask := func(user, sql string) string { return strings.TrimSpace(psql(t, s.of(user), sql).must(t).stdout) }
	const shape = "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = '%s'"
	for _, c := range [][3]string{
		{clientUser, "patients", "patient_id integer, born date, born_range daterange, sex text, postcode integer, postcode_range int4range"},
		{"partner", "patients", "patient_id integer, born date, born_range daterange, sex text, postcode integer, postcode_range int4range"},
		{"press", "patients", "patient_id integer, born date, postcode integer, postcode_range int4range"},
		{clientUser, "visits", "visit_id bigint, patient_id integer, admitted date, admitted_range daterange"},
		{"partner", "visits", "visit_id bigint, patient_id integer, admitted daterange"},
		{"press", "visits", "visit_id bigint, patient_id integer, admitted daterange, ward text"},
	} {
		if got := ask(c[0], strings.Replace(shape, "%s", c[1], 1)); got != c[2]+further {
			t.Errorf("%s sees %s with %s, not %s", c[0], c[1], got, c[2])
		}
	}
	const joined = " FROM visits JOIN patients USING (patient_id)"
	for _, c := range [][3]string{
		{"partner", "SELECT count(*)" + joined + " WHERE extract(month FROM lower(born_range)) <> 1 OR extract(day FROM lower(admitted)) <> 1", "0"},
		{"partner", "SELECT bool_and(upper(postcode_range) - lower(postcode_range) IN (10, 50, 200) AND lower(postcode_range) % 10 = 0)" + joined, "t"},
		{"partner", "SELECT min(n) >= 15 FROM (SELECT count(DISTINCT patient_id) AS n" + joined + " GROUP BY born_range, sex, postcode_range, admitted) a", "t"},
		{"press", "SELECT min(n) >= 30 FROM (SELECT count(DISTINCT patient_id) AS n" + joined + " GROUP BY born, postcode_range, admitted) a", "t"},
		{"press", "SELECT count(*) > 0" + joined + " WHERE ward = 'eye'", "t"},
	} {
		if got := ask(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
	for _, user := range []string{clientUser, "partner"} {
		if _, err := connect(t, s.of(user)).Exec(t.Context(), "SELECT ward FROM visits"); sqlState(t, err) != "42703" {
			t.Errorf("%s reads a column of the press: %v", user, err)
		}
		for _, command := range []string{`\d visits`, "SELECT * FROM kproxy.describe('visits')", "SELECT * FROM kproxy.tables()", "EXPLAIN (VERBOSE) TABLE visits"} {
			if got := ask(user, command); strings.Contains(got, "ward") {
				t.Errorf("%s is told of a column of the press by %s:\n%s", user, command, got)
			}
		}
	}
}

// TestAudiencesOfPeopleHaveColumnsOfTheirOwn: each audience has its columns, and check says what readers hold who pool what they have.
func TestAudiencesOfPeopleHaveColumnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	tables := strings.Replace(hidingWards(hospitalTables), "constraints: [{k: 5}]", "constraints: [{k: 5}, {alpha: 0.9, of: public.visits.ward}]", 1)
	s := siteWithReaders(t, sqlSite(hospitalSQL, tables+peopleColumns), "partner", "press")
	s.serve(t)
	s.seesPeopleColumns(t, "")
	if o := s.kproxy(t, "verify"); o.code != 0 || !strings.Contains(o.stdout, "public.visits.ward, in cells, with hidden columns") {
		t.Errorf("verify:\n%s%s", o.stdout, o.stderr)
	}
	o := s.kproxy(t, "check")
	for _, want := range []string{
		"public.visits: its own readers with any of partners, press: 5-anonymity, (0.9,k)-anonymity of ward; they join ward (of press)",
		"public.patients: its own readers with any of partners, press: 5-anonymity",
		"public.visits: partners with press: (0.9,k)-anonymity of ward, 15-anonymity; they join ward (of press)",
	} {
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("check does not say %q:\n%s%s", want, o.stdout, o.stderr)
		}
	}
}
