package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/pganalyze/pg_query_go/v5/parser"
	"google.golang.org/protobuf/encoding/protowire"
)

// token is a ScanToken of libpg_query; start and end are byte offsets.
type token struct {
	start, end int32
	kind       pg.Token
	keyword    pg.KeywordKind
}

// scan splits a text into its tokens, comments excepted. It reads libpg_query's
// encoding (ScanResult, pg_query.proto) itself: an object for each token would cost
// more than finding it.
func scan(sql string) ([]token, error) {
	wire, err := parser.ScanToProtobuf(sql)
	if err != nil {
		return nil, syntaxError(err)
	}
	tokens := make([]token, 0, len(sql)/4)
	for len(wire) > 0 {
		number, form, n := protowire.ConsumeTag(wire)
		if n < 0 {
			return nil, syntaxError(protowire.ParseError(n))
		}
		wire = wire[n:]
		if number != 2 || form != protowire.BytesType { // the version
			if n = protowire.ConsumeFieldValue(number, form, wire); n < 0 {
				return nil, syntaxError(protowire.ParseError(n))
			}
			wire = wire[n:]
			continue
		}
		message, n := protowire.ConsumeBytes(wire)
		if n < 0 {
			return nil, syntaxError(protowire.ParseError(n))
		}
		wire = wire[n:]
		t, err := scanned(message)
		if err != nil {
			return nil, syntaxError(err)
		}
		if t.kind != pg.Token_SQL_COMMENT && t.kind != pg.Token_C_COMMENT {
			tokens = append(tokens, t)
		}
	}
	return tokens, nil
}

// quickWords are the keywords that limitDepth and checkTokens ask for.
var quickWords = map[string]pg.Token{
	"and": pg.Token_AND, "or": pg.Token_OR, "between": pg.Token_BETWEEN, "as": pg.Token_AS, "join": pg.Token_JOIN,
	"union": pg.Token_UNION, "intersect": pg.Token_INTERSECT, "except": pg.Token_EXCEPT, "case": pg.Token_CASE,
	"when": pg.Token_WHEN, "then": pg.Token_THEN, "else": pg.Token_ELSE, "end": pg.Token_END_P,
	"into": pg.Token_INTO, "create": pg.Token_CREATE, "global": pg.Token_GLOBAL,
}

// quickKinds are the tokens of lexemes. All words count as keywords, which deepen a
// tree, and every byte of an operator as one: the depth comes out greater than it is,
// never less.
var quickKinds = [...]pg.Token{
	lexQuoted: pg.Token_IDENT, lexNumber: pg.Token_FCONST, lexString: pg.Token_SCONST, lexParam: pg.Token_PARAM,
}

// quickScan is scan for the guards, by kproxy's own lexer; false where that gives up.
func quickScan(sql string) ([]token, bool) {
	if strings.Contains(sql, "..") || strings.Contains(sql, "\v") {
		return nil, false // versions of PostgreSQL read 1..2 in different ways, and \v
	}
	tokens := make([]token, 0, 16+len(sql)/5)
	previous := lexEnd
	for l := (lexer{sql: sql}); ; {
		of := l.next()
		t := token{start: int32(l.start), end: int32(l.end)}
		if of == lexString && previous == lexString {
			// Perhaps one string. The second part of E'...' has escapes, too, without
			// its prefix: it does not end where a plain string would.
			return nil, false
		}
		previous = of
		switch of {
		case lexEnd:
			return tokens, true
		case lexUnknown:
			return nil, false
		case lexSymbol:
			t.kind = pg.Token(sql[l.start]) // PostgreSQL numbers single characters so
		case lexWord:
			t.kind, t.keyword = pg.Token_SELECT, pg.KeywordKind_RESERVED_KEYWORD
			if known, ok := quickWord(sql[l.start:l.end]); ok {
				t.kind = known
			}
		default:
			t.kind = quickKinds[of]
		}
		tokens = append(tokens, t)
	}
}

// quickWord finds a keyword, whatever its case.
func quickWord(word string) (pg.Token, bool) {
	var lower [16]byte
	if len(word) > len("intersect") {
		return 0, false
	}
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	known, ok := quickWords[string(lower[:len(word)])]
	return known, ok
}

func scanned(wire []byte) (token, error) {
	var t token
	for len(wire) > 0 {
		number, form, n := protowire.ConsumeTag(wire)
		if n < 0 {
			return t, protowire.ParseError(n)
		}
		wire = wire[n:]
		if form != protowire.VarintType {
			return t, protowire.ParseError(-1)
		}
		value, n := protowire.ConsumeVarint(wire)
		if n < 0 {
			return t, protowire.ParseError(n)
		}
		wire = wire[n:]
		switch number {
		case 1:
			t.start = int32(value)
		case 2:
			t.end = int32(value)
		case 4:
			t.kind = pg.Token(value)
		case 5:
			t.keyword = pg.KeywordKind(value)
		}
	}
	return t, nil
}
