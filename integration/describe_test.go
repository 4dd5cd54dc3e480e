package integration

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// goldenMajor is the major version of psql and server that the golden file is of.
const goldenMajor = 15

// describing are the meta-commands that people begin with.
var describing = []string{
	`\d patients`, `\d+ icd10`, `\d`, `\dt`, `\dv`, `\dm`, `\dn`, `\df`, `\dT`, `\di`, `\ds`, `\d icd10`, `\d wards`,
	`\dt public.*`, `\d public.patients`, `\dp patients`, `\dx`, `\encoding`, `SHOW search_path;`,
}

// testListing looks at what belongs to the server, and so differs with the
// tests that run beside this one.
func testListing(t *testing.T, s *site) {
	for _, command := range []string{`\l`, `\du`, `\conninfo`} {
		if command == `\l` && s.server.Version().Major > psqlMajor(t) {
			t.Logf("%s of psql %d asks for columns that PostgreSQL %s does not have", command, psqlMajor(t), s.server.Version())
			continue
		}
		if o := run(t, "", nil, "psql", "-X", "-c", command, s.url()); o.code != 0 || o.stderr != "" || strings.Contains(o.stdout, "kproxy_") {
			t.Errorf("%s: exit code %d\n%s%s", command, o.code, o.stdout, o.stderr)
		}
	}
}

// psqlMajor is the major version of the psql on the path.
func psqlMajor(t *testing.T) int {
	t.Helper()
	var major int
	if _, err := fmt.Sscanf(run(t, "", nil, "psql", "--version").stdout, "psql (PostgreSQL) %d", &major); err != nil {
		t.Fatalf("asking psql for its version: %v", err)
	}
	return major
}

// testDescribe compares what psql shows with what an analyst should see.
func testDescribe(t *testing.T, s *site) {
	compare := s.server.Version().Major == goldenMajor && psqlMajor(t) == goldenMajor
	if !compare {
		t.Logf("the golden file is of psql and PostgreSQL %d: not compared", goldenMajor)
	}
	want := readSections(t)
	got := make(map[string]string)
	for _, command := range describing {
		o := run(t, "", nil, "psql", "-X", "-c", command, s.url())
		text := s.normalize(o.stdout + o.stderr)
		switch {
		case o.code != 0 || strings.Contains(o.stderr, "ERROR"):
			t.Errorf("%s: exit code %d\n%s", command, o.code, text)
			got[command] = want[command]
			continue
		case hidden.MatchString(text):
			t.Errorf("%s shows what is hidden:\n%s", command, text)
		case compare && !*update && text != want[command]:
			t.Errorf("%s shows\n%sinstead of\n%s", command, text, want[command])
		}
		got[command] = text
	}
	if *update && compare {
		writeSections(t, got)
	}
}

// hidden is what no description may show.
var hidden = regexp.MustCompile(`kproxy_|national_id|patient_id|(release|records|packed|copied)_[0-9]`)

const (
	golden  = "testdata/psql15.golden"
	heading = "== "
)

func readSections(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	sections := make(map[string]string)
	for _, section := range strings.Split("\n"+string(text), "\n"+heading)[1:] {
		command, shown, _ := strings.Cut(section, "\n")
		sections[command] = strings.TrimSuffix(shown, "\n") + "\n"
	}
	return sections
}

func writeSections(t *testing.T, sections map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, command := range describing {
		b.WriteString(heading + command + "\n" + sections[command])
	}
	if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// normalize takes out what differs from run to run: names of roles, and the
// padding that depends on their lengths.
func (s *site) normalize(text string) string {
	text = strings.NewReplacer(s.owner, "OWNER", s.reader, "READER").Replace(text)
	var lines []string
	for line := range strings.Lines(text) {
		line = regexp.MustCompile(` +`).ReplaceAllString(strings.TrimRight(line, " \n"), " ")
		lines = append(lines, regexp.MustCompile(`-{3,}`).ReplaceAllString(line, "---"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}
