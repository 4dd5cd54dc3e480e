package inspect

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// Severity is what a finding means for serving.
type Severity int

// The severities.
const (
	// Hint is worth knowing; nothing is wrong.
	Hint Severity = iota - 1
	// Warning is worth fixing, but breaks no guarantee by itself.
	Warning
	// Error keeps kproxy from serving.
	Error
)

// String is the severity in lower case.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Hint:
		return "hint"
	default:
		return "warning"
	}
}

// MarshalText makes the severity a word in JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one problem with its fix. It never holds a row's values.
type Finding struct {
	Severity Severity
	// Code names the kind of finding; it does not change between versions.
	Code string
	// Table is the relation concerned; empty for the server, a role or another object.
	Table  catalog.Name
	Column string
	What   string
	// Withholds says that nothing of the table is published while this stands. That need not be an
	// error.
	Withholds bool
	// Fix is a SQL script for an administrator where SQL can mend it; of a
	// finding of the audit it always is. Otherwise it is advice.
	Fix string
}

// String is the finding on one line, the fix on the next.
func (f Finding) String() string {
	var where string
	if f.Table != (catalog.Name{}) {
		where = f.Table.String()
		if f.Column != "" {
			where += "." + f.Column
		}
		where += ": "
	}
	return fmt.Sprintf("%s [%s] %s%s\n    %s", f.Severity, f.Code, where, f.What, strings.ReplaceAll(f.Fix, "\n", "\n    "))
}

// Report holds all findings; it is empty when all is well.
type Report []Finding

// Errors are the findings that keep kproxy from serving.
func (r Report) Errors() Report {
	var errs Report
	for _, f := range r {
		if f.Severity == Error {
			errs = append(errs, f)
		}
	}
	return errs
}

// String lists the findings, one after the other.
func (r Report) String() string {
	lines := make([]string, len(r))
	for i, f := range r {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

func (r *Report) add(severity Severity, code string, table catalog.Name, what, fix string) {
	*r = append(*r, Finding{Severity: severity, Code: code, Table: table, What: what, Fix: fix})
}

// none is the table of a finding that concerns no relation.
var none catalog.Name
