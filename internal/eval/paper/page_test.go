package paper

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "measure docs/papers.md anew, with its times; needs the Adult data and takes minutes")

const (
	adultFolder = "../../../../shared/data/adult"
	papersPage  = "../../../docs/papers.md"
)

// TestPapersPage makes what is the same in every run of docs/papers.md again. Without the Adult
// data it is the experiment that needs none.
func TestPapersPage(t *testing.T) {
	t.Parallel()
	var results []Result
	folder := adultFolder
	if testing.Short() {
		folder = t.TempDir() // the experiments with the data take half a minute
	}
	for _, e := range Experiments() {
		r, err := e.Run(context.Background(), Setup{Adult: folder, Seed: 1, Untimed: !*update})
		if errors.Is(err, ErrNoData) && !*update {
			t.Logf("%s is not compared: %v", e.Name, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Note == "" {
			results = append(results, r)
		}
	}
	var made strings.Builder
	if err := writeMarkdown(&made, results); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(papersPage, []byte(made.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(papersPage)
	if err != nil {
		t.Fatal(err)
	}
	shown := sections(string(text))
	whole := len(results) == len(Experiments())
	for title, want := range sections(made.String()) {
		if title == "" && !whole { // counts all claims
			continue
		}
		if got := strings.TrimSpace(shown[title]); got != strings.TrimSpace(want) {
			t.Errorf("%s, section %q: run go test ./internal/eval/paper -run PapersPage -update\nshown:\n%s\nmade:\n%s", papersPage, title, got, want)
		}
	}
	if whole && len(shown) != len(results)+2 {
		t.Errorf("the page has %d parts, %d expected", len(shown), len(results)+2)
	}
}

// sections divides a page at its headings of the second level, the first part under "".
func sections(page string) map[string]string {
	parts := map[string]string{}
	for i, part := range strings.Split("\n"+page, "\n## ") {
		title, text, _ := strings.Cut(part, "\n")
		if i == 0 {
			title, text = "", part
		}
		parts[title] = text
	}
	return parts
}

// TestUntimedIsTheSameAgain: nothing of it comes from a clock.
func TestUntimedIsTheSameAgain(t *testing.T) {
	t.Parallel()
	page := func() string {
		r := quick(t, "classfly-plus", Setup{Untimed: true})
		for _, f := range r.Figures {
			if f.Timed || f.Chart.Y == "seconds" {
				t.Errorf("figure %s is of times", f.Number)
			}
		}
		var text strings.Builder
		if err := writeMarkdown(&text, []Result{r}); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	if first := page(); strings.Contains(first, timesTitle) || page() != first {
		t.Error("the page is another one each time, or has times")
	}
}

// TestTimesAreApart from what is compared.
func TestTimesAreApart(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	if err := writeMarkdown(&text, []Result{quick(t, "classfly-plus", Setup{})}); err != nil {
		t.Fatal(err)
	}
	parts := sections(text.String())
	results, times := parts["classfly-plus"], parts[strings.TrimPrefix(timesTitle, "## ")]
	if strings.Contains(results, "seconds") || strings.Contains(results, "takes the least time") ||
		!strings.Contains(times, "Figure 5a") || !strings.Contains(times, "takes the least time") || strings.Contains(times, "Figure 3a") {
		t.Errorf("the page is\n%s", text.String())
	}
}

// TestClaimsAgainstAdult are the verdicts that the figures to reproduce and the constraints
// leave no choice in.
func TestClaimsAgainstAdult(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(adultFolder, "adult.data")); err != nil {
		t.Skip("skipped: the Adult census data is absent")
	}
	whole := func(name string) Result {
		e, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Run(context.Background(), Setup{Adult: adultFolder, Seed: 1, Untimed: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := whole("rounded-partition")
	for _, f := range r.Figures {
		for _, original := range f.Originals {
			name, proved := strings.CutSuffix(original.Name, ", as proved")
			if !proved {
				continue
			}
			for _, p := range original.Points {
				c := curves{f.Chart}
				if got := c.at(name, p.X); got != p.Y {
					t.Errorf("%s of %s at k = %g is %g, %g proved", f.Chart.Title, name, p.X, got, p.Y)
				}
			}
		}
	}
	if !holds(t, r, "With n ≥ 2k²") {
		t.Errorf("claims %+v", r.Claims)
	}
	if holds(t, quick(t, "alpha-k", Setup{Adult: adultFolder, Untimed: true}), "With a larger α all lose more") {
		t.Error("a weaker constraint costs more")
	}
}
