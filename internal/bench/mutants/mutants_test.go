package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// example is a package with a test that does not notice everything.
var example = map[string]string{
	"go.mod": "module example.org/example\n\ngo 1.26\n",
	"limit.go": `package example

import "fmt"

type limit struct{ most, seen int }

// take counts up to the most.
func (l *limit) take(n int) (bool, error) {
	if n < 0 {
		return false, fmt.Errorf("taking %d", 0-n)
	}
	if l.seen+n > l.most {
		return false, nil
	}
	l.seen += n
	return true, nil
}

func forgotten(n int) int { return n * 2 }

func (l *limit) next(n int) (int, error) {
	ok, err := l.take(n)
	if err != nil {
		return n + 1, err
	}
	if !ok {
		return 0, nil
	}
	return n, err
}

func (*limit) endless(n int) int {
	for n > 0 {
		n--
	}
	return n
}
`,
	"limit_test.go": `package example

import "testing"

func TestTake(t *testing.T) {
	l := limit{most: 10}
	if ok, err := l.take(4); !ok || err != nil {
		t.Error(ok, err)
	}
	if ok, _ := l.take(7); ok || l.seen != 4 {
		t.Error("too many")
	}
}

func TestEndless(t *testing.T) {
	if new(limit).endless(3) != 0 {
		t.Error("not at the end")
	}
}
`,
}

func loadExample(t *testing.T) *pkg {
	t.Helper()
	folder := t.TempDir()
	for name, text := range example {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	packages, err := load(t.Context(), []string{"."})
	if err != nil || len(packages) != 1 {
		t.Fatal(packages, err)
	}
	return packages[0]
}

func everything() options {
	all := regexp.MustCompile("")
	return options{seed: 1, only: all, tests: all, skip: regexp.MustCompile("^$"), each: true, workers: 2, patient: 5}
}

func changes(mutants []mutant) (changes []string) {
	for _, m := range mutants {
		changes = append(changes, m.function+" "+m.change())
	}
	slices.Sort(changes)
	return changes
}

// TestMutants compares the mutants that compile with those made by hand: without its call,
// fmt would be imported for nothing, and what stands beside an error is read by nobody.
func TestMutants(t *testing.T) {
	p := loadExample(t)
	chosen, err := choose(p, equivalents{}, everything())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"limit.endless 0 -> (0 + 1)",
		"limit.endless n > 0 -> n <= 0",
		"limit.endless n > 0 -> n >= 0",
		"limit.endless n -> 0",
		"limit.endless n-- -> n++",
		"forgotten 2 -> (2 + 1)",
		"forgotten n * 2 -> 0",
		"forgotten n * 2 -> n / 2",
		"limit.take 0 -> (0 + 1)",
		"limit.next !ok -> ok",
		"limit.next 0 -> (0 + 1)",
		"limit.next err != nil -> err == nil",
		"limit.next err -> nil",
		"limit.next err -> nil",
		"limit.next n -> 0",
		"limit.next n -> 0",
		"limit.take false -> true",
		"limit.take l.seen += n -> l.seen -= n",
		"limit.take l.seen += n -> nothing",
		"limit.take l.seen+n > l.most -> l.seen+n <= l.most",
		"limit.take l.seen+n > l.most -> l.seen+n >= l.most",
		"limit.take l.seen+n -> l.seen-n",
		"limit.take n < 0 -> n <= 0",
		"limit.take n < 0 -> n >= 0",
		"limit.take true -> false",
	}
	slices.Sort(want)
	if got := changes(chosen); !slices.Equal(got, want) {
		t.Errorf("the mutants are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTry has the tests of the example notice what they look at, endless loops included.
func TestTry(t *testing.T) {
	p := loadExample(t)
	o := everything()
	// Where counting never ends, it is over when the number has no more room for it.
	o.only = regexp.MustCompile(`limit\.take|forgotten|endless for n > 0 { n > 0 -> n <= 0`)
	chosen, err := choose(p, equivalents{}, o)
	if err != nil {
		t.Fatal(err)
	}
	r := runner{pkg: p, options: o, folder: t.TempDir()}
	outcomes := map[verdict][]string{}
	r.tell = func(m mutant, v verdict) {
		outcomes[v] = append(outcomes[v], m.function+" "+m.change())
	}
	s, err := r.try(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range map[verdict][]string{
		survived: {
			"limit.take 0 -> (0 + 1)", // takes of nothing
			"limit.take l.seen+n > l.most -> l.seen+n >= l.most",
			"limit.take n < 0 -> n <= 0",
		},
		unreached: {"forgotten 2 -> (2 + 1)", "forgotten n * 2 -> 0", "forgotten n * 2 -> n / 2"},
	} {
		got := outcomes[v]
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("verdict %d: %q, want %q", v, got, want)
		}
	}
	if s.count[noticed] != len(chosen)-6 || s.tried() != len(chosen) {
		t.Errorf("the score is %+v of %d", s, len(chosen))
	}
	if report(&strings.Builder{}, []score{s}, 50) != nil || report(&strings.Builder{}, []score{s}, 99) == nil {
		t.Error("the least share is not looked at")
	}
}

// TestChoose has a larger sample hold a smaller one, and leaves out what needs no test.
func TestChoose(t *testing.T) {
	p := loadExample(t)
	same, err := readEquivalents("# comment\nlimit.go limit.take\n\tif n < 0 {\n\tn < 0 ->\tn <= 0\n\tNothing is taken.\n")
	if err != nil {
		t.Fatal(err)
	}
	o := everything()
	o.sample = 5
	few, err := choose(p, same, o)
	if err != nil {
		t.Fatal(err)
	}
	o.sample = 0
	all, err := choose(p, same, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(few) != 5 || !slices.Equal(changes(few), changes(all[:5])) || slices.Contains(changes(all), "limit.take n < 0 -> n <= 0") {
		t.Errorf("chosen are %q of %q", changes(few), changes(all))
	}
	for _, text := range []string{"limit.go limit.take\nif n < 0 {\nn < 0 -> n <= 1\nThere is no such mutant.\n", "limit.go limit.take\nif n < 0 {\nn < 0 -> n <= 0\n"} {
		same, err := readEquivalents(text)
		if err == nil {
			_, err = choose(p, same, o)
		}
		if err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestReachIsKept asks tests what they reach once: a second run takes it from the file, but
// for a package that is another one; and of what reaches a mutant, the quickest tests are run.
func TestReachIsKept(t *testing.T) {
	p := loadExample(t)
	o := everything()
	o.reach = filepath.Join(t.TempDir(), "reach.json")
	measured := func(p *pkg) []test {
		r := runner{pkg: p, options: o, folder: t.TempDir()}
		tests, err := r.measure(t.Context())
		if err != nil || len(tests) != 2 {
			t.Fatal(tests, err)
		}
		return tests
	}
	first := measured(p)
	for i, again := range measured(p) {
		if again.Took != first[i].Took {
			t.Errorf("%s is measured again", again.Pattern)
		}
	}
	other := *p
	changed := *p.files[0]
	changed.source = append(slices.Clone(changed.source), '\n')
	other.files = []*file{&changed}
	if again := measured(&other); again[0].Took == first[0].Took && again[1].Took == first[1].Took {
		t.Error("what tests reach of another package is taken from the file")
	}

	r := runner{pkg: p, tests: []test{{Pattern: "A", Took: time.Second}, {Pattern: "B", Took: 2 * time.Second}, {Pattern: "C", Took: 3 * time.Second}}}
	m := mutant{file: p.files[0], line: 1}
	for i := range r.tests {
		r.tests[i].Reaches = map[string][]block{m.file.name: {{FromLine: 1, ToLine: 9}}}
	}
	for most, want := range map[time.Duration]string{0: "ABC", time.Millisecond: "A", 3 * time.Second: "AB", 6 * time.Second: "ABC"} {
		r.options.most = most
		got := ""
		for _, g := range r.groups(m) {
			got += strings.ReplaceAll(g.Pattern, "|", "")
		}
		if got != want {
			t.Errorf("in %v, the tests %s are run, not %s", most, got, want)
		}
	}
}

// TestEquivalents finds the mutant of each entry of equivalent.txt in the tree: after a line has
// changed, its entry is changed too or removed.
func TestEquivalents(t *testing.T) {
	same, err := readEquivalents(equivalentText)
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]bool{}
	for key := range same {
		folders["../../../"+path.Dir(strings.Fields(key)[0])] = true
	}
	packages, err := load(t.Context(), slices.Collect(maps.Keys(folders)))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, p := range packages {
		for _, m := range p.mutants() {
			known[m.key()] = true
		}
	}
	for key := range same {
		if !known[key] {
			t.Errorf("equivalent.txt: there is no mutant %q any more", key)
		}
	}
}
