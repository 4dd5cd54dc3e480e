package persons_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/persons"
)

var (
	patients = catalog.ParseName("public.patients")
	visits   = catalog.ParseName("public.visits")
	drugs    = catalog.ParseName("public.drugs")
	notes    = catalog.ParseName("public.notes")
)

const policyText = `
tables:
  public.patients: {columns: {born: {role: quasi-identifying, hierarchy: date}}}
  public.visits: {columns: {day: {role: quasi-identifying, hierarchy: date}}}
  public.drugs: {columns: {drug: sensitive}}
  public.notes: {columns: {kind: insensitive}}
people:
  patient:
    root: public.patients
    key: [clinic, patient]
    knows: {rows: 1, per: 1y, crowd: 2}
    tables:
      public.drugs: {through: public.visits, by: visit}
      public.visits: {person: [clinic, patient], key: visit, order: day}
      public.notes: {through: public.visits, by: visit}
    constraints: [{k: 3}%s]
`

// texts are the CSV files of the four tables.
type texts map[catalog.Name]string

func (files texts) builder(t *testing.T, constraints string) *persons.Builder {
	t.Helper()
	policy, err := config.ParsePolicy("policy.yaml", fmt.Appendf(nil, policyText, constraints))
	if err != nil {
		t.Fatal(err)
	}
	read := make(map[catalog.Name]*dataset.File)
	for name, text := range files {
		if read[name], err = dataset.Parse([]byte(text), policy.CSV); err != nil {
			t.Fatal(err)
		}
	}
	b, _, err := dataset.Persons(policy, read)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func small() texts {
	return texts{
		patients: "clinic,patient,born\na,1,1950-01-01\nb,1,1960-01-01\na,2,1970-01-01\n",
		visits:   "visit,clinic,patient,day\n10,b,1,2021-12-31\n11,a,1,2022-01-01\n12,c,1,2022-01-01\n13,a,,2022-02-01\n14,a,2,\n15,a,2,2020-05-05\n",
		drugs:    "visit,drug\n11,x\n12,x\n99,y\n,y\n15,z\n",
		notes:    "visit,kind\n10,letter\n",
	}
}

func TestRowsFindTheirParents(t *testing.T) {
	t.Parallel()
	b := small().builder(t, ", {l: 2, of: public.drugs.drug}")
	p, err := b.Persons(b.Publication().People.Knows)
	if err != nil {
		t.Fatal(err)
	}
	const nobody = people.Nobody
	names := []string{"public.visits", "public.notes", "public.drugs"} // parents first
	for i, want := range []struct {
		parent int
		of     []int32
	}{{people.Root, []int32{1, 0, nobody, nobody, 2, 2}}, {0, []int32{0}}, {0, []int32{1, 2, nobody, nobody, 5}}} {
		if got := p.Data.Tables[i]; got.Name != names[i] || got.Parent != want.parent || !slices.Equal(got.Of, want.of) {
			t.Errorf("table %s below %d belongs to %v, want %s below %d: %v", got.Name, got.Parent, got.Of, names[i], want.parent, want.of)
		}
	}
	// Without a date first, then 2020, 2021, 2022.
	if got, want := p.Data.Tables[0].Window, []int32{2, 3, 3, 3, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("windows are %v, want %v", got, want)
	}
	if err := p.Data.Validate(); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(p.Constraints); got != "3-anonymity and distinct 2-diversity of public.drugs.drug" {
		t.Errorf("constraints are %s", got)
	}
	whole, err := b.Persons(catalog.Knowledge{Rows: 1})
	if err != nil || whole.Data.Tables[0].Window != nil {
		t.Errorf("without a period the windows are %v, %v", whole.Data.Tables[0].Window, err)
	}
}

func TestKeysThatTellNobodyApart(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(texts){
		"table public.patients: 1 records have a key that another one has": func(f texts) { f[patients] += "a,1,1990-01-01\n" },
		"table public.patients: 1 records have no key":                     func(f texts) { f[patients] += "a,,1990-01-01\n" },
		"table public.visits: 1 records have a key that another one has":   func(f texts) { f[visits] += "10,a,1,1990-01-01\n" },
	} {
		files := small()
		change(files)
		b := files.builder(t, "")
		if _, err := b.Persons(catalog.Knowledge{All: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestReleasesOfRandomTables compares releases with the tables' texts: k persons behind
// every cell, class and pool, and every row in one of them or withheld.
func TestReleasesOfRandomTables(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		files, owner := randomTables(seed)
		b := files.builder(t, []string{"", ", {alpha: 0.8, of: public.drugs.drug}"}[seed%2])
		for _, knows := range []string{"all", "1:2", "1/1y:2", "1/3mo:2"} {
			k, err := catalog.ParseKnowledge(knows)
			if err != nil {
				t.Fatal(err)
			}
			p, err := b.Persons(k)
			if err != nil {
				t.Fatal(err)
			}
			r, err := people.Anonymize(t.Context(), p.Data, p.Constraints, k.Granted(), people.Options{Options: anonymizer.Options{Seed: seed}, Method: partition.RoundedPartition{}})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Classes) == 0 && seed%2 == 0 {
				t.Errorf("seed %d, knows %s: nothing is released", seed, knows)
			}
			check(t, p.Data, r, owner)
		}
	}
}

// randomTables are texts of tables, and the key of the person of each row, "" for none.
func randomTables(seed uint64) (files texts, owner map[string][]string) {
	random := rand.New(rand.NewPCG(seed, 5))
	files = texts{patients: "clinic,patient,born\n", visits: "visit,clinic,patient,day\n", drugs: "visit,drug\n", notes: "visit,kind\n"}
	owner = make(map[string][]string)
	const persons = 60
	for i := range persons {
		files[patients] += fmt.Sprintf("%c,%d,19%02d-01-01\n", 'a'+i%2, i/2, random.IntN(80)+10)
	}
	of := make(map[int]string)
	for visit := range 200 {
		i := random.IntN(persons + 2) // the last two do not exist
		key := fmt.Sprintf("%c,%d", 'a'+i%2, i/2)
		files[visits] += fmt.Sprintf("%d,%s,20%02d-%02d-01\n", visit, key, 20+random.IntN(3), 1+random.IntN(12))
		if i < persons {
			of[visit] = key
		}
		owner["public.visits"] = append(owner["public.visits"], of[visit])
	}
	for range 300 {
		visit := random.IntN(210)
		files[drugs] += fmt.Sprintf("%d,d%d\n", visit, random.IntN(6))
		owner["public.drugs"] = append(owner["public.drugs"], of[visit])
		visit = random.IntN(210)
		files[notes] += fmt.Sprintf("%d,letter\n", visit)
		owner["public.notes"] = append(owner["public.notes"], of[visit])
	}
	return files, owner
}

func check(t *testing.T, d *people.Data, r *people.Release, owner map[string][]string) {
	t.Helper()
	const k = 3
	for i, table := range d.Tables {
		of := owner[table.Name]
		seen := make([]int, len(of))
		enough := func(rows []int32, what string) {
			keys := make(map[string]bool)
			for _, row := range rows {
				seen[row]++
				keys[of[row]] = true
			}
			if keys[""] || len(keys) < k {
				t.Errorf("%s: a %s of %d persons, or with orphans", table.Name, what, len(keys))
			}
		}
		for _, c := range r.Tables[i].Cells {
			enough(c.Rows, "cell")
		}
		for _, class := range r.Tables[i].Pooled {
			enough(class, "pooled class")
		}
		for _, row := range r.Tables[i].Withheld {
			seen[row]++
		}
		if slices.Max(seen) != 1 || slices.Min(seen) != 1 {
			t.Errorf("%s: rows stand in several places or in none", table.Name)
		}
	}
	for _, class := range r.Classes {
		if len(class) < k {
			t.Errorf("a class of %d persons", len(class))
		}
	}
}
