package docs

import (
	"regexp"
	"strings"
	"testing"
)

// exchange is a command of a transcript with what it prints.
type exchange struct {
	line    int // in the page
	command string
	printed string
}

var (
	shellPrompt = regexp.MustCompile(`^\$ (.*)$`)
	shellMore   = regexp.MustCompile(`^> (.*)$`)
	sqlPrompt   = regexp.MustCompile(`^[\w.]+=[*!]?[>#] (.*)$`)
	sqlMore     = regexp.MustCompile(`^[\w.]+[-'"($][*!]?[>#] (.*)$`)
)

// exchanges takes a transcript apart at its prompts. What stands before the first one is
// ignored.
func exchanges(b block, prompt, more *regexp.Regexp) []exchange {
	var all []exchange
	lines := strings.Split(b.text, "\n")
	for i, line := range lines {
		last := len(all) - 1
		begins, goesOn := prompt.FindStringSubmatch(line), more.FindStringSubmatch(line)
		switch {
		case begins != nil:
			all = append(all, exchange{line: b.line + i, command: begins[1]})
		case last < 0:
		case goesOn != nil:
			all[last].command += "\n" + goesOn[1]
		case i > 0 && strings.HasSuffix(lines[i-1], "\\") && all[last].printed == "":
			all[last].command += "\n" + line
		case b.lang == "psql" && all[last].printed == "" && !strings.HasSuffix(all[last].command, ";") && !strings.HasPrefix(all[last].command, `\`):
			all[last].command += "\n" + line // a statement that goes on without a prompt
		default:
			all[last].printed += line + "\n"
		}
	}
	return all
}

var (
	spaces = regexp.MustCompile(`[ \t]+`)
	rules  = regexp.MustCompile(`^[-+]+$`)
)

// lines are what counts of a text: no white space at the ends, no blank lines and no rules.
func lines(text string) []string {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		line = rules.ReplaceAllString(spaces.ReplaceAllString(strings.TrimSpace(line), " "), "")
		line = strings.ReplaceAll(line, " |", "|")
		if line = strings.ReplaceAll(line, "| ", "|"); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// matches tells whether what was printed is what a page shows.
func matches(shown, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for _, line := range lines(shown) {
		if line == "..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(line, "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		pattern.WriteString(strings.Join(parts, `.*?`) + `\n`)
	}
	pattern.WriteString(`\z`)
	got := strings.Join(lines(printed), "\n")
	if got != "" {
		got += "\n"
	}
	return regexp.MustCompile(pattern.String()).MatchString(got)
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"", "", true},
		{"a  b\n", " a b\n\n", true},
		{"a\n---+---\n", "a\n-----+-\n", true},
		{" a  | b", "a|b", true},
		{"a …ms\n...\nz\n", "a 17ms\nb\nc\nz\n", true},
		{"a\n...\n", "a\n", true},
		{"a\n", "b\n", false},
		{"a\n", "a\nb\n", false},
		{"a.c\n", "abc\n", false},
		{"a …\nz", "a\nz\n", false},
	} {
		if got := matches(c.shown, c.printed); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.shown, c.printed, got)
		}
	}
}

func TestExchanges(t *testing.T) {
	t.Parallel()
	b := block{line: 10, lang: "psql", text: "$ psql url\nh=> SELECT 1,\n     2;\n 1 | 2\nh=> \\d t\nView\nh=*> SELECT\nh-> 3;\n"}
	got := exchanges(b, sqlPrompt, sqlMore)
	if len(got) != 3 || got[0].command != "SELECT 1,\n     2;" || got[0].printed != " 1 | 2\n" || got[1].printed != "View\n" || got[2].command != "SELECT\n3;" || got[2].line != 16 {
		t.Errorf("%+v", got)
	}
	b = block{line: 1, lang: "console", text: "$ a \\\n  b\nout\n$ c\n"}
	if got := exchanges(b, shellPrompt, shellMore); len(got) != 2 || got[0].command != "a \\\n  b" || got[0].printed != "out\n" || got[1].command != "c" {
		t.Errorf("%+v", got)
	}
}
