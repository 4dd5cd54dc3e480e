package demo

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/config"
)

const csvPolicy = `
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

func parseCSV(t *testing.T, policy, text string) (*csvSource, error) {
	t.Helper()
	p, err := config.ParsePolicy("policy.yaml", []byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	s := &csvSource{policy: p}
	if err := s.parse([]byte(text)); err != nil {
		return nil, err
	}
	return s, s.checkColumns()
}

func TestCSVTypesAreInferred(t *testing.T) {
	t.Parallel()
	s, err := parseCSV(t, csvPolicy, "age,zip,weight,born,name,huge\n"+
		"31, 02139,70.5,1990-01-02,Ann,9223372036854775808\n"+
		"-4,10115,80,1991-12-31,\"Bo, b\",1\n"+
		"5,?,1,1991-12-31,incomplete,1\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"bigint", "text", "numeric", "date", "text", "numeric"}; !slices.Equal(s.types, want) {
		t.Errorf("types %v, want %v", s.types, want)
	}
	if len(s.records) != 2 || s.dropped != 1 {
		t.Errorf("%d records and %d dropped, want 2 and 1", len(s.records), s.dropped)
	}
	var out bytes.Buffer
	if err := s.write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "1,31,02139,70.5,1990-01-02,Ann,9223372036854775808\n2,-4,10115,80,1991-12-31,\"Bo, b\",1\n"; out.String() != want {
		t.Errorf("numbered records\n%swant\n%s", out.String(), want)
	}
}

func TestCSVMistakesAreExplained(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"ragged", "age,zip\n1,2\n3\n", "line 3"},
		{"missing column", "zip\n1\n", `policy.yaml:11: the file has no column "age"; it has zip`},
		{"key taken", "age,row_number\n1,1\n", "set another name for csv.key"},
		{"bare quote", "age\na\"b\n", "line 2"},
	}
	for _, test := range tests {
		if _, err := parseCSV(t, csvPolicy, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}
