package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval/linked"
)

const hospitalPolicy = `
tables:
  public.patients: {columns: {born: {role: quasi-identifying, hierarchy: date}}}
  public.visits: {columns: {day: {role: quasi-identifying, hierarchy: date}, ward: sensitive}}
people:
  patient:
    root: public.patients
    key: patient
    knows: {rows: 1, per: 1y, crowd: 4}
    tables: {public.visits: {person: patient, key: visit, order: day}}
    constraints: [{k: 4}]
`

// hospitalFiles writes the policy and the files of two tables, and returns the arguments
// of an evaluation.
func hospitalFiles(t *testing.T) (folder string, arguments []string) {
	t.Helper()
	folder = t.TempDir()
	var patients, visits strings.Builder
	patients.WriteString("patient,born\n")
	visits.WriteString("visit,patient,day,ward\n")
	for p := range 120 {
		fmt.Fprintf(&patients, "%d,19%02d-%02d-01\n", p, 30+p*7%60, 1+p%12)
		for v := range p % 4 {
			fmt.Fprintf(&visits, "%d,%d,202%d-%02d-%02d,%s\n", 10*p+v, p, (p+v)%3, 1+p*5%12, 1+p%28, []string{"eye", "skin"}[p%2])
		}
	}
	for name, text := range map[string]string{"policy.yaml": hospitalPolicy, "patients.csv": patients.String(), "visits.csv": visits.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, []string{
		"eval", "--policy", filepath.Join(folder, "policy.yaml"),
		"--data", "patients=" + filepath.Join(folder, "patients.csv"), "--data", "public.visits=" + filepath.Join(folder, "visits.csv"),
	}
}

func execute(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out, warnings bytes.Buffer
	root := newRoot()
	root.SetArgs(arguments)
	root.SetOut(&out)
	root.SetErr(&warnings)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestEvalOfSeveralTables(t *testing.T) {
	t.Parallel()
	folder, arguments := hospitalFiles(t)
	report := filepath.Join(folder, "report")
	arguments = append(arguments, "--knows", "all,1/1y:4", "--k", "3,4", "--out", report)
	text, err := execute(t, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"120 persons (patient) with the rows of 1 table", "knows all, k = 3", "knows 1/1y:4, k = 4", "Whoever knows the root row", "public.visits.day", "persons with so many rows, ever"} {
		if !strings.Contains(text, words) {
			t.Errorf("the output does not say %q:\n%s", words, text)
		}
	}
	again, err := execute(t, arguments...)
	if err != nil || again != text {
		t.Errorf("the same seed gives another output: %v", err)
	}
	measured, err := execute(t, append(arguments, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var r linked.Report
	if err := json.Unmarshal([]byte(measured), &r); err != nil || len(r.Measurements) != 4 {
		t.Errorf("%d measurements, %v", len(r.Measurements), err)
	}
	page, err := os.ReadFile(filepath.Join(report, linked.PageName))
	if err != nil || !bytes.Contains(page, []byte("<svg")) || !bytes.Contains(page, []byte("Whoever knows the root row")) {
		t.Errorf("the page has no chart or no explanation: %v", err)
	}
}

func TestEvalOfSeveralTablesRefuses(t *testing.T) {
	t.Parallel()
	folder, arguments := hospitalFiles(t)
	visits := filepath.Join(folder, "visits.csv")
	for want, line := range map[string][]string{
		"does not say of which table it is":          {"eval", "--policy", filepath.Join(folder, "policy.yaml"), "--data", visits},
		"there is no file of public.patients":        append(arguments[:3:3], "--data", "visits="+visits),
		"--data names table public.visits twice":     append(arguments[:7:7], "--data", "visits="+visits),
		"--data names a table that is none of":       append(arguments[:7:7], "--data", "wards="+visits),
		"--methods is for a policy about one table":  append(arguments[:7:7], "--methods", "hilbert"),
		"only one known row in each window":          append(arguments[:7:7], "--knows", "2/1y"),
		"reading the data: open":                     append(arguments[:5:5], "--data", "visits=/nonexistent.csv"),
		"is about one table":                         {"eval", "--policy", filepath.Join("..", "..", "integration", "testdata", "adult.yaml"), "--data", visits, "--knows", "all"},
		"no run made a release":                      append(arguments[:7:7], "--k", "121"),
		"the file has no column \"day\"; it has":     append(arguments[:5:5], "--data", "visits="+filepath.Join(folder, "patients.csv")),
		"public.visits.visit: is a key in people, b": append(arguments[:5:5], "--data", "visits="+without(t, visits)),
	} {
		if _, err := execute(t, line...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", line, err, want)
		}
	}
}

// without copies a file of visits without their key.
func without(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(line, ",")
		kept = append(kept, rest)
	}
	path = filepath.Join(t.TempDir(), "visits.csv")
	if err := os.WriteFile(path, []byte(strings.Join(kept, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
