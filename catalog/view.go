package catalog

import (
	"cmp"
	"maps"
	"slices"
)

// View is a view, or a materialized one, that reads protected tables: directly,
// through their partitions and parents, or through other views.
type View struct {
	OID  OID
	Name Name
	Kind Kind // KindView or KindMaterializedView
	// Listed says that the policy has it among the readable relations.
	Listed bool
	// Apart says that it is at a source in a database of its own. OID is of that database then.
	Apart bool
	// Columns are its columns' names, in order.
	Columns []string
	// Reads are the relations that its definition names, each once, ordered by name.
	Reads []Name
	// Tables are the protected tables whose rows it shows, ordered by name.
	Tables []Name
	// Barrier says that it is a security barrier (PostgreSQL, chapter "Rules and
	// Privileges").
	Barrier bool
	// Definition is its query as the server writes it, with every name outside
	// pg_catalog qualified; empty where it is not a listed view. Unread says, in words, what
	// keeps it from being read.
	Definition, Unread string
}

// Publishable says whether the view is published once its definition allows it.
func (v View) Publishable() bool { return v.Listed && v.Kind == KindView }

// WithApart adds the views at a source in a database of its own to the relations of the release's database,
// of which they are none: clients find them there.
func WithApart(relations []Relation, views []View) []Relation {
	all := slices.Clip(relations)
	for _, v := range views {
		if !v.Apart {
			continue
		}
		r := Relation{OID: v.OID, Name: v.Name, Kind: v.Kind}
		for _, column := range v.Columns {
			r.Columns = append(r.Columns, Column{Name: column})
		}
		all = append(all, r)
	}
	return all
}

// Ordered returns the views so that each comes after those that it reads. Views are
// given in any order; PostgreSQL allows no cycles among them.
func Ordered(views []View) []View {
	byName := make(map[Name]View, len(views))
	for _, v := range views {
		byName[v.Name] = v
	}
	ordered, seen := make([]View, 0, len(views)), make(map[Name]bool, len(views))
	var visit func(View)
	visit = func(v View) {
		if seen[v.Name] {
			return
		}
		seen[v.Name] = true
		for _, name := range v.Reads {
			if inner, is := byName[name]; is {
				visit(inner)
			}
		}
		ordered = append(ordered, v)
	}
	for _, v := range views {
		visit(v)
	}
	return ordered
}

// What readers are told of views over protected tables that they cannot have.
const (
	unlistedView = "It is a view over protected tables; the operator can have it published by listing it under readable."
	// UnseenTable is for audiences.
	UnseenTable      = "It reads a table that you cannot read."
	materializedView = "It is a materialized view over protected tables, which cannot be published; the operator can make it a view."
)

// WithViews is the snapshot in which views over protected tables are told from other
// relations: a listed one is read in its published form, unless withdrawn says why
// not; the others must not be read at all.
func (s *Snapshot) WithViews(views []View, withdrawn map[Name]string) *Snapshot {
	if len(views) == 0 {
		return s
	}
	relations := maps.Clone(s.relations)
	for _, v := range views {
		reason, gone := withdrawn[v.Name]
		switch {
		case s.audience != "" && !v.Publishable(): // an audience is not told what it is over
			relations[v.Name] = Resolution{Disposition: Forbidden, Source: v.Name}
		case v.Kind != KindView && !v.Listed:
			relations[v.Name] = Resolution{Disposition: Forbidden, Source: v.Name, Reason: materializedView}
		case v.Kind != KindView:
			relations[v.Name] = Resolution{Disposition: Withdrawn, Source: v.Name, Reason: cmp.Or(reason, materializedView)}
		case !v.Listed:
			relations[v.Name] = Resolution{Disposition: Forbidden, Source: v.Name, Reason: unlistedView}
		case gone:
			relations[v.Name] = Resolution{Disposition: Withdrawn, Source: v.Name, Reason: reason}
		case slices.ContainsFunc(v.Tables, func(t Name) bool { return !s.shows(t) }):
			relations[v.Name] = Resolution{Disposition: Withdrawn, Source: v.Name, Reason: UnseenTable}
		default:
			others := func(read Name) bool { return !slices.Contains(v.Tables, read) }
			relations[v.Name] = Resolution{Disposition: Protected, Source: v.Name, Target: PublishedFor(s.audience, v.Name), FormAlone: slices.ContainsFunc(v.Reads, others)}
		}
	}
	return s.with(relations)
}

// shows says whether the table is protected, and one that the audience sees.
func (s *Snapshot) shows(table Name) bool {
	r := s.relations[table]
	return r.Disposition == Protected || r.Disposition == Withdrawn
}

// InDefinition is what names in a view's definition stand for: the relations given, and no
// other relation of a user is known. Functions and types are the snapshot's, but for row types: they are
// those of what is read, and for an audience none else, since others have the columns of other readers.
func (s *Snapshot) InDefinition(relations map[Name]Resolution) *Snapshot {
	next, forAudience := s.with(relations), false
	next.types = maps.Clone(s.types)
	for name, read := range relations {
		published := read.Target != name
		if _, named := next.types[name]; named && published {
			next.types[name] = read.Target
		}
		forAudience = forAudience || published && read.Target != Published(name)
	}
	for name := range s.relations {
		if _, read := relations[name]; !read && forAudience {
			delete(next.types, name)
		}
	}
	return next
}

// with is the snapshot with other relations.
func (s *Snapshot) with(relations map[Name]Resolution) *Snapshot {
	next := *s
	next.relations, next.schemas = relations, usable(relations)
	return &next
}

// IsSystem says whether the schema is PostgreSQL's own.
func IsSystem(schema string) bool { return isSystem(schema) }
