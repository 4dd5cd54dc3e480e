package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// claim is a figure that a page states, and what measures it. Not every figure of a page has
// one: those of designs that are no more, and of other machines, have their date or commit
// beside them.
type claim struct {
	page string // from the repository's root
	// quote is a passage of the page that has the number.
	quote string
	// section measures it, or a command that is none of a section's.
	section, command string
	// name, way and where find the figure in the section; against takes its ratio to that
	// way instead.
	name, way string
	where     map[string]string
	against   string
	// word is in the command that measures it, where the section has several: whether the
	// machine was quiet is told of each.
	word string
	// number is that of the quote in the figure's unit, or a mean of its two, and within the
	// share by which what was measured last may differ from it, ratios if the machine was
	// quiet. 0 leaves the comparison to readers: times and memory are the machine's.
	number, within float64
}

// writeClaims appends the table of the claims.
func writeClaims(page *strings.Builder, measured map[string]*result.Section) {
	page.WriteString("## Figures on other pages\n\nThe sources of figures of speed, memory and loss that other pages state. A test compares those with a\n" +
		"tolerance with the last measurement; compare the others yourself.\n\n" +
		"| Page | Claim | Measured by | Tolerance | Last measured |\n| --- | --- | --- | ---: | ---: |\n")
	for _, c := range claims {
		held, last := "", ""
		if c.number != 0 {
			held = fmt.Sprintf("%s ± %.0f %%", number(c.number), 100*c.within)
			if c.spoiled(measured) {
				held += ", not compared: busy"
			}
		}
		if value, unit, found := c.value(measured); found {
			last = strings.TrimSpace(number(value) + " " + unit)
		}
		fmt.Fprintf(page, "| %s | %s | %s | %s | %s |\n", c.page, strings.Trim(strings.ReplaceAll(c.quote, "|", " "), " "), c.by(), held, last)
	}
	page.WriteString("\n")
}

// by is what measures the claim: a command, or a figure of a section.
func (c claim) by() string {
	if c.command != "" {
		return "`" + c.command + "`"
	}
	text := "section " + c.section
	if c.name == "" {
		return text
	}
	text += ": " + c.name
	for _, parameter := range sortedKeys(c.where) {
		text += ", " + parameter + " " + c.where[parameter]
	}
	if c.against != "" {
		text += ", divided by that of " + c.against
	}
	return text
}

// spoiled tells whether it is a ratio of times that others of the machine spoiled.
func (c claim) spoiled(measured map[string]*result.Section) bool {
	s := measured[c.section]
	return s != nil && c.against != "" && othersDuring(s, c.word) > busy
}

// value is what was measured of the claim; a ratio has no unit.
func (c claim) value(measured map[string]*result.Section) (value float64, unit string, found bool) {
	s := measured[c.section]
	if s == nil || c.name == "" {
		return 0, "", false
	}
	f, found := s.Find(c.name, c.way, c.where)
	if !found || c.against == "" {
		return f.Median, f.Unit, found
	}
	for _, r := range f.Against {
		if r.Way == c.against {
			return r.Median, "", true
		}
	}
	return 0, "", false
}

// claims are those of all pages. README.md may claim nothing that is not compared.
var claims = slices.Concat([]claim{
	{page: "docs/drift.md", quote: "between 1.06 and 1.14", section: "maintained", name: "drift", way: "maintained", where: map[string]string{"method": "rounded-partition", "k": "5", "operations": "1000000"}, number: 1.10, within: 0.05},
	{page: "docs/observe.md", quote: "12 to 43 µs", section: "proxy", name: "lookup-cpu", way: "kproxy", where: map[string]string{"protocol": "simple", "clients": "8"}},
	{page: "docs/observe.md", quote: "| following a statement, simple protocol | 0.62 |", section: "proxy", name: "follow", way: "kproxy", where: map[string]string{"case": "simple observed"}},
	{page: "docs/observe.md", quote: "| metrics | 0.12 |", section: "proxy", name: "record", way: "kproxy", where: map[string]string{"case": "metrics"}},
	{page: "docs/operations.md", quote: "An idle session takes about", section: "proxy", name: "idle-memory", way: "kproxy"},
	{page: "docs/tools.md", quote: "246 over 4.3", command: "go test ./catalog/provision -run '^$' -bench StandIns -benchtime 10x"},
	{page: "docs/attack.md", quote: "kproxy eval attack --out report", command: "kproxy eval attack --out report"},
	{page: "docs/helpers.md", quote: "kproxy eval workload", command: "kproxy eval workload"},
	{page: "docs/papers.md", quote: "kproxy eval paper", command: "kproxy eval paper"},
	{page: "docs/choosing.md", quote: "12.77%", command: "go test ./integration/docs -run Pages"},
	{page: "rewrite/DESIGN.md", quote: "| text known | 0.2 |", section: "rewriting", name: "Hit2KB", way: "kproxy"},
	{page: "rewrite/DESIGN.md", quote: "| template known | 7 |", section: "rewriting", name: "Template2KB", way: "kproxy"},
	{page: "rewrite/DESIGN.md", quote: "1.32 times parse + deparse", section: "rewriting", name: "2KB-miss", way: "kproxy", against: "pg_query"},
	{page: "rewrite/DESIGN.md", quote: "| 4, 246 |", section: "rewriting", name: "variations-cpu", way: "kproxy", where: map[string]string{"templates": "true"}},
	{page: "proxy/DESIGN.md", quote: "5.7 KB while idle", command: "go test ./proxy/chaos -run MemoryOfIdleSessions -v"},
	{page: "sync/DESIGN.md", quote: "single-row transactions at 1.09", section: "sync", name: "apply-rate", way: "kproxy", against: "subscription", where: map[string]string{"transaction": "1"}},
	{page: "sync/DESIGN.md", quote: "those of 1,000 rows at 0.61", section: "sync", name: "apply-rate", way: "kproxy", against: "subscription", where: map[string]string{"transaction": "1000"}},
	{page: "sync/DESIGN.md", quote: "Processor time for each change in microseconds", section: "sync", name: "apply-process-cpu", way: "kproxy", where: map[string]string{"transaction": "1000"}},
	{page: "sync/DESIGN.md", quote: "peaks at 312 bytes of heap a row", command: "go test ./sync -run '^$' -bench OneTransaction -benchtime 1x -timeout 30m"},
	{page: "sync/DESIGN.md", quote: "| scan, grouped by quasi-identifiers |", command: "go test ./sync -run '^$' -bench Layout"},
}, ofSpeed, ofScale)
