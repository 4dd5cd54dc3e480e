package release

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/tablefile"
)

const hospitalAudiences = `
audiences:
  partners:
    people:
      patient: {constraints: [{k: 8}], hide: [public.visits.ward, public.patients.born]}
  press:
    people:
      patient: {constraints: [{k: 16}], hide: [public.visits, public.labs], columns: {public.patients.born: {units: [decade]}}}
`

func hospitalFor(t *testing.T, knows, constraints, updates string) (*config.PolicyFile, map[catalog.Name]*dataset.File) {
	t.Helper()
	_, files := hospitalFiles(t, knows, constraints)
	text := strings.Replace(fmt.Sprintf(hospital, knows, constraints), "    key: patient\n", "    key: patient\n"+updates, 1) + hospitalAudiences
	policy, err := config.ParsePolicy("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return policy, files
}

// TestReleasesOfPeopleForAudiences makes releases for two audiences, one of which does not see all tables, holds them against
// what is demanded of them, and proves them.
func TestReleasesOfPeopleForAudiences(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"all", "{rows: 1}", "{rows: 1, per: 1y, crowd: 2}"} {
		for _, constraints := range []string{"", ", {alpha: 0.9, of: public.visits.ward}"} {
			t.Run(knows+constraints, func(t *testing.T) {
				t.Parallel()
				policy, files := hospitalFor(t, knows, constraints, "    updates: immediate\n")
				all, _, err := OfPeopleFor(t.Context(), files, policy, Options{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range all {
					for _, format := range []tablefile.Format{tablefile.CSV, tablefile.Parquet} {
						checks, err := p.Prove(t.Context(), format, writeAll(t, p, format), quiet)
						if err != nil {
							t.Fatal(err)
						}
						for table, of := range checks {
							if bad := failed(of); len(bad) > 0 || len(of) < 8 {
								t.Errorf("%q, %s: of %d checks of %s, these fail: %v", p.Audience, format, len(of), p.Figures[table].Table, bad)
							}
						}
					}
					if p.Kind.K() != []int{4, 8, 16}[i] || p.Figures[0].Rows != 300 || i > 0 && p.Figures[0].Classes > all[i-1].Figures[0].Classes {
						t.Errorf("%q: k is %d, and the figures are %+v", p.Audience, p.Kind.K(), p.Figures)
					}
					if i > 0 {
						p.nests(t, all[i-1])
					}
				}
			})
		}
	}
}

// nests: classes of all tables are unions of the finer ones, of at least k persons, without keys of the finer release.
func (p *People) nests(t *testing.T, finer *People) {
	t.Helper()
	for table, r := range p.Tables {
		unions, persons := map[int32]int32{}, map[int32]map[int32]bool{}
		fine, own := finer.Tables[table].parts[0].of, r.parts[0].of
		for record := range fine {
			if fine[record] < 0 {
				if own[record] >= 0 {
					t.Errorf("%s of %s: a record of no finer class is published", p.Audience, p.Figures[table].Table)
				}
				continue
			}
			if of, known := unions[fine[record]]; known && of != own[record] {
				t.Errorf("%s of %s: a finer class is in %d and %d", p.Audience, p.Figures[table].Table, of, own[record])
			}
			if unions[fine[record]] = own[record]; own[record] < 0 {
				continue
			}
			if persons[own[record]] == nil {
				persons[own[record]] = map[int32]bool{}
			}
			person := int32(record)
			for at := table - 1; at != people.Root; at = p.persons.Data.Tables[at].Parent {
				person = p.persons.Data.Tables[at].Of[person]
			}
			persons[own[record]][person] = true
			for i, key := range r.keys {
				if n := key(int32(record)); n != 0 && finer.Tables[table].keys[i](int32(record)) == 0 {
					t.Errorf("%s of %s: a record gets a key", p.Audience, p.Figures[table].Table)
				}
			}
		}
		for _, of := range persons {
			if unknown := table == 3; len(of) < p.Kind.K() && !unknown {
				t.Errorf("%s of %s: a class has %d persons", p.Audience, p.Figures[table].Table, len(of))
			}
		}
	}
}

// TestTamperedReleasesForAudiences: classes that are no unions, and those that hold too few persons behind hidden columns, are found.
func TestTamperedReleasesForAudiences(t *testing.T) {
	t.Parallel()
	policy, files := hospitalFor(t, "{rows: 1, per: 1y, crowd: 2}", "", "    updates: immediate\n")
	for want, change := range map[string]func(p *People){
		"classes are unions of the finer ones": func(p *People) {
			of := p.Tables[0].parts[0].of
			of[slices.IndexFunc(of, func(class int32) bool { return class == 0 })] = 1
		},
		"8 persons have the same root values, with hidden columns": func(p *People) {
			of := p.Tables[0].parts[0].of
			for record := range of {
				of[record] = int32(record)
			}
		},
	} {
		all, _, err := OfPeopleFor(t.Context(), files, policy, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		p := all[1]
		paths := writeAll(t, p, tablefile.CSV)
		change(p)
		checks, err := p.Prove(t.Context(), tablefile.CSV, paths, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(failed(checks[0]), want) {
			t.Errorf("%s: these fail: %v", want, failed(checks[0]))
		}
	}
}

// TestGuardedPoliciesOfPeople: a file has no versions, and no weights.
func TestGuardedPoliciesOfPeople(t *testing.T) {
	t.Parallel()
	policy, files := hospitalFor(t, "all", "", "    updates: immediate\n")
	for i := range policy.Policy().Tables {
		policy.Policy().Tables[i].Updates = catalog.Updates{Mode: catalog.Guarded}
	}
	all, _, err := OfPeopleFor(t.Context(), files, policy, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		for _, r := range p.Tables {
			for _, c := range r.Columns {
				if strings.HasPrefix(c.Name, "kproxy_") {
					t.Errorf("%q: column %s is published", p.Audience, c.Name)
				}
			}
		}
	}
}

// TestAudiencesOfTooFewPeople: who would see nothing is told so, with the name.
func TestAudiencesOfTooFewPeople(t *testing.T) {
	t.Parallel()
	policy, files := hospitalFor(t, "all", "", "    updates: immediate\n")
	for i := range policy.Policy().Tables {
		policy.Policy().Tables[i].Audiences[1].Constraints[0].K = 1000
	}
	if _, _, err := OfPeopleFor(t.Context(), files, policy, Options{}); err == nil || !strings.Contains(err.Error(), "nothing can be released: for audience press: a class has 1000 persons or more") {
		t.Errorf("the error is %v", err)
	}
}
