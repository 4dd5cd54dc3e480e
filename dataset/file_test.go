package dataset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/dataset"
)

const policy = `
csv:
  missing: "?"
  trim_spaces: true
  drop_incomplete: true
tables:
  public.people:
    method: rounded-partition
    constraints: [{k: 2}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
`

func parse(t *testing.T, policyText, text string) (*dataset.File, error) {
	t.Helper()
	p, err := config.ParsePolicy("policy.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataset.Parse([]byte(text), p.CSV)
	if err != nil {
		return nil, err
	}
	return f, dataset.CheckColumns(f, p)
}

func TestTypesAreInferred(t *testing.T) {
	t.Parallel()
	f, err := parse(t, policy, "age,zip,weight,born,name,huge\n"+
		"31, 02139,70.5,1990-01-02,Ann,9223372036854775808\n"+
		"-4,10115,80,1991-12-31,\"Bo, b\",1\n"+
		"5,?,1,1991-12-31,incomplete,1\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"bigint", "text", "numeric", "date", "text", "numeric"}; !slices.Equal(f.Types, want) {
		t.Errorf("types %v, want %v", f.Types, want)
	}
	if len(f.Records) != 2 || f.Dropped != 1 {
		t.Errorf("%d records and %d dropped, want 2 and 1", len(f.Records), f.Dropped)
	}
}

func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"ragged", "age,zip\n1,2\n3\n", "line 3"},
		{"missing column", "zip\n1\n", `policy.yaml:11: the file has no column "age"; it has zip`},
		{"key taken", "age,row_number\n1,1\n", "set another name for csv.key"},
		{"bare quote", "age\na\"b\n", "line 2"},
	}
	for _, test := range tests {
		if _, err := parse(t, policy, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}
