package clients

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the differences; somebody has to explain those that are new")

// goldenMajor is the major version of the server that the differences are of.
const goldenMajor = 15

// step is something that a client did and what it saw of it: a line "name: text" that
// its program prints. The text has no line breaks.
type step struct{ name, text string }

// readSteps parts what a program prints into its steps.
func readSteps(t *testing.T, output string) []step {
	t.Helper()
	var steps []step
	seen := make(map[string]bool)
	for line := range strings.Lines(output) {
		name, text, ok := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if !ok || seen[name] {
			t.Fatalf("this is no step, or a second one of its name: %q in\n%s", line, output)
		}
		seen[name] = true
		steps = append(steps, step{name, text})
	}
	return steps
}

// worker does a client's work on a way and reports its steps.
type worker func(t *testing.T, w way) []step

// program is a worker that runs a program, which finds the way in its environment.
func program(extra []string, name string, arguments ...string) worker {
	return func(t *testing.T, w way) []step {
		t.Helper()
		output, failure, err := run(t, append(w.environment(), extra...), name, arguments...)
		if err != nil {
			t.Errorf("%s: %s fails: %v\n%s%s", w.name, name, err, failure, output)
		}
		return readSteps(t, output)
	}
}

// run runs a program and returns what it writes.
func run(t *testing.T, environment []string, name string, arguments ...string) (output, failure string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Env = environment
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// client is the client's address, which kproxy appends to the name of its application.
var client = regexp.MustCompile(`\(127\.0\.0\.1:[0-9]+\)`)

// release is the server's version to the minor one, which each machine has another of.
var release = regexp.MustCompile(`(server_version\W{1,3})[0-9]+[.0-9]*( \([^)]*\))?`)

// compare has a worker do its work on both ways, and judges that all steps are the
// same but those that the client's file in testdata/differences explains.
func compare(t *testing.T, name string, work worker) {
	t.Helper()
	start(t)
	var reports [2][]step
	var both sync.WaitGroup
	for i, w := range site.ways {
		both.Go(func() { reports[i] = work(t, w) })
	}
	both.Wait()
	if t.Failed() {
		return
	}
	if len(reports[straight]) == 0 {
		t.Fatal("the client reports nothing")
	}
	if more := len(reports[through]) - len(reports[straight]); more > 0 {
		t.Errorf("through kproxy there are %d steps more", more)
	}
	expected, found := readDifferences(t, name), make(map[string]bool)
	var all []difference
	for i, want := range reports[straight] {
		want.text = release.ReplaceAllString(want.text, "${1}VERSION")
		if i >= len(reports[through]) || reports[through][i].name != want.name {
			t.Fatalf("through kproxy the step %q is not what comes next:\n%v", want.name, reports[through])
		}
		if testing.Verbose() {
			t.Logf("%s: %.120s", want.name, want.text)
		}
		got := reports[through][i]
		got.text = release.ReplaceAllString(client.ReplaceAllString(got.text, "(CLIENT)"), "${1}VERSION")
		if got == want {
			continue
		}
		found[want.name] = true
		d := difference{name: want.name, why: expected[want.name].why, straight: want.text, through: got.text}
		all = append(all, d)
		// Servers of other versions word some messages otherwise.
		if d.why == "" || d != expected[d.name] && site.server.Version().Major == goldenMajor {
			t.Errorf("%s differs:\n  straight %s\n  through  %s", d.name, excerpt(d.straight, d.through), excerpt(d.through, d.straight))
		}
	}
	for step := range expected {
		if !found[step] && site.server.Version().Major == goldenMajor {
			t.Errorf("the difference in %q is explained, but there is none", step)
		}
	}
	if *update {
		writeDifferences(t, name, all)
	}
	record(t, name, len(reports[straight]), len(found))
	t.Logf("%d steps, of which %d differ", len(reports[straight]), len(found))
}

// excerpt is the part of a text where it differs from another one.
func excerpt(text, other string) string {
	const around, most = 60, 600
	same := 0
	for same < min(len(text), len(other)) && text[same] == other[same] {
		same++
	}
	begin := max(0, same-around)
	return fmt.Sprintf("%d bytes, at %d: %.*q", len(text), begin, most, text[begin:])
}

// difference is how a step differs, as a file in testdata/differences has it:
//
//	# why
//	= name of the step
//	- what it is straight
//	+ what it is through kproxy
type difference struct{ why, name, straight, through string }

// differencesOf is the path of the file with a client's differences.
func differencesOf(client string) string { return filepath.Join("testdata", "differences", client) }

func readDifferences(t *testing.T, client string) map[string]difference {
	t.Helper()
	text, err := os.ReadFile(differencesOf(client))
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	differences := make(map[string]difference)
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var parts [4]string
		for i, line := range strings.SplitN(block+"\n\n\n\n", "\n", 5)[:4] {
			var ok bool
			if parts[i], ok = strings.CutPrefix(line, []string{"# ", "= ", "- ", "+ "}[i]); !ok {
				t.Fatalf("%s: this does not explain a difference:\n%s", differencesOf(client), block)
			}
		}
		differences[parts[1]] = difference{parts[0], parts[1], parts[2], parts[3]}
	}
	return differences
}

// writeDifferences writes a client's file, in which somebody has to explain what is new.
func writeDifferences(t *testing.T, client string, differences []difference) {
	t.Helper()
	if len(differences) == 0 {
		return
	}
	var b strings.Builder
	for _, d := range differences {
		fmt.Fprintf(&b, "# %s\n= %s\n- %s\n+ %s\n\n", d.why, d.name, d.straight, d.through)
	}
	if err := os.WriteFile(differencesOf(client), []byte(strings.TrimRight(b.String(), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
