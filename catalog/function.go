package catalog

import (
	"fmt"
	"maps"
	"slices"
)

// ListedFunction is a function that the policy lists, as it was when it was accepted. It maps the argument
// types of each overload, as PostgreSQL writes them, to the MD5 of all that decides what the
// overload does.
type ListedFunction map[string]string

// Changes describes the differences between the functions that have the name now and those that
// were accepted, each in a few words; there are none if clients may call them. A dropped
// function is no difference, since it cannot be called.
func (f ListedFunction) Changes(name Name, now ListedFunction) []string {
	var changes []string
	for _, arguments := range slices.Sorted(maps.Keys(now)) {
		switch before, accepted := f[arguments]; {
		case !accepted:
			changes = append(changes, fmt.Sprintf("%s(%s) was added", name, arguments))
		case before != now[arguments]:
			changes = append(changes, fmt.Sprintf("%s(%s) has another definition, or another owner", name, arguments))
		}
	}
	return changes
}

// WithoutFunctions is the snapshot in which listed functions are withdrawn.
func (s *Snapshot) WithoutFunctions(withdrawn map[Name]bool) *Snapshot {
	if len(withdrawn) == 0 {
		return s
	}
	with := *s
	with.functions = maps.Clone(s.functions)
	with.uncallable = make(map[Name]bool)
	for name := range withdrawn {
		if s.functions[name] {
			delete(with.functions, name)
			with.uncallable[name] = true
		}
	}
	return &with
}

// IsWithdrawn reports whether a function is listed and must not be called now. Without a schema,
// it considers all schemas.
func (s *Snapshot) IsWithdrawn(schema, function string) bool {
	for name := range s.uncallable {
		if name.Relation == function && (name.Schema == schema || schema == "") {
			return true
		}
	}
	return false
}
