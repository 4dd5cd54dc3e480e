package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// named is what a unit of a Go benchmark is called here; an asterisk in its name stands for
// the benchmark's.
type named struct{ name, way, unit string }

// goBenchmarks are benchmarks of a package, to be run with one command.
type goBenchmarks struct {
	folder string
	names  []string // without "Benchmark"; each must be there
	under  string   // pattern of their parts, with its slash; empty = all
	time   string
	rounds int
	// units are what is read, of which each must be there; nil = all, by their own names.
	units map[string]named
	flags []string // of the package's tests
}

// step runs them, each so many times.
func (g goBenchmarks) step() step {
	top := g.names[0]
	if len(g.names) > 1 {
		top = "(" + strings.Join(g.names, "|") + ")"
	}
	words := []string{
		"go", "test", "-run", "^$", "-bench", "^Benchmark" + top + "$" + g.under, "-benchmem", "-benchtime", g.time,
		"-count", strconv.Itoa(g.rounds), "-timeout", "5h", g.folder,
	}
	return step{words: append(words, g.flags...), read: func(printed []byte, _ string) ([]result.Figure, error) { return g.read(printed) }}
}

// read reads the figures; benchmarks and units that are not there are an error.
func (g goBenchmarks) read(printed []byte) ([]result.Figure, error) {
	figures, err := readGoBench(printed, g.units)
	if err != nil {
		return nil, err
	}
	names, units := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(printed)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		base, _ := partsOf(fields[0])
		names[base] = true
		for i := 3; i < len(fields); i += 2 {
			units[fields[i]] = true
		}
	}
	for _, name := range g.names {
		if !names[name] {
			return nil, fmt.Errorf("benchmark %s has measured nothing", name)
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(g.units)) {
		if !units[unit] {
			return nil, fmt.Errorf("nothing was measured in %s", unit)
		}
	}
	for _, f := range figures {
		if len(f.Rounds) != g.rounds {
			return nil, fmt.Errorf("%s %s %v was measured %d times, not %d: something else was printed into its lines", f.Name, f.Way, f.Parameters, len(f.Rounds), g.rounds)
		}
	}
	return figures, nil
}

// readGoBench reads the lines of benchmarks (the form of Go's package testing): a name
// whose parts are parameters, how many iterations, and pairs of a value and its unit. Lines
// with the same name are rounds. Units that have no name here are left out; without any names, all units
// keep their own. A part of the name without "=" is the parameter "case".
func readGoBench(printed []byte, units map[string]named) ([]result.Figure, error) {
	type key struct{ benchmark, unit string }
	var order []key
	rounds := map[key][]float64{}
	lines := bufio.NewScanner(bytes.NewReader(printed))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		for i := 2; i < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("reading the benchmark %s: %w", fields[0], err)
			}
			if _, asked := units[fields[i+1]]; !asked && units != nil {
				continue
			}
			k := key{fields[0], fields[i+1]}
			if rounds[k] == nil {
				order = append(order, k)
			}
			rounds[k] = append(rounds[k], value)
		}
	}
	var figures []result.Figure
	for _, k := range order {
		n, asked := units[k.unit]
		if !asked {
			n = named{k.unit, "kproxy", ""}
		}
		base, parameters := partsOf(k.benchmark)
		figures = append(figures, result.New(strings.Replace(n.name, "*", base, 1), n.way, parameters, n.unit, rounds[k]...))
	}
	return figures, lines.Err()
}

// partsOf takes a benchmark's name apart. The number of processors at its end is left out.
func partsOf(benchmark string) (base string, parameters map[string]string) {
	name := strings.TrimPrefix(benchmark, "Benchmark")
	if dash := strings.LastIndexByte(name, '-'); dash >= 0 {
		if _, err := strconv.Atoi(name[dash+1:]); err == nil {
			name = name[:dash]
		}
	}
	parts := strings.Split(name, "/")
	parameters = map[string]string{}
	for _, part := range parts[1:] {
		key, value, found := strings.Cut(part, "=")
		if !found {
			key, value = "case", strings.TrimPrefix(parameters["case"]+" "+part, " ")
		}
		parameters[key] = value
	}
	return parts[0], parameters
}
