package metadata

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

var update = flag.Bool("update", false, "write the golden files")

// goldenMajor is the major version of psql and server that the golden files are of.
const goldenMajor = 15

// hidden is what no client may be shown: names and texts of what is not published,
// kproxy's own schemas and tables, and the number of patients.
var hidden = regexp.MustCompile(`(?i)canary|kproxy_|\b1237\b|\b(release|records|stored|copied|packed|member|class)_[0-9]+\b`)

// section is one thing that a client was asked and what it showed.
type section struct {
	asked, shown string
	// cased: which rows there are depends on what the locale has for upper case letters, as
	// where dbt compares a name, which has the collation C, with upper('public').
	cased bool
}

// compare judges what a client showed: nothing hidden, no error but where the golden
// file has one, and on the version that it is of, exactly what the file says.
func compare(t *testing.T, name string, sections []section) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".golden")
	var b strings.Builder
	loose := map[string]bool{}
	for _, s := range sections {
		loose[s.asked] = site.server.Version().Major != goldenMajor || s.cased && os.Getenv(pgserver.LocaleVariable) != ""
		shown := mask(s.shown)
		if found := hidden.FindString(shown); found != "" {
			t.Errorf("%s shows %q, which is hidden:\n%s", s.asked, found, shown)
		}
		fmt.Fprintf(&b, "== %s\n%s", s.asked, shown)
	}
	if site.server.Version().Major != goldenMajor {
		t.Logf("%s is of PostgreSQL %d: compared for errors alone", path, goldenMajor)
	} else if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := parts(string(golden))
	for _, got := range parts(b.String()) {
		title, _, _ := strings.Cut(got, "\n")
		index := -1
		for i, w := range want {
			if strings.HasPrefix(w, title+"\n") {
				index = i
				break
			}
		}
		switch {
		case index >= 0 && loose[title]:
			if strings.Contains(got, "ERROR") && !strings.Contains(want[index], "ERROR") {
				t.Errorf("instead of\n%sthere is\n%s", want[index], got)
			}
		case index < 0:
			t.Errorf("%s has no %s", path, title)
		case want[index] != got:
			t.Errorf("instead of\n%sthere is\n%s", want[index], got)
		}
	}
}

// parts are the sections of a golden file, each with its title.
func parts(text string) []string { return strings.Split("\n"+text, "\n== ")[1:] }

var (
	padding = regexp.MustCompile(` +`)
	rule    = regexp.MustCompile(`-{3,}`)
	number  = regexp.MustCompile(`(SQLSTATE )?\b[1-9][0-9]{4,9}\b`)
)

// firstAssignedOID is the first identifier that PostgreSQL's source does not fix
// (FirstGenbkiObjectId): which object gets it depends on the build, and from 12000 on
// on what initdb finds, such as the locales of the machine.
const firstAssignedOID = 10000

// mask takes out what differs from machine to machine and from run to run: numbers of
// objects, and padding.
func mask(text string) string {
	var lines []string
	for line := range strings.Lines(surroundings().Replace(text)) {
		line = padding.ReplaceAllString(strings.TrimRight(line, " \r\n"), " ")
		line = rule.ReplaceAllString(line, "---")
		line = number.ReplaceAllStringFunc(line, func(digits string) string {
			if n, err := strconv.Atoi(digits); err == nil && n >= firstAssignedOID && n < 1<<20 {
				return "OID"
			}
			return digits
		})
		lines = append(lines, line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// surroundings gives locale and time zone the names that they have by default, where the
// environment asks for others.
func surroundings() *strings.Replacer {
	var pairs []string
	if name := os.Getenv(pgserver.LocaleVariable); name != "" {
		pairs = append(pairs, name, "C")
	}
	if name := os.Getenv(pgserver.ZoneVariable); name != "" {
		pairs = append(pairs, name, "UTC")
	}
	return strings.NewReplacer(pairs...)
}
