package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// privilegesOn routes the argument that names a relation as objectArgument does.
// Privileges on a readable relation are those on its stand-in.
func privilegesOn(i int) special {
	route := routeArgument("regclass", i, func(r *resolver, name string, location int32) (string, error) {
		return r.relationName(name, true, location)
	})
	return func(e expression, f *pg.FuncCall) error {
		at := i + len(f.GetArgs())
		if at < 0 {
			return nil // the server has no such function
		}
		err := route(e, f)
		if _, constant := textConstant(f.Args[at]); err == nil && !constant {
			f.Args[at] = ownCall("stand_in_oid", casted(f.Args[at], "oid"))
		}
		return err
	}
}

// relationName is the text to send for a relation's name: for a protected table the name of
// the published relation, with its schema, since the session's path on the server is not the
// client's. A readable relation keeps its name, as clients see it in the catalogs, unless
// the stand-in is asked for. Names of system relations stay, because columns such as
// classoid hold the OIDs of the real ones. Names that are unknown or hidden are refused
// here: the server would tell them apart.
func (r *resolver) relationName(text string, standIn bool, location int32) (string, error) {
	if schema, relation, ok := splitName(text, r.database); ok {
		found := r.relation(schema, relation)
		switch found.Disposition {
		case catalog.Protected:
			return found.Target.SQL(), nil
		case catalog.Readable:
			if standIn {
				return found.Target.SQL(), nil
			}
			return found.Source.SQL(), nil
		case catalog.Withdrawn:
			_, err := r.read(schema, relation)
			return "", err.at(location)
		case catalog.SystemCatalog:
			return text, nil
		case catalog.Forbidden:
			if found.Source.Schema == "pg_catalog" || found.Source.Schema == "information_schema" {
				return text, nil
			}
		}
	}
	return "", refuse(UndefinedRelation, "", "relation %q does not exist", text).about(text).at(location)
}

// splitName reads a relation's name as regclass does: identifiers with dots, case
// folded unless quoted, the database's own name allowed in front.
func splitName(text, database string) (schema, relation string, ok bool) {
	var parts []string
	for rest := strings.TrimSpace(text); ; {
		part, after, ok := cutIdentifier(rest)
		if !ok {
			return "", "", false
		}
		parts = append(parts, part)
		after = strings.TrimLeft(after, " \t\n\r\f\v")
		if after == "" {
			break
		}
		if after[0] != '.' {
			return "", "", false
		}
		rest = strings.TrimLeft(after[1:], " \t\n\r\f\v")
	}
	if len(parts) == 3 && parts[0] == database {
		parts = parts[1:]
	}
	switch len(parts) {
	case 1:
		return "", parts[0], true
	case 2:
		return parts[0], parts[1], true
	}
	return "", "", false
}

func cutIdentifier(text string) (name, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, ". \t\n\r\f\v\"")
		if end < 0 {
			end = len(text)
		}
		return lowerASCII(text[:end]), text[end:], end > 0
	}
	name, rest, ok = cutQuoted(text)
	return name, rest, ok && name != ""
}

// cutQuoted reads an identifier in quotes, which may be empty.
func cutQuoted(text string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
		default:
			return b.String(), text[i+1:], true
		}
	}
	return "", "", false
}

// lowerASCII folds as PostgreSQL does in multi-byte encodings: ASCII only.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
