package daemon

import (
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// codeTableChanged is a table that is another one than the one that was published.
const codeTableChanged = "table-changed"

// aloneCodes are the findings that concern the protected table they name and no other:
// its release cannot be kept in step, or is not to be served, but nothing shows more than it may.
var aloneCodes = []string{
	"table-missing", "policy", "generated-column", "owner-grant", "table-unlogged", "row-security", codePublication, codeTableChanged, inspect.CodePublishedKey,
	inspect.CodeTypeFunction, inspect.CodeNearlyUnique,
}

// Those that concern one listed name, which analysts cannot use. Nothing more can be
// reached than before.
var (
	readableCodes = []string{inspect.CodeReadableMissing, inspect.CodeReadableGrant, inspect.CodeTypeFunction}
	functionCodes = []string{inspect.CodeFunctionMissing, inspect.CodeFunctionGrant}
)

// parts are errors by what they concern.
type parts struct {
	all inspect.Report // everything
	// broken are those of single protected tables and readable relations, and functions
	// those of single functions.
	broken, functions map[catalog.Name]inspect.Report
}

// parted divides errors into those that concern everything and those of single names.
func parted(policy catalog.Policy, errs inspect.Report) parts {
	p := parts{broken: make(map[catalog.Name]inspect.Report), functions: make(map[catalog.Name]inspect.Report)}
	for _, f := range errs {
		switch {
		case slices.Contains(aloneCodes, f.Code) && protects(policy, f.Table),
			slices.Contains(readableCodes, f.Code) && slices.Contains(policy.Readable, f.Table):
			p.broken[f.Table] = append(p.broken[f.Table], f)
		case slices.Contains(functionCodes, f.Code) && slices.Contains(policy.Functions, f.Table):
			p.functions[f.Table] = append(p.functions[f.Table], f)
		default:
			p.all = append(p.all, f)
		}
	}
	return p
}

// Alone tells whether all errors concern single names, without which kproxy serves.
func Alone(policy catalog.Policy, errs inspect.Report) bool {
	return len(parted(policy, errs).all) == 0
}

// start tells whether 'kproxy serve' starts in spite of the errors, given the tables that
// were published before.
func (p parts) start(policy catalog.Policy, before []catalog.Name) bool {
	for name := range p.broken {
		if protects(policy, name) && !slices.Contains(before, name) || len(before) == 0 {
			return false
		}
	}
	return len(p.all) == 0 && (len(p.functions) == 0 || len(before) > 0)
}

// problem is what is wrong with a table and how it is mended, each in one line.
func problem(report inspect.Report) (what, fix string) {
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

// someOnly are the findings that keep kproxy from starting but concern some sessions alone
// while it serves.
var someOnly = []string{inspect.CodeTemporaryGrant, inspect.CodeFurtherReader, codeLogin, codeServer, codePooler, codeAuthQuery}

// startingOnly are the findings that keep kproxy from starting but take nothing
// away from what is published. Replication itself watches its slot.
var startingOnly = slices.Concat(someOnly, []string{"slots", "wal-senders", codeSlotPosition})

// oneLine puts the lines of a script beside each other.
func oneLine(script string) string { return strings.Join(strings.Fields(script), " ") }
