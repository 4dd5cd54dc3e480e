package suites

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// outcomes of a test.
const (
	passed  = "pass"
	failed  = "fail"
	skipped = "skip"
	died    = "died" // with the process: it panicked, or took too long
)

// result is what came of a test.
type result struct {
	outcome string
	output  string
}

// record reads what test2json writes, and tells whether the process died before the end,
// so that the others have to run again. Alone, it must be known which test it died with, or
// another one have come to an end: an example that ends the process is one that has failed.
func record(t *testing.T, output []byte, results map[string]result, alone bool) (again bool) {
	t.Helper()
	running := make(map[string]bool)
	texts := make(map[string]string)
	var whole strings.Builder
	ended, before := false, len(results)
	for line := range bytes.Lines(output) {
		var event struct{ Action, Test, Output string }
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("what the tests write: %v: %s", err, line)
		}
		switch event.Action {
		case "run", "cont":
			running[event.Test] = true
		case "pause":
			delete(running, event.Test)
		case "output":
			texts[event.Test] += event.Output
			whole.WriteString(event.Output)
		case passed, failed, skipped:
			if event.Test == "" {
				ended = event.Action == passed || !dies.MatchString(whole.String())
				continue
			}
			if dies.MatchString(texts[event.Test]) {
				continue // test2json's guess at what was running
			}
			delete(running, event.Test)
			results[event.Test] = result{event.Action, texts[event.Test]}
		}
	}
	if ended {
		return false
	}
	culprit := culpritOf(whole.String(), running)
	if culprit == "" && alone && len(results) == before {
		t.Fatalf("the tests died without a test:\n%s", tail(whole.String()))
	}
	if culprit != "" {
		results[culprit] = result{died, whole.String()[max(0, strings.Index(whole.String(), "panic: ")):]}
	}
	return true
}

var (
	dies     = regexp.MustCompile(`(?m)^(panic: |fatal error: |signal: )`)
	timedOut = regexp.MustCompile(`running tests:\n\t+(\S+) \(`)
)

// culpritOf is the top test that a process died with, as far as can be known.
func culpritOf(output string, running map[string]bool) string {
	if m := timedOut.FindStringSubmatch(output); m != nil {
		return strings.Split(m[1], "/")[0]
	}
	tops := make(map[string]bool)
	for name := range running {
		tops[strings.Split(name, "/")[0]] = true
	}
	if len(tops) == 1 {
		for name := range tops {
			return name
		}
	}
	return ""
}
