package catalog

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// KeyDescription is a key of a table that is released together with others: the one by which
// its rows are found, or the one that leads to the rows that they belong to.
type KeyDescription struct {
	// Name is that of the constraint, as PostgreSQL names one that has no other name.
	Name    string
	Columns []string // in the order of the key
	// References is the table that a foreign key leads to; the zero Name for a primary key.
	References Name
}

// Foreign reports whether the key leads to another table.
func (k KeyDescription) Foreign() bool { return k.References != Name{} }

// Equal reports whether both keys are described alike.
func (k KeyDescription) Equal(other KeyDescription) bool {
	return k.Name == other.Name && slices.Equal(k.Columns, other.Columns) && k.References == other.References
}

// Index is the suffix of the name of the release's index on the key's columns.
func (k KeyDescription) Index() string {
	if k.Foreign() {
		return LinkIndex
	}
	return KeyIndex
}

// The suffixes of the names of a release's indexes on its own keys, and on those of the rows
// that its rows belong to.
const (
	KeyIndex  = "key"
	LinkIndex = "link"
)

// keys describes the table's own key, if rows of other tables can refer to it, and its link.
func (m *Membership) keys(table Name) []KeyDescription {
	if m == nil {
		return nil
	}
	var keys []KeyDescription
	if own := m.Key(); len(own) > 0 {
		keys = append(keys, KeyDescription{Name: constraintName(table.Relation, "", "pkey"), Columns: own})
	}
	if link := m.Link(); len(link) > 0 {
		parent := m.People.Names()[m.People.Parent(m.Table)+1] // the root stands first
		if slices.Contains(m.unseen, parent) {
			return keys
		}
		keys = append(keys, KeyDescription{
			Name: constraintName(table.Relation, strings.Join(link, "_"), "fkey"), Columns: link, References: parent,
		})
	}
	return keys
}

// nameLength is NAMEDATALEN - 1, in bytes.
const nameLength = 63

// constraintName is the name of a constraint of a table, some columns and a kind, where the
// longer one of both names is cut first (makeObjectName of PostgreSQL's indexcmds.c).
func constraintName(table, columns, kind string) string {
	for {
		parts := []string{table, columns, kind}
		if columns == "" {
			parts = []string{table, kind}
		}
		name := strings.Join(parts, "_")
		switch {
		case len(name) <= nameLength:
			return name
		case len(table) > len(columns):
			table = cutLast(table)
		default:
			columns = cutLast(columns)
		}
	}
}

func cutLast(text string) string {
	_, size := utf8.DecodeLastRuneInString(text)
	return text[:len(text)-size]
}
