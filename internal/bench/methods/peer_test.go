package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// peerArguments measure one peer beside one method, of a table of 503 records.
func peerArguments(peer string, more ...string) []string {
	return append([]string{"-records", "503", "-attributes", "8", "-k", "5", "-methods", "rounded-partition", "-peer", "peer=" + peer}, more...)
}

// medians are those of the peer's figures.
func medians(t *testing.T, figures []result.Figure) (of map[string]float64, version string) {
	t.Helper()
	of = map[string]float64{}
	for _, f := range figures {
		if f.Way == "peer" {
			of[f.Name], version = f.Median, f.Parameters["version"]
		}
	}
	return of, version
}

func TestPeerIsMeasured(t *testing.T) {
	t.Parallel()
	figures := measured(t, peerArguments("sh testdata/behaves.sh", "-rounds", "2")...)
	of, version := medians(t, figures)
	for name, want := range map[string]float64{"time": 0.5, "cpu": 0.75, "classes": 100, "withheld": 3, "largest-class": 5} {
		if of[name] != want {
			t.Errorf("%s is %v, want %v", name, of[name], want)
		}
	}
	if version != "1.0" {
		t.Errorf("the version is %q", version)
	}
	for _, f := range figures {
		if f.Name == "time" && len(f.Rounds) != 2 {
			t.Errorf("%s: %d rounds", f.Way, len(f.Rounds))
		}
	}
}

// The error says who has failed, and how.
func TestPeersThatFail(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"testdata/lies.sh":    "peer, 503 records, 8 attributes, k = 5: a class of 4 records",
		"testdata/crashes.sh": "exit status 3: out of luck",
		"testdata/babbles.sh": "more than the 503 records have a class",
		"testdata/absent.sh":  "exit status",
	} {
		err := run(t.Context(), peerArguments("sh "+script), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
}

// A peer that never answers is left out, as one that takes too long, and nothing of it
// goes on.
func TestPeerThatHangsIsLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), peerArguments("sh testdata/hangs.sh "+dir, "-patience", "1s"), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "peer, 503 records, 8 attributes, k = 5: left out after 4s") {
		t.Errorf("it is not left out:\n%s", &out)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	stat := filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat")
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(stat)
		if err != nil || !strings.Contains(string(text), ") S ") {
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("what it has started goes on: %s", text)
		}
	}
}

func TestAnswersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "ends before its first line",
		"version 1\n":                  "ends behind its version",
		"0\n1\n":                       "is not \"seconds S\"",
		"seconds 1\n0\n":               "ends behind 1 of 2 records",
		"seconds 1\n0\nx\n":            "the class of record 1",
		"seconds 1\n0\n2\n":            "not numbered from 0",
		"seconds 1\n0\n0\n0\n":         "more than the 2 records",
		"version 1\nversion 2\n0\n0\n": "is not \"seconds S\"",
	} {
		if _, err := readAnswer(strings.NewReader(text), 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The adapter of internal/bench/peers, with modules in the place of the project's.
func TestAdapterForMondrian(t *testing.T) {
	t.Parallel()
	installed(t, "python3")
	const adapter = "python3 ../peers/mondrian.py "
	of, version := medians(t, measured(t, peerArguments(adapter+"testdata/orderly strict")...))
	for name, want := range map[string]float64{"classes": 100, "withheld": 0, "largest-class": 8} {
		if of[name] != want {
			t.Errorf("%s is %v, want %v", name, of[name], want)
		}
	}
	if of["time"] <= 0 || of["cpu"] <= 0 {
		t.Errorf("it took %v s, %v s of the processor", of["time"], of["cpu"])
	}
	if !strings.HasPrefix(version, "mondrian.py ") || !strings.Contains(version, ", Python 3.") {
		t.Errorf("the version is %q", version)
	}
	for arguments, want := range map[string]string{
		"testdata/careless relaxed": "-1 is published of it",
		"testdata/orderly other":    "the way is strict or relaxed",
		"testdata strict":           "No module named 'mondrian'",
	} {
		err := run(t.Context(), peerArguments(adapter+arguments), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

// The adapter of internal/bench/peers, with classes in the place of ARX's.
func TestAdapterForARX(t *testing.T) {
	t.Parallel()
	installed(t, "java", "javac", "jar")
	dir := t.TempDir()
	library := filepath.Join(dir, "libarx.jar")
	sources, err := filepath.Glob("testdata/arx/org/deidentifier/arx/*.java")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		append([]string{"javac", "-sourcepath", "testdata/arx", "-d", dir}, sources...),
		{"jar", "--create", "--file", library, "-C", dir, "org"},
	} {
		if output, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", words[0], err, output)
		}
	}
	adapter := "java -cp " + library + " ../peers/Arx.java "
	for _, way := range []string{"global", "local"} {
		of, version := medians(t, measured(t, peerArguments(adapter+way)...))
		if of["classes"] < 1 || of["withheld"] != 0 || of["time"] <= 0 || of["cpu"] <= 0 {
			t.Errorf("%s: %v", way, of)
		}
		if !strings.HasPrefix(version, "libarx.jar ") || !strings.Contains(version, ", Java ") {
			t.Errorf("%s: the version is %q", way, version)
		}
	}
	for arguments, want := range map[string]string{
		"other":                 "usage: java",
		"global testdata/x.csv": "usage: java",
	} {
		err := run(t.Context(), peerArguments(adapter+arguments), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

// installed passes a test over where a tool is absent; in CI that is a failure.
func installed(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("not installed: " + tool)
			}
			t.Skip("install " + tool)
		}
	}
}
