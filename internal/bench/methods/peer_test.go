package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
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
	for name, want := range map[string]float64{"time": 0.5, "cpu": 0.75, "peak": 2.5, "classes": 100, "withheld": 3, "largest-class": 5} {
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
		"testdata/babbles.sh": "more than the 503 records are published",
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
	table := ages(t)
	for text, want := range map[string]string{
		"":                               "ends before its first line",
		"version 1\n":                    "ends behind its version",
		"1\n2\n":                         "is not \"seconds S\"",
		"seconds 1\n20\n":                "ends behind 1 of 2 records",
		"seconds 1\n20\nx\n":             "record 1: \"x\" is no run of values",
		"seconds 1\n20\n30~\n":           "record 1: \"30~\" is no run of values",
		"seconds 1\n20\n30,1\n":          "record 1: \"30,1\" is not of 1 attributes",
		"seconds 1\n20\n31~40\n":         "record 1: it has 30, and 31~40 is published of it",
		"seconds 1\n20~30\n25~28\n":      "record 1: it has 30, and 25~28 is published of it",
		"seconds 1\n20\n30\n30\n":        "more than the 2 records are published",
		"version 1\nversion 2\n20\n30\n": "is not \"seconds S\"",
	} {
		if _, err := readAnswer(strings.NewReader(text), table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What is published counts, not what the classes could have had.
func TestAnswerIsRead(t *testing.T) {
	t.Parallel()
	table := ages(t)
	for text, want := range map[string]answer{
		"seconds 1\ncpu 2\nmemory 3\n20~30\n20~30\n": {seconds: 1, cpu: 2, memory: 3, published: published{
			release: anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}}}, runs: [][]metric.Run{{{Low: 20, High: 30}}},
		}},
		"version 1\nseconds 1\nmemory 3\n*\n0~90\n": {version: "1", seconds: 1, memory: 3, published: published{
			release: anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{1}}, Withheld: []int32{0}}, runs: [][]metric.Run{{{Low: 0, High: 90}}},
		}},
	} {
		got, err := readAnswer(strings.NewReader(text), table)
		if got.classes = nil; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// ages is a table of two records.
func ages(t *testing.T) *anonymizer.Table {
	t.Helper()
	age := workload.Attribute("age", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	table, err := anonymizer.NewTable([]anonymizer.Attribute{age}, [][]hierarchy.Cell{{age.Hierarchy.Encode("20"), age.Hierarchy.Encode("30")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Hierarchies stand beside the table: groups of numbers, and the nodes of a taxonomy by the
// order of its leaves.
func TestHierarchiesForPeers(t *testing.T) {
	t.Parallel()
	age := workload.Attribute("age", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	job := workload.Attribute("job", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
		{Label: "food", Children: []hierarchy.Node{{Label: "cook"}, {Label: "baker"}}}, {Label: "health", Children: []hierarchy.Node{{Label: "nurse"}}},
	}})
	var cells [2][]hierarchy.Cell
	for _, row := range [][2]string{{"30", "nurse"}, {"20", "baker"}, {"40", "cook"}, {"25", "cook"}, {"41", "cook"}} {
		cells[0], cells[1] = append(cells[0], age.Hierarchy.Encode(row[0])), append(cells[1], job.Hierarchy.Encode(row[1]))
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{age, job}, cells[:], nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := writeHierarchies(dir, table); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"age": "20;20~25;20~40;*\n25;20~25;20~40;*\n30;30~40;20~40;*\n40;30~40;20~40;*\n41;41~41;41~41;*\n",
		"job": "0;0~1;*\n1;0~1;*\n2;2~2;*\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name+".csv")); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// On the Adult data every k is measured, with a method's effort.
func TestAdult(t *testing.T) {
	t.Parallel()
	const folder = "../../../../shared/data/adult"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("skipped: ", anonymizertest.ErrNoAdult)
	}
	figures := measured(t, "-adult", folder, "-k", "25,50", "-methods", "lookahead-partition,lookahead-partition:good", "-peer", "peer=sh testdata/behaves.sh")
	loss := map[string]float64{}
	for _, f := range figures {
		if f.Parameters["table"] != "adult" || f.Parameters["records"] != "30162" {
			t.Errorf("a figure of %v", f.Parameters)
		}
		if f.Name == "loss" {
			loss[f.Parameters["method"]+" "+f.Parameters["k"]] = f.Median
		}
	}
	for _, k := range []string{"25", "50"} {
		if fast, good := loss["lookahead-partition "+k], loss["lookahead-partition:good "+k]; !(0 < good && good < fast && fast < loss["peer "+k]) {
			t.Errorf("k = %s: %v", k, loss)
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
	if of["time"] <= 0 || of["cpu"] <= 0 || of["peak"] <= 0 {
		t.Errorf("it took %v s, %v s of the processor, %v MB", of["time"], of["cpu"], of["peak"])
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
	for _, way := range []string{"global", "local", "fine"} {
		of, version := medians(t, measured(t, peerArguments(adapter+way)...))
		if of["classes"] < 1 || of["withheld"] != 0 || of["time"] <= 0 || of["cpu"] <= 0 || of["peak"] <= 0 {
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
