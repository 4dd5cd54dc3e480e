package catalog

import (
	"cmp"
	"strings"
)

// Name is a schema-qualified relation name, in the exact case PostgreSQL stores.
type Name struct {
	Schema   string
	Relation string
}

// String is the plain dotted form, for messages.
func (n Name) String() string { return n.Schema + "." + n.Relation }

// Texts are names as String writes them, in their order; nil for none.
func Texts(names []Name) []string {
	if len(names) == 0 {
		return nil
	}
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = name.String()
	}
	return texts
}

// SQL is the quoted form, safe to place in a statement.
func (n Name) SQL() string { return QuoteIdentifier(n.Schema) + "." + QuoteIdentifier(n.Relation) }

// Compare orders names by schema and relation, as slices.SortFunc wants it.
func (n Name) Compare(other Name) int {
	return cmp.Or(cmp.Compare(n.Schema, other.Schema), cmp.Compare(n.Relation, other.Relation))
}

// ParseName reads a dotted, unquoted name as an operator writes it in a policy.
// A name without a dot lies in schema public.
func ParseName(text string) Name {
	if schema, relation, found := strings.Cut(text, "."); found {
		return Name{Schema: schema, Relation: relation}
	}
	return Name{Schema: "public", Relation: text}
}

// QuoteIdentifier quotes an identifier for SQL. It always quotes, so that no
// key word list has to be kept in step with the server's version.
func QuoteIdentifier(name string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(name, "\x00", ""), `"`, `""`) + `"`
}

// QuoteLiteral quotes a text for SQL as an escape-free standard literal. Every
// connection of kproxy pins standard_conforming_strings = on.
func QuoteLiteral(text string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(text, "\x00", ""), "'", "''") + "'"
}
