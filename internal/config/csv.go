package config

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// PolicyFile is how one CSV file is read and how its table is protected.
type PolicyFile struct {
	CSV   CSV
	Table catalog.TablePolicy

	places places
}

// Policy is the file's policy in the form of a server's.
func (p *PolicyFile) Policy() catalog.Policy {
	return catalog.Policy{Tables: []catalog.TablePolicy{p.Table}}
}

// Locate is [Config.Locate] for a policy file.
func (p *PolicyFile) Locate(table catalog.Name, column string) Position {
	return p.places.locate(table, column)
}

// CSV is the form of a CSV file (RFC 4180, but for what is said here).
type CSV struct {
	Delimiter rune // default comma
	Header    bool // the first line has the columns' names; default true
	// Columns are the columns' names in the file's order; they stand in for a
	// header, and replace one.
	Columns []string
	// Types are the SQL types of columns, one of CSVTypes; a column without one
	// is of the type that all of its values fit.
	Types map[string]string
	// Missing is the text of a field that has no value, besides the empty one.
	Missing string
	// TrimSpaces removes spaces around fields.
	TrimSpaces bool
	// DropIncomplete leaves out records with a missing value.
	DropIncomplete bool
	// Key is the name of the bigint column that numbers the records from 1 and
	// is the table's primary key. Default row_number.
	Key string
}

// CSVTypes are the types that a CSV file's columns can have.
var CSVTypes = []string{"text", "integer", "bigint", "numeric", "date", "timestamp", "timestamptz", "boolean"}

// LoadPolicy reads a policy file, and the taxonomies it speaks of. The error is an [Errors].
func LoadPolicy(path string) (*PolicyFile, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, Errors{{File: path, What: "cannot be read: " + cause(err), Fix: "give the path of a policy file"}}
	}
	return parsePolicy(path, text, machine())
}

// ParsePolicy reads a policy file from its text. It looks at nothing else: a
// taxonomy in a file of its own is left empty. File is used in messages. The
// error is an [Errors].
func ParsePolicy(file string, text []byte) (*PolicyFile, error) { return parsePolicy(file, text, nil) }

func parsePolicy(file string, text []byte, around *surroundings) (*PolicyFile, error) {
	r := newReader(file, around)
	p := policyDefaults()
	if root := r.document(text); root != nil {
		r.policyFile(root, &p)
	}
	p.places = r.places
	if err := r.problems.asError(file); err != nil {
		return nil, err
	}
	return &p, nil
}

func policyDefaults() PolicyFile {
	return PolicyFile{CSV: CSV{Delimiter: ',', Header: true, Key: "row_number"}}
}

func (r *reader) policyFile(root *yaml.Node, p *PolicyFile) {
	var tables []catalog.TablePolicy
	var section *yaml.Node
	r.mapping(
		root, "the policy file",
		field{key: "csv", doc: "The form of the CSV file.", read: func(n *yaml.Node) {
			section = r.follow(n)
			r.csv(n, &p.CSV)
		}},
		field{key: "tables", doc: "The one table to make of the CSV file, with its policy.", need: "tables: with the table to make of the CSV file", read: r.tables(&tables, false)},
	)
	if len(tables) > 1 {
		r.wrong(root, "a policy file protects one table, not several", "write one file for each CSV file")
	}
	if len(tables) != 1 {
		return
	}
	p.Table = tables[0]
	if len(p.CSV.Columns) == 0 {
		return
	}
	known := append(slices.Clone(p.CSV.Columns), p.CSV.Key)
	for _, c := range p.Table.Columns {
		if !slices.Contains(known, c.Name) {
			line := r.places.locate(p.Table.Table, c.Name).Line
			r.report(line, 0, fmt.Sprintf("column %s is not one of the csv columns on line %d", quote(c.Name), section.Line), suggestion(c.Name, known, "the columns are"))
		}
	}
}

func (r *reader) csv(n *yaml.Node, to *CSV) {
	var columns, key *yaml.Node
	var typed []entry
	r.mapping(
		n, "csv",
		field{key: "delimiter", doc: "The character between fields, or tab.", read: r.delimiter(&to.Delimiter)},
		field{key: "header", doc: "Whether the first line has the columns' names.", read: r.storeBool(&to.Header, "header")},
		field{key: "columns", doc: "The columns' names in the file's order; they replace a header.", read: func(n *yaml.Node) { columns = r.follow(n); to.Columns = r.csvColumns(n) }},
		field{key: "types", doc: "The SQL types of columns. Without it: the narrowest type that all values fit.", read: func(n *yaml.Node) { to.Types, typed = r.csvTypes(n) }},
		field{key: "missing", doc: "The text of a field that has no value, besides the empty one.", read: func(n *yaml.Node) {
			if text, ok := r.literal(n, "missing"); ok {
				to.Missing = text
			}
		}},
		field{key: "trim_spaces", doc: "Whether spaces around fields are removed.", read: r.storeBool(&to.TrimSpaces, "trim_spaces")},
		field{key: "drop_incomplete", doc: "Whether records with a missing value are left out.", read: r.storeBool(&to.DropIncomplete, "drop_incomplete")},
		field{key: "key", doc: "The name of the column that numbers the records and is the table's primary key.", read: func(n *yaml.Node) { key = r.follow(n); r.storeName(&to.Key, "key")(n) }},
	)
	if !to.Header && columns == nil {
		r.wrong(r.follow(n), "csv has neither a header nor columns", "write columns: [name, name] in the file's order")
	}
	if len(to.Columns) == 0 {
		return
	}
	if slices.Contains(to.Columns, to.Key) {
		at := columns
		if key != nil {
			at = key
		}
		r.wrong(at, fmt.Sprintf("the generated key %s is also the name of a csv column", quote(to.Key)), "write key: and another name")
	}
	for _, e := range typed {
		if !slices.Contains(to.Columns, e.key.Value) {
			r.wrong(e.key, fmt.Sprintf("column %s is not one of the csv columns", quote(e.key.Value)), suggestion(e.key.Value, to.Columns, "the columns are"))
		}
	}
}

func (r *reader) delimiter(to *rune) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.byDefault(n, string(*to))
		text, ok := r.literal(n, "delimiter")
		if !ok {
			return
		}
		if text == "tab" {
			text = "\t"
		}
		c, size := utf8.DecodeRuneInString(text)
		if size != len(text) || c == utf8.RuneError || c == '"' || c == '\r' || c == '\n' || c == 0 {
			r.wrong(r.follow(n), "delimiter is not a single character that can separate fields", `write ",", ";", "|" or tab`)
			return
		}
		*to = c
	}
}

func (r *reader) csvColumns(n *yaml.Node) []string {
	var columns []string
	lines := make(map[string]int)
	for _, item := range r.items(n, "columns", "a list: [age, sex, postcode]") {
		if r.exhausted() {
			return nil
		}
		name, ok := r.columnName(item)
		if !ok {
			continue
		}
		if line, twice := lines[name]; twice {
			r.wrong(r.follow(item), fmt.Sprintf("csv column %s stands twice, first on line %d", quote(name), line), "give each column a name of its own")
			continue
		}
		lines[name] = r.follow(item).Line
		columns = append(columns, name)
	}
	return columns
}

// csvTypes reads the types, and returns the entries for what is to be said of their keys.
func (r *reader) csvTypes(n *yaml.Node) (map[string]string, []entry) {
	entries, _ := r.entries(n, "types")
	types := make(map[string]string, len(entries))
	for _, e := range entries {
		if name, ok := choose(r, e.value, "type", words(CSVTypes)...); ok {
			types[e.key.Value] = name.String()
		}
	}
	return types, entries
}
