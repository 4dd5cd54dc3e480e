package hierarchy

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// maxKeep bounds the configured lengths of a prefix, each a level of its ladder.
const maxKeep = 32

// validateOptions checks what belongs to single kinds, and that nothing of it
// is set where it would be ignored.
func (s Spec) validateOptions() []error {
	var errs []error
	for _, option := range []struct {
		name     string
		set      bool
		kind     Kind
		validate func() []error
	}{
		{"order", len(s.Order) > 0, Ordered, s.validateOrder},
		{"steps", len(s.Steps) > 0, Numeric, s.validateSteps},
		{"origin", s.Origin != 0, Numeric, s.validateOrigin},
		{"units", len(s.Units) > 0, Date, s.validateUnits},
		{"keep", len(s.Keep) > 0, Prefix, s.validateKeep},
	} {
		switch {
		case s.Kind == option.kind:
			errs = append(errs, option.validate()...)
		case option.set:
			errs = append(errs, fmt.Errorf("a %v hierarchy takes no %s: remove it, or choose %v", s.Kind, option.name, option.kind))
		}
	}
	return errs
}

func (s Spec) validateOrder() []error {
	if len(s.Order) == 0 {
		return []error{errors.New("order: write the values from the least to the greatest")}
	}
	var errs []error
	seen := map[string]int{}
	for i, label := range s.Order {
		switch {
		case label == "":
			errs = append(errs, fmt.Errorf("order: value %d is empty: remove it; empty texts are hidden", i+1))
		case label == Root:
			errs = append(errs, fmt.Errorf("order: %q is reserved for what stands for every value: remove it", Root))
		case strings.HasPrefix(label, ".") || strings.HasSuffix(label, ".") || strings.Contains(label, rangeMark):
			errs = append(errs, fmt.Errorf("order: %q could be mistaken for a range, which is written low%shigh: "+
				"use a categorical hierarchy, or store the value without dots", label, rangeMark))
		}
		seen[label]++
	}
	for _, label := range repeated(seen) {
		errs = append(errs, fmt.Errorf("order: %q stands in %d places: keep one of them", label, seen[label]))
	}
	return errs
}

func (s Spec) validateSteps() []error {
	if len(s.Steps) == 0 {
		return nil
	}
	var errs []error
	for i, step := range s.Steps {
		switch {
		case math.IsNaN(step) || math.IsInf(step, 0) || step <= 0:
			errs = append(errs, fmt.Errorf("steps: %v is no width: write a finite number above 0", step))
		case i > 0 && step <= s.Steps[i-1]:
			errs = append(errs, fmt.Errorf("steps: %v does not exceed %v before it: write the widths ascending", step, s.Steps[i-1]))
		}
	}
	if math.IsNaN(s.Origin) || math.IsInf(s.Origin, 0) {
		return append(errs, fmt.Errorf("origin: %v is no place: write a finite number", s.Origin))
	}
	if len(errs) == 0 {
		if _, err := newGrid(s.Domain, s.Steps, s.Origin); err != nil {
			errs = append(errs, fmt.Errorf("steps: %w", err))
		}
	}
	return errs
}

func (s Spec) validateOrigin() []error {
	if s.Origin != 0 && len(s.Steps) == 0 {
		return []error{errors.New("origin: nothing begins there without steps: add steps, or remove origin")}
	}
	return nil
}

func (s Spec) validateUnits() []error {
	var errs []error
	for i, u := range s.Units {
		switch {
		case !u.known():
			errs = append(errs, fmt.Errorf("units: %v is unknown: write some of %s", u, strings.Join(unitNames[:], ", ")))
		case i > 0 && u <= s.Units[i-1]:
			errs = append(errs, fmt.Errorf("units: %v does not exceed %v before it: write the units ascending", u, s.Units[i-1]))
		}
	}
	return errs
}

func (s Spec) validateKeep() []error {
	var errs []error
	if len(s.Keep) > maxKeep {
		errs = append(errs, fmt.Errorf("keep: %d lengths: write at most %d", len(s.Keep), maxKeep))
	}
	for i, n := range s.Keep {
		switch {
		case n <= 0:
			errs = append(errs, fmt.Errorf("keep: %d is no number of characters: write numbers above 0; that nothing may be kept goes without saying", n))
		case i > 0 && n >= s.Keep[i-1]:
			errs = append(errs, fmt.Errorf("keep: %d is not below %d before it: write the numbers descending", n, s.Keep[i-1]))
		}
	}
	return errs
}
