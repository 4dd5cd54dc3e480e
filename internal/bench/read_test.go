package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// benchmarksIn are the benchmarks of files that a pattern of go test takes.
func benchmarksIn(t *testing.T, files []string, pattern string) string {
	t.Helper()
	taken, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^func (Benchmark\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			if taken.MatchString(found[1]) {
				names = append(names, found[1])
			}
		}
	}
	return strings.Join(names, " ")
}

func TestGoBenchmarksAreRead(t *testing.T) {
	t.Parallel()
	const printed = `goos: linux
BenchmarkApply/rows=10/transaction=1-2   1   500 ns/op   20 kproxy/s   10 peer/s
    bench_test.go:1: BenchmarkX 1 2
BenchmarkApply/rows=10/transaction=1-2   1   700 ns/op   40 kproxy/s   10 peer/s
BenchmarkOther/some/more 	 3   1.5 ns/op
PASS
`
	figures, err := readGoBench([]byte(printed), map[string]named{
		"kproxy/s": {"rate", "kproxy", "1/s"}, "peer/s": {"rate", "peer", "1/s"}, "ns/op": {"*-time", "kproxy", "ns"},
	})
	if err != nil {
		t.Fatal(err)
	}
	with := map[string]string{"rows": "10", "transaction": "1"}
	want := []result.Figure{
		result.New("Apply-time", "kproxy", with, "ns", 500, 700),
		result.New("rate", "kproxy", with, "1/s", 20, 40),
		result.New("rate", "peer", with, "1/s", 10, 10),
		result.New("Other-time", "kproxy", map[string]string{"case": "some more"}, "ns", 1.5),
	}
	if !reflect.DeepEqual(figures, want) {
		t.Errorf("%+v, want %+v", figures, want)
	}
	if _, err := readGoBench([]byte("BenchmarkX 1 many ns/op\n"), nil); err == nil {
		t.Error("a value that is no number was read")
	}
}

func TestDayIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "day.json")
	const text = `{"options": {"patients": 5, "minutes": 0.5, "rate": 2, "dashboards": 1}, "counts": {"violations": 0, "errors": 1},
"publishSeconds": 3, "whole": {"queries, ms": {"n": 2, "sum": 3, "mean": 1.5, "p50": 1, "p99": 2, "max": 2}, "none": {"n": 0}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	figures, err := readDay(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	s := result.Section{Figures: figures}
	for name, want := range map[string]float64{"day-n": 2, "day-p50": 1, "day-p99": 2, "day-mean": 1.5} {
		if f, found := s.Find(name, "kproxy", map[string]string{"measure": "queries, ms", "minutes": "0.5"}); !found || f.Median != want {
			t.Errorf("%s is %v, %v; want %v", name, f.Median, found, want)
		}
	}
	if f, _ := s.Find("day-count", "kproxy", map[string]string{"measure": "errors"}); f.Median != 1 {
		t.Errorf("%v errors", f.Median)
	}
	if _, found := s.Find("day-p50", "kproxy", map[string]string{"measure": "none"}); found {
		t.Error("what was never measured has a median")
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{
		0: "0", 7: "7", 999: "999", 0.06957: "0.0696", 1.5: "1.50", 12.345: "12.3", 123.4: "123", 1234.5: "1,234",
		1234567: "1,234,567", -1234: "-1,234", 2e15: "2e+15", -0.5: "-0.500",
	} {
		if got := number(value); got != want {
			t.Errorf("%v is %q, want %q", value, got, want)
		}
	}
}

func TestTablesHaveRatios(t *testing.T) {
	t.Parallel()
	figures := []result.Figure{
		result.New("lookup-rate", "direct", map[string]string{"clients": "8"}, "1/s", 2000, 2000, 4000),
		result.New("lookup-rate", "kproxy", map[string]string{"clients": "8"}, "1/s", 1000, 1500, 1000),
	}
	result.CompareWith(figures, "kproxy", "direct")
	var text strings.Builder
	view{title: "One row", names: []string{"lookup-rate"}, by: []string{"clients"}}.write(&text, &result.Section{Figures: figures})
	const want = `### One row

| clients | rate, direct, 1/s | rate, kproxy, 1/s | rate: kproxy by direct |
| --- | ---: | ---: | ---: |
| 8 | 2,000 (2,000–4,000) | 1,000 (1,000–1,500) | 0.50 (0.25–0.75) |

`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", &text, want)
	}
	text.Reset()
	view{title: "By clients", names: []string{"lookup-rate"}, across: "clients", where: map[string]string{"clients": "8"}}.write(&text, &result.Section{Figures: figures[1:]})
	if !strings.Contains(text.String(), "| 8 |\n| ---: |\n| 1,000 |\n") {
		t.Errorf("got\n%s", &text)
	}
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	if got, want := (step{words: []string{"go", "-bench", "^A$", "it's"}}).line(), `go -bench '^A$' 'it'\''s'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFlagsOfBench(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{"-only", "nothing"}, {"more"}, {"-rounds", "x"}} {
		if _, err := parse(arguments); err == nil {
			t.Errorf("%q was taken", arguments)
		}
	}
	if o, err := parse([]string{"-full", "-only", "proxy,sync"}); err != nil || o.size != full || len(o.only) != 2 {
		t.Errorf("%+v, %v", o, err)
	}
}

// What a pattern or a name does not find any more, and a round that is lost, is an error and
// not a gap in a table.
func TestGoBenchmarksThatAreNotThereAreMissed(t *testing.T) {
	t.Parallel()
	const printed = "BenchmarkApply/rows=10-2   1   500 ns/op   20 kproxy/s\n"
	for _, c := range []struct {
		g     goBenchmarks
		wrong bool
	}{
		{goBenchmarks{rounds: 1, names: []string{"Apply"}, units: map[string]named{"kproxy/s": {"rate", "kproxy", "1/s"}}}, false},
		{goBenchmarks{rounds: 1, names: []string{"Apply", "Latency"}, units: map[string]named{"kproxy/s": {"rate", "kproxy", "1/s"}}}, true},
		{goBenchmarks{rounds: 1, names: []string{"Apply"}, units: map[string]named{"kproxy/s": {"rate", "kproxy", "1/s"}, "p50-ms": {"lag", "kproxy", "ms"}}}, true},
		{goBenchmarks{rounds: 2, names: []string{"Apply"}, units: map[string]named{"kproxy/s": {"rate", "kproxy", "1/s"}}}, true},
	} {
		figures, err := c.g.read([]byte(printed))
		if (err != nil) != c.wrong || len(figures) == 0 && !c.wrong {
			t.Errorf("%v: %d figures, %v", c.g.names, len(figures), err)
		}
	}
}

// A table of which nothing was measured is told, but of one that only full size has.
func TestTablesWithoutFiguresAreTold(t *testing.T) {
	t.Parallel()
	s := section{
		views:  []view{{title: "Rates", names: []string{"rate"}}, {title: "Large", names: []string{"large"}, full: true}},
		charts: []picture{{title: "Drawn", name: "rate"}},
	}
	rates := []result.Figure{result.New("rate", "kproxy", nil, "1/s", 1)}
	for _, c := range []struct {
		measured result.Section
		want     string
	}{
		{result.Section{Size: "small", Figures: rates}, ""},
		{result.Section{Size: "full", Figures: rates}, "Large"},
		{result.Section{Size: "small"}, "Drawn"},
		{result.Section{Size: "small", Missing: []string{"PgBouncer"}}, ""},
	} {
		err := s.unfed(&c.measured)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.measured, err, c.want)
		}
	}
}
