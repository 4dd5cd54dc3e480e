package dataset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/persons"
)

// ReadTables reads the files of several tables, given by their paths, all of one form.
// The errors are those of Read, joined.
func ReadTables(paths map[catalog.Name]string, form config.CSV) (map[catalog.Name]*File, error) {
	return ReadTablesWatched(context.Background(), paths, form, nil)
}

// ReadTablesWatched is ReadTables for large files: told is called from time to time with how many
// records of the file at hand are read. The error can be the context's, too.
func ReadTablesWatched(ctx context.Context, paths map[catalog.Name]string, form config.CSV, told func(records int)) (map[catalog.Name]*File, error) {
	files := make(map[catalog.Name]*File)
	untyped := maps.Clone(form.Types) // columns that no file has
	var errs []error
	for _, name := range slices.SortedFunc(maps.Keys(paths), catalog.Name.Compare) {
		f := &File{form: form, path: paths[name], one: true}
		files[name] = f
		if err := f.open(ctx, told); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, column := range f.Columns {
			delete(untyped, column)
		}
		errs = append(errs, f.takeTypes())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(untyped) > 0 {
		return nil, fmt.Errorf("csv.types has columns that no file has: %s", strings.Join(slices.Sorted(maps.Keys(untyped)), ", "))
	}
	return files, nil
}

// Persons takes the records of a policy's kind of person, each table's from its file, in
// their order. Warnings are as those of Table, each with its table. The error is all
// that keeps the policy from being applied to the files, joined.
func Persons(policy *config.PolicyFile, files map[catalog.Name]*File) (b *persons.Builder, warnings []string, err error) {
	kind := policy.People[0]
	policies, relations := make(map[catalog.Name]catalog.TablePolicy), make(map[catalog.Name]catalog.Relation)
	var errs []error
	for _, table := range policy.Policy().Tables {
		f, own := files[table.Table], policy.Of(table)
		table.Updates = catalog.Updates{} // files are published once
		formed, wrong := f.inOutputForm(table)
		errs = append(errs, CheckColumns(f, own), wrong)
		policies[table.Table], relations[table.Table] = formed, f.Relation(own)
	}
	kind.Constraints = slices.Clone(kind.Constraints)
	for i, c := range kind.Constraints {
		formed, wrong := formedConstraint(c, files)
		kind.Constraints[i] = formed
		errs = append(errs, wrong)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	publication, problems := catalog.PublishPeople(kind, policies, relations)
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("%s: %w", policy.Locate(p.Table, p.Column), p))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, fmt.Errorf("the policy cannot be applied to the data:\n%w", err)
	}
	if b, err = persons.NewBuilder(publication); err != nil {
		return nil, nil, err
	}
	for i, name := range kind.Names() {
		own := publication.Root
		if i > 0 {
			own = publication.Tables[people.Root+i]
		}
		errs = append(errs, files[name].checkBounded(own))
		for _, warning := range files[name].warnings(own) {
			warnings = append(warnings, fmt.Sprintf("%s: %s", name, warning))
		}
		files[name].addTo(b, people.Root+i)
	}
	return b, warnings, errors.Join(errs...)
}

// formedConstraint is a constraint over several tables with values in output form.
func formedConstraint(c privacy.Spec, files map[catalog.Name]*File) (privacy.Spec, error) {
	table, column, ok := catalog.ParseQualifiedColumn(c.Of)
	if !ok {
		return c, nil
	}
	formed, err := files[table].inOutputForm(catalog.TablePolicy{Constraints: []privacy.Spec{{Model: c.Model, L: c.L, Alpha: c.Alpha, Of: column, Values: c.Values}}})
	c.Values = formed.Constraints[0].Values
	return c, err
}

// addTo adds the file's records to those of a table.
func (f *File) addTo(b *persons.Builder, table int) {
	columns := b.Columns(table)
	texts := make([]*fields, len(columns))
	for i, name := range columns {
		texts[i] = f.named(name)
	}
	record := make([][]byte, len(columns))
	for row := range f.records {
		for i := range columns {
			record[i] = nil
			if text := texts[i].at(row); text != "" {
				record[i] = []byte(text)
			}
		}
		b.Add(table, record)
	}
}

// Column is a column of the file as values of its type, "" for a missing one. Values
// that are equal in SQL have one text.
func (f *File) Column(policy *config.PolicyFile, name string) []string {
	return coded(f.values(catalog.Publication{Relation: f.Relation(policy)}, name), func(text string) string { return text })
}
