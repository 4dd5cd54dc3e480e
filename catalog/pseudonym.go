package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Membership is the place of a table among those that are released together.
type Membership struct {
	People People
	// Table is people.Root, or an index of People.Tables.
	Table int
	// Own and Of are how pseudonyms of the table's key and of what its rows belong to are
	// written, in the order of the key's columns; see Pseudonym. Empty where there is no such
	// key.
	Own, Of []PseudonymForm
	// Held is what is stated for each audience, of k and of sensitive columns of all tables, as in People.Constraints. What is
	// published for the tables' own readers does not depend on it.
	Held map[string][]privacy.Spec `json:"-"`

	unseenBy map[string][]Name // the tables that an audience does not see
	unseen   []Name            // those of the audience that the publication is for
}

// holds tells whether a column is published as a pseudonym.
func (m *Membership) holds(column string) bool {
	return m != nil && (slices.Contains(m.Key(), column) || slices.Contains(m.Link(), column))
}

// IsSeen reports whether the audience that the publication is for sees the table. A release that it does not see is
// made for it with those of other tables.
func (p Publication) IsSeen() bool {
	return p.Membership == nil || !slices.Contains(p.Membership.unseen, p.Policy.Table)
}

// Key are the columns that tell the table's rows apart; empty where nothing refers to rows.
func (m Membership) Key() []string {
	if m.Table == people.Root {
		return m.People.Key
	}
	return m.People.Tables[m.Table].Key
}

// Link are the columns that hold the key of what a row belongs to; none of the root.
func (m Membership) Link() []string {
	if m.Table == people.Root {
		return nil
	}
	return m.People.Tables[m.Table].Link()
}

// Order is the column by which a person's rows are ordered, or empty.
func (m Membership) Order() string {
	if m.Table == people.Root {
		return ""
	}
	return m.People.Tables[m.Table].Order
}

// PseudonymForm is how the pseudonyms of a key are written in all columns that hold one of
// its columns.
type PseudonymForm struct {
	// Bits bounds pseudonyms: they are between 1 and 2^Bits - 1. It is the same for all columns
	// of a key, which show the same pseudonym.
	Bits int
	// Digits is the number of hexadecimal digits where they are texts; 0 where they are
	// numbers.
	Digits int
}

// The families of types that can hold the same pseudonym: columns of one family are compared
// by what clients write for the source.
const (
	numbers = "numbers"
	texts   = "texts"
	uuids   = "uuids"
)

// Forms of pseudonyms: as wide as an integer, or as a bigint.
var (
	narrow = PseudonymForm{Bits: 31}
	wide   = PseudonymForm{Bits: 63}
)

// pseudonymForm is the widest form that a column holds, and its family; empty where the
// column cannot hold pseudonyms.
func pseudonymForm(c Column) (family string, form PseudonymForm) {
	if c.Domain {
		return "", PseudonymForm{}
	}
	switch c.BaseType {
	case "int4":
		return numbers, narrow
	case "int8":
		return numbers, wide
	case "uuid":
		return uuids, PseudonymForm{Bits: 63, Digits: 32}
	case "numeric":
		if !strings.Contains(c.Type, "(") {
			return numbers, wide
		}
	case "text", "varchar":
		if c.Modifier < 0 || c.Modifier-varlena >= 16 {
			return texts, PseudonymForm{Bits: 63, Digits: 16}
		}
		if c.Modifier-varlena >= 8 {
			return texts, PseudonymForm{Bits: 31, Digits: 8}
		}
	}
	return "", PseudonymForm{}
}

// varlena is what atttypmod of character types has beyond the greatest length.
const varlena = 4

// SQL is an expression for the pseudonym that another one, a bigint, has in the column.
func (f PseudonymForm) SQL(column PublishedColumn, number string) string {
	switch f.Digits {
	case 0:
		return fmt.Sprintf("(%s)::%s", number, column.Type)
	case 32:
		return fmt.Sprintf("(pg_catalog.lpad(pg_catalog.to_hex(%s), 16, '0') || '8000000000000000')::%s", number, column.Type)
	}
	return fmt.Sprintf("pg_catalog.lpad(pg_catalog.to_hex(%s), %d, '0')::%s", number, f.Digits, column.Type)
}

// Text is the pseudonym of a number as the server writes it.
func (f PseudonymForm) Text(number uint64) string {
	switch f.Digits {
	case 0:
		return strconv.FormatUint(number, 10)
	case 32:
		digits := fmt.Sprintf("%016x", number)
		return digits[:8] + "-" + digits[8:12] + "-" + digits[12:] + "-8000-000000000000"
	}
	return fmt.Sprintf("%0*x", f.Digits, number)
}

// keyForms finds the forms of a table's pseudonyms, one for each column of its key, which all
// columns that hold it can hold. It reports columns that cannot.
func (p PeoplePublication) keyForms(table int) (forms []PseudonymForm, problems []Problem) {
	bits := wide.Bits
	for i := range p.keyOf(table) {
		form, found := p.keyForm(table, i)
		problems = append(problems, found...)
		forms, bits = append(forms, form), min(bits, form.Bits)
	}
	for i := range forms {
		forms[i].Bits = bits
	}
	return forms, problems
}

// keyForm finds the narrowest form of the columns that hold one column of a table's key. They
// have to be of one family.
func (p PeoplePublication) keyForm(table, column int) (narrowest PseudonymForm, problems []Problem) {
	narrowest, family := wide, ""
	for _, h := range p.holders(table, column) {
		held, exists := h.publication.Relation.Column(h.column)
		if !exists {
			continue // reported
		}
		of, own := pseudonymForm(held)
		if of == "" || family != "" && of != family {
			problems = append(problems, Problem{
				Table: h.publication.Policy.Table, Column: h.column,
				What: fmt.Sprintf("is a key in people, and a pseudonym cannot stand in a column of type %s", held.Type),
				Fix:  "name in people a key of type integer, bigint, numeric, uuid, text or varchar of 8 or more characters, the same in all tables",
			})
			continue
		}
		if family == "" || own.Bits < narrowest.Bits {
			narrowest = own
		}
		family = of
	}
	return narrowest, problems
}

// holder is a column that holds a part of a key.
type holder struct {
	publication Publication
	column      string
}

// holders are the columns that hold one column of a table's key: its own, and those of the
// tables that belong to it.
func (p PeoplePublication) holders(table, column int) []holder {
	all := []holder{{p.Of(table), p.keyOf(table)[column]}}
	for i, t := range p.People.Tables {
		if link := t.Link(); p.parentOf(i) == table && column < len(link) {
			all = append(all, holder{p.Tables[i], link[column]})
		}
	}
	return all
}

// Of is the publication of a table, or of people.Root.
func (p PeoplePublication) Of(table int) Publication {
	if table == people.Root {
		return p.Root
	}
	return p.Tables[table]
}

func (p PeoplePublication) keyOf(table int) []string {
	return Membership{People: p.People, Table: table}.Key()
}

// parentOf is the table that a table's rows belong to, or people.Root.
func (p PeoplePublication) parentOf(table int) int { return p.People.Parent(table) }

// Parent is the table that a table's rows belong to: people.Root, or an index of Tables.
func (p People) Parent(table int) int {
	of := p.Tables[table]
	if of.Direct() {
		return people.Root
	}
	return slices.IndexFunc(p.Tables, func(other PeopleTable) bool { return other.Table == of.Through })
}

// Explain says to readers what the release promises.
func (m Membership) Explain() string { return m.People.explain(m.unseen) }

// IsOwn tells whether a published pseudonym is that of the table's own key, and not of what
// its rows belong to.
func (m Membership) IsOwn(column PublishedColumn) bool {
	return slices.Contains(m.Key(), column.Source)
}

// Form is how a published pseudonym is written.
func (m Membership) Form(column PublishedColumn) PseudonymForm {
	if i := slices.Index(m.Key(), column.Source); i >= 0 {
		return m.Own[i]
	}
	return m.Of[slices.Index(m.Link(), column.Source)]
}
