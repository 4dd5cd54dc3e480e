package suites

import (
	"reflect"
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	results := make(map[string]result)
	again := record(t, []byte(`{"Action":"start"}
{"Action":"run","Test":"TestA"}
{"Action":"pause","Test":"TestA"}
{"Action":"run","Test":"TestB"}
{"Action":"run","Test":"TestB/part"}
{"Action":"output","Test":"TestB/part","Output":"    b_test.go:1: wrong\n"}
{"Action":"fail","Test":"TestB/part"}
{"Action":"fail","Test":"TestB"}
{"Action":"run","Test":"TestC"}
{"Action":"output","Test":"TestC","Output":"panic: nil map\n"}
{"Action":"fail","Test":"TestC"}
{"Action":"fail"}
`), results, true)
	want := map[string]string{"TestB": failed, "TestB/part": failed, "TestC": died}
	got := make(map[string]string)
	for name, r := range results {
		got[name] = r.outcome
	}
	if !again || !reflect.DeepEqual(got, want) {
		t.Errorf("again %t, %v", again, got)
	}
	// An example that ends the process: the last event is taken for its own.
	if !record(t, []byte(`{"Action":"run","Test":"ExampleD"}
{"Action":"output","Test":"ExampleD","Output":"2026/01/01 not allowed\n"}
{"Action":"fail","Test":"ExampleD"}
`), results, true) || results["ExampleD"].outcome != failed {
		t.Errorf("after an example: %v", results)
	}
	if record(t, []byte(`{"Action":"run","Test":"TestA"}
{"Action":"pass","Test":"TestA"}
{"Action":"pass"}
`), results, true) || results["TestA"].outcome != passed {
		t.Errorf("at last: %v", results)
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	results := map[string]result{
		"TestA":        {failed, "--- FAIL"},
		"TestA/one":    {failed, "ERROR: kproxy publishes read-only views: CREATE TABLE is not allowed (SQLSTATE 42501)"},
		"TestA/two":    {failed, `Message:"a parameter is declared with type 16385, which is not allowed here"`},
		"TestA/passed": {passed, ""},
		"TestB":        {failed, "expected 1, got 2"},
		"TestC":        {died, "panic: test timed out"},
	}
	got := verdicts(results, map[string]string{"TestB": "by design"})
	want := map[string]verdict{
		"TestA": {failed, []string{
			"refused: a parameter is declared with type N", "refused: kproxy publishes read-only views: CREATE TABLE is not allowed",
		}},
		"TestB": {failed, []string{"by design"}},
		"TestC": {died, []string{unexplained}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestGoldenRoundTrip(t *testing.T) {
	t.Parallel()
	c := columns{
		"straight": {"TestA": {outcome: passed}, "TestB": {outcome: skipped}},
		"relay":    {"TestA": {failed, []string{"one: reason", "two"}}},
		"kproxy":   {"TestA": {outcome: passed}, "TestB": {died, []string{"three"}}},
	}
	text := render("package", c, map[string]string{"TestC": "it hangs"})
	if got := parse(text); !reflect.DeepEqual(got, c) {
		t.Errorf("%s\nis read as %v", text, got)
	}
	if lost := missing(text, strings.ReplaceAll(text, "three", "four")); len(lost) != 1 || !strings.Contains(lost[0], "three") {
		t.Errorf("the difference is %q", lost)
	}
}
