package dataset_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// table codes a file under a policy with these constraints, and the form's types.
func table(t *testing.T, types, constraints, job, text string) (*dataset.Table, *dataset.File, error) {
	t.Helper()
	p, err := config.ParsePolicy("policy.yaml", []byte(`
csv: {types: {`+types+`}}
tables:
  public.people:
    method: rounded-partition
    subject: person
    constraints: [{k: 2}`+constraints+`]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      job: {role: quasi-identifying, hierarchy: `+job+`}
      cost: sensitive
      dead: sensitive
`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataset.Parse([]byte("age,job,cost,dead,person\n"+text), p.CSV)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := f.Anonymizable(p, "")
	return tab, f, err
}

// TestEqualValuesHaveOneCode counts what is equal in SQL as one value, as the
// server does.
func TestEqualValuesHaveOneCode(t *testing.T) {
	t.Parallel()
	tab, _, err := table(t, "dead: boolean, person: integer, cost: numeric", ", {l: 2, of: cost}, {alpha: 0.9, of: dead, values: [t]}", "categorical",
		"1,a,1.0,true,7\n2,a,1.00,t,07\n3,b,+1.000,yes,+7\n4,b,1e0,0,8\n5,b,,f,\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]uint32{{0, 0, 0, 0, 1}, {0, 0, 0, 1, 1}} {
		if got := tab.Records.Sensitive(i); !slices.Equal(got, want) {
			t.Errorf("sensitive attribute %d has codes %v, want %v", i, got, want)
		}
	}
	if got, want := tab.Records.Subjects(), []uint32{0, 0, 0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("subjects %v, want %v", got, want)
	}
	if set, err := tab.Publication.ConstraintSet(tab.Schema); err != nil || len(set) != 3 {
		t.Fatal(err)
	}
	if n := tab.Schema.Sensitive[1].Values.Len(); n != 2 {
		t.Errorf("%d values of a boolean, a bound has made one", n)
	}
}

// TestNamedValuesAreReadAsTheirType: a policy writes them as people do.
func TestNamedValuesAreReadAsTheirType(t *testing.T) {
	t.Parallel()
	const types, text = "dead: boolean, cost: integer, job: boolean", "1,1,007,TRUE,1\n2,0,8,no,2\n"
	tab, _, err := table(t, types, ", {alpha: 0.9, of: dead, values: [yes]}, {t: 0.9, of: cost}, {alpha: 0.9, of: cost, values: [+07]}",
		"{kind: categorical, taxonomy: {known: [true, false]}}", text)
	if err != nil || len(tab.Warnings()) > 0 {
		t.Errorf("%v, warnings %q", err, tab.Warnings())
	}
	_, _, err = table(t, types, ", {alpha: 0.9, of: dead, values: [perhaps]}", "{kind: ordered, values: [false, never]}", text)
	for _, words := range []string{
		`the constraint (0.9,k)-anonymity of one value of dead names "perhaps", which is neither true nor false: column dead is of type boolean`,
		`the hierarchy of job names "never", which is neither true nor false`,
	} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}

// TestPopulationIsCountedLikeTheSample has the persons and the types of the
// sample.
func TestPopulationIsCountedLikeTheSample(t *testing.T) {
	t.Parallel()
	sample, _, err := table(t, "", "", "categorical", "1,a,1,t,7\n2,a,1,t,8\n")
	if err != nil {
		t.Fatal(err)
	}
	_, people, err := table(t, "", "", "categorical", "1,a,1,t,7\n2,b,1,t,8\n2,b,1,t,8\n")
	if err != nil {
		t.Fatal(err)
	}
	records, err := people.Like(sample)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := records.Subjects(), []uint32{0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("subjects %v, want %v", got, want)
	}
	for text, want := range map[string]string{
		"age,job\n1,a\n":                    `the subject, which tells persons apart: there is no column "person": there are age, job`,
		"job,person\na,1\n":                 `there is no column "age"`,
		"age,job,person\n1,a,1\nold,a,2\n":  `line 3: age is "old", which is no whole number`,
		"age,job,person\n1,a,1\n2,a,Paul\n": `line 3: person is "Paul", which is no whole number`,
	} {
		f, err := dataset.Parse([]byte(text), config.CSV{Delimiter: ',', Header: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Like(sample); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestMisspelledBoundIsRefused: the value that was meant would not be protected.
func TestMisspelledBoundIsRefused(t *testing.T) {
	t.Parallel()
	const text = "1,a,B20,t,7\n2,a,J45,t,8\n"
	for values, want := range map[string]string{
		"[b20]":      `names the value "b20", which never occurs in cost: is "B20" meant?`,
		"[B20, C50]": `names the value "C50", which never occurs in cost: correct it, or remove it`,
		"[B20]":      "",
	} {
		_, _, err := table(t, "", ", {alpha: 0.5, of: cost, values: "+values+"}", "categorical", text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", values, err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	const text = "1,a,1,t,7\n2,b,1,t,8\n3,b,1,t,8\n4,c,1,t,8\n5,,1,t,8\n"
	for job, want := range map[string][]string{
		"categorical": nil,
		"{kind: categorical, taxonomy: [a, b, c]}":               nil,
		"{kind: categorical, taxonomy: [a]}":                     nil,
		"{kind: categorical, taxonomy: {u: [a, b], c: [d]}}":     {`the taxonomy of job names values that never occur: "d"`},
		"{kind: categorical, taxonomy: {u: [a, A], v: [d]}}":     {`the taxonomy of job names values that never occur: "A", "d"`, "2 values of job, in 3 records, are not in its taxonomy: published as * beside other values"},
		"{kind: ordered, values: [a, b]}":                        {"1 value of job, in 1 record, is not in its order: classes with one of them show nothing of it"},
		"{kind: ordered, values: [a,b,c,1,2,3,4,5,6,7,8,9,x,y]}": {`the order of job names values that never occur: "1", "2", "3", "4", "5", "6", "7", "8", "9", "x" and 1 more`},
		"{kind: ordered, values: [none]}":                        {`the order of job names values that never occur: "none"`, "3 values of job, in 4 records, are not in its order: classes with one of them show nothing of it"},
	} {
		tab, _, err := table(t, "", "", job, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tab.Warnings(); !slices.Equal(got, want) {
			t.Errorf("%s: warnings %q, want %q", job, got, want)
		}
	}
}

// TestFewFieldsMakeASensitiveColumnAText: 1.0 and 1.00 are then two values.
func TestFewFieldsMakeASensitiveColumnAText(t *testing.T) {
	t.Parallel()
	const text = "1,a,1.0,t,7\n2,b,1.00,t,8\n3,b,2.0,t,8\n4,c,dear,t,8\n"
	tab, _, err := table(t, "", ", {l: 2, of: cost}", "categorical", text)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cost is a text because of 1 field, the first on line 5, else numeric: its values are told apart by how they are written"}; !slices.Equal(tab.Warnings(), want) {
		t.Errorf("warnings %q, want %q", tab.Warnings(), want)
	}
	_, _, err = table(t, "", ", {t: 0.5, of: cost, distance: ordered}", "categorical", text)
	if err == nil || !strings.Contains(err.Error(), `line 5: cost is "dear", which is no number: correct it, or write csv.missing: dear`) {
		t.Errorf("error %v", err)
	}
}

// TestGeneratedKeyIsAColumn of policies, though the file does not have it.
func TestGeneratedKeyIsAColumn(t *testing.T) {
	t.Parallel()
	p, err := config.ParsePolicy("policy.yaml", []byte(`
tables:
  public.people:
    constraints: [{k: 2}, {l: 2, of: row_number}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      row_number: sensitive
`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataset.Parse([]byte("age\n1\n1\n"), p.CSV)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := f.Anonymizable(p, "")
	if err != nil || !slices.Equal(tab.Records.Sensitive(0), []uint32{0, 1}) {
		t.Errorf("%v", err)
	}
}
