package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// cast checks a cast and, for 'name'::regclass, resolves the name in it. Names
// made at run time are left to the database: they lead to OIDs, with which the
// stand-ins show nothing that the session may not see.
func (w *walker) cast(n *pg.TypeCast, s *scope) error {
	if err := w.children(n.ProtoReflect(), s); err != nil {
		return err
	}
	if isRegclass(n.GetTypeName()) {
		return w.relationConstant(n.GetArg(), n.GetLocation())
	}
	return nil
}

// relationArgument resolves the name in a function's constant argument.
func (w *walker) relationArgument(f *pg.FuncCall, i int) error {
	if i < 0 || i >= len(f.GetArgs()) {
		return nil
	}
	return w.relationConstant(f.Args[i], f.GetLocation())
}

func relationFromEnd(n int) special {
	return func(w *walker, _ *pg.Node, f *pg.FuncCall) error { return w.relationArgument(f, len(f.GetArgs())-n) }
}

// relationConstant replaces the name of a protected table by that of the published
// relation. Names of system relations stay, because columns such as classoid hold
// the real ones' OIDs; unknown names and numbers are the database's to judge.
func (w *walker) relationConstant(n *pg.Node, location int32) error {
	for n.GetTypeCast() != nil { // has_table_privilege('patients'::text, ...)
		n = n.GetTypeCast().GetArg()
	}
	text, constant := stringConstant(n)
	if !constant {
		return nil
	}
	schema, relation, ok := splitName(text, w.database)
	if !ok {
		return nil
	}
	r := w.snapshot.Resolve(schema, relation)
	switch r.Disposition {
	case catalog.Protected, catalog.Readable:
		n.GetAConst().Val = &pg.A_Const_Sval{Sval: &pg.String{Sval: r.Target.SQL()}}
	case catalog.Withdrawn:
		_, err := w.resolve(schema, relation)
		return err.at(location)
	case catalog.Forbidden:
		if r.Source.Schema == "pg_catalog" || r.Source.Schema == "information_schema" {
			return nil
		}
		return refuse(stateUndefinedRel, "", "relation %q does not exist", text).at(location)
	case catalog.Missing:
		if catalog.IsOwn(schema) {
			return refuse(stateUndefinedRel, "", "relation %q does not exist", text).at(location)
		}
	}
	return nil
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
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
		default:
			return b.String(), text[i+1:], b.Len() > 0
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
