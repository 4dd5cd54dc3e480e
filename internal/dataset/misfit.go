package dataset

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// typesOf are the types whose values hierarchies of a kind stand over, and words
// for such values.
var typesOf = map[hierarchy.Kind]struct {
	names []string
	words string
}{
	hierarchy.Numeric: {[]string{"bigint", "numeric"}, "number"},
	hierarchy.Date:    {[]string{"date", "timestamp", "timestamptz"}, "date"},
}

// arrangedBy is the kind of hierarchy that a policy wants over a column, where that
// is one of numbers or dates; false where it is not. A column whose distances are
// to be ordered and that has no hierarchy is arranged as most of its values are.
func (f *File) arrangedBy(table catalog.TablePolicy, column int) (kind hierarchy.Kind, wanted bool) {
	c, named := table.Column(f.Columns[column])
	if named && c.Hierarchy != nil {
		return c.Hierarchy.Kind, typesOf[c.Hierarchy.Kind].names != nil
	}
	ordered := slices.ContainsFunc(table.Constraints, func(s privacy.Spec) bool {
		return s.Model == privacy.TClose && s.Distance == privacy.OrderedDistance && s.Of == f.Columns[column]
	})
	if !ordered {
		return 0, false
	}
	name, _, _, nearly := f.Nearly(column)
	if slices.Contains(typesOf[hierarchy.Date].names, name) {
		kind = hierarchy.Date
	}
	return kind, nearly
}

// undecided says that a column, one of the file itself, is a text for want of a
// better type.
func (f *File) undecided(column int) bool {
	return column >= 0 && f.Types[column] == "text" && f.form.Types[f.Columns[column]] == ""
}

// Nearly describes a column that is a text only because of a few fields: the type that most of
// its values have, the line of the first field that does not have it, and the number of such
// fields. It is false for other columns.
func (f *File) Nearly(column int) (typeName string, line, misfits int, ok bool) {
	if !f.undecided(column) {
		return "", 0, 0, false
	}
	for _, kind := range []hierarchy.Kind{hierarchy.Numeric, hierarchy.Date} {
		name, wrong, values := f.nearest(column, kind)
		if wrong.total > 0 && 2*wrong.total < values {
			return name, wrong.first[0].line, wrong.total, true
		}
	}
	return "", 0, 0, false
}

// nearest is the type of the kind that most values of a column have, with those
// that do not.
func (f *File) nearest(column int, kind hierarchy.Kind) (name string, wrong *mistakes, values int) {
	values = f.present(column)
	for _, candidate := range typesOf[kind].names {
		m := &mistakes{file: f}
		f.convert(column, candidate, m)
		if wrong == nil || m.total < wrong.total {
			name, wrong = candidate, m
		}
	}
	for i := range wrong.first {
		wrong.first[i].not = "no " + typesOf[kind].words
	}
	return name, wrong, values
}

func (f *File) present(column int) (values int) {
	for _, n := range f.fields[column].tally() {
		values += n
	}
	return values
}

// checkValues says why an undecided column is a text, though a hierarchy of the
// kind stands over it.
func (f *File) checkValues(column int, kind hierarchy.Kind, at config.Position) error {
	what := f.Columns[column]
	name, wrong, values := f.nearest(column, kind)
	switch {
	case values == 0:
		return fmt.Errorf("%s: %s has no values, so that its type is not known: write csv.types: {%s: %s}", at, what, scalar(what), name)
	case wrong.total == 0:
		first := 0
		for i, field := range f.fields[column].all() {
			if first = i; field != "" && (f.declared != nil || !isPlain(kind, field)) {
				break
			}
		}
		return fmt.Errorf("%s: %s is %s, which is taken for a text: if it is a %s, write csv.types: {%s: %s}",
			f.at(f.lines.of(first)), what, quote(f.Field(first, column)), typesOf[kind].words, scalar(what), name)
	case 2*wrong.total > values:
		_ = wrong.asError()
		return fmt.Errorf("%s: a %s hierarchy does not fit %s: most of its values are no %ss, as %s on line %d; use another kind, for example categorical or prefix",
			at, kind, what, typesOf[kind].words, quote(wrong.first[0].text), wrong.first[0].line)
	}
	return wrong.asError()
}

// isPlain says whether a value is one of the kind at first sight.
func isPlain(kind hierarchy.Kind, value string) bool {
	return slices.ContainsFunc(inferable, func(t inferredType) bool {
		return slices.Contains(typesOf[kind].names, t.name) && t.fits(value)
	})
}
