package config

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// mirroredTable is a table of the source that is not protected, as it is written. Its columns have no
// default: one that somebody adds at the source would go to readers unasked.
type mirroredTable struct {
	Table   catalog.Name `yaml:",name" what:"a table's name" as:"table"`
	Columns []string     `yaml:"columns" as:"column" each:"column" single:"yes" fix:"a list: [ward_id, name]" need:"columns: with the columns that readers may have" why:"no other column leaves the source" doc:"The columns that readers may have. What is not named here does not leave the source, as far as its publication can list columns, and what somebody adds there is not shown."`
}

// checkMirrored claims the names of mirrored tables, which are in no other list, and adds them to the
// policy.
func (p *policySection) checkMirrored(d *decoder) {
	for i := range p.Mirrored {
		t := &p.Mirrored[i]
		key := d.keys[t]
		if t.Table == (catalog.Name{}) {
			continue
		}
		if first, twice := d.places.tables[t.Table]; twice {
			what, fix := "is both protected and mirrored", "remove it from mirrored: a protected table is read as its policy publishes it"
			if slices.ContainsFunc(p.Mirrored[:i], func(before mirroredTable) bool { return before.Table == t.Table }) {
				what, fix = "stands twice in mirrored", "remove one of them"
			}
			d.wrong(key, fmt.Sprintf("table %s %s, first on line %d", t.Table, what, first.line), fix)
			continue
		}
		at := place{line: key.Line, columns: make(map[string]int)}
		for j, name := range t.Columns {
			at.columns[name] = d.at(&t.Columns[j]).Line
		}
		d.places.tables[t.Table] = at
		p.policy.Tables = append(p.policy.Tables, catalog.MirrorTable(t.Table, t.Columns))
	}
}

// compareMirrored refuses mirrored tables where there is one database: they are readable there.
func (f *file) compareMirrored(d *decoder) {
	if f.IsApart() {
		return
	}
	for i := range f.Tables.Mirrored {
		t := &f.Tables.Mirrored[i]
		d.wrong(d.keys[t], fmt.Sprintf("table %s is mirrored, but there is no source section: it is in the database of the release already", d.keys[t].Value),
			"move it to readable:, or write a source section if the protected tables are in another database; see docs/apart.md")
	}
}

// said is what the policy says of a table that is not readable alone.
func (p *policySection) said(name catalog.Name) string {
	if slices.ContainsFunc(p.Mirrored, func(t mirroredTable) bool { return t.Table == name }) {
		return "mirrored"
	}
	return "protected"
}
