package integration

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// people writes a CSV file of so many persons and returns its path.
func people(t *testing.T, persons int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 0))
	var b strings.Builder
	b.WriteString("id,full_name,birth_date,sex,zip,height,marital_status,diagnosis,grade\n")
	for i := range persons {
		fmt.Fprintf(&b, "%d,\"Person, %d\",%d-%02d-%02d,%c,%05d,%d,%s,%s,%s\n", i+1, i, 1930+rng.IntN(80), 1+rng.IntN(12), 1+rng.IntN(28),
			"fmx"[rng.IntN(3)], 10000+rng.IntN(900), 140+rng.IntN(70), []string{"married", "single", "", "divorced"}[rng.IntN(4)],
			[]string{"flu", "flu", "flu", "gout", "asthma", "measles"}[rng.IntN(6)], []string{"A", "B", "C"}[rng.IntN(3)])
	}
	path := filepath.Join(scratch(t), "people.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// peoplePolicy writes a policy for the file of people, with further constraints.
func peoplePolicy(t *testing.T, constraints string) string {
	t.Helper()
	path := filepath.Join(scratch(t), "people.yaml")
	text := fmt.Sprintf(`csv: {delimiter: ",", header: true}
tables:
  public.people:
    updates: immediate
    constraints: [{k: 5}%s]
    columns:
      birth_date: {role: quasi-identifying, hierarchy: date}
      sex: {role: quasi-identifying, hierarchy: categorical}
      zip: {role: quasi-identifying, hierarchy: prefix}
      height: {role: quasi-identifying, hierarchy: numeric}
      diagnosis: sensitive
      grade: sensitive
`, constraints)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// evaluated runs kproxy eval on a file.
func evaluated(t *testing.T, data, policy string, arguments ...string) outcome {
	t.Helper()
	return run(t, "", nil, program, append([]string{"eval", "--data", data, "--policy", policy}, arguments...)...)
}

// TestInitToEval takes a file to a report, as somebody does who begins.
func TestInitToEval(t *testing.T) {
	t.Parallel()
	data, dir := people(t, 800), scratch(t)
	policy, report := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "new", "report")
	run(t, "", nil, program, "init", "--data", data, "--out", policy).must(t)
	text := read(t, policy)
	for _, line := range []string{"id: identifying", "full_name: identifying", "birth_date: {role: quasi-identifying, hierarchy: date}", "zip: {role: quasi-identifying, hierarchy: prefix}", "diagnosis: sensitive"} {
		if !strings.Contains(text, line) {
			t.Errorf("the draft has no %q:\n%s", line, text)
		}
	}
	if strings.Contains(text, "Person,") {
		t.Error("the draft shows a name")
	}
	run(t, "", nil, program, "init", "--data", data, "--out", policy).speaks(t, 1, 1, policy, "exists")
	if read(t, policy) != text {
		t.Error("the draft was replaced")
	}

	o := evaluated(t, data, policy, "--k", "2,10", "--methods", "rounded-partition,mondrian-strict,datafly", "--out", report).must(t)
	for _, method := range []string{"rounded-partition", "mondrian-strict", "datafly"} {
		if n := len(regexp.MustCompile(`(?m)^ *`+method+` `).FindAllString(o.stdout, -1)); n != 2 {
			t.Errorf("the table has %d lines of %s:\n%s", n, method, o.stdout)
		}
	}
	page := read(t, filepath.Join(report, "report.html"))
	if outside := regexp.MustCompile(`(?i)(src|href)\s*=\s*"[^#"]|url\([^#)]|@import|<script|<link`).FindString(page); outside != "" {
		t.Errorf("the page refers to something outside: %q", outside)
	}
	for _, part := range []string{"<svg", "Least information loss", "people.csv", "</html>"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	agree(t, report, 6)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// agree compares the JSON and the CSV of a report.
func agree(t *testing.T, report string, runs int) {
	t.Helper()
	var written struct {
		Measurements []map[string]any `json:"measurements"`
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(report, "measurements.json"))), &written); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(read(t, filepath.Join(report, "measurements.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(written.Measurements) != runs || len(lines) != runs+1 {
		t.Fatalf("%d runs in JSON, %d lines of CSV", len(written.Measurements), len(lines))
	}
	for i, m := range written.Measurements {
		for c, name := range lines[0] {
			field := lines[i+1][c]
			switch v := m[name].(type) {
			case string:
				if v != field {
					t.Errorf("run %d: %s is %q and %q", i, name, v, field)
				}
			case float64:
				if f, err := strconv.ParseFloat(field, 64); err != nil || math.Abs(f-v) > 1e-5*math.Abs(v) {
					t.Errorf("run %d: %s is %g and %q", i, name, v, field)
				}
			}
		}
		k, smallest := m["k"].(float64), m["smallest_class"].(float64)
		if m["refused"] == nil && (smallest < k || m["prosecutor_risk"].(float64) > 1/k) {
			t.Errorf("run %d: %v", i, m)
		}
	}
}

// TestEvalRefusals are told before anything runs, and what no method can do is an
// outcome with its reason.
func TestEvalRefusals(t *testing.T) {
	t.Parallel()
	data := people(t, 200)
	plain, diverse := peoplePolicy(t, ""), peoplePolicy(t, ", {l: 2, of: diagnosis}, {alpha: 0.6, of: grade}")
	report := filepath.Join(scratch(t), "report")
	for name, c := range map[string]struct {
		policy    string
		arguments []string
		code      int
		says      []string
	}{
		"method cannot":    {diverse, []string{"--methods", "rounded-partition,cbad"}, 2, []string{"method cbad", "not (0.6,k)-anonymity of grade", "methods that can: rounded-partition, "}},
		"unknown method":   {plain, []string{"--methods", "magic"}, 2, []string{`"magic"`, "rounded-partition"}},
		"nothing to vary":  {plain, []string{"--l", "2", "--alpha", "0.5"}, 2, []string{"--l changes nothing", "--alpha changes nothing", "{l: 2, of: COLUMN}"}},
		"range":            {plain, []string{"--k", "0"}, 2, []string{"--k must be at least 1"}},
		"no number":        {plain, []string{"--k", "five"}, 2, []string{`"five"`}},
		"no label":         {plain, []string{"--label", "fame"}, 2, []string{`"fame"`, "birth_date"}},
		"missing policy":   {filepath.Join(report, "nowhere.yaml"), nil, 1, []string{"nowhere.yaml", "no such file"}},
		"no such argument": {plain, []string{"more"}, 2, []string{`"more"`}},
	} {
		evaluated(t, data, c.policy, append(c.arguments, "--out", report)...).speaks(t, c.code, 3, c.says...)
		if _, err := os.Stat(report); err == nil {
			t.Errorf("%s: there is a report", name)
		}
	}
	run(t, "", nil, program, "eval").speaks(t, 2, 2, "--data and --policy are needed", "kproxy init")
	evaluated(t, filepath.Join(report, "nowhere.csv"), plain).speaks(t, 1, 1, "nowhere.csv", "no such file")

	o := evaluated(t, data, diverse, "--methods", "rounded-partition", "--k", "5,500", "--alpha", "0.2,0.6", "--out", report).must(t)
	for _, words := range []string{"no release with k = 500, l = 2, alpha = 0.6: 500-anonymity needs 500 records and the table has 200", "alpha can be"} {
		if !strings.Contains(o.stdout, words) || !strings.Contains(read(t, filepath.Join(report, "report.html")), strings.TrimPrefix(words, "no release with k = 500, l = 2, alpha = 0.6: ")) {
			t.Errorf("it is not said that %q:\n%s", words, o.stdout)
		}
	}
	agree(t, report, 4)
}

// TestEvalWithoutAnyRelease fails, and tells the reason once for all methods.
func TestEvalWithoutAnyRelease(t *testing.T) {
	t.Parallel()
	o := evaluated(t, people(t, 100), peoplePolicy(t, ""), "--k", "500,400,500")
	if o.code != 1 || o.stdout != "" {
		t.Errorf("exit code %d, output\n%s", o.code, o.stdout)
	}
	for _, reason := range []string{"k = 400: 400-anonymity needs", "k = 500: 500-anonymity needs"} {
		if strings.Count(o.stderr, reason) != 1 {
			t.Errorf("%q is not said once:\n%s", reason, o.stderr)
		}
	}
}

// TestEvalTriesTheFolderFirst, not after an hour of runs.
func TestEvalTriesTheFolderFirst(t *testing.T) {
	t.Parallel()
	data := people(t, 100)
	o := evaluated(t, data, peoplePolicy(t, ""), "--out", filepath.Join(data, "report"))
	o.speaks(t, 1, 1, "making the report's folder", "not a directory", "--out")
	if o.stdout != "" {
		t.Errorf("it ran all the same:\n%s", o.stdout)
	}
}

// TestEvalOfParts: columns that are anonymized apart are spoken of apart, and
// their joint risk is told.
func TestEvalOfParts(t *testing.T) {
	t.Parallel()
	policy := peoplePolicy(t, "")
	text := strings.Replace(read(t, policy), "[{k: 5}]", "[{k: 5, over: [zip, height]}, {k: 20, over: [birth_date, sex]}]", 1)
	if err := os.WriteFile(policy, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(scratch(t), "report")
	data := people(t, 300)
	o := evaluated(t, data, policy, "--methods", "rounded-partition,rounded-partition", "--label", "grade", "--population", data, "--out", report).must(t)
	for _, title := range []string{"joint risk", "journalist", "CM"} {
		if !strings.Contains(o.stdout, title) {
			t.Errorf("the table has no %q:\n%s", title, o.stdout)
		}
	}
	if strings.Count(o.stdout, "rounded-partition") != 1 || strings.Contains(o.stdout, "query error") {
		t.Errorf("the table is\n%s", o.stdout)
	}
	page := read(t, filepath.Join(report, "report.html"))
	if !strings.Contains(page, "birth_date and sex only") || !strings.Contains(page, "zip and height only") {
		t.Error("the page does not name the parts")
	}
	evaluated(t, data, policy, "--k", "7").speaks(t, 2, 3, "--k changes nothing", "without over")
}

// TestEvalHelp says what a list is by default.
func TestEvalHelp(t *testing.T) {
	t.Parallel()
	if help := run(t, "", nil, program, "eval", "--help").must(t).stdout; strings.Contains(help, "[]") || strings.Contains(help, "(default )") {
		t.Errorf("it says\n%s", help)
	}
}

// TestEvalInterrupted presses Ctrl-C while methods run and while releases are measured, and
// kills it: what was measured is kept, and the same command goes on from there.
func TestEvalInterrupted(t *testing.T) {
	t.Parallel()
	data, policy := people(t, 20_000), peoplePolicy(t, "")
	report := filepath.Join(scratch(t), "report")
	arguments := []string{"eval", "--data", data, "--policy", policy, "--k", "2,3,4,5,6,7,8,9", "--methods", "rounded-partition,mondrian-strict,mondrian-relaxed", "--out", report}
	const runs = 24
	kept := 0
	for turn, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL, syscall.SIGINT} {
		p := start(t, exec.Command(program, arguments...))
		// So many runs more than before, or one more.
		for until := time.Now().Add(2 * time.Minute); keptRuns(report) <= kept+turn && p.running() && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
		pressed := time.Now()
		code := p.end(t, signal)
		t.Logf("it ended %v after %v with %d runs", time.Since(pressed), signal, keptRuns(report))
		if keptRuns(report) <= kept {
			t.Fatalf("%v: %d runs are kept, %d were", signal, keptRuns(report), kept)
		}
		if kept > 0 && !strings.Contains(p.log.String(), fmt.Sprintf("going on with the runs in %s: there are %d", filepath.Join(report, "runs.jsonl"), kept)) {
			t.Errorf("it does not say that it goes on: %q", p.log)
		}
		kept = keptRuns(report)
		if signal == syscall.SIGKILL || kept == runs { // it may be over already
			continue
		}
		if code != 1 || !strings.HasSuffix(p.log.String(), "kproxy: interrupted\n") {
			t.Errorf("the exit code is %d, and it wrote %q", code, p.log)
		}
		if !strings.Contains(p.output.String(), "rounded-partition") {
			t.Errorf("it does not print what it has: %q", p.output)
		}
		if !strings.Contains(read(t, filepath.Join(report, "report.html")), fmt.Sprintf("%d of %d are here", kept, runs)) {
			t.Error("the report does not say that runs are missing")
		}
	}
	o := run(t, "", nil, program, arguments...).must(t)
	if strings.Count(o.stdout, "mondrian-relaxed") < 8 || strings.Contains(read(t, filepath.Join(report, "report.html")), "was interrupted") {
		t.Errorf("the last one is not whole:\n%s", o.stdout)
	}
	agree(t, report, runs)

	// Other data are measured afresh.
	if err := os.WriteFile(data, []byte(strings.Replace(read(t, data), ",flu,", ",gout,", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	o = run(t, "", nil, program, "eval", "--data", data, "--policy", policy, "--methods", "rounded-partition", "--out", report).must(t)
	if !strings.Contains(o.stderr, "starting afresh") || keptRuns(report) != 1 {
		t.Errorf("%d runs are kept, and it says %q", keptRuns(report), o.stderr)
	}
}

// keptRuns is how many runs are in a report's folder.
func keptRuns(report string) int {
	text, _ := os.ReadFile(filepath.Join(report, "runs.jsonl"))
	return max(0, strings.Count(string(text), "\n")-1)
}

// TestEvalPapers re-runs the papers' experiments in short.
func TestEvalPapers(t *testing.T) {
	t.Parallel()
	const slow = 100 // lines: a machine that takes long for what needs no data hears how far it is
	run(t, "", nil, program, "eval", "paper", "all", "--quick").speaks(t, 1, slow, "name the folder that holds adult.data and adult.test with --adult")
	run(t, "", nil, program, "eval", "paper", "cbad", "--adult", "/nowhere").speaks(t, 1, 1, "/nowhere", "adult.data", "--adult")
	run(t, "", nil, program, "eval", "paper", "nothing").speaks(t, 2, 2, `"nothing"`, "rounded-partition")
	run(t, "", nil, program, "eval", "paper").speaks(t, 2, 2, "takes one name")
	if _, err := os.Stat(adultData); err != nil {
		t.Skipf("the Adult file is not here: %v", err)
	}
	out := filepath.Join(scratch(t), "papers")
	o := run(t, "", nil, program, "eval", "paper", "all", "--quick", "--adult", filepath.Dir(adultData), "--out", out).must(t)
	page, markdown := read(t, filepath.Join(out, "papers.html")), read(t, filepath.Join(out, "papers.md"))
	var results []struct {
		Name string
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "papers.json"))), &results); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rounded-partition", "classfly-plus", "cbad", "incremental", "alpha-k"} {
		if !strings.Contains(page, "<h2>"+name) || !strings.Contains(markdown, "## "+name) || !strings.Contains(o.stdout, name) ||
			!slices.ContainsFunc(results, func(r struct{ Name string }) bool { return strings.EqualFold(r.Name, name) }) {
			t.Errorf("there is nothing of %s", name)
		}
	}
}

// TestInitOfOddFiles drafts what eval accepts, or says what is wrong with the file.
func TestInitOfOddFiles(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	for name, c := range map[string]struct{ text, refusal string }{
		"empty":       {"", "the file is empty"},
		"delimiter":   {"age;sex\n1;f\n", "--delimiter"},
		"twice":       {"age,age\n1,2\n", `both called "age"`},
		"nameless":    {"age,,sex\n1,2,f\n", "column 2 has no name"},
		"ragged":      {"age,sex\n1,f\n2\n", "line 3"},
		"open quote":  {"age,sex\n1,\"f\n", "line 2"},
		"Latin-1":     {"age,gr\xf6\xdfe\n1,2\n", "line 1 is not in UTF-8"},
		"header only": {"age,sex\n", "there are no records"},
		"own key":     {"row_number,age,sex\n1,3,f\n1,4,m\n2,5,f\n", ""},
		"odd names":   {"no,age:y,\"he said \"\"hi\"\"\",null\nyes,2,f,~\nno,3,m,true\n", ""},
		"my.data 2":   {"age,sex\n1,f\n2,m\n", ""},
	} {
		data, policy := filepath.Join(dir, name+".csv"), filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(data, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		o := run(t, "", nil, program, "init", "--data", data, "--out", policy)
		if c.refusal != "" {
			o.speaks(t, 1, 1, c.refusal)
			if _, err := os.Stat(policy); err == nil {
				t.Errorf("%s: there is a draft", name)
			}
			continue
		}
		o.must(t)
		if o := evaluated(t, data, policy, "--k", "2", "--methods", "rounded-partition"); o.code != 0 {
			t.Errorf("%s: eval ended with %d\n%s\n%s", name, o.code, o.stderr, read(t, policy))
		}
	}
}
