package config

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// places are the lines on which tables and their columns stand.
type places struct {
	file   string
	tables map[catalog.Name]place
	// functions are the lines of functions, whose names are not those of tables.
	functions map[catalog.Name]int
	// hidden are the lines of columns below hide.
	hidden map[hiddenColumn]int
	// settings are the lines of keys, by their paths.
	settings map[string]int
}

type place struct {
	line    int
	columns map[string]int
}

// hiddenColumn is a column that is hidden from an audience, or, where that is empty, from its table's own readers.
type hiddenColumn struct {
	audience string
	table    catalog.Name
	column   string
}

func newPlaces(file string) places {
	return places{
		file: file, tables: make(map[catalog.Name]place), functions: make(map[catalog.Name]int),
		hidden: make(map[hiddenColumn]int), settings: make(map[string]int),
	}
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

// hide is where a column is hidden from an audience: below the audience, or below the table, which shows it to
// those that say so.
func (p places) hide(c hiddenColumn) Position {
	line, written := p.hidden[c]
	if !written {
		c.audience = ""
		line = p.hidden[c]
	}
	return Position{File: p.file, Line: line}
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
