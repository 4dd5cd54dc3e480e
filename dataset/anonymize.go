package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
)

// Table is a file as its policy sees it, ready to be anonymized.
type Table struct {
	Publication catalog.Publication
	// Schema names what constraints speak of.
	Schema privacy.Schema
	// Records has the quasi-identifiers in the order of Publication.Attributes,
	// the sensitive attributes in that of Schema.Sensitive, then the label, if any,
	// and the subjects where the policy names them.
	Records *anonymizer.Table
	// Label is the index of the label among the sensitive attributes, -1 without.
	Label int
}

// Anonymizable codes the records of the file under its policy. Label names a
// column whose value a classifier would predict, "" for none. The error is all
// that keeps the policy from being applied to the file, joined.
func (f *File) Anonymizable(policy *config.PolicyFile, label string) (*Table, error) {
	if err := CheckColumns(f, policy); err != nil {
		return nil, err
	}
	publication, problems := catalog.Publish(policy.Table, f.Relation(policy))
	if len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = fmt.Sprintf("%s: %v", policy.Locate(p.Table, p.Column), p)
		}
		return nil, fmt.Errorf("the policy cannot be applied to the data:\n%s", strings.Join(lines, "\n"))
	}
	t := &Table{Publication: publication, Label: -1}
	var err error
	if t.Schema, err = publication.NewSchema(); err != nil {
		return nil, err
	}
	sensitive := f.codeSensitive(t.Schema)
	if label != "" {
		column := slices.Index(f.Columns, label)
		if column < 0 {
			return nil, fmt.Errorf("there is no column %q to take labels from: there are %s", label, strings.Join(f.Columns, ", "))
		}
		t.Label = len(sensitive)
		sensitive = append(sensitive, f.code(column, privacy.NewDictionary()))
	}
	attributes, err := publication.NewAttributes()
	if err != nil {
		return nil, err
	}
	if t.Records, err = anonymizer.NewTable(attributes, f.encode(attributes), sensitive); err != nil {
		return nil, err
	}
	if subject := publication.Policy.Subject; subject != "" {
		t.Records, err = t.Records.WithSubjects(f.code(slices.Index(f.Columns, subject), privacy.NewDictionary()))
	}
	return t, err
}

// Like codes the records of this file as those of a table, which it must have the
// quasi-identifying columns of; nothing else of them is taken.
func (f *File) Like(t *Table) (*anonymizer.Table, error) {
	attributes := t.Records.Attributes()
	for _, a := range attributes {
		if !slices.Contains(f.Columns, a.Name) {
			return nil, fmt.Errorf("there is no column %q: there are %s", a.Name, strings.Join(f.Columns, ", "))
		}
	}
	return anonymizer.NewTable(attributes, f.encode(attributes), nil)
}

func (f *File) codeSensitive(schema privacy.Schema) [][]uint32 {
	columns := make([][]uint32, len(schema.Sensitive))
	for i, s := range schema.Sensitive {
		columns[i] = f.code(slices.Index(f.Columns, s.Name), s.Values)
	}
	return columns
}

func (f *File) code(column int, values *privacy.Dictionary) []uint32 {
	codes := make([]uint32, len(f.Records))
	for i := range f.Records {
		codes[i] = values.Code(f.text(i, column))
	}
	return codes
}

func (f *File) encode(attributes []anonymizer.Attribute) [][]hierarchy.Cell {
	cells := make([][]hierarchy.Cell, len(attributes))
	for a, attribute := range attributes {
		column := slices.Index(f.Columns, attribute.Name)
		cells[a] = make([]hierarchy.Cell, len(f.Records))
		for i := range f.Records {
			cells[a][i] = hierarchy.OffScale()
			if text := f.text(i, column); text != "" {
				cells[a][i] = attribute.Hierarchy.Encode(text)
			}
		}
	}
	return cells
}

// text is a record's field; column -1 is the generated key, which numbers the
// records from 1.
func (f *File) text(record, column int) string {
	if column < 0 {
		return strconv.Itoa(record + 1)
	}
	return f.Records[record][column]
}
