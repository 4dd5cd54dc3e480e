package propose

import (
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// imply adds references that the database does not declare: a column named after a table
// and its key, such as patient_id of patients, or as that table's key, unless that is only
// id.
func imply(found []*finding) {
	for _, f := range found {
		for i := range f.Columns {
			c := &f.Columns[i]
			if c.References != (catalog.Name{}) {
				continue
			}
			for _, target := range found {
				if target != f && target.isTable() && named(c, target) {
					c.References = target.Name
					break
				}
			}
		}
	}
}

// named says that a column has the name that one referring to the table's only key has.
func named(c *Column, target *finding) bool {
	keys := slices.DeleteFunc(slices.Clone(target.Columns), func(k Column) bool { return !k.Key })
	if len(keys) != 1 || keys[0].Type != c.Type {
		return false
	}
	key := keys[0].Name
	if strings.EqualFold(c.Name, key) {
		generic := slices.Contains([]string{"id", "key", "code", "name", "nr", "no", "uuid", "number"}, strings.ToLower(key))
		return !generic && target.called(key)
	}
	words, table := split(c.Name), split(target.Name.Relation)
	if len(words) < 2 || len(table) == 0 || !slices.Contains([]string{"id", "no", "nr", "key", "uuid", "number", "code"}, words[len(words)-1]) {
		return false
	}
	return singular(words[len(words)-2], table[len(table)-1])
}

// called says that a key is called after the table, or, of a table of persons, after
// persons: other keys can have the same name by accident, such as row_id.
func (f *finding) called(key string) bool {
	words, table := split(key), split(f.Name.Relation)
	if len(words) == 0 || len(table) == 0 {
		return false
	}
	return singular(words[0], table[len(table)-1]) || f.people && slices.ContainsFunc(words, func(w string) bool { return isOf(w, persons) })
}

// singular says that a word is the singular of the other, or the same.
func singular(one, many string) bool {
	if one == many {
		return true
	}
	for _, ending := range []string{"s", "es", "n", "en", "e", "er"} {
		if one+ending == many {
			return true
		}
	}
	return strings.HasSuffix(one, "y") && strings.TrimSuffix(one, "y")+"ies" == many
}

// relate finds the tables that have personal data through references: those with a column that
// refers to a table of persons, and those that refer to these in turn.
func relate(found []*finding) {
	at := make(map[catalog.Name]*finding, len(found))
	for _, f := range found {
		at[f.Name] = f
	}
	for _, f := range found {
		// Orders have cards and addresses, and are their customers', who are elsewhere.
		if !namesPersons(f.Name.Relation) && slices.ContainsFunc(f.Columns, func(c Column) bool {
			target := at[c.References]
			return target != nil && target != f && target.people && namesPersons(target.Name.Relation) && !answers(c, target)
		}) {
			f.people = false
		}
	}
	for _, f := range found {
		if f.people {
			f.about = f.Name
		}
	}
	for _, f := range found {
		for i := range f.Columns {
			c := &f.Columns[i]
			target := at[c.References]
			if target == nil || target == f && !f.people {
				continue
			}
			target.referenced = target.referenced || target != f
			if !target.people {
				continue
			}
			c.ToPersons = true
			f.refer(*c, target)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, f := range found {
			if f.people || f.subject != "" || f.through != (catalog.Name{}) {
				continue
			}
			for i, c := range f.Columns {
				target := at[c.References]
				if target == nil || target == f || target.people || target.subject == "" && target.through == (catalog.Name{}) {
					continue
				}
				f.through, f.Columns[i].ToPersons, changed = target.Name, true, true
				break
			}
		}
	}
	for _, f := range found {
		for i, c := range f.Columns {
			if target := at[c.References]; target != nil && target != f && target.subject != "" {
				f.Columns[i].ToPersons = true
			}
		}
	}
}

// refer notes that a column refers to a table of persons: it is the subject, unless it
// only says who did something. A table of persons that refers to others has each of its
// own but where the reference is its key.
func (f *finding) refer(c Column, target *finding) {
	switch {
	case target == f:
	case answers(c, target) && !c.Key:
		if f.actor == "" {
			f.actor = c.Name
		}
	case f.people && !c.Key:
	case f.subject == "" || c.Key && !f.isKey(f.subject):
		f.subject, f.about = c.Name, target.Name
	}
}

// answers says that a column tells who did something to a row, or answers for it, unless
// it is called after the table of persons to which it refers.
func answers(c Column, target *finding) bool {
	words, table := split(c.Name), split(target.Name.Relation)
	if len(words) == 2 && len(table) > 0 && singular(words[0], table[len(table)-1]) {
		return false
	}
	return isActor(c.Name)
}

func (f *finding) isKey(column string) bool {
	return slices.ContainsFunc(f.Columns, func(c Column) bool { return c.Name == column && c.Key })
}
