package integration

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// exceptions reads what one wall alone does not hold. A line "# ..." is the reason
// for the entries below it, each of which is an attack, " -- " and the kinds of
// canaries that come.
func exceptions(t *testing.T, path string) (leaks, reasons map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	leaks, reasons = make(map[string]string), make(map[string]string)
	reason := ""
	for line := range strings.SplitSeq(string(text), "\n") {
		at := strings.LastIndex(line, " -- ")
		switch {
		case strings.HasPrefix(line, "# "):
			reason = line[2:]
		case at >= 0:
			leaks[line[:at]], reasons[line[:at]] = line[at+4:], reason
		case line != "":
			t.Errorf("%s: not understood: %s", path, line)
		}
	}
	return leaks, reasons
}

// checkExceptions compares what came with what is listed. Nothing else may come;
// some of it need not, since statistics are collected with a delay and catalogs differ
// by version. With -update the list is written anew, new entries first and without a
// reason, which fails the next run.
func checkExceptions(t *testing.T, path string, leaks map[string]string) {
	t.Helper()
	listed, reasons := exceptions(t, path)
	if *update {
		writeExceptions(t, path, leaks, reasons)
		return
	}
	for entry, kinds := range leaks {
		for kind := range strings.FieldsSeq(kinds) {
			if !strings.Contains(listed[entry], kind) {
				t.Errorf("%s shows %s; listed is %q", entry, kind, listed[entry])
			}
		}
	}
	quiet := 0
	for entry := range listed {
		if reasons[entry] == "" {
			t.Errorf("%s has no reason", entry)
		}
		if leaks[entry] == "" {
			quiet++
			t.Logf("%s is listed, and shows nothing", entry)
		}
	}
	if quiet > len(listed)/10 {
		t.Errorf("%d of %d listed attacks show nothing: write the list anew", quiet, len(listed))
	}
}

func writeExceptions(t *testing.T, path string, leaks, reasons map[string]string) {
	t.Helper()
	byReason := make(map[string][]string)
	for entry, kinds := range leaks {
		byReason[reasons[entry]] = append(byReason[reasons[entry]], entry+" -- "+kinds)
	}
	var b strings.Builder
	for i, reason := range slices.Sorted(func(yield func(string) bool) {
		for reason := range byReason {
			if !yield(reason) {
				return
			}
		}
	}) {
		if i > 0 {
			b.WriteString("\n")
		}
		if reason != "" {
			b.WriteString("# " + reason + "\n")
		}
		slices.Sort(byReason[reason])
		b.WriteString(strings.Join(byReason[reason], "\n") + "\n")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
