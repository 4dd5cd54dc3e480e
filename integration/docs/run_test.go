package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// tooLong are the targets and commands that other tests run, or nobody in passing: that
// they exist is looked at by TestCommands.
var tooLong = []string{
	"make test", "make race", "make test-matrix", "make mutants", "make elsewhere", "make regress", "make suites", "make chaos", "make speed", "make bench",
	"make bench-full", "make fuzz", "make cover", "make lint", "make build", "make demo", "make release", "make release-test", "make man",
	"make postgres", "make packages", "make sbom", "make clean",
}

// TestPages follows each page.
func TestPages(t *testing.T) {
	t.Parallel()
	rig.Need(t, "postgresql-client", rig.Program("psql") != "")
	for _, p := range pages(t) {
		if !slices.ContainsFunc(p.blocks, func(b block) bool { return b.runs() && !long(b.text) }) {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, p.environment())
			for _, b := range p.blocks {
				if b.runs() {
					s.follow(t, p, b)
				}
			}
		})
	}
}

// long tells whether all commands of a block take too long.
func long(text string) bool {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line, _, _ = strings.Cut(strings.TrimPrefix(line, "$ "), "#")
		words := strings.Fields(line)
		if len(words) > 1 && !slices.Contains(tooLong, strings.Join(words[:2], " ")) || len(words) == 1 {
			return false
		}
	}
	return true
}

// follow runs a block and compares.
func (s *site) follow(t *testing.T, p page, b block) {
	t.Helper()
	if long(b.text) {
		return
	}
	switch b.lang {
	case "sh":
		if printed, err := s.run(t, b.text, ""); err != nil {
			t.Errorf("%s:%d: %v\n%s%s", p.path, b.line, err, b.text, printed)
		}
	case "sql":
		if printed, err := s.run(t, "psql -X -q -v ON_ERROR_STOP=1", b.text); err != nil {
			t.Errorf("%s:%d: %v\n%s", p.path, b.line, err, printed)
		}
	case "console":
		for _, e := range exchanges(b, shellPrompt, shellMore) {
			printed, _ := s.run(t, e.command, "") // a failure shows in what is printed
			s.compare(t, p, e, printed)
		}
	case "psql":
		login := `psql -X "$KPROXY_URL"`
		if found := shellPrompt.FindStringSubmatch(strings.SplitN(b.text, "\n", 2)[0]); found != nil {
			login = found[1]
		}
		for _, e := range exchanges(b, sqlPrompt, sqlMore) {
			printed, _ := s.run(t, login, e.command+"\n")
			s.compare(t, p, e, printed)
		}
	}
}

// progress is what long commands write to standard error while they run.
var progress = regexp.MustCompile(`(?m)^\[[#-]+\] .*\n`)

func (s *site) compare(t *testing.T, p page, e exchange, printed string) {
	t.Helper()
	printed = progress.ReplaceAllString(printed, "")
	if !matches(e.printed, printed) {
		t.Errorf("%s:%d: %s\nshown:\n%s\nprinted:\n%s", p.path, e.line, e.command, e.printed, printed)
	}
}
