package comparison_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/comparison"
)

// rows are the lines of the table for a terminal, with single spaces.
func rows(t *testing.T, r *comparison.Report) []string {
	t.Helper()
	var text bytes.Buffer
	if err := r.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(text.String(), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func wantRows(t *testing.T, r *comparison.Report, want ...string) {
	t.Helper()
	lines := rows(t, r)
	for _, w := range want {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, w) }) {
			t.Errorf("no line begins with %q:\n%s", w, strings.Join(lines, "\n"))
		}
	}
}

// TestTableShowsPrices: what one more k costs of the same method, and who loses least for each
// k. The runs of a method need not be in order.
func TestTableShowsPrices(t *testing.T) {
	t.Parallel()
	r := sample() // rounded-partition 1 % and 170 %, mondrian-strict 75 % and 150 %
	slices.Reverse(r.Measurements)
	wantRows(
		t, r, "method k loss next k",
		"rounded-partition 5 1.00% +33.800", "rounded-partition 10 170.00% - ",
		"mondrian-strict 5 75.00% +15.000", "mondrian-strict 10 150.00% - ",
		"k least loss loss second the policy's mondrian-strict",
		"5 rounded-partition 1.00% mondrian-strict 75.00% 74.00 points behind",
		"10 mondrian-strict 150.00% rounded-partition 170.00% not behind",
	)
	page := write(t, r)
	for _, part := range []string{"Who loses least", "74.00 points behind", "<th>next k</th>", "&#43;33.800"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	r.PolicyMethod = "hilbert"
	wantRows(t, r, "5 rounded-partition 1.00% mondrian-strict 75.00% not run")
	r.PolicyMethod = ""
	wantRows(t, r, "10 mondrian-strict 150.00% rounded-partition 170.00%")
	r.Measurements = []eval.Measurement{r.Measurements[0], r.Measurements[2]} // of k = 10 alone
	if lines := strings.Join(rows(t, r), "\n"); strings.Contains(lines, "next k") {
		t.Errorf("a single k has a price:\n%s", lines)
	}
	r.Measurements = r.Measurements[:1]
	if lines := strings.Join(rows(t, r), "\n"); strings.Contains(lines, "least loss") {
		t.Errorf("a single method is compared:\n%s", lines)
	}
}

// TestEffortsAreMethods of their own.
func TestEffortsAreMethods(t *testing.T) {
	t.Parallel()
	r := sample()
	for i := range r.Measurements {
		r.Measurements[i].Method, r.Measurements[i].Effort = "lookahead-partition", []string{"fast", "good"}[i/2]
	}
	r.PolicyMethod = "lookahead-partition (good)"
	wantRows(
		t, r, "lookahead-partition 5 1.00% +33.800", "lookahead-partition (good) 5 75.00% +15.000",
		"10 lookahead-partition (good) 150.00% lookahead-partition 170.00% not behind",
	)
	if page := write(t, r); !strings.Contains(page, "The policy&#39;s method, lookahead-partition (good), is at place 2 of 2") {
		t.Error("the page does not tell efforts apart")
	}
}

// TestSameMethodsAreNamed, and are not rivals of the one that was run, unless the policy has
// one of them.
func TestSameMethodsAreNamed(t *testing.T) {
	t.Parallel()
	r := sample()
	for _, m := range r.Measurements[:2] {
		m.SameAs, m.Method = m.Method, "hilbert"
		r.Measurements = append(r.Measurements, m)
	}
	lines := strings.Join(rows(t, r), "\n")
	if strings.Count(lines, "hilbert") != 1 || !strings.Contains(lines, "same as rounded-partition under these constraints, and so run once: hilbert") {
		t.Errorf("the table is\n%s", lines)
	}
	wantRows(t, r, "5 rounded-partition 1.00% mondrian-strict 75.00% 74.00 points behind")
	if page := write(t, r); !strings.Contains(page, "and so run once: hilbert") || !strings.Contains(page, "rounded-partition, hilbert</td>") {
		t.Error("the page does not name the method")
	}
	r.PolicyMethod = "hilbert"
	wantRows(t, r, "5 hilbert 1.00% rounded-partition 1.00% not behind")
}

// TestSpread stands beside the means.
func TestSpread(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Measurements[0].Spread = &eval.Spread{Seeds: 3, Loss: eval.Range{Mean: 0.01, Deviation: 0.0025}, QueryError: eval.Range{Deviation: 0.125}}
	wantRows(t, r, "rounded-partition 5 1.00% ±0.25 +33.800 0.00% ±12.50", "mondrian-strict 5 75.00% +15.000 0.00%")
}

// TestInterrupted evaluations say so on the page.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Planned = 4
	if strings.Contains(write(t, r), "was interrupted") {
		t.Error("a whole evaluation was interrupted")
	}
	r.Planned = 9
	if !strings.Contains(write(t, r), "<strong>The evaluation was interrupted:</strong> 4 of 9") {
		t.Error("the page does not say that runs are missing")
	}
}
