package check

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// inhabitant is a record of the tests, with what is published of it as it is.
type inhabitant struct {
	zip, age, born int
	sex            string
	blood          int // of a person
	columns        map[string]string
}

// inhabitants are 6,000 records; with persons, of so many persons, in turn.
func inhabitants(persons int) []inhabitant {
	random := rand.New(rand.NewPCG(7, 7))
	hashed := func(of int) int {
		h := fnv.New32a()
		fmt.Fprint(h, of)
		return int(h.Sum32() >> 8)
	}
	var all []inhabitant
	for i := range 6000 {
		r := inhabitant{zip: 10000 + random.IntN(90000), age: 18 + random.IntN(70), born: random.IntN(30000), sex: []string{"f", "m"}[random.IntN(2)], blood: random.IntN(4)}
		if persons > 0 && i >= persons {
			p := all[i%persons]
			r.zip, r.age, r.born, r.sex, r.blood = p.zip, p.age, p.born, p.sex, p.blood
		}
		text := func(n int) string { return fmt.Sprint(n) }
		r.columns = map[string]string{
			"district": text(r.zip / 700), "region": text(r.zip / 10000), "city": text(hashed(r.zip/1000) % 40), "decade": text(r.age / 10),
			"constant": "x", "kind": text(random.IntN(5)), "number": text(i), "blood": text(r.blood),
			"mistaken": text(r.zip / 700), "noted": "", "ill": "no",
			"weekday": born(r.born).Weekday().String(), "summer": "", "last": text(r.zip % 10), "rural": "", "told": "",
		}
		if r.zip/700%2 == 0 {
			r.columns["rural"] = "yes"
		}
		if month := born(r.born).Month(); month > 3 && month < 10 {
			r.columns["summer"] = "yes"
		}
		if random.IntN(2) == 0 {
			r.columns["told"] = text(random.IntN(3))
		}
		if random.IntN(30) == 0 {
			r.columns["mistaken"] = "0"
		}
		if random.IntN(10) == 0 {
			r.columns["noted"] = text(r.zip / 7000)
		}
		if random.IntN(100) < r.age {
			r.columns["ill"] = "yes"
		}
		all = append(all, r)
	}
	return all
}

func born(day int) time.Time { return time.Date(1930, 1, 1+day, 0, 0, 0, 0, time.UTC) }

// narrowingOf is a sample of the records with the attributes zip, age, born, date and sex that specs name.
func narrowingOf(t *testing.T, records []inhabitant, column string, specs map[string]hierarchy.Spec) *narrowing {
	t.Helper()
	n := &narrowing{policy: catalog.TablePolicy{Constraints: []privacy.Spec{{K: 5}}}, columns: []string{column}, values: make([][]string, 1), present: make([][]bool, 1), share: 1}
	for _, name := range []string{"zip", "age", "born", "date", "sex"} {
		spec, named := specs[name]
		if !named {
			continue
		}
		h, err := hierarchy.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		n.attributes = append(n.attributes, anonymizer.Attribute{Name: name, Hierarchy: h})
	}
	n.cells, n.texts = make([][]hierarchy.Cell, len(n.attributes)), make([][]string, len(n.attributes))
	for _, r := range records {
		known := map[string]string{"zip": fmt.Sprint(r.zip), "age": fmt.Sprint(r.age), "born": fmt.Sprint(r.born), "date": born(r.born).Format(time.DateOnly), "sex": r.sex}
		record := make([][]byte, len(n.attributes)+1)
		for a, attribute := range n.attributes {
			record[a] = []byte(known[attribute.Name])
		}
		if text := r.columns[column]; text != "" {
			record[len(n.attributes)] = []byte(text)
		}
		n.add(record)
	}
	return n
}

// TestNarrowingColumns warns about columns that follow from a quasi-identifier and show more of it
// than its published form does, and about no others.
func TestNarrowingColumns(t *testing.T) {
	t.Parallel()
	number := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	sex := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}
	date := hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}
	prefix := func(keep ...int) hierarchy.Spec {
		return hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainInteger, Keep: keep}
	}
	decades := number
	decades.Steps = []float64{10, 20}
	alone := func(zip hierarchy.Spec) map[string]hierarchy.Spec { return map[string]hierarchy.Spec{"zip": zip} }
	three := func(zip, age hierarchy.Spec) map[string]hierarchy.Spec {
		return map[string]hierarchy.Spec{"zip": zip, "age": age, "sex": sex}
	}
	once, again := inhabitants(0), inhabitants(1500)
	for _, c := range []struct {
		what, column string
		records      []inhabitant
		specs        map[string]hierarchy.Spec
		want         string // the quasi-identifiers
	}{
		{"a district under prefixes", "district", once, three(prefix(), number), "zip"},
		{"a district under ranges", "district", once, three(number, number), "zip"},
		{"a district with mistakes", "mistaken", once, three(prefix(), number), "zip"},
		{"a district in few records", "noted", once, three(prefix(), number), "zip"},
		{"a district where the zip is never published", "district", once, map[string]hierarchy.Spec{"zip": {Kind: hierarchy.Prefix, Domain: hierarchy.DomainInteger, Keep: []int{1}}}, "zip"},
		{"a city of many codes", "city", once, three(prefix(3, 2, 1), number), "zip"},
		{"a group of ages", "decade", once, three(prefix(), number), "age"},
		{"a region where classes extend over several", "region", once, three(prefix(2, 1), number), "zip"},
		{"a region that is published as the prefix", "region", once, alone(prefix(2, 1)), ""},
		{"what a class by zip alone does not divide", "region", once, alone(number), ""},
		{"ages in the same steps", "decade", once, map[string]hierarchy.Spec{"age": decades}, ""},
		{"a constant", "constant", once, three(prefix(), number), ""},
		{"few values", "kind", once, three(prefix(), number), ""},
		{"a row number", "number", once, three(prefix(), number), ""},
		{"an illness of the old", "ill", once, three(prefix(), number), ""},
		{"the weekday of a date", "weekday", once, map[string]hierarchy.Spec{"date": date, "sex": sex}, "date"},
		{"NULL in half of the months", "summer", once, map[string]hierarchy.Spec{"date": date, "sex": sex}, "date"},
		{"NULL in every other district", "rural", once, three(prefix(), number), "zip"},
		{"the last digit", "last", once, three(prefix(2, 1), number), "zip"},
		{"NULL by chance", "told", once, three(prefix(), number), ""},
		{"what does not change in a person", "blood", again, map[string]hierarchy.Spec{"born": number, "sex": sex}, ""},
	} {
		n := narrowingOf(t, c.records, c.column, c.specs)
		report := n.judge()
		got := ""
		if len(report) > 0 {
			_, after, _ := strings.Cut(report[0].What, "follows from ")
			got, _, _ = strings.Cut(after, ", and shows")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %v", c.what, got, c.want, report)
		}
		for _, f := range report {
			if f.Severity != inspect.Warning || f.Column != c.column || f.Code != codeNarrowing || !strings.Contains(f.Fix, "joinable: ["+c.column+"]") {
				t.Errorf("%s: %v", c.what, f)
			}
		}
	}
}

// TestNarrowingIsAcknowledged leaves out what the policy acknowledges and what is reported already.
func TestNarrowingIsAcknowledged(t *testing.T) {
	t.Parallel()
	name := catalog.Name{Schema: "public", Relation: "people"}
	policy := catalog.TablePolicy{Table: name, Joinable: []string{"district"}}
	for column, role := range map[string]catalog.Role{"zip": catalog.QuasiIdentifying, "district": catalog.Insensitive, "city": catalog.Sensitive, "id": catalog.Insensitive, "name": catalog.Identifying} {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: column, Role: role})
	}
	earlier := inspect.Report{{Table: name, Column: "id"}, {Table: catalog.Name{Schema: "other", Relation: "people"}, Column: "city"}}
	if got := unacknowledged(policy, earlier); !slices.Equal(got, []string{"city"}) {
		t.Errorf("%q", got)
	}
}
