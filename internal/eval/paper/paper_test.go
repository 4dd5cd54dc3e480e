package paper

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dataFree are the experiments that need no data set.
var dataFree = []string{"classfly-plus", "incremental"}

func quick(t *testing.T, name string, s Setup) Result {
	t.Helper()
	e, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	s.Quick, s.Seed = true, 1
	r, err := e.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// holds finds a claim by its beginning.
func holds(t *testing.T, r Result, claim string) bool {
	t.Helper()
	for _, c := range r.Claims {
		if strings.HasPrefix(c.Paper, claim) {
			return c.Holds
		}
	}
	t.Fatalf("%s has no claim %q", r.Name, claim)
	return false
}

// TestTheorems are the claims that are proved, not measured.
func TestTheorems(t *testing.T) {
	t.Parallel()
	if r := quick(t, "classfly-plus", Setup{}); !holds(t, r, "Complete and partial IndepCSet") {
		t.Errorf("claims %+v", r.Claims)
	}
	r := quick(t, "incremental", Setup{})
	for _, claim := range []string{"Examples 6 and 8", "Example 9", "Examples 7 and 9"} {
		if !holds(t, r, claim) {
			t.Errorf("claims %+v", r.Claims)
		}
	}
	if holds(t, r, "Example 10") {
		t.Error("example 10 contradicts the paper's own INSERT, and holds")
	}
}

// TestAdultTables are the numbers of complete records that the papers name.
func TestAdultTables(t *testing.T) {
	t.Parallel()
	const folder = "../../../../shared/data/adult"
	if _, err := os.Stat(filepath.Join(folder, "adult.test")); err != nil {
		t.Skip("skipped: the Adult census data is absent")
	}
	for whole, want := range map[bool]int{false: 30_162, true: 45_222} {
		records, err := Setup{Adult: folder}.adultRecords(whole)
		if err != nil || len(records) != want {
			t.Errorf("%d records, %d expected; error %v", len(records), want, err)
		}
	}
}

func TestAdultExperiments(t *testing.T) {
	t.Parallel()
	const folder = "../../../../shared/data/adult"
	if _, err := os.Stat(filepath.Join(folder, "adult.data")); err != nil {
		t.Skip("skipped: the Adult census data is absent")
	}
	for _, e := range Experiments() {
		r := quick(t, e.Name, Setup{Adult: folder})
		if len(r.Figures) == 0 || len(r.Claims) == 0 {
			t.Errorf("%s: %d figures, %d claims", e.Name, len(r.Figures), len(r.Claims))
		}
		if e.Name == "rounded-partition" && (!holds(t, r, "It makes exactly") || !holds(t, r, "DM rises")) {
			t.Errorf("claims %+v", r.Claims)
		}
	}
}

func TestWithoutData(t *testing.T) {
	t.Parallel()
	for _, e := range Experiments() {
		_, err := e.Run(context.Background(), Setup{Adult: t.TempDir(), Quick: true})
		free := e.Name == dataFree[0] || e.Name == dataFree[1]
		if free != (err == nil) || err != nil && !errors.Is(err, ErrNoData) {
			t.Errorf("%s without data: %v", e.Name, err)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "papers")
	results := []Result{quick(t, "incremental", Setup{}), quick(t, "classfly-plus", Setup{})}
	if err := WriteFiles(folder, results); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, JSONName))
	if err != nil {
		t.Fatal(err)
	}
	var back []Result
	if err := json.Unmarshal(text, &back); err != nil || len(back) != 2 || len(back[1].Figures) != len(results[1].Figures) {
		t.Errorf("JSON: %v, %d results", err, len(back))
	}
	page, err := os.ReadFile(filepath.Join(folder, PageName))
	if err != nil || strings.Count(string(page), "<svg") != len(results[1].Figures) || strings.Contains(string(page), "<script") {
		t.Errorf("page: %v, %d charts", err, strings.Count(string(page), "<svg"))
	}
	markdown, err := os.ReadFile(filepath.Join(folder, MarkdownName))
	if err != nil || !strings.Contains(string(markdown), "| records | 1024 | 4096 |") {
		t.Errorf("Markdown: %v\n%s", err, markdown)
	}
}

func TestNamedListsTheExperiments(t *testing.T) {
	t.Parallel()
	if _, err := Named("nothing"); err == nil || !strings.Contains(err.Error(), "rounded-partition") {
		t.Errorf("error %v", err)
	}
}
