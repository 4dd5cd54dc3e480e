package config

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestAWrongIndentationIsFound indents each line of the example otherwise, and holds the
// reader to naming that line, or the next one that holds something, in 95 of 100 refusals.
func TestAWrongIndentationIsFound(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	refused, found := 0, 0
	for i, line := range lines {
		body := strings.TrimLeft(line, " ")
		if strings.HasPrefix(body, "#") || strings.TrimSpace(body) == "" {
			continue
		}
		was := len(line) - len(body)
		for n, indent := range []int{was - 2, was - 1, was + 1, was + 2, 0} {
			if indent < 0 || indent == was || indent == 0 && n < 4 || n%3 != i%3 {
				continue // each line a few ways: every trial of the reader takes its time
			}
			lines[i] = strings.Repeat(" ", indent) + body
			problems := refusalOf(t, strings.Join(lines, ""))
			if len(problems) == 0 {
				continue
			}
			refused++
			if namesLine(problems, i+1, following(lines, i)) {
				found++
			} else {
				t.Logf("line %d, indented by %d and not %d: %v", i+1, indent, was, problems)
			}
		}
		lines[i] = line
	}
	t.Logf("%d of %d found", found, refused)
	if refused < 100 || 100*found < 95*refused {
		t.Errorf("of %d refusals %d name the line", refused, found)
	}
}

func refusalOf(t *testing.T, text string) Errors {
	t.Helper()
	_, err := Parse("kproxy.yaml", []byte(text))
	var problems Errors
	if err != nil && !errors.As(err, &problems) {
		t.Fatal(err)
	}
	return problems
}

func namesLine(problems Errors, either, or int) bool {
	for _, p := range problems {
		if p.Line == either || p.Line == or {
			return true
		}
	}
	return false
}

// following is the line, from 1, after line i, from 0, that holds something.
func following(lines []string, i int) int {
	for i++; i < len(lines); i++ {
		if holdsSomething([]byte(lines[i])) {
			break
		}
	}
	return i + 1
}

func TestAWrongIndentationIsMended(t *testing.T) {
	t.Parallel()
	const head = "listen: 127.0.0.1:6432\n"
	for name, test := range map[string]struct {
		text string
		line int
		fix  string
	}{
		"too deep":             {head + "log:\n  level: info\n   format: text\n", 4, "begin it after 2 spaces"},
		"not deep enough":      {head + "log:\n  level: info\n format: text\n", 4, "begin it after 2 spaces"},
		"lost":                 {head + "throttle:\n  free: 5\ndelay: 1s\n  forget: 30s\n", 4, "begin it after 2 spaces"},
		"the first of several": {head + "throttle:\n   free: 5\n  delay: 1s\n  forget: 30s\n", 3, "begin it after 2 spaces"},
		"the very first":       {" listen: 127.0.0.1:6432\nslot: kproxy\n", 1, "begin it after no space"},
		"a section":            {head + "upstream:\n  owner:\n    host: db\n   reader:\n    user: r\n", 5, "begin it after 2 spaces"},
		"of a list":            {head + "users:\n  - name: a\n    verifier: b\n - name: c\n", 5, "begin it after 2 spaces"},
		// Several lines that one change cannot mend: where the parser stumbled.
		"a block":        {head + "throttle:\n  free: 5\n forget: 30s\n   delay: 1s\n", 4, "line up the keys"},
		"a colon within": {head + "slot: a: b\n", 2, "put a text that contains"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := refusalOf(t, test.text)
			if len(problems) != 1 || problems[0].Line != test.line || !strings.Contains(problems[0].Fix, test.fix) {
				t.Errorf("got %v", problems)
			}
		})
	}
}

// Many sections within one another, and much text, do not make it take long or fail.
func TestAWrongIndentationInAHugeFile(t *testing.T) {
	t.Parallel()
	var deep strings.Builder
	for i := range 300 {
		deep.WriteString(strings.Repeat("  ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"deep": deep.String() + " b: c\n",
		"long": "x:\n" + strings.Repeat("  y: z\n", maxTrialBytes/7) + " b: c\n",
	} {
		problems := refusalOf(t, text)
		if want := strings.Count(text, "\n"); len(problems) != 1 || problems[0].Line != want {
			t.Errorf("%s: got %v, want line %d", name, problems, want)
		}
	}
}
