package csvfile_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

func Example() {
	const people = "name,age,zip,diagnosis\nAnn,23,10115,flu\nBob,27,10117,gout\nCem,51,80331,flu\nDea,58,80333,\n"
	f, err := csvfile.Read(strings.NewReader(people), []csvfile.QuasiIdentifier{
		{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
		{Column: "zip", Spec: hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}},
	}, "diagnosis")
	if err != nil {
		panic(err)
	}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	release, err := partition.RoundedPartition{}.Anonymize(context.Background(), f.Table, constraints, anonymizer.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	if err := f.Write(os.Stdout, release); err != nil {
		panic(err)
	}
	// Output:
	// age,zip,diagnosis
	// 23..27,1011*,flu
	// 23..27,1011*,gout
	// 51..58,8033*,
	// 51..58,8033*,flu
}

// TestReadRefuses names all that is wrong with the columns.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	quasi := []csvfile.QuasiIdentifier{{Column: "height"}, {Column: "age", Spec: hierarchy.Spec{Kind: -1}}}
	for input, parts := range map[string][]string{
		"":                  {"no line that names the columns"},
		"age,zip\n30,101\n": {`no column "height"`, `column "age": unknown kind`, `no column "job"`},
	} {
		_, err := csvfile.Read(strings.NewReader(input), quasi, "job")
		for _, part := range parts {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v has no %q", input, err, part)
			}
		}
	}
}

// TestReadNamesTheLine tells where a file cannot be read.
func TestReadNamesTheLine(t *testing.T) {
	t.Parallel()
	quasi := []csvfile.QuasiIdentifier{{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}}}
	if _, err := csvfile.Read(strings.NewReader("age\n1\n1,2\n"), quasi); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error %v", err)
	}
}

// TestWriteHides writes a class with a missing value, and leaves out withheld records.
func TestWriteHides(t *testing.T) {
	t.Parallel()
	f, err := csvfile.Read(strings.NewReader("age,job\n,cook\n40,baker\n41,judge\n"), []csvfile.QuasiIdentifier{{Column: "age"}}, "job")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	err = f.Write(&text, &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}}, Withheld: []int32{2}})
	if want := "age,job\n,baker\n,cook\n"; err != nil || text.String() != want {
		t.Errorf("%q, %v; %q expected", text.String(), err, want)
	}
}
