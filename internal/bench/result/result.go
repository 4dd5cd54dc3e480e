// Package result is what a benchmark came to: figures with their spread, the ratios to
// what was measured beside them, and the machine, the versions and the commands that they
// are of. Everything that is printed or drawn of a benchmark is made from it.
package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// Section is a set of figures that were measured together.
type Section struct {
	// Name is that of the file, without its ending.
	Name string `json:"section"`
	// Size is the name of the sizes that were measured: "small" or "full".
	Size string `json:"size"`
	// Date is when the section began, UTC.
	Date time.Time `json:"date"`
	// Commit is that of the sources, shortened; with "+" where files differed from it.
	Commit   string            `json:"commit"`
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	// Commands can be run by hand from the repository's root.
	Commands []Command `json:"commands"`
	// Missing are the peers that were not there to be measured, each with what to install.
	Missing []string `json:"missing,omitempty"`
	// Failed says that a command found something wrong, which its figures tell, or that
	// figures lack which nothing explains.
	Failed bool `json:"failed,omitempty"`
	// Figures are in the order in which they were measured.
	Figures []Figure `json:"figures"`
}

// Machine is what the section was measured on.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	// Memory is in bytes, 0 where the system does not tell.
	Memory int64  `json:"memory_bytes"`
	System string `json:"system"`
}

// Command is one that was run.
type Command struct {
	Line    string  `json:"command"`
	Seconds float64 `json:"seconds"`
	// Others is the share of the machine, 0 to 1, that other processes took meanwhile.
	Others float64 `json:"others"`
}

// Figure is one thing that was measured, in several rounds.
type Figure struct {
	// Name says what: "rate", "p99".
	Name string `json:"name"`
	// Way is what was measured: kproxy, or the peer.
	Way string `json:"way"`
	// Parameters are what it depends on, such as the number of clients.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Unit of the values: "ms", "1/s".
	Unit string `json:"unit"`
	// Rounds are the values in the order in which they were measured, never empty.
	Rounds []float64 `json:"rounds"`
	Spread
	// Against are ratios of this figure to those of other ways with the same parameters.
	Against []Ratio `json:"against,omitempty"`
}

// Spread is a median with the least and the greatest value.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Ratio compares with another way: the ratio of the medians, and the least and the
// greatest ratio of two values of the same round.
type Ratio struct {
	Way string `json:"way"`
	Spread
}

// New is a figure of these values.
func New(name, way string, parameters map[string]string, unit string, rounds ...float64) Figure {
	return Figure{Name: name, Way: way, Parameters: parameters, Unit: unit, Rounds: rounds, Spread: spreadOf(rounds)}
}

// spreadOf is zero of no values.
func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[0], High: sorted[n-1]}
}

// Compare adds the ratio to a figure of another way. Nothing is added where that has
// no value but 0.
func (f *Figure) Compare(to Figure) {
	var ratios []float64
	for i := range min(len(f.Rounds), len(to.Rounds)) {
		if to.Rounds[i] != 0 {
			ratios = append(ratios, f.Rounds[i]/to.Rounds[i])
		}
	}
	if len(ratios) == 0 || to.Median == 0 {
		return
	}
	s := spreadOf(ratios)
	s.Median = f.Median / to.Median
	f.Against = append(f.Against, Ratio{Way: to.Way, Spread: s})
}

// IsOf says whether the section was measured, and nothing was wrong, at a size, of sources
// that have a name, and on this machine.
func (s *Section) IsOf(size, commit string, machine Machine) bool {
	named := commit != "unknown" && !strings.HasSuffix(commit, "+")
	return named && !s.Failed && s.Size == size && s.Commit == commit && s.Machine == machine
}

// Find is the first figure of that name, way and parameters; those not given may be any.
func (s *Section) Find(name, way string, parameters map[string]string) (Figure, bool) {
	for _, f := range s.Figures {
		if f.Name == name && f.Way == way && f.has(parameters) {
			return f, true
		}
	}
	return Figure{}, false
}

func (f Figure) has(parameters map[string]string) bool {
	for name, value := range parameters {
		if f.Parameters[name] != value {
			return false
		}
	}
	return true
}

// CompareWith adds to each figure of the way the ratios to the same figures of the others.
func CompareWith(figures []Figure, way string, others ...string) {
	for i := range figures {
		if figures[i].Way != way {
			continue
		}
		for _, other := range others {
			at := slices.IndexFunc(figures, func(f Figure) bool {
				return f.Way == other && f.Name == figures[i].Name && len(f.Parameters) == len(figures[i].Parameters) && f.has(figures[i].Parameters)
			})
			if at >= 0 {
				figures[i].Compare(figures[at])
			}
		}
	}
}

// check tells what is wrong with the figures: no value, one that is no number, or a
// spread that is not that of the rounds.
func (s *Section) check() error {
	var wrong []error
	for _, f := range s.Figures {
		if len(f.Rounds) == 0 {
			wrong = append(wrong, fmt.Errorf("%s of %s %v has no value", f.Name, f.Way, f.Parameters))
		}
		if slices.ContainsFunc(f.Rounds, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			wrong = append(wrong, fmt.Errorf("%s of %s %v is no number", f.Name, f.Way, f.Parameters))
		}
		if f.Spread != spreadOf(f.Rounds) {
			wrong = append(wrong, fmt.Errorf("the median or the spread of %s of %s %v is not that of its rounds", f.Name, f.Way, f.Parameters))
		}
	}
	return errors.Join(wrong...)
}

// Write writes the section into a file. The error is the file's, or tells which figures
// cannot be.
func (s *Section) Write(path string) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("the figures of %s: %w", s.Name, err)
	}
	return write(path, s)
}

// Read reads a section. The error is the file's, or tells which figures cannot be.
func Read(path string) (*Section, error) {
	var s Section
	if err := read(path, &s); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("the figures in %s: %w", path, err)
	}
	return &s, nil
}

// WriteFigures writes figures alone, for who puts a section together of several programs'.
func WriteFigures(path string, figures []Figure) error { return write(path, figures) }

// ReadFigures reads what WriteFigures has written.
func ReadFigures(path string) (figures []Figure, err error) {
	err = read(path, &figures)
	return figures, err
}

func write(path string, what any) error {
	text, err := json.MarshalIndent(what, "", " ")
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing figures: %w", err)
	}
	return nil
}

func read(path string, to any) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("reading figures: %w", err)
	}
	return nil
}
