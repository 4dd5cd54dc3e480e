package console

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/state"
)

// changed is a Source whose releases are not as usual.
type changed struct {
	*canned
	overview func(*Overview)
	table    func(*Table)
}

func (c changed) Overview(ctx context.Context) (Overview, error) {
	o, err := c.canned.Overview(ctx)
	if c.overview != nil {
		c.overview(&o)
	}
	return o, err
}

func (c changed) Table(ctx context.Context, name string) (Table, error) {
	t, err := c.canned.Table(ctx, name)
	if c.table != nil {
		c.table(&t)
	}
	return t, err
}

// page is what an operator sees of it, without the tags.
func (c changed) page(t *testing.T, path string) string {
	t.Helper()
	answer := loggedIn(t, func(o *Options) { c.canned = &canned{}; o.Source = c }).ask(http.MethodGet, path, nil)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, answer.Status)
	}
	if strings.HasPrefix(path, "/api/") {
		return answer.text
	}
	_, main, _ := strings.Cut(answer.text, "<main")
	return regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(main, " "), " ")
}

// lacks wants none of the words in a text.
func lacks(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if strings.Contains(text, word) {
			t.Errorf("%q is in:\n%s", word, text)
		}
	}
}

// TestUnknownIsNoFigure shows the overview while the database is away: no zero, no "gone" and
// no time that nobody knows.
func TestUnknownIsNoFigure(t *testing.T) {
	t.Parallel()
	away := changed{overview: func(o *Overview) {
		o.Replication, o.Views = nil, nil
		o.Tables = []Release{{Table: state.Table{Name: testTable, State: "unknown", Updates: "guarded"}, Constraints: []string{"5-anonymity"}}}
	}}
	text := away.page(t, "/")
	lacks(t, text, "gone", "0 B", "no alarm", "elsewhere", "not yet", " 0 ", "0 %", "nobody", "ago")
	if !strings.Contains(text, "unknown") || strings.Count(text, "–") != 5 || !strings.Contains(text, "5-anonymity guarded") || !strings.Contains(text, "Nothing is known") {
		t.Errorf("shown is:\n%s", text)
	}
	var told struct {
		Replication *struct{}
		Tables      []map[string]any
	}
	if err := json.Unmarshal([]byte(away.page(t, "/api/overview")), &told); err != nil || told.Replication != nil || len(told.Tables) != 1 {
		t.Fatalf("%v: %+v", err, told)
	}
	for _, key := range []string{"rows", "classes", "withheld", "records", "generation"} {
		if _, known := told.Tables[0][key]; known {
			t.Errorf("programs are told of %s", key)
		}
	}
}

// TestWithdrawnIsNotPublished: nobody reads it, so that there is nothing to count.
func TestWithdrawnIsNotPublished(t *testing.T) {
	t.Parallel()
	withdrawn := func(r *Release) {
		r.State, r.Problem, r.Fix = "withdrawn", "column name: does not exist", "take it out"
	}
	c := changed{overview: func(o *Overview) { withdrawn(&o.Tables[0]) }, table: func(t *Table) {
		withdrawn(&t.Release)
		t.Sizes, t.Loss, t.Measured, t.Preview = nil, nil, 0, Preview{Reason: "Readers get nothing of it at the moment."}
	}}
	text := c.page(t, "/")
	lacks(t, text, "1,200", "published")
	if !strings.Contains(text, " withdrawn ") {
		t.Errorf("shown is:\n%s", text)
	}
	text = c.page(t, "/tables/"+testTable)
	lacks(t, text, "Rows published", "not measured yet", "What if k were", "read as the reader role")
	for _, want := range []string{"This table is withdrawn", "column name: does not exist", "take it out", "Rows kept", "Readers get nothing of it"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestEarlierProofsHoldNothing: a proof is of the release that it was made of.
func TestEarlierProofsHoldNothing(t *testing.T) {
	t.Parallel()
	earlier := func(r *Release) { r.Proof.Passed, r.Proof.Earlier, r.Proof.Generation = true, true, 2 }
	c := changed{overview: func(o *Overview) { earlier(&o.Tables[0]) }, table: func(t *Table) { earlier(&t.Release) }}
	text := c.page(t, "/")
	lacks(t, text, "checks hold ")
	if !strings.Contains(text, "of an earlier release") {
		t.Errorf("shown is:\n%s", text)
	}
	text = c.page(t, "/tables/"+testTable)
	lacks(t, text, "checks hold ")
	if !strings.Contains(text, "of generation 2") || !strings.Contains(text, "The present release was not proved.") {
		t.Errorf("shown is:\n%s", text)
	}
}

// TestMarksCanBeRead: the label of what is in force stands above the drawing, whatever the
// bars do, and within the picture.
func TestMarksCanBeRead(t *testing.T) {
	t.Parallel()
	sizes := []SizeCount{{5, 100}, {6, 1}, {7, 1}, {30, 1}}
	for k, side := range map[int]string{5: "after", 30: "before"} {
		c := histogram(sizes, k)
		if c.Mark == nil || c.MarkSide() != side {
			t.Errorf("k = %d: %+v stands %s", k, c.Mark, c.MarkSide())
		}
		if c.Bars[0].Y < c.Top() {
			t.Errorf("a bar reaches into the label: %+v", c.Bars[0])
		}
	}
	d := loggedIn(t, nil)
	if text := d.ask(http.MethodGet, "/tables/"+testTable, nil).text; !strings.Contains(text, `y="28" dy="-0.4em">k = 5</text>`) {
		t.Error("the label does not stand above the drawing")
	}
}

// TestMirroredTablesHaveNoClasses: a table that is not protected has no guarantees, no risk and no other k.
func TestMirroredTablesHaveNoClasses(t *testing.T) {
	t.Parallel()
	c := changed{table: func(t *Table) {
		t.Updates, t.Method, t.Constraints, t.K, t.Sizes, t.Loss, t.Measured = "mirrored", "", nil, 0, nil, nil, 0
	}}
	text := c.page(t, "/tables/"+testTable)
	lacks(t, text, "Guarantees", "Highest risk", "Classes", "What if k were", "Withheld", "updates", "method")
	for _, want := range []string{"This table is not protected", "1,200 of them", "mirrored, generation 3", "Last proof", "As readers see it"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
