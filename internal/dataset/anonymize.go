package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
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

	types    map[string]string // of the file's columns
	warnings []string
}

// Warnings are problems of the file under its policy that do not prevent publication, a sentence
// each: values that the policy names and the file does not have, the number of values that
// the policy's orders and taxonomies lack, and sensitive columns that are texts because of
// few fields.
func (t *Table) Warnings() []string { return t.warnings }

// Anonymizable codes the records of the file under its policy. Label names a column whose value
// a classifier would predict, "" for none. The error joins all problems that prevent the
// policy from being applied to the file.
func (f *File) Anonymizable(policy *config.PolicyFile, label string) (*Table, error) {
	if err := CheckColumns(f, policy); err != nil {
		return nil, err
	}
	formed, err := f.inOutputForm(policy.Table)
	if err != nil {
		return nil, err
	}
	if formed.Updates.Mode == 0 { // what is published once has none
		formed.Updates.Mode = catalog.Immediate
	}
	publication, problems := catalog.Publish(formed, f.Relation(policy))
	if len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = fmt.Sprintf("%s: %v", policy.Locate(p.Table, p.Column), p)
		}
		return nil, fmt.Errorf("the policy cannot be applied to the data:\n%s", strings.Join(lines, "\n"))
	}
	if err := f.checkBounded(publication); err != nil {
		return nil, err
	}
	t := &Table{Publication: publication, Label: -1, types: make(map[string]string), warnings: f.warnings(publication)}
	for i, name := range f.Columns {
		t.types[name] = f.Types[i]
	}
	if t.Schema, err = publication.NewSchema(); err != nil {
		return nil, err
	}
	var sensitive [][]uint32
	for _, s := range t.Schema.Sensitive {
		sensitive = append(sensitive, code(f.values(publication, s.Name), s.Values))
	}
	if label != "" {
		if !slices.Contains(f.Columns, label) {
			return nil, fmt.Errorf("there is no column %q to take labels from: there are %s", label, strings.Join(f.Columns, ", "))
		}
		t.Label = len(sensitive)
		sensitive = append(sensitive, code(f.values(publication, label), privacy.NewDictionary()))
	}
	attributes, err := publication.NewAttributes()
	if err != nil {
		return nil, err
	}
	cells := make([][]hierarchy.Cell, len(attributes))
	for a, attribute := range attributes {
		cells[a] = encode(f.named(attribute.Name), attribute.Hierarchy)
	}
	if t.Records, err = anonymizer.NewTable(attributes, cells, sensitive); err != nil {
		return nil, err
	}
	if subject := publication.Policy.Subject; subject != "" {
		t.Records, err = t.Records.WithSubjects(code(f.values(publication, subject), privacy.NewDictionary()))
	}
	return t, err
}

// Like codes the records of this file like those of a table: only the quasi-identifying columns,
// by their types in the table, and the subject, if there is one.
func (f *File) Like(t *Table) (*anonymizer.Table, error) {
	wrong := &mistakes{file: f}
	attributes := t.Records.Attributes()
	cells := make([][]hierarchy.Cell, len(attributes))
	for a, attribute := range attributes {
		texts, err := f.textsLike(t, attribute.Name, wrong)
		if err != nil {
			return nil, err
		}
		cells[a] = encode(texts, attribute.Hierarchy)
	}
	subject := t.Publication.Policy.Subject
	var persons *fields
	if subject != "" {
		var err error
		if persons, err = f.textsLike(t, subject, wrong); err != nil {
			return nil, fmt.Errorf("the subject, which tells persons apart: %w", err)
		}
	}
	if err := wrong.asError(); err != nil {
		return nil, err
	}
	records, err := anonymizer.NewTable(attributes, cells, nil)
	if err != nil || subject == "" {
		return records, err
	}
	return records.WithSubjects(code(canonical(t.Publication, subject, persons), privacy.NewDictionary()))
}

// textsLike are the texts of a column as values of the type that the column of
// the same name has in a table.
func (f *File) textsLike(t *Table, name string, wrong *mistakes) (*fields, error) {
	if column := slices.Index(f.Columns, name); column >= 0 {
		return f.convert(column, t.types[name], wrong), nil
	}
	if name != f.form.Key {
		return nil, fmt.Errorf("there is no column %q: there are %s", name, strings.Join(f.Columns, ", "))
	}
	return f.named(name), nil
}

// named is a column; one that the file does not have is the generated key, which
// numbers the records from 1.
func (f *File) named(name string) *fields {
	if column := slices.Index(f.Columns, name); column >= 0 {
		return f.fields[column]
	}
	return keyFields(f.records)
}

// values is a column with one text for values that are equal in SQL.
func (f *File) values(p catalog.Publication, name string) *fields {
	return canonical(p, name, f.named(name))
}

func canonical(p catalog.Publication, name string, texts *fields) *fields {
	column, _ := p.Relation.Column(name)
	if column.BaseType != "numeric" && column.BaseType != "bool" { // of other types of files, texts are equal where values are
		return texts
	}
	return texts.mapped(func(text string) string { return catalog.Canonical(column.BaseType, text) })
}

// code numbers values; a missing one is a value of its own.
func code(texts *fields, values *privacy.Dictionary) []uint32 {
	return coded(texts, func(text string) uint32 {
		if text == "" {
			return values.Null()
		}
		return values.Code(text)
	})
}

func encode(texts *fields, h hierarchy.Hierarchy) []hierarchy.Cell {
	return coded(texts, func(text string) hierarchy.Cell {
		if text == "" {
			return hierarchy.OffScale()
		}
		return h.Encode(text)
	})
}
