package config

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// PolicyFile is how CSV files are read and how their tables are protected: one table, or
// those of one kind of person.
type PolicyFile struct {
	CSV CSV
	// Table is the only table; with People, which are then one kind, it is empty.
	Table  catalog.TablePolicy
	People []catalog.People
	// Audiences see releases of their own of the table, or the tables.
	Audiences []catalog.Audience

	tables []catalog.TablePolicy
	places places
}

// Policy is the file's policy in the form of a server's.
func (p *PolicyFile) Policy() catalog.Policy {
	return catalog.Policy{Tables: p.tables, People: p.People, Audiences: p.Audiences}
}

// Of is the part of the policy that is about one table of several.
func (p *PolicyFile) Of(table catalog.TablePolicy) *PolicyFile {
	return &PolicyFile{CSV: p.CSV, Table: table, tables: []catalog.TablePolicy{table}, places: p.places}
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
	p := &PolicyFile{CSV: f.CSV, People: f.people, Audiences: f.audiences, places: d.places}
	for i := range f.Tables {
		p.tables = append(p.tables, f.Tables[i].policy)
	}
	if len(f.people) == 0 {
		p.Table = p.tables[0]
	}
	return p, nil
}

// policyFile is a policy file as it is written.
type policyFile struct {
	CSV    CSV          `yaml:"csv" doc:"The form of the CSV file, or of all files."`
	Tables []table      `yaml:"tables" each:"table" may:"updates" need:"tables: with the table to make of the CSV file" empty:"nothing is protected" fix:"schema.table: with its policy under it" doc:"The table to make of the CSV file, with its policy; or the tables of people."`
	People []personKind `yaml:"people" each:"kind of person" may:"updates" empty:"no tables belong together" fix:"patient: with root:, key:, knows:, tables: and constraints: under it" doc:"The kind of person whose rows stand in several tables, each in a CSV file of its own, which are released together."`

	Audiences []audience `yaml:"audiences" each:"audience" omit:"readers" empty:"there is one release" fix:"partners: with tables: under it" doc:"Coarser releases of the same table or, by people, tables, from the finest to the coarsest: the classes of each are unions of those of the one before, so that who has several of them learns what the finest tells."`

	people    []catalog.People
	audiences []catalog.Audience
}

var policyFileSection = sync.OnceValue(func() *section { return sectionOf(reflect.TypeFor[policyFile](), selection{}) })

func (p *policyFile) check(d *decoder, root *yaml.Node, _ string) {
	for i := range p.Tables {
		d.claimTable(&p.Tables[i])
	}
	p.people = d.checkPeople(p.Tables, p.People, false)
	d.checkPeopleApart(p.Audiences, p.people)
	p.audiences = d.checkAudiences(p.Tables, p.people, p.Audiences)
	if d.at(&p.People) != nil {
		p.checkFiles(d)
		return
	}
	if len(p.Tables) > 1 {
		d.wrong(root, "a policy file protects one table, not several", "write one file for each CSV file, or say in people how the tables belong together")
	}
	if len(p.Tables) != 1 {
		return
	}
	table := &p.Tables[0]
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

// checkFiles sees to it that a policy for several files is about one kind of person, and
// that each file has a header.
func (p *policyFile) checkFiles(d *decoder) {
	for i := 1; i < len(p.People); i++ {
		d.wrong(d.keys[&p.People[i]], "a policy file is about one kind of person", "write one file for each")
	}
	if at := d.at(&p.CSV.Columns); at != nil {
		d.wrong(at, "csv.columns are those of one file, and people has several", "remove it, and give each file a header")
	}
	if len(p.people) != 1 {
		return
	}
	for i := range p.Tables {
		if t := &p.Tables[i]; !slices.Contains(p.people[0].Names(), t.Table) && t.Table != (catalog.Name{}) {
			d.wrong(d.keys[t], fmt.Sprintf("table %s is in a policy file with people, but is no table of %s", t.Table, p.people[0].Kind), "name it there, or write a policy file of its own")
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
