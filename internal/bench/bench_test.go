package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/bench/result"
)

const root = "../.."

// peer is a program to measure beside.
const peer = "peer=sh internal/bench/methods/testdata/behaves.sh"

// Every section, tiny: the commands are there, run, and what they say can be read. In
// continuous integration, which installs what they need, none may be left out.
func TestSectionsAreMeasured(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processor times are those of Linux")
	}
	t.Chdir(root)
	dir := t.TempDir()
	program, err := rig.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := tinyOptions(t, dir)
	o.tools = tools{kproxy: program, peers: []string{peer}}
	// Package day has its own test of a short day.
	tried := slices.DeleteFunc(slices.Clone(sections), func(s section) bool { return s.name == wholeSystem.name })
	if err := o.prepare(tried); err != nil {
		t.Fatal(err)
	}
	p := &pace{out: o.progress, began: time.Now()}
	for _, s := range tried {
		p.add(o.stepsOf(s)...)
	}
	for _, s := range tried {
		measured, err := o.section(t.Context(), s, "unknown", p)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		for _, missing := range measured.Missing {
			if os.Getenv("CI") != "" {
				t.Errorf("%s: not there: %s", s.name, missing)
			} else {
				t.Logf("%s: not there: %s", s.name, missing)
			}
		}
		if len(measured.Figures) == 0 && len(measured.Missing) == 0 {
			t.Errorf("%s has no figures", s.name)
		}
		if err := measured.Write(o.file(s.name)); err != nil {
			t.Error(err)
		}
	}
	if err := o.write(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(o.page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| rounded-partition |", "| peer |", "; peer 1.0", "kproxy by pg_query"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// Without a peer the figures that were measured last stay, and are shown.
func TestPeersOfLastTimeStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := tinyOptions(t, dir)
	o.only = []string{peers.name}
	last := result.Section{Name: peers.name, Figures: []result.Figure{
		result.New("time", "peer", map[string]string{"method": "peer", "records": "10000", "attributes": "8", "k": "5"}, "s", 1.25),
	}}
	if err := last.Write(o.file(peers.name)); err != nil {
		t.Fatal(err)
	}
	if err := o.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := o.write(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(o.page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "| peer | 1.25 |") {
		t.Errorf("the page does not show them:\n%s", page)
	}
}

// tinyOptions measure as little as can be, with files in a folder; they need no program.
func tinyOptions(t *testing.T, dir string) options {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return options{
		size: tiny, out: dir, unfinished: filepath.Join(dir, "unfinished"), page: filepath.Join(dir, "page.md"),
		tools: tools{kproxy: own}, progress: t.Output(),
	}
}

// A person waits for a section of full size while others work, and for all of it in half a
// day; each step says what it takes.
func TestFullSizeIsReckoned(t *testing.T) {
	t.Parallel()
	const section, whole = 45 * time.Minute, 270 * time.Minute
	var all time.Duration
	for _, s := range sections {
		about, _ := reckon(s, full)
		if all += about; about > section && s.name != wholeSystem.name {
			t.Errorf("%s takes %v", s.name, about)
		}
		for _, one := range (options{size: full}).stepsOf(s) {
			if one.about == 0 {
				t.Errorf("what %s takes is not reckoned", one.line())
			}
		}
	}
	if all > whole {
		t.Errorf("all takes %v", all)
	}
}

// A step can need a program or a file.
func TestWhatAStepNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for needs, missing := range map[string]bool{"": false, "go": false, "no-such-program": true, dir: false, dir + "/no-such-file": true} {
		if isMissing(step{needs: needs}) != missing {
			t.Errorf("%q: missing is %v, %v expected", needs, !missing, missing)
		}
	}
}

// Every benchmark and every folder that a command names exists, in each size.
func TestCommandsExist(t *testing.T) {
	t.Parallel()
	listed := map[string]string{}
	for _, at := range []size{tiny, small, full} {
		for _, s := range sections {
			for _, one := range s.steps(plan{size: at, rounds: 1, tools: tools{kproxy: "bin/kproxy", peers: []string{peer}}}) {
				folder := slices.IndexFunc(one.words, func(word string) bool { return strings.HasPrefix(word, "./") })
				if folder < 0 {
					continue // kproxy itself, whose command TestSectionsAreMeasured runs
				}
				files, err := filepath.Glob(filepath.Join(root, one.words[folder], "*.go"))
				if err != nil || len(files) == 0 {
					t.Errorf("%s: there is no package %s", s.name, one.words[folder])
				}
				pattern := slices.Index(one.words, "-bench")
				if pattern < 0 {
					continue
				}
				top, _, _ := strings.Cut(one.words[pattern+1], "/")
				key := one.words[folder] + " " + top
				if _, known := listed[key]; !known {
					listed[key] = benchmarksIn(t, files, top)
				}
				if listed[key] == "" {
					t.Errorf("%s: there is no benchmark %s in %s", s.name, top, one.words[folder])
				}
			}
		}
	}
}

// The page is what the files say, and every section has its file.
func TestPageIsWhatTheFilesSay(t *testing.T) {
	t.Chdir(root)
	dir := t.TempDir()
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		text, err := os.ReadFile(o.file(s.name))
		if err != nil {
			t.Errorf("%s was never measured: %v", s.name, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, s.name+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := os.ReadFile(o.page)
	if err != nil {
		t.Fatal(err)
	}
	// A picture that a command has drawn itself is there or is not.
	if drawn, err := os.ReadFile(filepath.Join(o.out, "day.svg")); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "day.svg"), drawn, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := o
	again.out, again.page = dir, filepath.Join(dir, "page.md")
	if err := again.write(); err != nil {
		t.Fatal(err)
	}
	rendered, err := os.ReadFile(again.page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(shown), "](benchmarks/", "](") != strings.ReplaceAll(string(rendered), "](benchmarks/", "](") {
		t.Error("docs/benchmarks.md is not what its figures say: go run ./internal/bench -render")
	}
}

// Claims stand where they are said to, and the compared ones are what was measured.
func TestClaims(t *testing.T) {
	t.Chdir(root)
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]*result.Section{}
	for _, s := range sections {
		if measured[s.name], err = result.Read(o.file(s.name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range claims {
		text, err := os.ReadFile(c.page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), c.quote) {
			t.Errorf("%s does not claim %q any more", c.page, c.quote)
		}
		if c.command == "" && !slices.Contains(sectionNames(), c.section) {
			t.Errorf("%s: %q: there is no section %q", c.page, c.quote, c.section)
		}
		if c.page == "README.md" && c.number == 0 {
			t.Errorf("README.md: %q is not compared with what was measured", c.quote)
		}
		if c.number == 0 {
			continue
		}
		value, _, found := c.value(measured)
		switch {
		case !found:
			t.Errorf("%s: %q was not measured", c.page, c.quote)
		case c.spoiled(measured):
			t.Logf("%s: %q is not compared: the machine was busy", c.page, c.quote)
		case value < c.number*(1-c.within) || value > c.number*(1+c.within):
			t.Errorf("%s claims %q; %v was measured", c.page, c.quote, value)
		}
	}
}
