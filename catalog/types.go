package catalog

import "strings"

// visibleTypes are the types of users that clients may name, with what they are called
// in the database: those of columns that are published or readable, and the row types
// of published and readable tables, which are those of the views that are read for them. Those of
// withdrawn tables are not: what a type calls may be why.
func visibleTypes(policy Policy, relations []Relation, withdrawn map[Name]string) map[Name]Name {
	policies := make(map[Name]TablePolicy, len(policy.Tables))
	for _, t := range policy.Tables {
		policies[t.Table] = t
	}
	readable := make(map[Name]bool, len(policy.Readable))
	for _, name := range policy.Readable {
		readable[name] = true
	}
	types := make(map[Name]Name)
	for _, r := range relations {
		t, protected := policies[r.Name]
		if _, gone := withdrawn[r.Name]; gone || !protected && !readable[r.Name] {
			continue
		}
		plain := r.Kind != KindView && r.Kind != KindMaterializedView
		for _, c := range r.Columns {
			if named, ok := t.Column(c.Name); protected && (!ok || named.Role == Identifying) {
				continue
			}
			if c.UserType != (Name{}) && !c.NamesObjects {
				types[c.UserType] = c.UserType
			}
			plain = plain && !c.NamesObjects && (c.UserType != Name{} || isOwnType(c))
		}
		if plain {
			types[r.Name] = PublishedFor(policy.Audience, r.Name)
		}
	}
	return types
}

// isOwnType says whether a column's type is PostgreSQL's own.
func isOwnType(c Column) bool { return !strings.Contains(c.BaseType, ".") }

// Type is what a type that clients call by this name is called in the database.
func (s *Snapshot) Type(schema, name string) (Name, bool) {
	target, ok := s.types[Name{Schema: schema, Relation: name}]
	if s.relations[Name{Schema: schema, Relation: name}].Disposition == Withdrawn {
		return Name{}, false
	}
	if array := strings.TrimPrefix(name, "_"); !ok && array != name {
		// PostgreSQL's name of an array, unless that was taken.
		target, ok = s.types[Name{Schema: schema, Relation: array}]
		target.Relation = name
	}
	return target, ok
}
