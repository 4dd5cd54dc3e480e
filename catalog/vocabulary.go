package catalog

// rangeSuffix makes the name of the column that shows a representative's range.
const rangeSuffix = "_range"

// vocabulary are the words that name what clients can see of a snapshot's relations:
// schemas, relations, and published columns. It is closed: nothing a client writes gets
// into it.
func vocabulary(s *Snapshot, policy Policy, relations []Relation) map[string]bool {
	words := make(map[string]bool)
	for schema := range s.schemas {
		words[schema] = true
	}
	policies := make(map[Name]TablePolicy, len(policy.Tables))
	for _, t := range policy.Tables {
		policies[t.Table] = t
	}
	for name, r := range s.relations {
		if r.Disposition != Forbidden {
			words[name.Relation] = true
		}
	}
	for _, r := range relations {
		t, protected := policies[r.Name]
		if s.relations[r.Name].Disposition == Forbidden {
			continue
		}
		for _, c := range r.Columns {
			if named, ok := t.Column(c.Name); protected && (!ok || named.Role == Identifying) {
				continue
			}
			words[c.Name] = true
			if protected {
				words[c.Name+rangeSuffix] = true
			}
		}
	}
	for name := range s.functions {
		words[name.Relation] = true
	}
	words[ClassColumn(0)], words[WeightColumn] = true, true
	return words
}

// Names says whether a word, folded as PostgreSQL does, names a schema, a relation, a
// published column or a listed function that clients can see.
func (s *Snapshot) Names(word string) bool { return s.words[word] }
