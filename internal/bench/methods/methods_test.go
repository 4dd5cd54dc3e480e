package main

import (
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/internal/bench/result"
)

func TestEveryMethodIsMeasured(t *testing.T) {
	t.Parallel()
	figures := measured(t, "-records", "500", "-attributes", "2,12", "-k", "5,50", "-rounds", "2")
	for _, method := range methods.Names() {
		for _, k := range []string{"5", "50"} {
			if !slices.ContainsFunc(figures, func(f result.Figure) bool {
				return f.Name == "loss" && f.Parameters["method"] == method && f.Parameters["k"] == k && f.Median > 0 && f.Median <= 100
			}) {
				t.Errorf("no loss of %s at k = %s", method, k)
			}
		}
	}
	for _, f := range figures {
		if f.Name == "time" && len(f.Rounds) != 2 {
			t.Errorf("%v: %d rounds", f.Parameters, len(f.Rounds))
		}
	}
}

func TestLimit(t *testing.T) { // not beside others, whose cores these are
	before := runtime.GOMAXPROCS(0)
	for cores, want := range map[int]int{0: before, 1: 1, before + 1: before + 1} {
		undo := limit(cores)
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("%d cores: %d", cores, got)
		}
		undo()
		if got := runtime.GOMAXPROCS(0); got != before {
			t.Errorf("%d cores stay, there were %d", got, before)
		}
	}
}

// On one core, and on those that there are, a method comes to the same release.
func TestCores(t *testing.T) {
	t.Parallel()
	if runtime.NumCPU() < 2 {
		t.Skip("there is one core")
	}
	figures := measured(t, "-records", "500", "-attributes", "8", "-k", "5", "-methods", "mondrian-strict", "-cores", "1,2")
	found := map[string]result.Figure{}
	for _, f := range figures {
		if f.Name == "NCP" {
			found[f.Parameters["cores"]] = f
		}
	}
	if len(found) != 2 || found["1"].Median != found["2"].Median || found["1"].Median == 0 {
		t.Errorf("NCP by cores: %v", found)
	}
}

// No figure is of cores that the machine has not.
func TestCoresBeyondTheMachine(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-cores", "1,2,4"})
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	if err := o.leaveOut(2, &told); err != nil || !slices.Equal(o.cores, []int{1, 2}) || !strings.Contains(told.String(), "4 cores") {
		t.Errorf("%v are left, %v; told is %q", o.cores, err, &told)
	}
	if o.cores = []int{4}; o.leaveOut(2, io.Discard) == nil {
		t.Error("nothing is left, and that is no error")
	}
	if o.cores = []int{0}; o.leaveOut(2, io.Discard) != nil {
		t.Error("all cores are too many")
	}
}

// measured are the figures of a run.
func measured(t *testing.T, arguments ...string) []result.Figure {
	t.Helper()
	path := filepath.Join(t.TempDir(), "figures.json")
	if err := run(t.Context(), append(arguments, "-json", path), io.Discard); err != nil {
		t.Fatal(err)
	}
	figures, err := result.ReadFigures(path)
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

func TestWrongReleases(t *testing.T) {
	t.Parallel()
	classes := func(all ...anonymizer.EquivalenceClass) *anonymizer.Release { return &anonymizer.Release{Classes: all} }
	for name, r := range map[string]*anonymizer.Release{
		"a small class":    classes([]int32{0, 1}, []int32{2}),
		"one twice":        classes([]int32{0, 1}, []int32{1, 2}),
		"one missing":      classes([]int32{0, 1}),
		"one too many":     classes([]int32{0, 1, 2, 3}),
		"withheld as well": {Classes: []anonymizer.EquivalenceClass{{0, 1, 2}}, Withheld: []int32{2}},
	} {
		if check(3, r, 2) == nil {
			t.Errorf("%s is not found", name)
		}
	}
	if err := check(3, &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{2, 0}}, Withheld: []int32{1}}, 2); err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{"-records", "0"}, {"-k", "x"}, {"-attributes", "99"}, {"-methods", "none"}, {"-methods", "lookahead-partition:none"}, {"-methods", "mondrian-strict:good"}, {"-peer", "name"}, {"-cores", "0"}} {
		if _, err := parse(arguments); err == nil {
			t.Errorf("%q was taken", arguments)
		}
	}
}
