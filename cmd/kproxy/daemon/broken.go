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
// its release cannot be kept in step, but nothing shows more than it may.
var aloneCodes = []string{
	"table-missing", "policy", "generated-column", "owner-grant", "table-unlogged", "row-security", codePublication, codeTableChanged,
}

// parted divides errors into those that concern everything and those of single tables.
func parted(policy catalog.Policy, errs inspect.Report) (all inspect.Report, broken map[catalog.Name]inspect.Report) {
	broken = make(map[catalog.Name]inspect.Report)
	for _, f := range errs {
		if slices.Contains(aloneCodes, f.Code) && protects(policy, f.Table) {
			broken[f.Table] = append(broken[f.Table], f)
		} else {
			all = append(all, f)
		}
	}
	return all, broken
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
