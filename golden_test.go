package kproxy_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goldenFiles match the files that say what a test is to find.
var goldenFiles = regexp.MustCompile(`testdata/(.*\.golden|differences/[^/]*|.*\.diff)$`)

// inputs match the files that say what a test does.
var inputs = regexp.MustCompile(`(_test\.go|\.(sql|ya?ml|py|java|R|mjs))$`)

// attacks are the statements of the attack corpus, which more than one package runs.
const attacks = "rewrite/testdata/attacks"

// decided are marks of what is decided by a build of PostgreSQL, by initdb or by the
// machine, and so may not stand in a golden file: another machine has another.
var decided = map[string]*regexp.Regexp{
	// From FirstGenbkiObjectId on, the build gives the identifiers; from 12000 on initdb,
	// after those of the locales that it finds; from 16384 on the order of the statements.
	"the number of an object":  regexp.MustCompile(`(^|[^.\w])1[0-9]{4}\b`),
	"a version of PostgreSQL":  regexp.MustCompile(`\b1[3-9]\.[0-9]{1,2}\b`),
	"how a program was built":  regexp.MustCompile(`x86_64|aarch64|\bgcc\b|\bDebian\b|\bUbuntu\b|\(pgdg`),
	"a path of the machine":    regexp.MustCompile(`(^|[^\w.])/(tmp|usr|home|root|var/lib)/`),
	"the machine's locale":     regexp.MustCompile(`\b[a-z]{2}_[A-Z]{2}(\.[uU][tT][fF]-?8)?\b`),
	"the machine's time zone":  regexp.MustCompile(`\b(CES?T|NZ[SD]T|[ECMP][SD]T)\b`),
	"a port that was free":     regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1\]):[1-9][0-9]{4}\b`),
	"the user that runs tests": regexp.MustCompile(`\broot@`),
}

// TestGoldenFilesHoldNothingOfTheMachine looks for such marks in every golden file. What
// a test's own input says is no mark: statements and settings name numbers and zones.
func TestGoldenFilesHoldNothingOfTheMachine(t *testing.T) {
	t.Parallel()
	golden := goldenPaths(t)
	if len(golden) < 100 {
		t.Fatalf("there are only %d golden files", len(golden))
	}
	given := make(map[string]string)
	for _, path := range golden {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		folder, _, _ := strings.Cut(path, "testdata")
		if _, ok := given[folder]; !ok {
			given[folder] = inputOf(t, folder) + inputOf(t, attacks)
		}
		for _, mark := range marksIn(string(text), given[folder]) {
			t.Errorf("%s: %s", path, mark)
		}
	}
}

// marksIn are the lines of a golden file that hold what its test's input does not say
// and a machine decides.
func marksIn(text, input string) []string {
	var marks []string
	for line := range strings.Lines(text) {
		for what, mark := range decided {
			for _, found := range mark.FindAllString(line, -1) {
				if found = strings.Trim(found, " '\"(,=>|"); !strings.Contains(input, found) {
					marks = append(marks, what+", "+found+": "+strings.TrimSpace(line))
				}
			}
		}
	}
	return marks
}

// TestMarksAreFound shows the search lines as earlier golden files had them, and lines
// that say nothing of a machine.
func TestMarksAreFound(t *testing.T) {
	t.Parallel()
	const input = "SELECT g::regclass FROM generate_series(16384, 18500) g; SET timezone = 'EST'"
	for _, line := range []string{
		"13207 | information_schema | NULL", "(10000)", "OID 16391", "PostgreSQL 15.18 on x86_64", "clinic | postgres | UTF8 | de_DE.UTF-8 |",
		"server_version=17.5", "2026-11-23 10:40:57 NZDT", "could not open /tmp/kproxy-1/log", "connection to 127.0.0.1:45193 failed",
	} {
		if len(marksIn(line+"\n", input)) == 0 {
			t.Errorf("nothing is found in %s", line)
		}
	}
	for _, line := range []string{
		"information_schema | OID", "generate_series(16384, 18500)", "zone EST", "1259 | pg_class", "9999", "100000 rows", "0.13207",
		"numeric(10,2)", "listen: 127.0.0.1:6432", "2024-02-29 | 5.13", "between 2 and 2147483647",
	} {
		if found := marksIn(line+"\n", input); len(found) > 0 {
			t.Errorf("%v is found in %s", found, line)
		}
	}
}

// goldenPaths are the golden files of the repository.
func goldenPaths(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || entry.Name() == "bin"):
			return filepath.SkipDir
		case !entry.IsDir() && goldenFiles.MatchString(filepath.ToSlash(path)):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// inputOf is the text of what a package gives to its tests: their code, statements,
// configurations and programs of clients.
func inputOf(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Clean(folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !inputs.MatchString(path) {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
