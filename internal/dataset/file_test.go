package dataset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
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
	f, err := parse(t, policy, "age,zip,weight,born,name,huge,seen,heard,late\n"+
		"31, 02139,70.5,1990-01-02,Ann,9223372036854775808,2020-01-02 10:00,2020-01-02T10:00:00+01,2020-13-01\n"+
		"-4,10115,80,1991-12-31,\"Bo, b\",1,2020-01-02,2020-01-02 10:00:00Z,2020-01-01\n"+
		"5,?,1,1991-12-31,incomplete,1,2020-01-02,2020-01-02,2020-01-01\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"bigint", "text", "numeric", "date", "text", "numeric", "timestamp", "timestamptz", "text"}; !slices.Equal(f.Types, want) {
		t.Errorf("types %v, want %v", f.Types, want)
	}
	if f.Len() != 2 || f.Dropped != 1 {
		t.Errorf("%d records and %d dropped, want 2 and 1", f.Len(), f.Dropped)
	}
}

func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"header only", "age,zip\n", "there are no records"},
		{"incomplete only", "age,zip\n,2\n3,?\n", "all 2 are incomplete"},
		{"a field less", "age,zip\n1,2\n3\n", "line 3 has 1 field, but 2 are expected"},
		{"a field more", "age,zip\n1,2\n3,4,5\n", "line 3 has 3 fields, but 2 are expected, one for each column; a field with the delimiter"},
		{"semicolons below", "age,zip\n1;2\n", `is the delimiter ";"?`},
		{"semicolons", "age;zip\n1;2\n", `a single field, "age;zip": write csv.delimiter: ";"`},
		{"tabs", "age\tzip\n1\t2\n", `write csv.delimiter: tab`},
		{"missing column", "zip\n1\n", `policy.yaml:11: the file has no column "age"; it has zip`},
		{"key taken", "age,row_number\n1,1\n", "set another name for csv.key"},
		{"nameless column", "age,,zip\n1,2,3\n", "column 2 has no name"},
		{"repeated column", "age,zip,age \n1,2,3\n", `columns 1 and 3 are both called "age"`},
		{"another encoding", "age,zip\n1,2\n3,\xfc\n", "line 3 is not in UTF-8; convert the file, for example with iconv"},
		{"two bytes a letter", "\xff\xfea\x00", "iconv -f utf-16"},
		{"zero byte", "age,zip\n1,2\x00\n", "line 2 has a zero byte"},
		{"bare quote", "age\na\"b\n", "line 2"},
	}
	for _, test := range tests {
		if _, err := parse(t, policy, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}
