package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

// clinicPartners have partners see the classes and cells of a clinic's release as they are, without the wards.
const clinicPartners = `
CREATE SCHEMA %[1]s;
CREATE VIEW records_partners_21 AS SELECT * FROM records_21;
CREATE VIEW records_partners_22 AS SELECT * FROM records_22;
CREATE VIEW records_partners_23 AS SELECT * FROM records_23;
CREATE VIEW records_partners_24 AS SELECT * FROM records_24;
CREATE TABLE release_partners_21 AS SELECT * FROM release_21;
CREATE TABLE release_partners_22 AS SELECT * FROM release_22;
ALTER TABLE release_partners_22 DROP ward;
CREATE TABLE release_partners_23 AS SELECT * FROM release_23;
CREATE TABLE release_partners_24 AS SELECT * FROM release_24;
CREATE VIEW %[1]s.patients AS SELECT patient_id, born, born_range, sex, blood FROM release_partners_21;
CREATE VIEW %[1]s.visits AS SELECT clinic, visit_no, patient_id, admitted, admitted_range FROM release_partners_22;
CREATE VIEW %[1]s.drugs AS SELECT clinic, visit_no, dose, dose_range, drug FROM release_partners_23;
CREATE VIEW %[1]s.events AS SELECT patient_id, kind FROM release_partners_24;`

// partnersOf are the policies of a clinic whose partners do not see wards, and what makes the release for them.
func partnersOf() (policies []catalog.TablePolicy, store string) {
	policies = slices.Clone(clinicPolicies)
	for i := range policies {
		seen := catalog.AudiencePolicy{Audience: "partners"}
		if policies[i].Table.Relation == "visits" {
			seen.Hidden = []string{"ward"}
		}
		policies[i].Updates = catalog.Updates{Mode: catalog.Immediate}
		policies[i].Audiences = []catalog.AudiencePolicy{seen}
	}
	return policies, fmt.Sprintf(clinicPartners, catalog.ReleaseSchemaFor("partners", "public"))
}

// failuresOf are the checks that fail, of partners where they are so marked.
func failuresOf(report verify.Report) (failed []string) {
	add := func(prefix string, checks []verify.Check) {
		for _, c := range checks {
			if !c.Passed {
				failed = append(failed, prefix+": "+c.Name)
			}
		}
	}
	for _, table := range report {
		name := strings.TrimPrefix(table.Table, "public.")
		add(name, table.Checks)
		for _, a := range table.Audiences {
			add(name+" for "+a.Audience, a.Checks)
		}
	}
	return failed
}

func partnersAreSeen(t *testing.T, conn *pgx.Conn, publications []catalog.Publication) verify.Report {
	t.Helper()
	report := run(t, conn, publications)
	for _, table := range report {
		if len(table.Audiences) != 1 || len(table.Audiences[0].Checks) == 0 {
			t.Fatalf("what partners see of %s is not verified", table.Table)
		}
	}
	return report
}

// TestNamesAreNoFormats verifies tables whose keys have percent signs in their names, for an audience, too.
func TestNamesAreNoFormats(t *testing.T) {
	t.Parallel()
	const person = "P%d"
	renamed := strings.NewReplacer("patient_id", catalog.QuoteIdentifier(person))
	conn := clinicReleaseOf(t, renamed.Replace(clinic))
	policies, partners := partnersOf()
	for knows, store := range clinics {
		execute(t, conn, undoClinicAndPartners()+renamed.Replace(store+partners))
		publications := clinicPublicationsOf(t, conn, policies, person, knows, clinicConstraints...)
		if report := partnersAreSeen(t, conn, publications); len(failuresOf(report)) > 0 {
			t.Errorf("%s: %s", knows, strings.Join(failuresOf(report), "; "))
		}
	}
}

func undoClinicAndPartners() string {
	return "DROP SCHEMA IF EXISTS " + catalog.ReleaseSchemaFor("partners", "public") + " CASCADE;" + `
		DROP TABLE IF EXISTS kproxy_store.release_partners_21, kproxy_store.release_partners_22, kproxy_store.release_partners_23, kproxy_store.release_partners_24;` + undoClinic
}

// shared has two cells of a window that both satisfy a constraint on wards, while persons of both together do not: one person, who is in
// both, is in the eye ward of none.
const shared = `
UPDATE records_22 SET ward = CASE patient_id WHEN 3 THEN 'ear' ELSE 'eye' END WHERE clinic = 1 AND patient_id <= 6;
INSERT INTO records_22 SELECT 30, NULL, 1, 13, 3, '2023-02-20', 'ear';
UPDATE release_22 l SET ward = r.ward FROM records_22 r WHERE r.kproxy_record = l.kproxy_row;
INSERT INTO release_22 SELECT kproxy_class, 30, 7030, 7030, public.alias(3, 1), admitted, admitted_range, 'ear' FROM release_22 WHERE kproxy_row = 4;
DELETE FROM records_23 WHERE kproxy_record IN (4, 5, 6);
DELETE FROM release_23 WHERE kproxy_row IN (4, 5, 6);`

// TestHiddenValuesOfPersons has an audience see a cell in whose values there is too little variety, in a column that is
// hidden from it.
func TestHiddenValuesOfPersons(t *testing.T) {
	t.Parallel()
	conn := clinicRelease(t)
	policies, partners := partnersOf()
	const united = `UPDATE release_partners_22 SET kproxy_class = 50, admitted = (SELECT min(admitted) FROM release_22 WHERE kproxy_class IN (10, 11)),
		admitted_range = (SELECT range_merge(range_agg(admitted_range)) FROM release_22 WHERE kproxy_class IN (10, 11)) WHERE kproxy_class IN (10, 11);`
	for _, c := range []struct {
		spoilt string
		fails  []string
	}{
		{"", nil},
		{united, []string{"visits for partners: (0.75,k)-anonymity of public.visits.ward, in cells, with hidden columns"}},
	} {
		execute(t, conn, undoClinicAndPartners()+fmt.Sprintf(clinicStore, 12, "shift")+shared+partners+c.spoilt)
		constraint := privacy.Spec{Model: privacy.AlphaK, Alpha: 0.75, Of: "public.visits.ward"}
		report := partnersAreSeen(t, conn, clinicPublicationsOf(t, conn, policies, "patient_id", "1/1y:2", constraint))
		if failed := failuresOf(report); !slices.Equal(failed, c.fails) {
			t.Errorf("failed:\n %s\nwant:\n %s", strings.Join(failed, "\n "), strings.Join(c.fails, "\n "))
		}
	}
}
