package rewrite

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// Grammar is the version of PostgreSQL whose grammar statements are parsed by, as in
// 16.1; empty if the parser does not say.
func Grammar() string {
	tree, err := pg.Parse("SELECT")
	if err != nil || tree.GetVersion() == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", tree.GetVersion()/10_000, tree.GetVersion()%10_000)
}

// Split takes a text of several statements apart at the semicolons between them, without
// these and without the blanks around. A text that cannot be split is returned whole: its
// mistakes are for [Rewriter.Rewrite] to tell.
func Split(sql string) []string {
	if len(sql) > DefaultMaxStatementBytes {
		return []string{sql}
	}
	tokens, err := scan(sql)
	if err != nil {
		return []string{sql}
	}
	var statements []string
	start, depth := 0, 0
	add := func(end int) {
		if text := strings.TrimSpace(sql[start:end]); text != "" {
			statements = append(statements, text)
		}
	}
	for _, t := range tokens {
		switch {
		case t.kind == pg.Token_ASCII_40:
			depth++
		case t.kind == pg.Token_ASCII_41:
			depth--
		case t.kind == pg.Token_ASCII_59 && depth == 0:
			add(int(t.start))
			start = int(t.end)
		}
	}
	add(len(sql))
	return statements
}

// NameAt returns the last part of the possibly qualified name that begins at a character
// position of a text, counted from 1, as PostgreSQL reads it; it is empty where there is none.
func NameAt(sql string, position int) string {
	if position <= 0 {
		return ""
	}
	l := lexer{sql: sql[byteOffset(sql, position):]}
	for name := ""; ; {
		switch l.next() {
		case lexWord:
			name = lowerASCII(l.sql[l.start:l.end])
		case lexQuoted:
			var rest string
			name, rest, _ = cutQuoted(l.sql[l.start:])
			l.end = len(l.sql) - len(rest)
		default:
			return name
		}
		if l.next() != lexSymbol || l.sql[l.start] != '.' {
			return name
		}
	}
}

// clauses begin a line where a query is laid out.
var clauses = map[pg.Token]bool{
	pg.Token_FROM: true, pg.Token_WHERE: true, pg.Token_GROUP_P: true, pg.Token_HAVING: true, pg.Token_WINDOW: true, pg.Token_ORDER: true,
	pg.Token_LIMIT: true, pg.Token_OFFSET: true, pg.Token_FETCH: true, pg.Token_UNION: true, pg.Token_INTERSECT: true, pg.Token_EXCEPT: true,
	pg.Token_JOIN: true, pg.Token_LEFT: true, pg.Token_RIGHT: true, pg.Token_FULL: true, pg.Token_INNER_P: true, pg.Token_CROSS: true,
	pg.Token_NATURAL: true, pg.Token_SELECT: true, pg.Token_VALUES: true,
}

// joined are the words with which JOIN goes on in one line, and queries those that begin a
// query.
var (
	joined = map[pg.Token]bool{
		pg.Token_LEFT: true, pg.Token_RIGHT: true, pg.Token_FULL: true, pg.Token_INNER_P: true, pg.Token_CROSS: true,
		pg.Token_NATURAL: true, pg.Token_OUTER_P: true,
	}
	queries = map[pg.Token]bool{pg.Token_SELECT: true, pg.Token_WITH: true, pg.Token_VALUES: true}
)

// Layout breaks a text into lines before the clauses of its queries, those inside
// brackets indented: for people to read. Nothing but blanks between tokens is changed; a
// text that cannot be read stays as it is.
func Layout(sql string) string {
	tokens, err := scan(sql)
	if err != nil {
		return sql
	}
	l := layout{sql: sql, tokens: tokens}
	for i := range tokens {
		l.token(i)
	}
	return l.text.String()
}

type layout struct {
	sql    string
	tokens []token
	text   strings.Builder
	// brackets are the open ones: true for those around a query.
	brackets []bool
}

func (l *layout) kind(i int) pg.Token {
	if i < 0 || i >= len(l.tokens) {
		return 0
	}
	return l.tokens[i].kind
}

func (l *layout) token(i int) {
	kind, inside := l.kind(i), len(l.brackets) == 0 || l.brackets[len(l.brackets)-1]
	closing := false
	if kind == pg.Token_ASCII_41 && len(l.brackets) > 0 {
		l.brackets, closing = l.brackets[:len(l.brackets)-1], inside
	}
	switch {
	case i == 0:
	case closing, inside && l.begins(i):
		l.text.WriteByte('\n')
		for _, query := range l.brackets {
			if query {
				l.text.WriteString("  ")
			}
		}
	case l.tokens[i].start > l.tokens[i-1].end:
		l.text.WriteByte(' ')
	}
	l.text.WriteString(l.sql[l.tokens[i].start:l.tokens[i].end])
	if kind == pg.Token_ASCII_40 {
		l.brackets = append(l.brackets, queries[l.kind(i+1)])
	}
}

// begins says whether a token begins a line in the query that it stands in.
func (l *layout) begins(i int) bool {
	kind, before := l.kind(i), l.kind(i-1)
	switch {
	case before == pg.Token_ASCII_40 && queries[kind]:
		return true
	case !clauses[kind], l.kind(i+1) == pg.Token_ASCII_40 && joined[kind]: // left(...)
		return false
	case kind == pg.Token_FROM:
		return before != pg.Token_DISTINCT // IS DISTINCT FROM
	case kind == pg.Token_JOIN:
		return !joined[before]
	case joined[kind]:
		return !joined[before]
	}
	return true
}

// Describe says in words what an effect does to a session.
func Describe(e Effect) string {
	switch e := e.(type) {
	case setPath:
		return e.describe(PathParameter)
	case setEncoding:
		return e.describe(EncodingParameter)
	case resetAll:
		return "sets all settings back"
	case discard:
		if e.all {
			return "sets the session back to its beginning"
		}
		return "drops the session's temporary tables"
	case begin:
		return "begins a transaction"
	case end:
		if e.commit {
			return "commits the transaction"
		}
		return "rolls the transaction back"
	case savepoint:
		return "sets a savepoint"
	case release:
		return "releases a savepoint"
	case rollbackTo:
		return "rolls back to a savepoint"
	case makeTemporary:
		return "makes temporary table " + e.name
	case dropTemporary:
		return "drops temporary tables " + strings.Join(e.names, ", ")
	case nil:
		return ""
	}
	return "changes the session"
}

func (a assignment) describe(name string) string {
	switch {
	case a.reset:
		return "sets " + name + " back"
	case a.local:
		return "sets " + name + " until the transaction ends"
	}
	return "sets " + name
}
