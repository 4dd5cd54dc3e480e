package verify

import (
	"strings"
	"testing"
)

func TestReportInWords(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	report := Report{
		{Table: "public.new", Checks: []Check{{Name: "is there", Violations: 1}}},
		{Table: "public.old", Generation: 2, Checks: []Check{{Name: "holds", Passed: true}, {Name: "one does not", Violations: 1}, {Name: "two do not", Violations: 2}}},
	}
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"public.new is not published yet\npublic.old (generation 2)", "ok    holds\n", "FAIL  one does not: 1 violation\n", "FAIL  two do not: 2 violations\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "is there") {
		t.Errorf("it fails what is not published:\n%s", text.String())
	}
}
