package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// newAudienceHospital is a hospital of which two audiences see all tables, the second without the blood groups.
func newAudienceHospital(t *testing.T, knows string, patients int, bounds ...privacy.Spec) *hospital {
	t.Helper()
	return newHospitalFor(t, knows, patients, func(*hospital) {}, bounds...)
}

// newHospitalFor is the same with other policies of what is seen.
func newHospitalFor(t *testing.T, knows string, patients int, change func(*hospital), bounds ...privacy.Spec) *hospital {
	t.Helper()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.exec(sourceHospital)
	database := scanned[string](b, "SELECT current_database()")
	partners := catalog.Audience{Name: "partners", Roles: []string{"partner_" + database}}
	public := catalog.Audience{Name: "public", Roles: []string{"public_" + database}}
	h := &hospital{knows: knows, updates: catalog.Updates{Mode: catalog.Immediate}, bounds: bounds, random: rand.New(rand.NewPCG(9, uint64(len(knows)))), audiences: map[string][]catalog.AudiencePolicy{}}
	_, policy := hospitalPeople(knows)
	policy.Audiences = []catalog.Audience{partners, public}
	for i := range policy.Tables {
		name := policy.Tables[i].Table.Relation
		hidden := []string(nil)
		if name == "patients" {
			hidden = []string{"blood"}
		}
		h.audiences[name] = []catalog.AudiencePolicy{
			{Audience: "partners", Role: partners.Roles[0], Constraints: []privacy.Spec{{Model: privacy.K, K: 2 * testK}}},
			{Audience: "public", Role: public.Roles[0], Constraints: []privacy.Spec{{Model: privacy.K, K: 4 * testK}}, Hidden: hidden},
		}
	}
	change(h)
	for i := range policy.Tables { // which provide wants to be whole
		of := &policy.Tables[i]
		of.Updates, of.Constraints = catalog.Updates{Mode: catalog.Immediate}, []privacy.Spec{{Model: privacy.K, K: testK}}
		of.Audiences, of.Hidden = h.audiences[of.Table.Relation], h.hidden[of.Table.Relation]
	}
	h.bench = b.provide(server, policy)
	h.config.Tables = h.linkedPublications(h.config.Reader)
	for id := range patients {
		h.patient(id)
	}
	return h
}

// judgeAudiences judges the releases of all readers, and that each is made of the one before.
func (h *hospital) judgeAudiences() {
	h.t.Helper()
	h.judge()
	h.judgeFor("partners", 2*testK)
	h.judgeFor("public", 4*testK)
	for _, table := range []string{"patients", "visits", "drugs"} {
		generation := int64(h.generationOf(table))
		key := map[string]string{"patients": "patient_id", "visits": "patient_id", "drugs": "visit_id"}[table]
		for i, audience := range []string{"partners", "public"} {
			finer := "release"
			if i > 0 {
				finer = "release_partners"
			}
			spoiled := scanned[int](h.bench, fmt.Sprintf(`SELECT count(*) FROM (SELECT FROM %[1]s f LEFT JOIN %[2]s c USING (kproxy_row) GROUP BY f.kproxy_class
				HAVING count(DISTINCT c.kproxy_class) > 1 OR count(c.kproxy_class) NOT IN (0, count(*)) OR count(f.%[3]s) < count(c.%[3]s)) a`,
				storeTable(finer, generation).SQL(), storeTable("release_"+audience, generation).SQL(), key))
			lost := scanned[int](h.bench, fmt.Sprintf("SELECT count(*) FROM %s c WHERE NOT EXISTS (SELECT FROM %s f WHERE f.kproxy_row = c.kproxy_row)",
				storeTable("release_"+audience, generation).SQL(), storeTable(finer, generation).SQL()))
			if spoiled+lost > 0 {
				h.t.Fatalf("%s for %s: %d classes are not together, and %d rows are not in the finer release", table, audience, spoiled, lost)
			}
		}
	}
}

// persons are those of the classes of a release, in order.
func (h *hospital) persons(audience string) string {
	h.t.Helper()
	return scanned[string](h.bench, fmt.Sprintf("SELECT string_agg(persons, ';' ORDER BY persons) FROM (SELECT string_agg(kproxy_row::text, ',' ORDER BY kproxy_row) AS persons FROM %s GROUP BY kproxy_class) a",
		storeTable("release_"+audience, int64(h.generationOf("patients"))).SQL()))
}

// TestLinkedAudiences: audiences' releases of joined tables follow random changes, a restart and a removal, in
// all kinds of what is known.
func TestLinkedAudiences(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:2", "1:1", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			var bounds []privacy.Spec
			if knows == "1:1" {
				bounds = append(bounds, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.9, Of: "public.visits.ward"})
			}
			h := newAudienceHospital(t, knows, patients, bounds...)
			s, stop := h.run()
			h.inStep(s)
			h.judgeAudiences()
			withKeys, rows := h.judgeFor("partners", 2*testK)
			classes := scanned[int](h.bench, "SELECT count(DISTINCT kproxy_class) FROM "+storeTable("release_partners", int64(h.generationOf("patients"))).SQL())
			if rows == 0 || withKeys < rows/8 || classes < 2 {
				t.Errorf("%d of %d rows have keys, in %d classes", withKeys, rows, classes)
			}
			if columns := scanned[string](h.bench, "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'kproxy_audience_public_public.patients'::regclass"); strings.Contains(columns, "blood") || !strings.Contains(columns, "patient_id") {
				t.Errorf("the public sees %s", columns)
			}
			for round := range 10 {
				for range 1 + h.random.IntN(25) {
					h.changeHospital(patients)
				}
				switch round {
				case 3, 6:
					h.inStep(s)
					before := h.persons("partners")
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					s, stop = h.run()
					h.inStep(s)
					if after := h.persons("partners"); len(bounds) == 0 && before != after {
						t.Errorf("a restart divides persons into %s, and they were %s", after, before)
					}
				case 7:
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					for range 10 {
						h.changeHospital(patients)
					}
					s, stop = h.run()
				case 8:
					h.exec("TRUNCATE drugs")
				}
				h.inStep(s)
				h.judgeAudiences()
			}
			h.exec("DELETE FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM patients ORDER BY patient_id LIMIT 12)") // too few for the public
			h.inStep(s)
			h.judge()
			status := s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}].Audiences
			if n := scanned[int](h.bench, "SELECT count(*) FROM kproxy_audience_public_public.visits"); n > 0 || status["public"].Reason == "" {
				t.Errorf("the public sees %d rows, and the status is %+v", n, status)
			}
		})
	}
}

// TestVerifierRefusesSpoiledLinkedAudiences: persons of one class that are shown in two are found for the audience, and only
// there; so are rows that an audience sees with the key of another person.
func TestVerifierRefusesSpoiledLinkedAudiences(t *testing.T) {
	t.Parallel()
	h := newAudienceHospital(t, "1/1y:2", 120)
	s, stop := h.run()
	h.inStep(s)
	h.judgeAudiences()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ table, sql, check string }{
		"a person is in another class": {"public.patients", `UPDATE %[1]s p SET kproxy_class = o.kproxy_class, born = o.born, born_range = o.born_range, sex = o.sex
			FROM (SELECT * FROM %[1]s WHERE kproxy_class = (SELECT max(kproxy_class) FROM %[1]s) LIMIT 1) o WHERE p.kproxy_row = (SELECT min(kproxy_row) FROM %[1]s WHERE kproxy_class <> o.kproxy_class)`, "classes are unions of the finer ones"},
		"a visit has the key of another person": {"public.visits", `UPDATE %[1]s v SET patient_id = (SELECT patient_id FROM %[1]s o WHERE o.patient_id <> v.patient_id LIMIT 1) WHERE kproxy_row = (SELECT min(kproxy_row) FROM %[1]s WHERE patient_id IS NOT NULL)`, ""}, // of the same class, or of another
	} {
		t.Run(name, func(t *testing.T) {
			table := strings.TrimPrefix(c.table, "public.")
			spoiled := storeTable("release_partners", int64(h.generationOf(table))).SQL()
			h.exec("CREATE TABLE kept AS SELECT * FROM " + spoiled)
			h.exec(fmt.Sprintf(c.sql, spoiled))
			report, err := verify.Run(t.Context(), connectTo(t, h.store().Config().ConnString()), h.config.Tables, verify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			h.exec("DELETE FROM " + spoiled + "; INSERT INTO " + spoiled + " SELECT * FROM kept; DROP TABLE kept")
			var failed []string
			for _, r := range report {
				if slices.ContainsFunc(r.Checks, func(c verify.Check) bool { return !c.Passed }) {
					t.Errorf("the release of %s for its own readers is refused: %+v", r.Table, r.Checks)
				}
				for _, a := range r.Audiences {
					for _, check := range a.Checks {
						if !check.Passed {
							failed = append(failed, a.Audience+": "+check.Name)
						}
					}
				}
			}
			if len(failed) == 0 || c.check != "" && !slices.Contains(failed, "partners: "+c.check) || slices.ContainsFunc(failed, func(f string) bool { return c.check == "" && !strings.HasPrefix(f, "partners: ") }) {
				t.Errorf("what fails is %q", failed)
			}
		})
	}
}
