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

// String is the dotted form, as ParseName reads it: a part is quoted, as in SQL, only where it has
// a dot or a quote.
func (n Name) String() string { return writtenPart(n.Schema) + "." + writtenPart(n.Relation) }

func writtenPart(part string) string {
	if strings.ContainsAny(part, `."`) {
		return QuoteIdentifier(part)
	}
	return part
}

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

// ParseName reads a dotted name as an operator writes it in a policy. A part may be quoted, as
// in SQL, and otherwise has no dot; case is as PostgreSQL stores it. A name of one part lies in
// schema public. What is none is taken as one part.
func ParseName(text string) Name {
	schema, relation, qualified, ok := cutPart(text)
	switch {
	case !ok:
		return Name{Schema: "public", Relation: text}
	case !qualified:
		return Name{Schema: "public", Relation: schema}
	}
	if last, _, further, ok := cutPart(relation); ok && !further {
		relation = last
	}
	return Name{Schema: schema, Relation: relation}
}

// NameParts splits a name as ParseName does, and reports whether it is one, of any number of parts.
func NameParts(text string) (parts []string, ok bool) {
	for more := true; more; {
		var part string
		if part, text, more, ok = cutPart(text); !ok || part == "" {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

// cutPart cuts the first part off a dotted name. More says that a dot follows it. It is not ok if
// a quote is not in its place.
func cutPart(text string) (part, rest string, more, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		part, rest, more = strings.Cut(text, ".")
		return part, rest, more, !strings.Contains(part, `"`)
	}
	var b strings.Builder
	for rest = text[1:]; ; {
		before, after, closed := strings.Cut(rest, `"`)
		b.WriteString(before)
		if !closed {
			return "", "", false, false
		}
		if rest = after; !strings.HasPrefix(rest, `"`) {
			break
		}
		b.WriteByte('"')
		rest = rest[1:]
	}
	after, more := strings.CutPrefix(rest, ".")
	return b.String(), after, more, more || rest == ""
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
