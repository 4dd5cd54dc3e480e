package suites

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	all    = flag.Bool("suites.all", false, "run all packages of the suites, and straight as well")
	update = flag.Bool("suites.update", false, "write the golden files anew; goes with suites.all")
)

// refusals are the errors that kproxy or its gate answers with by design: about what
// cannot be done through it at all.
var refusals = regexp.MustCompile(`(?:ERROR: |FATAL: |pq: |Message:")(` + strings.Join([]string{
	`kproxy publishes read-only views: [A-Za-z ]*`,
	`kproxy supports [^("\n]*`,
	`kproxy does not support [^("\n]*`,
	`permission denied for function [\w.]+`,
	`permission denied to (?:set|examine) parameter "\w+"`,
	`parameter "\w+" cannot be set[^("\n]*`,
	`type "\w+" does not exist`,
	`the query has more than \d+ tokens`,
	`the relay carries neither COPY FROM STDIN nor LISTEN`,
	`a parameter is declared with type \d+`,
	`(?:client_encoding|standard_conforming_strings) must be [\w-]+`,
}, "|") + `)`)

// unexplained is what no golden file may have.
const unexplained = "UNEXPLAINED"

var numbers = regexp.MustCompile(`\b\d{2,}\b`)

// verdict is what came of a top test on one way: its outcome, and the reasons where it
// did not pass.
type verdict struct {
	outcome string
	reasons []string
}

// verdicts sums up the results of a way by top test.
func verdicts(results map[string]result, explained map[string]string) map[string]verdict {
	sums := make(map[string]verdict)
	for name, r := range results {
		if strings.Contains(name, "/") {
			continue
		}
		v := verdict{outcome: r.outcome}
		if r.outcome == failed || r.outcome == died {
			v.reasons = reasonsOf(results, name, explained)
		}
		sums[name] = v
	}
	return sums
}

// reasonsOf tells why a top test did not pass: for each of its parts that did not, a
// refusal in what it wrote, or else what a reviewer found.
func reasonsOf(results map[string]result, top string, explained map[string]string) []string {
	reasons := make(map[string]bool)
	for name, r := range results {
		if name != top && !strings.HasPrefix(name, top+"/") || r.outcome != failed && r.outcome != died || hasFailedPart(results, name) {
			continue
		}
		refusal := refusals.FindStringSubmatch(r.output)
		switch explanation := explained[top]; {
		case refusal != nil:
			reasons["refused: "+numbers.ReplaceAllString(strings.TrimSpace(refusal[1]), "N")] = true
		case explanation != "":
			reasons[explanation] = true
		default:
			reasons[unexplained] = true
		}
	}
	return slices.Sorted(maps.Keys(reasons))
}

func hasFailedPart(results map[string]result, name string) bool {
	for part, r := range results {
		if strings.HasPrefix(part, name+"/") && (r.outcome == failed || r.outcome == died) {
			return true
		}
	}
	return false
}

// render writes what came of a package's tests, a line for each, and below it the reasons
// where a proxy's outcome is not that of PostgreSQL.
func render(title string, c columns, leftOut map[string]string) string {
	var b strings.Builder
	tests := make(map[string]bool)
	counts := make(map[string]map[string]int)
	for way, column := range c {
		counts[way] = make(map[string]int)
		for name, v := range column {
			tests[name] = true
			counts[way][v.outcome]++
		}
	}
	fmt.Fprintf(&b, "# %s\n", title)
	for _, way := range ways {
		n := counts[way]
		fmt.Fprintf(&b, "# %-8s %d pass, %d fail, %d skip\n", way, n[passed], n[failed]+n[died], n[skipped])
	}
	for _, name := range slices.Sorted(maps.Keys(leftOut)) {
		fmt.Fprintf(&b, "# %s is left out: %s\n", name, leftOut[name])
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		line := fmt.Sprintf("%-60s", name)
		for _, way := range ways {
			line += fmt.Sprintf(" %-4s", outcomeOf(c[way][name]))
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
		for _, way := range ways {
			for _, reason := range c[way][name].reasons {
				fmt.Fprintf(&b, "    %s: %s\n", way, reason)
			}
		}
	}
	return b.String()
}

func outcomeOf(v verdict) string {
	if v.outcome == "" {
		return "-"
	}
	return v.outcome
}

// columns are what came of a package's tests by way and top test.
type columns map[string]map[string]verdict

// parse reads what render writes.
func parse(golden string) columns {
	c := make(columns)
	for _, way := range ways {
		c[way] = make(map[string]verdict)
	}
	var name string
	for line := range strings.Lines(golden) {
		line = strings.TrimSuffix(line, "\n")
		switch reason, indented := strings.CutPrefix(line, "    "); {
		case line == "" || line[0] == '#':
		case indented:
			way, text, _ := strings.Cut(reason, ": ")
			v := c[way][name]
			v.reasons = append(v.reasons, text)
			c[way][name] = v
		default:
			fields := strings.Fields(line)
			name = fields[0]
			for i, way := range ways {
				if outcome := fields[i+1]; outcome != "-" {
					c[way][name] = verdict{outcome: outcome}
				}
			}
		}
	}
	return c
}

// golden reads a golden file; before its first time it is empty.
func golden(t *testing.T, name string) columns {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil && !*update {
		t.Fatal(err)
	}
	return parse(string(text))
}

// hold compares a report with its golden file, or writes that.
func hold(t *testing.T, name, report string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(report), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range missing(report, string(want)) {
		t.Errorf("not in %s: %s", path, line)
	}
	for _, line := range missing(string(want), report) {
		t.Errorf("only in %s: %s", path, line)
	}
}

// missing are the lines of one text that another does not have.
func missing(from, in string) []string {
	lines := strings.Split(in, "\n")
	return slices.DeleteFunc(strings.Split(from, "\n"), func(line string) bool { return slices.Contains(lines, line) })
}
