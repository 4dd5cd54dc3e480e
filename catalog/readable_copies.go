package catalog

import (
	"maps"
	"slices"
)

// A materialized view holds copies of what it was filled with when it was refreshed last.

// Copies says whether the relation is a materialized view, or reads one: its rows are as old as
// the last REFRESH.
func (i Identity) Copies() bool {
	return i.Kind == string(KindMaterializedView) || slices.ContainsFunc(slices.Collect(maps.Values(i.Reads)), Identity.Copies)
}

// Refills says whether a materialized view would be filled with something else than was accepted,
// or may have been for a time: by a view under it with another definition, a part with other columns,
// types with other values
// or whole rows with more. Other names alone are none of these, but for those in views.
func (i Identity) Refills(now Identity) bool {
	if len(i.addedToCopies(now)) > 0 || len(i.redefinedInCopies(now)) > 0 || len(TypeChanges(i.AllTypes(), now.AllTypes())) > 0 {
		return true
	}
	before, there := make(map[OID]Identity), make(map[OID]Identity)
	i.gather(before)
	now.gather(there)
	for oid, was := range before {
		is := there[oid] // nothing is like a view that is not there any more
		if was.Kind == string(KindView) && was.Definition != is.Definition || len(was.changesOfParts(is)) > 0 {
			return true
		}
	}
	return false
}

// gather notes the relations under it by their numbers.
func (i Identity) gather(found map[OID]Identity) {
	for _, inner := range i.Reads {
		found[inner.OID] = inner
		inner.gather(found)
	}
}

// addedToCopies are the columns that were added to what materialized views hold whole rows of.
func (i Identity) addedToCopies(now Identity) []string {
	if i.Kind == string(KindMaterializedView) {
		return i.AddedUnder(now)
	}
	var added []string
	for name, before := range i.Reads {
		for _, more := range before.addedToCopies(now.Reads[name]) {
			added = append(added, "of "+name+", which it reads: "+more)
		}
	}
	slices.Sort(added)
	return added
}

// redefinedInCopies are the views that materialized views are filled from and that were given a
// query since, be it the one that they had before: in the meantime nobody may have looked, and the
// materialized view may have been refreshed.
func (i Identity) redefinedInCopies(now Identity) []string { return i.redefined(now, false) }

// redefined is likewise; filled says that the relation is read when a materialized view is filled.
func (i Identity) redefined(now Identity, filled bool) []string {
	filled = filled || i.Kind == string(KindMaterializedView)
	var redefined []string
	for name, before := range i.Reads {
		there := now.Reads[name]
		if filled && before.Kind == string(KindView) && before.OID == there.OID && before.Made != "" && there.Made != "" && before.Made != there.Made {
			redefined = append(redefined, "of "+name+", which it reads: it was given a query since, if only the same again, and what was copied in between is not known")
		}
		for _, more := range before.redefined(there, filled) {
			redefined = append(redefined, "of "+name+", which it reads: "+more)
		}
	}
	slices.Sort(redefined)
	return redefined
}
