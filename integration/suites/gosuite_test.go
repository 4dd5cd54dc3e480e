package suites

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// suiteTimeout bounds a package's tests: what hangs takes it whole.
	suiteTimeout = 2 * time.Minute
	// mostDeaths and mostAgain bound what is run again: with more, all is wrong.
	mostDeaths = 20
	mostAgain  = 20
)

// goSuite is the test suite of a Go module.
type goSuite struct {
	name   string // of the golden files
	module string

	// packages are folders of the module, . for its root. Those that take long run with
	// suites.all alone.
	packages, long []string

	// setup are statements for the database; env says to the tests where it is.
	setup []string
	env   func(way) []string

	encrypted bool // from proxies to the server; for clients see env

	leftOut   map[string]string // top tests that cannot be told about, and why
	explained map[string]string // by top test: why it does not pass, where no refusal says so

	folder string // of the copy
}

// test runs the suite and holds what comes of it against the golden files.
func (s *goSuite) test(t *testing.T) {
	if *all {
		s.packages = append(s.packages, s.long...)
	}
	skipUnlessRecorded(t)
	s.unpack(t)
	ways := ways
	if !*all {
		ways = ways[1:] // straight nothing changes with kproxy
	}
	for _, name := range s.packages {
		t.Run(name, func(t *testing.T) {
			file := s.name + "_" + strings.NewReplacer(".", "root", "/", "_").Replace(name) + ".golden"
			c := golden(t, file)
			for _, way := range ways {
				t.Run(way, func(t *testing.T) { // whose end ends the way
					freshDatabase(t, s.setup...)
					c[way] = s.column(t, name, reach[way](t, s.encrypted), c[way])
				})
			}
			hold(t, file, render(s.module+" "+name, c, s.leftOutOf(t, name)))
		})
	}
}

// column runs a package's tests on a way. What does not come out as expected has
// another chance, alone: the tests measure time.
func (s *goSuite) column(t *testing.T, name string, w way, want map[string]verdict) map[string]verdict {
	t.Helper()
	begin := time.Now()
	results := s.run(t, name, w, "-test.skip="+pattern(slices.Collect(maps.Keys(s.leftOut))))
	var again []string
	for top, v := range verdicts(results, s.explained) {
		if (v.outcome == failed || v.outcome == died) && !reflect.DeepEqual(v, want[top]) {
			again = append(again, top)
		}
	}
	if len(again) > 0 && len(again) <= mostAgain {
		maps.DeleteFunc(results, func(test string, _ result) bool { return slices.Contains(again, strings.Split(test, "/")[0]) })
		maps.Copy(results, s.run(t, name, w, "-test.run="+pattern(again), "-test.parallel=1"))
	}
	column := verdicts(results, s.explained)
	t.Logf("%s %s: %d tests in %s", name, w.name, len(results), time.Since(begin).Round(time.Second/10))
	for top, v := range column {
		if slices.Contains(v.reasons, unexplained) {
			t.Errorf("%s on the way %s:\n%s", top, w.name, outputOf(results, top))
		}
	}
	return column
}

// outputOf is what the failed parts of a top test wrote.
func outputOf(results map[string]result, top string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if r := results[name]; (name == top || strings.HasPrefix(name, top+"/")) && r.outcome != passed {
			b.WriteString(tail(r.output))
		}
	}
	return b.String()
}

// leftOutOf are the tests of a package that are left out.
func (s *goSuite) leftOutOf(t *testing.T, name string) map[string]string {
	t.Helper()
	list, err := exec.Command(s.binary(name), "-test.list", ".").Output()
	if err != nil {
		t.Fatalf("listing the tests of %s: %v", name, err)
	}
	its := maps.Clone(s.leftOut)
	maps.DeleteFunc(its, func(test, _ string) bool { return !slices.Contains(strings.Fields(string(list)), test) })
	return its
}

// pattern matches top tests.
func pattern(names []string) string {
	return "^(" + strings.Join(names, "|") + ")$"
}

// unpack copies the module, of the version that this one requires, and compiles its tests.
func (s *goSuite) unpack(t *testing.T) {
	t.Helper()
	output, err := exec.Command("go", "mod", "download", "-json", s.module).Output()
	if err != nil {
		t.Fatalf("fetching %s: %v", s.module, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		t.Fatalf("fetching %s: %v", s.module, err)
	}
	s.folder = filepath.Join(scratch, s.name)
	if err := os.CopyFS(s.folder, os.DirFS(module.Dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.packages {
		compile := exec.Command("go", "test", "-c", "-o", s.binary(name), "./"+name)
		compile.Dir = s.folder
		if output, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("compiling the tests of %s: %v\n%s", s.module, err, output)
		}
	}
}

func (s *goSuite) binary(name string) string {
	return filepath.Join(s.folder, name, "suite.test")
}

// run runs the tests of a package; after a test that the process died with, the others.
func (s *goSuite) run(t *testing.T, name string, w way, flags ...string) map[string]result {
	t.Helper()
	results := make(map[string]result)
	for attempt := 0; ; attempt++ {
		arguments := append([]string{"tool", "test2json", s.binary(name), "-test.v=test2json", "-test.timeout=" + suiteTimeout.String()}, flags...)
		if attempt > 0 {
			// One at a time, so that it is known which the process dies with.
			tops := slices.DeleteFunc(slices.Sorted(maps.Keys(results)), func(name string) bool { return strings.Contains(name, "/") })
			arguments = append(arguments, "-test.parallel=1", "-test.skip="+pattern(slices.AppendSeq(tops, maps.Keys(s.leftOut))))
		}
		cmd := exec.CommandContext(t.Context(), "go", arguments...)
		cmd.Dir = filepath.Join(s.folder, name)
		cmd.Env = append(withoutPostgres(os.Environ()), s.env(w)...)
		output, _ := cmd.Output() // how it ended is in the output as well
		if !record(t, output, results, attempt > 0) {
			return results
		}
		if attempt == mostDeaths {
			t.Fatalf("the tests of %s die again and again", name)
		}
	}
}

// withoutPostgres leaves out the variables that libpq and the drivers heed.
func withoutPostgres(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "PG") })
}

func tail(text string) string {
	const most = 4000
	if len(text) > most {
		return "...\n" + text[len(text)-most:]
	}
	return text
}
