package rewrite

import (
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// defaultPath is PostgreSQL's default search_path, with which clients begin. The
// session's real one leads to the published relations and never changes.
const defaultPath = `"$user", public`

// userSchema is the entry of a path that stands for the schema of the user's name.
const userSchema = "$user"

// maxIdentifierBytes is PostgreSQL's NAMEDATALEN - 1.
const maxIdentifierBytes = 63

// splitPath reads a search_path as PostgreSQL does (SplitIdentifierString in
// varlena.c).
func splitPath(text string) ([]string, error) {
	invalid := refuse(InvalidValue, "A search path is a list of schemas, separated by commas.",
		"invalid value for parameter \"search_path\": \"%s\"", text)
	if len(text) > maxPathBytes {
		return nil, refuse(SessionLimit, "Name fewer schemas.", "the search path is longer than %d bytes", maxPathBytes)
	}
	var schemas []string
	rest := strings.TrimLeft(text, pathSpace)
	if rest == "" {
		return nil, nil
	}
	for {
		name, after, ok := cutPathEntry(rest)
		if !ok {
			return nil, invalid
		}
		schemas = append(schemas, clip(name))
		after = strings.TrimLeft(after, pathSpace)
		if after == "" {
			return schemas, nil
		}
		if after[0] != ',' {
			return nil, invalid
		}
		rest = strings.TrimLeft(after[1:], pathSpace)
	}
}

const pathSpace = " \t\n\r\f"

func cutPathEntry(text string) (name, rest string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		return cutQuoted(text)
	}
	end := strings.IndexAny(text, ","+pathSpace)
	if end < 0 {
		end = len(text)
	}
	return lowerASCII(text[:end]), text[end:], end > 0
}

// clip shortens an identifier as the server does, to whole characters.
func clip(name string) string {
	if len(name) <= maxIdentifierBytes {
		return name
	}
	end := maxIdentifierBytes
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// joinPath writes the values of SET search_path as SHOW gives them back
// (flatten_set_variable_args in guc.c).
func joinPath(args []*pg.Node) (string, bool) {
	parts := make([]string, len(args))
	for i, arg := range args {
		switch v := arg.GetAConst().GetVal().(type) {
		case *pg.A_Const_Sval:
			parts[i] = quoteWhereNeeded(v.Sval.GetSval())
		case *pg.A_Const_Ival:
			parts[i] = strconv.Itoa(int(v.Ival.GetIval()))
		case *pg.A_Const_Fval:
			parts[i] = v.Fval.GetFval()
		default:
			return "", false
		}
	}
	return strings.Join(parts, ", "), len(parts) > 0
}

// quoteWhereNeeded is quote_identifier of ruleutils.c.
func quoteWhereNeeded(name string) string {
	safe := name != "" && (name[0] == '_' || name[0] >= 'a' && name[0] <= 'z')
	for i := 0; safe && i < len(name); i++ {
		c := name[i]
		safe = c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
	}
	if safe && !keyword(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// keyword reports whether a word has to be quoted to be a name everywhere.
func keyword(word string) bool {
	scan, err := pg.Scan(word)
	if err != nil || len(scan.GetTokens()) != 1 {
		return true
	}
	kind := scan.GetTokens()[0].GetKeywordKind()
	return kind != pg.KeywordKind_NO_KEYWORD && kind != pg.KeywordKind_UNRESERVED_KEYWORD
}

// schemas is the client's search path with "$user" replaced, each schema once and in
// order, as written: without what PostgreSQL searches implicitly.
func (s *Session) schemas() []string {
	entries, err := splitPath(s.path.now.text)
	if err != nil {
		return nil // it was checked when it was set
	}
	seen := make(map[string]bool, len(entries))
	var found []string
	for _, entry := range entries {
		if entry == userSchema {
			entry = s.user
		}
		if entry != "" && !seen[entry] {
			seen[entry] = true
			found = append(found, entry)
		}
	}
	return found
}
