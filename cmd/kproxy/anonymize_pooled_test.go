package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pooledPolicy hides the illness from the table's own readers. Rows of both releases are joined one to one by the
// visit: no common column tells more.
const pooledPolicy = `tables:
  public.people:
    constraints: [{k: 4}%s]
    hide: [illness]
    acknowledge: {joinable: [visit]}
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      job: {role: quasi-identifying, hierarchy: {kind: categorical, taxonomy: [care: [nurse, doctor], craft: [smith, turner]]}}
      visit: insensitive
      illness: sensitive
audiences:
  press:
    tables:
      people: {constraints: [{k: 40}%s], show: [illness], columns: {age: {steps: [10, 50, 100], publish: range}, job: {depth: 1}}}
`

// TestPooledFiles: who joins the rows of two audiences, by a column that tells all rows apart, is left with what the
// finest constraints say, for a column that the finest readers do not see. Where they say nothing of it, he is not, and
// the policy is refused that promises something to the coarser ones alone.
func TestPooledFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "people.csv")
	var text strings.Builder
	text.WriteString("age,job,visit,illness\n")
	for i := range 300 {
		age := i * 7 % 90
		// Neighbors in age have one illness, but for some.
		fmt.Fprintf(&text, "%d,%s,v%d,illness %d\n", age, []string{"nurse", "doctor", "smith", "turner"}[i%4], i, age/10+i%29/28)
	}
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := func(name, own, press string) (least int, err error) {
		policy, out := filepath.Join(folder, name+".yaml"), filepath.Join(folder, name+".csv")
		if err := os.WriteFile(policy, fmt.Appendf(nil, pooledPolicy, own, press), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", out); err != nil {
			return 0, err
		}
		return leastIllnesses(t, readRows(t, out, "age,age_range,job,visit"), readRows(t, filepath.Join(folder, name+".press.csv"), "age,job,visit,illness")), nil
	}
	if least, err := pool("kept", ", {l: 2, of: illness}", ""); err != nil || least < 2 {
		t.Errorf("who pools both files finds a class with %d illnesses, %v", least, err)
	}
	if least, err := pool("unkept", "", ""); err != nil || least > 1 {
		t.Errorf("without a constraint who pools both files finds no class with fewer than %d illnesses, %v: the test tells nothing", least, err)
	}
	if _, err := pool("broken", "", ", {l: 2, of: illness}"); err == nil || !strings.Contains(err.Error(), "who pools both releases joins them") {
		t.Errorf("a promise to the press that pooling breaks: %v", err)
	}
}

// readRows are the rows of a file with a header.
func readRows(t *testing.T, path, header string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(content(t, path))).ReadAll()
	if err != nil || len(rows) != 301 || strings.Join(rows[0], ",") != header {
		t.Fatalf("%s has %d rows of %v, %v", path, len(rows), rows[0], err)
	}
	return rows[1:]
}

// leastIllnesses joins the rows of both releases by the visit, and gives the fewest illnesses of any class of the
// finer one. It also holds the labels of the coarser one against those of the finer one.
func leastIllnesses(t *testing.T, own, press [][]string) int {
	t.Helper()
	illness := make(map[string]string)
	coarse := make(map[string][]string)
	for _, row := range press {
		illness[row[2]], coarse[row[2]] = row[3], row
	}
	found := make(map[string]map[string]bool)
	for _, row := range own {
		class := row[1] + row[2]
		if found[class] == nil {
			found[class] = map[string]bool{}
		}
		found[class][illness[row[3]]] = true
		checkCovers(t, coarse[row[3]], row)
	}
	least := len(own)
	for _, values := range found {
		least = min(least, len(values))
	}
	return least
}

func checkCovers(t *testing.T, coarse, fine []string) {
	t.Helper()
	var low, high, from, to int
	if _, err := fmt.Sscanf(fine[1], "[%d,%d)", &low, &high); err != nil {
		t.Fatal(err)
	}
	if coarse[0] == "" {
		return
	}
	if _, err := fmt.Sscanf(coarse[0], "[%d,%d)", &from, &to); err != nil {
		t.Fatal(err)
	}
	above := map[string]string{"nurse": "care", "doctor": "care", "care": "care", "smith": "craft", "turner": "craft", "craft": "craft"}
	if width := to - from; low < from || high > to || width != 10 && width != 50 && width != 100 || from%width != 0 || coarse[1] != "*" && coarse[1] != above[fine[2]] {
		t.Errorf("the press sees %v where the finest readers see %v", coarse, fine)
	}
}
