package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/hospital"
)

// TestDay lives through days with the program that users have.
func TestDay(t *testing.T) {
	t.Parallel()
	program, err := rig.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("whole", func(t *testing.T) { t.Parallel(); testWholeDay(t, program) })
	t.Run("interrupted", func(t *testing.T) { t.Parallel(); testInterruptedDay(t, program) })
}

// testWholeDay lives through a day of twenty seconds, on which every patient is changed once
// in the mean.
func testWholeDay(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	o, err := parse([]string{
		"-kproxy", program, "-patients", "20000", "-minutes", "0.333", "-dashboards", "10", "-refresh", "4s",
		"-json", filepath.Join(dir, "day.json"), "-plot", filepath.Join(dir, "day.svg"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var out, progress bytes.Buffer
	err = run(t.Context(), o, &out, &progress)
	t.Logf("%s%s", &progress, &out)
	if err != nil {
		t.Fatal(err)
	}
	r, svg := written(t, o)
	if r.Interrupted {
		t.Error("a whole day is taken for an interrupted one")
	}
	if r.Counts.Apart == 0 || r.Whole[sessions].Max < 1 || r.Whole[queries].N < 12 || len(r.Parts) < 15 {
		t.Error("little was seen")
	}
	if strings.Contains(svg, "interrupted") {
		t.Error("so it is in the picture")
	}
}

// written are the files of a day.
func written(t *testing.T, o options) (r result, svg string) {
	t.Helper()
	text, err := os.ReadFile(o.JSON)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(o.Plot)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(picture, new(struct{})); err != nil || !strings.Contains(string(picture), "hour of the day") {
		t.Errorf("the picture is none: %v", err)
	}
	return r, string(picture)
}

func TestFlagsAreChecked(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{"-patients=10", "-minutes=0", "-rate=-1", "-dashboards=0", "-refresh=-1s", "-queue=0", "-nonsense", "more"} {
		if _, err := parse([]string{arguments}); err == nil {
			t.Errorf("%s is taken", arguments)
		}
	}
	o, err := parse(nil)
	if err != nil || o.length() != time.Hour || o.Refresh != time.Hour/24 {
		t.Errorf("by default %v of %v, %v", o.length(), o.Refresh, err)
	}
}

func TestBusynessHasTheDaysMean(t *testing.T) {
	t.Parallel()
	const steps = 24 * 1000
	sum, least, most := 0.0, 10.0, 0.0
	for i := range steps {
		b := busyness((float64(i) + 0.5) / steps)
		sum, least, most = sum+b, min(least, b), max(most, b)
	}
	if mean := sum / steps; mean < 0.999 || mean > 1.001 {
		t.Errorf("a mean of %v", mean)
	}
	if least > 0.3 || most < 2 {
		t.Errorf("from %v to %v: night and day are alike", least, most)
	}
	begin := time.Now()
	for after, want := range map[time.Duration]float64{-time.Second: 0, 0: 0, time.Minute: 0.5, time.Hour: 1} {
		if got := moment(begin, 2*time.Minute, begin.Add(after)); got != want {
			t.Errorf("after %v the moment is %v, not %v", after, got, want)
		}
	}
}

func TestNewcomersComeToday(t *testing.T) {
	t.Parallel()
	const patients = 50
	ages := map[int64]time.Duration{}
	for p := range hospital.Generate(patients+40, 3) {
		ages[p.ID] = p.AdmissionDate.Sub(p.BirthDate)
	}
	seen := 0
	for change := range hospital.Changes(patients, 3) {
		if change.Kind != hospital.Admission {
			continue
		}
		change = today(change)
		born, admitted := change.Args[birthDate].(time.Time), change.Args[admissionDate].(time.Time)
		if !admitted.Equal(newYear) || born.After(admitted) {
			t.Fatalf("patient %d is born on %v and admitted on %v", change.PatientID, born, admitted)
		}
		if seen++; seen == 500 {
			break
		}
	}
}

func TestLedgerGivesWhoIsVisible(t *testing.T) {
	t.Parallel()
	g := newLedger(2)
	at := time.Now()
	g.add(0, []admission{{2, at}, {4, at}, {8, at}})
	g.add(1, []admission{{3, at}, {9, at}})
	for _, step := range []struct {
		upTo int64
		want int
	}{{1, 0}, {4, 3}, {4, 0}, {8, 1}, {100, 1}, {100, 0}} {
		if got := len(g.take(step.upTo)); got != step.want {
			t.Errorf("up to %d there are %d, not %d", step.upTo, got, step.want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	if got := summarize(nil); got != (summary{}) {
		t.Errorf("of nothing: %+v", got)
	}
	values := make([]float64, 1000)
	for i, v := range rand.New(rand.NewPCG(1, 1)).Perm(1000) {
		values[i] = float64(v + 1)
	}
	want := summary{N: 1000, Sum: 500500, Mean: 500.5, P50: 500, P99: 990, Max: 1000}
	if got := summarize(values); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestComparisonFindsWhatComparingTells breaks each promise once.
func TestComparisonFindsWhatComparingTells(t *testing.T) {
	t.Parallel()
	rows := func(diagnoses ...string) map[string]int {
		class := map[string]int{}
		for i, d := range diagnoses {
			class[d+"|"+string(rune('a'+i))]++
		}
		return class
	}
	of := func(class map[string]int) version {
		return version{rows: map[int64]map[string]int{7: class}}
	}
	ten := rows("A", "B", "A", "B", "A", "A", "B", "A", "B", "A")
	none := version{}
	for _, c := range []struct {
		name          string
		before, after version
		apart         int
		wrong         bool
	}{
		{"nothing changes", of(ten), of(ten), 0, false},
		{"a class appears", none, of(ten), 1, false},
		{"a class goes", of(ten), none, 1, false},
		{"half of a class goes", of(ten), of(rows("A", "B", "A", "B", "A")), 1, false},
		{"a small class appears", none, of(rows("A", "B", "A", "B")), 0, true},
		{"a class of one diagnosis appears", none, of(rows("A", "A", "A", "A", "A")), 0, true},
		{"a class gains a row", of(rows("A", "B", "A", "B", "A")), of(ten), 0, true},
		{"a row goes", of(ten), of(rows("A", "B", "A", "B", "A", "A", "B", "A", "B")), 1, true},
		{"few are left", of(ten), of(rows("A", "B", "A", "B")), 1, true},
	} {
		apart, err := compare(c.before, c.after)
		if (err != nil) != c.wrong || apart != c.apart {
			t.Errorf("%s: %d sets told apart, %v", c.name, apart, err)
		}
	}
}

func TestStatesAreJudged(t *testing.T) {
	t.Parallel()
	if wrong := (state{rows: 10, classes: 1, weight: 10}).violation(); wrong != "" {
		t.Errorf("a good state: %s", wrong)
	}
	for _, bad := range []state{{}, {rows: 10, small: 1}, {rows: 10, alike: 1}, {rows: 10, mixed: 1}, {rows: 10, unevenWeights: 1}} {
		if bad.violation() == "" {
			t.Errorf("%+v is found good", bad)
		}
	}
}

func TestDashboardsDiffer(t *testing.T) {
	t.Parallel()
	wards := map[any]bool{}
	for number := range uint64(50) {
		asked := dashboard(rand.New(rand.NewPCG(1, number)))
		if len(asked) != 12 {
			t.Fatalf("%d queries", len(asked))
		}
		wards[asked[0].arguments[0]] = true
	}
	if len(wards) < 10 {
		t.Errorf("50 dashboards are about %d wards", len(wards))
	}
}
