package rewrite

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// longTexts grow with n where texts may.
var longTexts = map[string]func(n int) string{
	"in":        repeated("SELECT * FROM patients WHERE age IN (0", ", 1", ")"),
	"strings":   repeated("SELECT * FROM patients WHERE ward IN (''", ", 'it''s'", ")"),
	"escapes":   repeated("SELECT ''", `, E'\n"\\'`, ""),
	"negative":  repeated("SELECT * FROM patients WHERE age IN (0", ", -1", ")"),
	"values":    repeated("VALUES (1, 'a')", ", (1, 'a')", ""),
	"and":       repeated("SELECT * FROM patients WHERE age = 1", " AND age = 1", ""),
	"case":      repeated("SELECT CASE age", " WHEN 1 THEN 'x'", " END FROM patients"),
	"targets":   repeated("SELECT age", ", lower(ward) || 'x'", " FROM patients"),
	"long text": repeated("SELECT '", "x", "'"),
	"comments":  repeated("SELECT 1", " /* 1 */", ""),
}

func repeated(head, part, tail string) func(int) string {
	return func(n int) string { return head + strings.Repeat(part, n) + tail }
}

// unbounded has the greatest limits that the configuration allows.
func unbounded() *Rewriter {
	r := New(Options{Database: "clinic", MaxStatementBytes: 64 << 20, MaxTokens: 10_000_000})
	r.SetSnapshot(clinic())
	return r
}

// TestCostIsLinear doubles texts: what is allocated for them, a measure of the work
// that does not depend on the machine, doubles as well.
func TestCostIsLinear(t *testing.T) {
	r := unbounded()
	for name, text := range longTexts {
		cost := func(n int) (objects, bytes float64) {
			sql := text(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := r.Rewrite(sql, nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			runtime.ReadMemStats(&after)
			return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
		}
		cost(1)
		const n = 1000
		objects, bytes := cost(n)
		for _, times := range []float64{2, 4} {
			moreObjects, moreBytes := cost(n * int(times))
			// Slices grow in steps, hence the half on top.
			if moreObjects > 1.5*times*objects+100 || moreBytes > 1.5*times*bytes+10_000 {
				t.Errorf("%s: %v times the text takes %.1f times the objects and %.1f times the bytes",
					name, times, moreObjects/objects, moreBytes/bytes)
			}
		}
	}
}

// TestLimitsAreTheOperators: one more than a limit is refused, the limit is not.
func TestLimitsAreTheOperators(t *testing.T) {
	t.Parallel()
	r := New(Options{MaxStatementBytes: 4000, MaxTokens: 500, MaxStatements: 5, MaxDepth: 30})
	for name, c := range map[string]struct {
		text  func(int) string
		most  int
		state string
	}{
		"bytes":      {repeated("SELECT '", "x", "'"), 4000 - len("SELECT ''"), stateLimit},
		"tokens":     {repeated("VALUES (1", ",1", ")"), (500 - 4) / 2, stateTooComplex},
		"statements": {repeated("SELECT", ";SELECT", ""), 4, stateLimit},
		"depth":      {repeated("SELECT 1", "+1", ""), 29, stateTooComplex},
	} {
		if out, err := r.text(c.text(c.most)); err != nil {
			t.Errorf("%s, at the limit: %.80q, %v", name, out, err)
		}
		if got := render(r.text(c.text(c.most + 1))); !strings.HasPrefix(got, "--! "+c.state) {
			t.Errorf("%s, above: %.80s", name, got)
		}
	}
}

// TestLimitsMayBeSmall has limits of one hold, and those that are not given be the defaults.
func TestLimitsMayBeSmall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Options
		passes  string
		refused string
	}{
		{Options{MaxStatementBytes: 1}, ";", "; "},
		{Options{MaxTokens: 1}, "SELECT", "SELECT 1"},
		{Options{MaxStatements: 1}, "SELECT 1", "SELECT 1; SELECT 2"},
		{Options{MaxDepth: 1}, "SELECT", "SELECT (1)"},
	} {
		if _, err := New(c.options).text(c.passes); err != nil {
			t.Errorf("%+v: %q is refused: %v", c.options, c.passes, err)
		}
		if out, err := New(c.options).text(c.refused); err == nil {
			t.Errorf("%+v: %q becomes %q", c.options, c.refused, out)
		}
		if _, err := New(Options{}).text(c.refused); err != nil {
			t.Errorf("by default, %q is refused: %v", c.refused, err)
		}
	}
}

// BenchmarkInList is a list of n constants, under limits that let it pass.
func BenchmarkInList(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("constants=%d", n), func(b *testing.B) {
			r, sql := unbounded(), longTexts["in"](n)
			snapshot := clinic()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.rewrite(sql, nil, snapshot); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/constant")
		})
	}
}
