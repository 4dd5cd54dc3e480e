package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// places are the lines on which tables and their columns stand.
type places struct {
	file   string
	tables map[catalog.Name]place
	// functions are the lines of functions, whose names are not those of tables.
	functions map[catalog.Name]int
	// settings are the lines of keys, by their paths.
	settings map[string]int
}

type place struct {
	line    int
	columns map[string]int
}

func newPlaces(file string) places {
	return places{file: file, tables: make(map[catalog.Name]place), functions: make(map[catalog.Name]int), settings: make(map[string]int)}
}

func (p places) locate(table catalog.Name, column string) Position {
	at, known := p.tables[table]
	if !known {
		return Position{File: p.file, Line: p.functions[table]}
	}
	if line, named := at.columns[column]; named {
		return Position{File: p.file, Line: line}
	}
	return Position{File: p.file, Line: at.line}
}

// setting is the place of a key, or of the nearest one above it.
func (p places) setting(path string) Position {
	for {
		if line, written := p.settings[path]; written {
			return Position{File: p.file, Line: line}
		}
		above := strings.LastIndexByte(path, '.')
		if above < 0 {
			return Position{File: p.file}
		}
		path = path[:above]
	}
}

// deepestSetting is how many keys lead to the settings that are located.
const deepestSetting = 3

// note keeps the lines of a document's keys, and of those below them.
func (p places) note(n *yaml.Node, above string, depth int) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode || depth == deepestSetting {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		path := strings.TrimPrefix(above+"."+n.Content[i].Value, ".")
		p.settings[path] = n.Content[i].Line
		if path != "tables" {
			p.note(n.Content[i+1], path, depth+1)
		}
	}
}

// claim is a relation's one mention, as protected or as readable.
type claim struct {
	line int
	as   string
}

const (
	asProtected = "protected"
	asReadable  = "readable"
)

// relation reads a relation's name and sees to it that it is named once.
func (r *reader) relation(n *yaml.Node, as string) (catalog.Name, bool) {
	text, ok := r.literal(n, "a table's name")
	if !ok {
		return catalog.Name{}, false
	}
	n = r.follow(n)
	name := catalog.ParseName(text)
	if what, fix := nameProblem(text, name); what != "" {
		r.wrong(n, what, fix)
		return catalog.Name{}, false
	}
	if first, twice := r.claims[name]; twice {
		if first.as == as {
			r.wrong(n, fmt.Sprintf("table %s stands twice, first on line %d", name, first.line), "remove one of them")
		} else {
			r.wrong(n, fmt.Sprintf("table %s is both protected and readable, first on line %d", name, first.line), "remove it from readable: a protected table is read through kproxy")
		}
		return catalog.Name{}, false
	}
	r.claims[name] = claim{line: n.Line, as: as}
	r.places.tables[name] = place{line: n.Line, columns: make(map[string]int)}
	return name, true
}

// nameProblem says why a relation's name cannot be one, and what to write.
func nameProblem(text string, name catalog.Name) (what, fix string) {
	const form = "write schema.table, without quotes, in the case PostgreSQL stores"
	switch {
	case strings.Count(text, ".") > 1:
		return fmt.Sprintf("table %s has more than two parts", quote(text)), form + "; a database is named in upstream"
	case name.Schema == "" || name.Relation == "" || strings.ContainsFunc(text, func(c rune) bool { return c == '"' || unicode.IsControl(c) }):
		return quote(text) + " is not the name of a table", form
	case len(name.Schema) > longestNameBytes || len(name.Relation) > longestNameBytes:
		return fmt.Sprintf("table %s has a name of more than %d bytes", quote(text), longestNameBytes), form
	case catalog.IsOwn(name.Schema):
		return fmt.Sprintf("table %s is kproxy's own", quote(text)), "name the table at its source"
	case name.Schema == "information_schema" || strings.HasPrefix(name.Schema, "pg_"):
		return fmt.Sprintf("table %s belongs to PostgreSQL", quote(text)), "name a table of your own; what clients need of the system catalogs they can read"
	}
	return "", ""
}

// systemColumns are PostgreSQL's own (chapter System Columns).
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// columnName reads a key as the name of a column.
func (r *reader) columnName(n *yaml.Node) (string, bool) {
	text, ok := r.name(n, "a column's name")
	if ok && slices.Contains(systemColumns, text) {
		r.wrong(n, "column "+text+" is PostgreSQL's own", "remove it; system columns are never published")
		return "", false
	}
	return text, ok
}
