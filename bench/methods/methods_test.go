package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/bench/result"
)

func TestEveryMethodIsMeasured(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "figures.json")
	arguments := []string{"-records", "500", "-attributes", "2,12", "-k", "5,50", "-rounds", "2", "-json", path}
	if err := run(t.Context(), arguments, io.Discard); err != nil {
		t.Fatal(err)
	}
	figures, err := result.ReadFigures(path)
	if err != nil {
		t.Fatal(err)
	}
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

// A peer that puts the records into classes by their order, the last ones withheld.
func TestPeerIsMeasured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "peer")
	const text = `awk -v k="$2" 'NR == 1 { print "seconds 0.5"; next } { at[NR - 2] = 1; n++ }
END { for (i = 0; i < n; i++) print int(i / k) < int(n / k) ? int(i / k) : -1 }' "$1"`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "figures.json")
	arguments := []string{"-records", "503", "-attributes", "8", "-k", "5", "-methods", "rounded-partition", "-peer", "order=sh " + script, "-json", path}
	if err := run(t.Context(), arguments, io.Discard); err != nil {
		t.Fatal(err)
	}
	figures, err := result.ReadFigures(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"time": 0.5, "classes": 100, "withheld": 3, "largest-class": 5}
	for _, f := range figures {
		if value, asked := want[f.Name]; asked && f.Way == "order" {
			if f.Median != value {
				t.Errorf("%s is %v, want %v", f.Name, f.Median, value)
			}
			delete(want, f.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not measured: %v", want)
	}
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

func TestAnswersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "0\n1\n", "seconds 1\nx\n", "seconds 1\n99999999\n"} {
		if _, err := readAnswer([]byte(answer)); err == nil {
			t.Errorf("%q was read", answer)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{"-records", "0"}, {"-k", "x"}, {"-attributes", "99"}, {"-methods", "none"}, {"-peer", "name"}} {
		if _, err := parse(arguments); err == nil {
			t.Errorf("%q was taken", arguments)
		}
	}
}
