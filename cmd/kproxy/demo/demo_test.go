package demo_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/cmd/kproxy/demo"
)

// toured runs the tour over a file of so many records, three for each person,
// under a policy with these lines for the table and columns.
func toured(t *testing.T, records int, lines string) (out, warnings string, err error) {
	t.Helper()
	var text strings.Builder
	text.WriteString("person,age,sex,zip,job,illness\n")
	for i := range records {
		fmt.Fprintf(&text, "%d,%d,%c,%05d,%s,%s\n", i/3, 20+i/3%40, "fm"[i%2], 10000+i%7*100, []string{"nurse", "cook", "clerk"}[i%3], []string{"flu", "gout"}[i/2%2])
	}
	dir := t.TempDir()
	data, policy := filepath.Join(dir, "people.csv"), filepath.Join(dir, "policy.yaml")
	for path, content := range map[string]string{data: text.String(), policy: `
tables:
  public.people:
    updates: immediate
` + lines + `
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      sex: {role: quasi-identifying, hierarchy: categorical}
      zip: {role: quasi-identifying, hierarchy: prefix}
      job: {role: quasi-identifying, hierarchy: {kind: categorical, taxonomy: {care: [nurse], other: [Clerk, cook]}}}
      illness: sensitive
`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var written, warned bytes.Buffer
	err = demo.Run(t.Context(), demo.Options{Once: true, CSV: data, Policy: policy, Out: &written, Err: &warned, Seed: 1})
	return written.String(), warned.String(), err
}

// TestTourOfSeveralConstraints has a step for each k, over its own columns.
func TestTourOfSeveralConstraints(t *testing.T) {
	t.Parallel()
	out, warnings, err := toured(t, 300, "    subject: person\n    constraints: [{k: 2, over: [age, sex]}, {k: 12, over: [zip, job]}]")
	if err != nil || strings.Contains(out, "FAILED") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, words := range []string{"every row hides among others in age, sex: ", "every row still hides among others in zip, job: ", "k = 12; persons are not published", "Everything held."} {
		if !strings.Contains(out, words) {
			t.Errorf("the tour has no %q:\n%s", words, out)
		}
	}
	if want := "kproxy: warning: the taxonomy of job names values that never occur: \"Clerk\"\n" +
		"kproxy: warning: 1 value of job, in 100 records, is not in its taxonomy: published as * beside other values\n"; warnings != want {
		t.Errorf("warnings\n%swant\n%s", warnings, want)
	}
}

// TestTourOfWhatCannotBePublished ends with the reason and takes no step.
func TestTourOfWhatCannotBePublished(t *testing.T) {
	t.Parallel()
	out, _, err := toured(t, 4, "    constraints: [{k: 5}]")
	if err == nil || !strings.Contains(err.Error(), "nothing of public.people is published, since 5-anonymity needs 5 records and the table has 4") {
		t.Errorf("error %v", err)
	}
	if strings.Contains(out, "FAILED") || strings.Contains(out, "A tour of") {
		t.Errorf("the tour wrote\n%s", out)
	}
}

// TestTourOfJustEnough deletes the record without which nothing can be published.
func TestTourOfJustEnough(t *testing.T) {
	t.Parallel()
	for _, otherwise := range []string{"withhold", "refuse"} {
		out, _, err := toured(t, 5, "    unpublishable: "+otherwise+"\n    constraints: [{k: 5}]")
		if err != nil || !strings.Contains(out, "leaves the release: nothing is published now: 5-anonymity needs 5 records and the table has 4\n") ||
			!strings.Contains(out, "joins it: seen after") {
			t.Errorf("%s: %v\n%s", otherwise, err, out)
		}
	}
}

// TestTourIsNotBegunUnderAMisspelledBound starts no server.
func TestTourIsNotBegunUnderAMisspelledBound(t *testing.T) {
	t.Parallel()
	out, _, err := toured(t, 30, "    constraints: [{k: 5}, {alpha: 0.9, of: illness, values: [Flu]}]")
	if err == nil || !strings.Contains(err.Error(), `is "flu" meant?`) || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
}
