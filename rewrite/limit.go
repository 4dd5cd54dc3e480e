package rewrite

import (
	"slices"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// maxOperatorRun bounds consecutive operator characters, in bytes. PostgreSQL's
// lexer takes such a run whole and gives back all but the first token, so that a
// run of n costs n² steps ("/*/*/*..." and "+++..."): 40 kB took 3 seconds.
const maxOperatorRun = 512

// isOperator reports the bytes that operators and comments consist of.
var isOperator = byteSet("~!@#^&|`?+-*/%<>=")

func byteSet(of string) (set [256]bool) {
	for i := range len(of) {
		set[of[i]] = true
	}
	return set
}

// limitText looks at the bytes before the C scanner does.
func limitText(sql string, o Options) error {
	switch {
	case len(sql) > o.MaxStatementBytes:
		return refuse(TooLong, "Send less text at once.", "the query is longer than %d bytes", o.MaxStatementBytes)
	case strings.IndexByte(sql, 0) >= 0:
		return refuse(BadEncoding, "", "invalid byte sequence for encoding \"UTF8\": 0x00").at(int32(strings.IndexByte(sql, 0)))
	case !utf8.ValidString(sql):
		return refuse(BadEncoding, "Send the query in UTF-8.", "invalid byte sequence for encoding \"UTF8\"")
	}
	if i := longRun(sql); i >= 0 {
		return refuse(TooComplex, "Shorten rulers in comments.",
			"more than %d operator characters in a row", maxOperatorRun).at(int32(i))
	}
	return nil
}

// longRun is where the first run of operator characters becomes too long; negative if none does.
// Such a run contains one of every maxOperatorRun+1 bytes, so other bytes need to be read only if
// one of these is an operator.
func longRun(sql string) int {
	const most = maxOperatorRun
	for i := most; i < len(sql); i += most + 1 {
		if !isOperator[sql[i]] {
			continue
		}
		begin, end := i, i+1
		for begin > 0 && isOperator[sql[begin-1]] {
			begin--
		}
		for end < len(sql) && end-begin <= most && isOperator[sql[end]] {
			end++
		}
		if end-begin > most {
			return begin + most
		}
	}
	return -1
}

// quickBytes is the longest text that kproxy's own lexer vouches for. What a text of
// this length can nest, the parser survives on a thread's 8 MiB of stack: should the two
// lexers ever read one in different ways, the process lives on.
const quickBytes = 4096

// limitTokens bounds tokens, statements and depth before the parser sees the text, and
// refuses by their first word statements that never pass, so that most of the grammar
// is out of reach. What the quick lexer's tokens do not clear is scanned by
// PostgreSQL's own lexer, which does not recurse.
func limitTokens(sql string, o Options) error {
	if len(sql) <= quickBytes {
		if tokens, ok := quickScan(sql); ok && checkTokens(sql, tokens, o) == nil {
			return nil
		}
	}
	tokens, err := scan(sql)
	if err != nil {
		return err
	}
	return checkTokens(sql, tokens, o)
}

func checkTokens(sql string, tokens []token, o Options) error {
	if len(tokens) > o.MaxTokens {
		return refuse(TooManyTokens, "Send fewer values at once.", "the query has more than %d tokens", o.MaxTokens)
	}
	statements, first := 0, true
	for i, t := range tokens {
		switch {
		case t.kind == pg.Token_ASCII_59: // ;
			first = true
			continue
		case first:
			if statements++; statements > o.MaxStatements {
				return refuse(TooManyStatements, "Send fewer statements at once.", "more than %d statements in one query", o.MaxStatements)
			}
			if err := allowVerb(sql, tokens[i:], o); err != nil {
				return err
			}
		case t.kind == pg.Token_GLOBAL && tokens[i-1].kind == pg.Token_CREATE:
			return refuseVerb("CREATE GLOBAL", "Leave GLOBAL out: CREATE TEMPORARY TABLE.").at(tokens[i-1].start)
		case t.kind == pg.Token_GLOBAL && tokens[i-1].kind == pg.Token_INTO:
			// The grammar warns about GLOBAL with a position, which costs the text's
			// length each time.
			return refuseInto().at(tokens[i-1].start)
		}
		first = false
	}
	return limitDepth(tokens, o.MaxDepth)
}

// makesTemporaryTable reports whether CREATE is followed by TEMPORARY, perhaps after LOCAL, and
// not by VIEW or SEQUENCE.
func makesTemporaryTable(tokens []token) bool {
	is := func(i int, kinds ...pg.Token) bool { return i < len(tokens) && slices.Contains(kinds, tokens[i].kind) }
	at := 1
	if is(at, pg.Token_LOCAL, pg.Token_GLOBAL) {
		at++
	}
	return is(at, pg.Token_TEMP, pg.Token_TEMPORARY) && !is(at+1, pg.Token_VIEW, pg.Token_RECURSIVE, pg.Token_SEQUENCE)
}

// allowVerb looks at the first of a statement's tokens.
func allowVerb(sql string, tokens []token, o Options) error {
	t := tokens[0]
	if t.keyword == pg.KeywordKind_NO_KEYWORD {
		return nil
	}
	word := func(t token) string { return strings.ToUpper(sql[t.start:t.end]) }
	verb := word(t)
	hint, refused := refusedVerbs[verb]
	switch {
	case !refused, o.TemporaryTables && temporaryVerbs[verb]:
		return nil
	case o.TemporaryTables && verb == "ALTER":
		hint = "Temporary tables cannot be altered: make another, CREATE TEMPORARY TABLE ... AS SELECT."
	case o.TemporaryTables && verb != "DO" && verb != "CALL":
		hint = temporaryHint
	case verb == "CREATE" && makesTemporaryTable(tokens):
		return refuseVerb("CREATE TEMPORARY TABLE", "Keep the result on the client's side; "+operatorMay).at(t.start)
	}
	return refuseVerb(verb, hint).at(t.start)
}
