package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// builtProgram is a program in a clone of its own, with the commit that it is built of.
func builtProgram(t *testing.T) (path, commit string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "program")
	for name, text := range map[string]string{"go.mod": "module some\n\ngo 1.22\n", "main.go": "package main\n\nfunc main() {}\n", ".gitignore": "program\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range [][]string{
		{"git", "init", "-q"},
		{"git", "add", "."},
		{"git", "-c", "user.name=some", "-c", "user.email=some@example.org", "-c", "commit.gpgsign=false", "commit", "-qm", "Begin"},
		{"go", "build", "-buildvcs=true", "-o", "program", "."},
		{"git", "rev-parse", "HEAD"},
	} {
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = dir
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", words, err, output)
		}
		commit = strings.TrimSpace(string(output))
	}
	return path, commit
}

// A section names the program that it measured, unless that is of its own sources; others
// name none.
func TestOtherProgramsAreNamed(t *testing.T) {
	t.Parallel()
	path, commit := builtProgram(t)
	uses := func(words ...string) section {
		return section{name: "some", steps: func(plan) []step { return []step{{words: words}} }}
	}
	o := tinyOptions(t, t.TempDir())
	for _, c := range []struct {
		program, sources string
		s                section
		want             string
	}{
		{path, commit[:9], uses(path, "eval"), ""},
		{path, commit[:9] + "+", uses(path, "eval"), "of commit " + commit[:7]},
		{path, "0123456", uses("-kproxy", "kproxy="+path), "of commit " + commit[:7]},
		{path, "0123456", uses("go", "test"), ""},
		{o.tools.kproxy, "unknown", uses(o.tools.kproxy), unnamed},
		{usualProgram, "0123456", uses(usualProgram), ""},
	} {
		o.tools.kproxy = c.program
		if got := o.otherProgram(c.s, c.sources); got != c.want {
			t.Errorf("%s of sources %s: %q, want %q", c.program, c.sources, got, c.want)
		}
	}
}

// What another program was measured with is not taken over for this one.
func TestOtherProgramsAreMeasuredAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := tinyOptions(t, dir)
	o.goOn = true
	if err := os.MkdirAll(o.unfinished, 0o755); err != nil {
		t.Fatal(err)
	}
	path, commit := builtProgram(t)
	o.tools.kproxy = path
	counter := filepath.Join(dir, "counter")
	s := section{name: "some", steps: func(plan) []step {
		one := stepOf(counter, "true")
		one.words = append(one.words, path)
		return []step{one}
	}}
	for _, sources := range []string{commit[:7], "0123456"} {
		measured, err := o.section(t.Context(), s, sources, &pace{out: o.progress, began: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.conclude(s, measured, nil); err != nil || !o.isMeasured(s, sources) {
			t.Fatalf("of %s it is not measured: %v", sources, err)
		}
		measured.Versions[program] = "of commit fedcba9"
		if err := measured.Write(o.file(s.name)); err != nil || o.isMeasured(s, sources) {
			t.Errorf("of %s another program is taken for this one: %v", sources, err)
		}
		if err := measured.Write(o.unfinishedFile(s.name, 0)); err != nil {
			t.Fatal(err)
		}
		before := runsOf(t, counter)
		if _, err := o.section(t.Context(), s, sources, &pace{out: o.progress, began: time.Now()}); err != nil || runsOf(t, counter) == before {
			t.Errorf("of %s a part of another program is taken over: %v", sources, err)
		}
	}
}
