package linked

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// TestWithin counts pairs of days.
func TestWithin(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		moment := func() moment {
			low := float64(random.IntN(40))
			return moment{low: low, high: low + float64(random.IntN(30))}
		}
		a, b, distance := moment(), moment(), float64(random.IntN(40))
		pairs, hits := 0.0, 0.0
		const parts = 40 // of a day, in the middle of which events happen
		for x := a.low * parts; x < (a.high+1)*parts; x += parts / 4 {
			for y := b.low * parts; y < (b.high+1)*parts; y += parts / 4 {
				pairs++
				if y >= x && y-x < (distance+1)*parts {
					hits++
				}
			}
		}
		if got, want := within(a, b, distance, 1), hits/pairs; math.Abs(got-want) > 0.13 {
			t.Errorf("%v and %v within %g: %g, counted %g", a, b, distance, got, want)
		}
	}
	same := moment{low: 5, high: 5}
	if got := within(same, moment{low: 105, high: 105}, 30, 1); got != 0 {
		t.Errorf("100 days later is within 30 with probability %g", got)
	}
	if got := within(same, moment{low: 15, high: 15}, 30, 1); got != 1 {
		t.Errorf("10 days later is within 30 with probability %g", got)
	}
}

func TestBandShare(t *testing.T) {
	t.Parallel()
	b := band{10, 20}
	for _, test := range []struct {
		m    moment
		unit float64
		want float64
	}{{moment{low: 5, high: 14}, 1, 0.5}, {moment{low: 12, high: 12}, 1, 1}, {moment{low: 20, high: 20}, 1, 0}, {moment{low: 10, high: 10}, 0, 1}, {moment{low: 0, high: 9}, 1, 0}, {moment{low: 0, high: 40}, 0, 0.25}} {
		if got := b.share(test.m, test.unit); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", test.m, got, test.want)
		}
	}
}

const policyText = `
tables:
  public.patients: {columns: {born: {role: quasi-identifying, hierarchy: date}, blood: sensitive}}
  public.visits: {columns: {day: {role: quasi-identifying, hierarchy: date}, ward: sensitive}}
  public.drugs: {columns: {drug: sensitive}}
people:
  patient:
    root: public.patients
    key: patient
    knows: {rows: 1, per: 1y, crowd: 4}
    tables:
      public.visits: {person: patient, key: visit, order: day}
      public.drugs: {through: public.visits, by: visit}
    constraints: [{k: %d}]
`

// evaluation is of some hundred patients with visits on days that hardly two share.
func evaluation(t *testing.T, k int, knows ...string) Evaluation {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var patients, visits, drugs strings.Builder
	patients.WriteString("patient,born,blood\n")
	visits.WriteString("visit,patient,day,ward\n")
	drugs.WriteString("visit,drug\n")
	day := func(days int) string {
		return time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, days).Format(time.DateOnly)
	}
	visit := 0
	for p := range 400 {
		fmt.Fprintf(&patients, "%d,%s,%s\n", p, day(random.IntN(20000)), []string{"A", "B"}[p%2])
		for range random.IntN(6) {
			fmt.Fprintf(&visits, "%d,%d,%s,%s\n", visit, p, day(26000+random.IntN(700)), []string{"eye", "heart", "skin"}[random.IntN(3)])
			fmt.Fprintf(&drugs, "%d,drug %d\n", visit, random.IntN(4))
			visit++
		}
	}
	files := map[string]string{"patients": patients.String(), "visits": visits.String(), "drugs": drugs.String()}
	return evaluationOf(t, fmt.Sprintf(policyText, k), files, knows...)
}

// evaluationOf is of tables in CSV, as a policy has them.
func evaluationOf(t *testing.T, text string, tables map[string]string, knows ...string) Evaluation {
	t.Helper()
	policy, err := config.ParsePolicy("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[catalog.Name]*dataset.File)
	for table, text := range tables {
		if files[catalog.ParseName(table)], err = dataset.Parse([]byte(text), policy.CSV); err != nil {
			t.Fatal(err)
		}
	}
	e := Evaluation{Targets: 100, Seed: 1, Values: func(table catalog.Name, column string) []string { return files[table].Column(policy, column) }}
	if e.Records, _, err = dataset.Persons(policy, files); err != nil {
		t.Fatal(err)
	}
	for _, text := range knows {
		one, err := catalog.ParseKnowledge(text)
		if err != nil {
			t.Fatal(err)
		}
		e.Knows = append(e.Knows, one)
	}
	return e
}

func run(t *testing.T, e Evaluation) *Report {
	t.Helper()
	r, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatIsGrantedLeavesK: the figures say what knows promises, and that questions about
// rows of linked tables are answered.
func TestWhatIsGrantedLeavesK(t *testing.T) {
	t.Parallel()
	r := run(t, evaluation(t, 5, "all", "1", "1/1y"))
	if r.Persons != 400 || len(r.Tables) != 2 || len(r.Measurements) != 3 || r.PolicyKnows != "1/1y:4" {
		t.Fatalf("the report is of %d persons, %v, %s", r.Persons, r.Tables, r.PolicyKnows)
	}
	for _, m := range r.Measurements {
		granted := 2 // none and one
		if m.Knows == "all" {
			granted = 5
		}
		for _, risk := range m.Risks[:granted] {
			if risk.Fewest < 5 || risk.Below > 0 || risk.Mean > 0.2 || risk.Targets != 100 {
				t.Errorf("knows %s: %+v", m.Knows, risk)
			}
		}
		if m.Knows == "1" && m.Risks[4].Below == 0 {
			t.Errorf("who knows all rows finds nobody: %+v", m.Risks[4])
		}
		if m.Loss <= 0 || m.Loss >= 1 || m.Root.Loss <= 0 || m.Linked <= 0.5 || m.Linked > 1 || m.Smallest < 5 {
			t.Errorf("knows %s: loss %g, of the root %g, linked %g, classes from %d", m.Knows, m.Loss, m.Root.Loss, m.Linked, m.Smallest)
		}
		for _, f := range m.Tables {
			if sum := f.Linked + f.Pooled + f.Withheld; math.Abs(sum-1) > 1e-9 {
				t.Errorf("knows %s: shares of %s add up to %g", m.Knows, f.Table, sum)
			}
		}
		if len(m.Queries) != 6 {
			t.Errorf("knows %s: questions are %+v", m.Knows, m.Queries)
		}
	}
	whole := r.Measurements[1]
	for _, a := range whole.Answers {
		if a.Family == Rows && a.Time == Ever && strings.HasPrefix(a.Question, "any visits") && a.Plain != a.Truth {
			t.Errorf("all visits are linked for the whole history, and %s is answered with %g, not %g", a.Question, a.Plain, a.Truth)
		}
	}
}

// TestExactDataAreAnsweredExactly: where nothing is generalized, no answer is off.
func TestExactDataAreAnsweredExactly(t *testing.T) {
	t.Parallel()
	e := evaluation(t, 5, "1")
	p, err := e.Records.Persons(e.Knows[0])
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(e, p.Data)
	for _, a := range w.answers(singletons(p.Data)) {
		if a.Plain != a.Truth || math.Abs(a.Weighted-a.Truth) > 0.03*a.Truth {
			t.Errorf("%s: %g and %g, want %g", a.Question, a.Plain, a.Weighted, a.Truth)
		}
	}
}

func TestSameSeedSameReport(t *testing.T) {
	t.Parallel()
	var texts [2]bytes.Buffer
	for i := range texts {
		r := run(t, evaluation(t, 4, "1/1y", "all"))
		if err := r.WriteText(&texts[i]); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(&texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Error("two runs differ")
	}
	for _, words := range []string{"400 persons (patient)", "knows 1/1y, k = 4", "Whoever knows the root row", "public.visits.day", "days", "fewest candidates", "in one calendar year"} {
		if !strings.Contains(texts[0].String(), words) {
			t.Errorf("the report does not say %q", words)
		}
	}
}

func TestNothingIsReleasedOfTooFew(t *testing.T) {
	t.Parallel()
	r := run(t, evaluation(t, 401))
	if r.Released() || len(r.Refusals()) != 1 || !strings.Contains(r.Refusals()[0], "knows 1/1y:4, k = 401: the constraints cannot be met") {
		t.Errorf("refusals are %q", r.Refusals())
	}
	if err := r.WriteFiles(t.TempDir()); err != nil {
		t.Error(err)
	}
}
