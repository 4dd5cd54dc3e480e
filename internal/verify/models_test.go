package verify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// cases is a table whose classes are wards, so that any division into classes is
// an honest release, and that has a sensitive column for every distance.
const cases = `CREATE TABLE cases (id int PRIMARY KEY, person text, ward text, cost numeric, seen timestamptz, severity char(6), diagnosis text)`

const casesStore = `
INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record)
VALUES ('public', 'cases', 3, '', 1000, 1000);
CREATE TABLE kproxy_store.records_3 (kproxy_record bigint PRIMARY KEY, kproxy_class bigint, id int, person text, ward text,
  cost numeric, seen timestamptz, severity char(6), diagnosis text);
CREATE TABLE kproxy_store.release_3 (kproxy_class bigint, ward text, cost numeric, seen timestamptz, severity char(6), diagnosis text);
CREATE VIEW kproxy_release_public.cases AS SELECT ward, cost, seen, severity, diagnosis FROM kproxy_store.release_3;`

var casesTable = catalog.Name{Schema: "public", Relation: "cases"}

var arrangements = map[string]*hierarchy.Spec{
	"severity": {Kind: hierarchy.Ordered, Order: []string{"none", "mild", "severe", "worst"}},
	"diagnosis": {Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{
		{Label: "infection", Children: []hierarchy.Node{
			{Label: "viral", Children: []hierarchy.Node{{Label: "flu"}, {Label: "HIV"}}}, {Label: "bacterial", Children: []hierarchy.Node{{Label: "TB"}}},
		}},
		{Label: "injury", Children: []hierarchy.Node{{Label: "burn"}, {Label: "cut"}}},
		{Label: "other"},
	}},
}

func casesPolicy(subject string, constraint privacy.Spec) catalog.TablePolicy {
	policy := catalog.TablePolicy{
		Table: casesTable, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Subject: subject, Constraints: []privacy.Spec{constraint},
		Columns: []catalog.ColumnPolicy{{Name: "ward", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Suppression}}},
	}
	for _, name := range []string{"cost", "seen", "severity", "diagnosis"} {
		column := catalog.ColumnPolicy{Name: name, Role: catalog.Sensitive}
		if name == constraint.Of && constraint.Distance != privacy.EqualDistance {
			column.Hierarchy = arrangements[name]
		}
		policy.Columns = append(policy.Columns, column)
	}
	return policy
}

// bounds are constraints of every model at bounds that some classes meet and
// others do not.
func bounds() []privacy.Spec {
	specs := []privacy.Spec{{K: 8}, {K: 12}}
	for _, of := range []string{"cost", "seen", "severity", "diagnosis"} {
		specs = append(specs,
			privacy.Spec{Model: privacy.DistinctL, L: 4, Of: of},
			privacy.Spec{Model: privacy.EntropyL, L: 3, Of: of},
			privacy.Spec{Model: privacy.EntropyL, L: 3.9, Of: of},
			privacy.Spec{Model: privacy.RecursiveCL, L: 3, C: 0.75, Of: of},
			privacy.Spec{Model: privacy.RecursiveCL, L: 2, C: 0.5, Of: of},
			privacy.Spec{Model: privacy.AlphaK, Alpha: 0.3, Of: of},
			privacy.Spec{Model: privacy.BetaLike, Beta: 1.5, Of: of},
			privacy.Spec{Model: privacy.BetaLike, Beta: 1.7, Enhanced: true, Of: of},
			privacy.Spec{Model: privacy.DeltaDisclosure, Delta: 1.5, Of: of},
			privacy.Spec{Model: privacy.TClose, T: 0.25, Of: of},
			privacy.Spec{Model: privacy.TClose, T: 0.4, Of: of})
	}
	for _, of := range []string{"cost", "seen", "severity"} {
		for _, bound := range []float64{0.1, 0.2, 0.25, 0.3} {
			specs = append(specs, privacy.Spec{Model: privacy.TClose, T: bound, Of: of, Distance: privacy.OrderedDistance})
		}
	}
	for _, bound := range []float64{0.2, 0.25, 0.3} {
		specs = append(specs, privacy.Spec{Model: privacy.TClose, T: bound, Of: "diagnosis", Distance: privacy.HierarchicalDistance})
	}
	return append(specs,
		privacy.Spec{Model: privacy.AlphaK, Alpha: 0.2, Of: "cost", Values: []string{"10.0", "20"}},
		privacy.Spec{Model: privacy.AlphaK, Alpha: 0.25, Of: "severity", Values: []string{"worst", "absent"}})
}

// aCase is a row in PostgreSQL's text form; the empty text stands for NULL.
type aCase struct {
	class  int
	person string
	values [4]string // cost, seen, severity, diagnosis
}

func someCases(rng *rand.Rand) []aCase {
	pick := func(texts ...string) string { return texts[rng.IntN(len(texts))] }
	var rows []aCase
	for class := range 40 {
		for range 4 + rng.IntN(16) {
			person := fmt.Sprint("p", len(rows))
			switch rng.IntN(12) {
			case 0:
				person = ""
			case 1:
				person = fmt.Sprint("p", rng.IntN(len(rows)+1))
			case 2, 3, 4: // again in the same class
				person = fmt.Sprint("q", class, ".", rng.IntN(3))
			}
			if class%4 == 0 && person != "" { // everybody has several records
				person = fmt.Sprint("r", class, ".", rng.IntN(7))
			}
			rows = append(rows, aCase{class, person, [4]string{
				pick("", "10", "10.00", "20", "20", "30.5", "1000", "NaN", "-4", "7", "7.1"),
				pick("", "2024-01-01 00:00:00+00", "2024-01-02 00:00:00+00", "2024-03-01 12:00:00+00", "infinity", "2024-03-01 12:00:00.5+00"),
				pick("", "none", "none", "mild", "severe", "worst", "other"),
				pick("", "flu", "HIV", "HIV", "TB", "burn", "cut", "other", "injury", "infection", "cough"),
			}})
		}
	}
	return rows
}

// The queries and the constraints of package privacy, written apart from each
// other, find the same classes at fault.
func TestModelsAreCountedAsDefined(t *testing.T) {
	t.Parallel()
	conn := database(t, cases, casesStore, catalog.Policy{Tables: []catalog.TablePolicy{casesPolicy("", privacy.Spec{K: 2})}})
	rows := someCases(rand.New(rand.NewPCG(1, 2)))
	var sql strings.Builder
	for i, r := range rows {
		fmt.Fprintf(&sql, "INSERT INTO kproxy_store.records_3 VALUES (%d, %d, %d, NULLIF('%s', ''), 'w%d'", i, r.class+1, i, r.person, r.class)
		for _, v := range r.values {
			if v == "" {
				sql.WriteString(", NULL")
			} else {
				fmt.Fprintf(&sql, ", '%s'", v)
			}
		}
		sql.WriteString(");\n")
	}
	execute(t, conn, sql.String()+"INSERT INTO kproxy_store.release_3 SELECT kproxy_class, ward, cost, seen, severity, diagnosis FROM kproxy_store.records_3")
	telling := 0
	for _, subject := range []string{"", "person"} {
		for _, spec := range bounds() {
			publication := published(t, conn, casesPolicy(subject, spec))
			want := violating(t, publication, rows)
			report := run(t, conn, []catalog.Publication{publication})
			if report[0].Classes != 40 {
				t.Fatalf("%s", rendered(t, report))
			}
			for _, c := range report[0].Checks {
				expected := 0
				if c.Name == spec.String() {
					expected = want
				}
				if int(c.Violations) != expected {
					t.Errorf("subject %q: %s %+v: %d violations, want %d: %v", subject, c.Name, spec, c.Violations, expected, c.Examples)
				}
			}
			if want > 0 && want < 40 {
				telling++
			} else {
				t.Logf("subject %q: %v: %d", subject, spec, want)
			}
		}
	}
	if least := 2 * len(bounds()) * 9 / 10; telling < least {
		t.Errorf("only %d of the bounds part the classes, %d expected", telling, least)
	}
}

// violating counts the classes that do not satisfy the publication's constraints.
func violating(t *testing.T, p catalog.Publication, rows []aCase) int {
	t.Helper()
	schema, err := p.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	set, err := p.ConstraintSet(schema)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]int{"cost": 0, "seen": 1, "severity": 2, "diagnosis": 3}
	persons := privacy.NewDictionary()
	classes := make([]privacy.Summary, 40)
	for i := range classes {
		classes[i] = privacy.NewSummary(len(p.Sensitive))
	}
	whole := privacy.NewSummary(len(p.Sensitive))
	for _, r := range rows {
		var codes []uint32
		for i, s := range p.Sensitive {
			column, _ := p.Relation.Column(s.Column)
			codes = append(codes, code(schema.Sensitive[i].Values, catalog.Canonical(column.BaseType, r.values[columns[s.Column]])))
		}
		for _, summary := range []*privacy.Summary{&classes[r.class], &whole} {
			if p.Policy.Subject == "" {
				summary.Add(codes)
			} else {
				summary.AddOf(code(persons, r.person), codes)
			}
		}
	}
	population := privacy.NewPopulation(whole)
	count := 0
	for _, class := range classes {
		if !set.Satisfied(class, population) {
			count++
		}
	}
	return count
}

func code(d *privacy.Dictionary, text string) uint32 {
	if text == "" {
		return d.Null()
	}
	return d.Code(text)
}
