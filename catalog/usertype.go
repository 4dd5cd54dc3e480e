package catalog

import (
	"cmp"
	"fmt"
	"slices"
)

// TypedColumn is a column of a table, or a field of a composite type.
type TypedColumn struct {
	Number    int16  `json:"number"`
	Name      string `json:"name"`
	Type      string `json:"type"` // for people; TypeOID and Modifier are what counts
	TypeOID   OID    `json:"type_oid"`
	Modifier  int32  `json:"modifier"`
	Collation OID    `json:"collation"` // 0 for a type without
	Generated bool   `json:"generated"`
}

// Same tells whether the column's values mean the same. A column that is no longer generated
// holds other values from then on.
func (c TypedColumn) Same(now TypedColumn) bool {
	c.Type, now.Type = "", ""
	return c == now
}

// String is the column in the words of its definition.
func (c TypedColumn) String() string { return c.Name + " " + c.Type }

// UserType is an enumeration, a composite type, or one between a column and these.
type UserType struct {
	OID    OID           `json:"oid"`
	Name   string        `json:"name"`
	Labels []EnumLabel   `json:"labels,omitempty"` // in the order of the enumeration
	Fields []TypedColumn `json:"fields,omitzero"`  // nil for what is not composite
}

// UniqueTypes are the types given, each once, ordered by number. It takes the slice over.
func UniqueTypes(types []UserType) []UserType {
	slices.SortFunc(types, func(a, b UserType) int { return cmp.Compare(a.OID, b.OID) })
	return slices.CompactFunc(types, func(a, b UserType) bool { return a.OID == b.OID })
}

// EnumLabel is one value of an enumeration: rows hold the number, clients see the text.
type EnumLabel struct {
	OID   OID    `json:"oid"`
	Label string `json:"label"`
}

// TypeChanges tells, in words for the operator, what makes values of types mean or show
// something else than before. Types that are there no more are told of where they were used.
// Labels that were added leave the others and their order as they were; a field that was added
// is shown to whoever may read the column.
func TypeChanges(before, now []UserType) []string {
	var changes []string
	for _, y := range before {
		i := slices.IndexFunc(now, func(n UserType) bool { return n.OID == y.OID })
		if i >= 0 {
			changes = append(changes, append(y.labelChanges(now[i]), y.fieldChanges(now[i])...)...)
		}
	}
	return changes
}

func (y UserType) labelChanges(now UserType) []string {
	var changes []string
	place := -1
	for _, before := range y.Labels {
		i := slices.IndexFunc(now.Labels, func(l EnumLabel) bool { return l.OID == before.OID })
		switch {
		case i < 0:
			changes = append(changes, fmt.Sprintf("label %q of type %s is gone", before.Label, y.Name))
			continue
		case now.Labels[i].Label != before.Label:
			changes = append(changes, fmt.Sprintf("label %q of type %s is now %q", before.Label, y.Name, now.Labels[i].Label))
		case i < place:
			changes = append(changes, fmt.Sprintf("label %q of type %s has another place among the others", before.Label, y.Name))
		}
		place = max(place, i)
	}
	return changes
}

func (y UserType) fieldChanges(now UserType) []string {
	var changes []string
	for _, before := range y.Fields {
		i := slices.IndexFunc(now.Fields, func(f TypedColumn) bool { return f.Number == before.Number })
		switch {
		case i < 0:
			changes = append(changes, fmt.Sprintf("field %d of type %s, %s, was dropped", before.Number, y.Name, before))
		case !before.Same(now.Fields[i]):
			changes = append(changes, fmt.Sprintf("field %d of type %s was %s, is now %s", before.Number, y.Name, before, now.Fields[i]))
		}
	}
	for _, f := range now.Fields {
		if !slices.ContainsFunc(y.Fields, func(before TypedColumn) bool { return before.Number == f.Number }) {
			changes = append(changes, fmt.Sprintf("field %d of type %s, %s, was added", f.Number, y.Name, f))
		}
	}
	return changes
}
