package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a configuration file.
type Position struct {
	File string
	Line int // from 1; 0 when only the file is known
}

// String is file:line, or the file alone.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Problem is one mistake in a configuration file. Its texts never contain a
// secret, even one written in the wrong place.
type Problem struct {
	File   string
	Line   int // from 1; 0 when the file as a whole is meant
	Column int // from 1, in characters; 0 when not known
	What   string
	Fix    string
}

// Error is file:line: what is wrong; what to write instead.
func (p Problem) Error() string {
	return fmt.Sprintf("%s: %s; %s", Position{File: p.File, Line: p.Line}, p.What, p.Fix)
}

// Errors are all mistakes of a file, in its order, and after them those of the
// files that it names; never empty as an error.
type Errors []Problem

// Error lists the mistakes, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// maxProblems is how many mistakes are worth showing.
const maxProblems = 100

// asError orders the mistakes, those of the file itself first, drops what aliases
// made appear twice, and is nil when there are none.
func (e Errors) asError(file string) error {
	if len(e) == 0 {
		return nil
	}
	named := func(p Problem) string { // empty, and so first, for the file itself
		if p.File == file {
			return ""
		}
		return p.File
	}
	slices.SortFunc(e, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(named(a), named(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.What, b.What), cmp.Compare(a.Fix, b.Fix))
	})
	e = slices.Compact(e)
	if more := len(e) - maxProblems; more > 0 {
		last := e[maxProblems]
		last.What, last.Fix = fmt.Sprintf("%d more mistakes from here on", more), "correct those above first"
		e = append(slices.Clip(e[:maxProblems]), last)
	}
	return e
}
