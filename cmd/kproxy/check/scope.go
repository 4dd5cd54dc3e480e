package check

import (
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// CodeTableChanged is the code of a table that is not the one that was published.
const CodeTableChanged = "table-changed"

// aloneCodes are the codes of findings that concern only the protected table that they name: its
// release cannot be kept in step, or must not be served, but nothing shows more than it may.
var aloneCodes = []string{
	"table-missing", "policy", "generated-column", "owner-grant", "table-unlogged", "row-security", codePublication, CodeTableChanged, inspect.CodePublishedKey,
	CodeSourceAway, inspect.CodeTypeFunction, inspect.CodeNearlyUnique, inspect.CodeType, inspect.CodeCollation,
}

// Codes of findings that concern one listed name, which analysts cannot use. They can reach no more
// than before.
var (
	readableCodes = []string{inspect.CodeReadableMissing, inspect.CodeReadableGrant, inspect.CodeReadableRaw, inspect.CodeTypeFunction}
	functionCodes = []string{inspect.CodeFunctionMissing, inspect.CodeFunctionGrant, inspect.CodeFunctionChanged}
)

// Divided are errors by scope.
type Divided struct {
	All inspect.Report // everything
	// Broken are the errors about single protected tables and readable relations, and Functions
	// those about single functions.
	Broken, Functions map[catalog.Name]inspect.Report
}

// Divide divides errors into those that concern everything and those about single names.
func Divide(policy catalog.Policy, errs inspect.Report) Divided {
	p := Divided{Broken: make(map[catalog.Name]inspect.Report), Functions: make(map[catalog.Name]inspect.Report)}
	for _, f := range errs {
		switch {
		case slices.Contains(aloneCodes, f.Code) && upstream.Protects(policy, f.Table),
			slices.Contains(readableCodes, f.Code) && slices.Contains(policy.Readable, f.Table):
			p.Broken[f.Table] = append(p.Broken[f.Table], f)
		case slices.Contains(functionCodes, f.Code) && slices.Contains(policy.Functions, f.Table):
			p.Functions[f.Table] = append(p.Functions[f.Table], f)
		default:
			p.All = append(p.All, f)
		}
	}
	return p
}

// Alone reports whether all errors concern single names, so that kproxy serves the others.
func Alone(policy catalog.Policy, errs inspect.Report) bool {
	return len(Divide(policy, errs).All) == 0
}

// start reports whether 'kproxy serve' starts in spite of the errors, given the tables that were
// published before.
func (p Divided) start(policy catalog.Policy, before []catalog.Name) bool {
	for name := range p.Broken {
		if upstream.Protects(policy, name) && !slices.Contains(before, name) || len(before) == 0 {
			return false
		}
	}
	return len(p.All) == 0 && (len(p.Functions) == 0 || len(before) > 0)
}

// Problem returns what is wrong with a table and how to fix it, each in one line.
func Problem(report inspect.Report) (what, fix string) {
	var whats, fixes []string
	for _, f := range report {
		text := f.What
		if f.Column != "" {
			text = "column " + f.Column + ": " + text
		}
		whats = append(whats, text)
		if f.Fix != "" && !slices.Contains(fixes, f.Fix) {
			fixes = append(fixes, f.Fix)
		}
	}
	return strings.Join(whats, "; "), strings.Join(fixes, "; ")
}

// SomeOnly are the codes of findings that prevent kproxy from starting, but that concern only some
// sessions while it serves.
var SomeOnly = []string{inspect.CodeTemporaryGrant, inspect.CodeFurtherReader, inspect.CodeFormerAudience, codeLogin, CodeServer, codePooler, CodeAuthQuery}

// StartingOnly are the codes of findings that prevent kproxy from starting, but that do not affect
// what is published. Replication itself watches its slot.
var StartingOnly = slices.Concat(SomeOnly, []string{"slots", "wal-senders", codeSlotPosition})

// OneLine joins the lines of a script.
func OneLine(script string) string { return strings.Join(strings.Fields(script), " ") }
