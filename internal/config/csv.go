package config

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

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
	Delimiter rune `yaml:"delimiter" as:"delimiter" default:"," doc:"The character between fields, or tab."`
	Header    bool `yaml:"header" default:"true" doc:"Whether the first line has the columns' names."`
	// Columns stand in for a header, and replace one.
	Columns []string `yaml:"columns" as:"column" each:"csv column" fix:"a list: [age, sex, postcode]" doc:"The columns' names in the file's order; they replace a header."`
	// Types are the SQL types of columns; a column without one is of the type that all of its
	// values fit.
	Types          map[string]string `yaml:"types" each:"type" choices:"text integer bigint numeric date timestamp timestamptz boolean" doc:"The SQL types of columns. Without it: the narrowest type that all values fit."`
	Missing        string            `yaml:"missing" as:"literal" doc:"The text of a field that has no value, besides the empty one."`
	TrimSpaces     bool              `yaml:"trim_spaces" default:"false" doc:"Whether spaces around fields are removed."`
	DropIncomplete bool              `yaml:"drop_incomplete" default:"false" doc:"Whether records with a missing value are left out."`
	// Key is a bigint column, which numbers from 1.
	Key string `yaml:"key" as:"name" default:"row_number" doc:"The name of the column that numbers the records and is the table's primary key."`
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

func parsePolicy(path string, text []byte, around *surroundings) (*PolicyFile, error) {
	d := newDecoder(path, around)
	var f policyFile
	if root := d.document(text); root != nil {
		policyFileSection().read(d, root, "the policy file", reflect.ValueOf(&f).Elem())
	}
	if err := d.problems.asError(path); err != nil {
		return nil, err
	}
	return &PolicyFile{CSV: f.CSV, Table: f.policy, places: d.places}, nil
}

// policyFile is a policy file as it is written.
type policyFile struct {
	CSV    CSV     `yaml:"csv" doc:"The form of the CSV file."`
	Tables []table `yaml:"tables" each:"table" may:"updates" need:"tables: with the table to make of the CSV file" empty:"nothing is protected" fix:"schema.table: with its policy under it" doc:"The one table to make of the CSV file, with its policy."`

	policy catalog.TablePolicy
}

var policyFileSection = sync.OnceValue(func() *section { return sectionOf(reflect.TypeFor[policyFile](), selection{}) })

func (p *policyFile) check(d *decoder, root *yaml.Node, _ string) {
	if len(p.Tables) > 1 {
		d.wrong(root, "a policy file protects one table, not several", "write one file for each CSV file")
	}
	for i := range p.Tables {
		d.claimTable(&p.Tables[i])
	}
	if len(p.Tables) != 1 {
		return
	}
	table := &p.Tables[0]
	p.policy = table.policy
	if len(p.CSV.Columns) == 0 {
		return
	}
	known := append(slices.Clone(p.CSV.Columns), p.CSV.Key)
	for i := range table.Columns {
		c := &table.Columns[i]
		if !slices.Contains(known, c.Name) {
			d.wrong(d.keys[c], fmt.Sprintf("column %s is not one of the csv columns on line %d", quote(c.Name), d.at(&p.CSV).Line), suggestion(c.Name, known, "the columns are"))
		}
	}
}

func (c *CSV) check(d *decoder, n *yaml.Node, _ string) {
	columns, key, types := d.at(&c.Columns), d.at(&c.Key), d.at(&c.Types)
	if !c.Header && columns == nil {
		d.wrong(n, "csv has neither a header nor columns", "write columns: [name, name] in the file's order")
	}
	if len(c.Columns) == 0 {
		return
	}
	if slices.Contains(c.Columns, c.Key) {
		if key == nil {
			key = columns
		}
		d.wrong(key, fmt.Sprintf("the generated key %s is also the name of a csv column", quote(c.Key)), "write key: and another name")
	}
	if types == nil || types.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(types.Content); i += 2 {
		if at := types.Content[i]; !slices.Contains(c.Columns, at.Value) {
			d.wrong(at, fmt.Sprintf("column %s is not one of the csv columns", quote(at.Value)), suggestion(at.Value, c.Columns, "the columns are"))
		}
	}
}
