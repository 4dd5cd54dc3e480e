package propose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/propose"
)

// containedIn compares the values of tables that are there in full.
func containedIn(tables []propose.Table) propose.Contained {
	rows := func(name catalog.Name, columns []string) (keys []string) {
		i := slices.IndexFunc(tables, func(t propose.Table) bool { return t.Name == name })
		for row := range int(tables[i].Total) {
			var key []string
			for _, column := range columns {
				at := slices.IndexFunc(tables[i].Columns, func(c propose.Column) bool { return c.Name == column })
				key = append(key, tables[i].Columns[at].Values[row])
			}
			if !slices.Contains(key, "") {
				keys = append(keys, strings.Join(key, "\x00"))
			}
		}
		return keys
	}
	return func(table catalog.Name, columns []string, parent catalog.Name, key []string) float64 {
		known := make(map[string]bool)
		for _, k := range rows(parent, key) {
			known[k] = true
		}
		held, found := rows(table, columns), 0
		for _, k := range held {
			if known[k] {
				found++
			}
		}
		if len(held) == 0 {
			return 1
		}
		return float64(found) / float64(len(held))
	}
}

// undeclared are the tables as a database without foreign keys has them.
func undeclared(tables []propose.Table) []propose.Table {
	for i := range tables {
		tables[i].Foreign = nil
		for j := range tables[i].Columns {
			tables[i].Columns[j].References = catalog.Name{}
		}
	}
	return tables
}

// drafted are the kinds that are found in tables, and the proposals.
func drafted(tables []propose.Table) ([]propose.Kind, []propose.Proposal) {
	proposals := propose.Database(tables)
	return propose.People(tables, proposals, containedIn(tables)), proposals
}

// section is what is written of proposals and kinds, with what is left out as comments.
func section(kinds []propose.Kind, proposals []propose.Proposal) (text, rest string) {
	var drafts []propose.Draft
	var b strings.Builder
	for _, p := range proposals {
		if p.Verdict == propose.Protect {
			drafts = append(drafts, p.Draft)
		} else {
			fmt.Fprintf(&b, "# %v: %v: %s\n", p.Verdict, p.Table, p.Why)
		}
	}
	return propose.Section(drafts, kinds...), b.String()
}

// TestPeopleOfDatabases: what is written of tables about the same persons, to be read, and the
// same for what a database declares as for what names and values tell.
func TestPeopleOfDatabases(t *testing.T) {
	t.Parallel()
	for _, s := range peopleSchemas {
		kinds, proposals := drafted(s.tables())
		text, rest := section(kinds, proposals)
		golden(t, s.name+".golden", text+rest)
	}
}
