package rewrite

import (
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// maxOperatorRun bounds consecutive operator characters, in bytes. PostgreSQL's
// lexer takes such a run whole and gives back all but the first token, so that a
// run of n costs n² steps ("/*/*/*..." and "+++..."): 40 kB took 3 seconds.
const maxOperatorRun = 512

// maxStatements bounds the statements in one text.
const maxStatements = 1000

const operatorCharacters = "~!@#^&|`?+-*/%<>="

// guardText looks at the bytes before the C scanner does.
func guardText(sql string, o Options) error {
	switch {
	case len(sql) > o.MaxStatementBytes:
		return refuse(stateLimit, "Send less text at once.", "the query is longer than %d bytes", o.MaxStatementBytes)
	case strings.IndexByte(sql, 0) >= 0:
		return refuse(stateEncoding, "", "invalid byte sequence for encoding \"UTF8\": 0x00").at(int32(strings.IndexByte(sql, 0)))
	case !utf8.ValidString(sql):
		return refuse(stateEncoding, "Send the query in UTF-8.", "invalid byte sequence for encoding \"UTF8\"")
	}
	run := 0
	for i := range len(sql) {
		if strings.IndexByte(operatorCharacters, sql[i]) < 0 {
			run = 0
			continue
		}
		if run++; run > maxOperatorRun {
			return refuse(stateTooComplex, "Shorten rulers in comments.",
				"more than %d operator characters in a row", maxOperatorRun).at(int32(i))
		}
	}
	return nil
}

// guardTokens bounds tokens, statements and depth with the flat scanner, which
// does not recurse, and refuses by their first word statements that never pass,
// so that most of the grammar is out of reach.
func guardTokens(sql string, o Options) error {
	scan, err := pg.Scan(sql)
	if err != nil {
		return syntaxError(err)
	}
	tokens := significant(scan.GetTokens())
	if len(tokens) > o.MaxTokens {
		return refuse(stateTooComplex, "Send fewer values at once.", "the query has more than %d tokens", o.MaxTokens)
	}
	statements, first := 0, true
	for i, t := range tokens {
		switch {
		case t.GetToken() == pg.Token_ASCII_59: // ;
			first = true
			continue
		case first:
			if statements++; statements > maxStatements {
				return refuse(stateLimit, "Send fewer statements at once.", "more than %d statements in one query", maxStatements)
			}
			if err := guardVerb(sql, t); err != nil {
				return err
			}
		case t.GetToken() == pg.Token_GLOBAL && tokens[i-1].GetToken() == pg.Token_INTO:
			// The grammar warns about GLOBAL with a position, which costs the text's
			// length each time.
			return refuseInto().at(tokens[i-1].GetStart())
		}
		first = false
	}
	return guardDepth(tokens, o.MaxDepth)
}

// significant drops comments.
func significant(tokens []*pg.ScanToken) []*pg.ScanToken {
	kept := tokens[:0]
	for _, t := range tokens {
		if t.GetToken() != pg.Token_SQL_COMMENT && t.GetToken() != pg.Token_C_COMMENT {
			kept = append(kept, t)
		}
	}
	return kept
}

func guardVerb(sql string, t *pg.ScanToken) error {
	if t.GetKeywordKind() == pg.KeywordKind_NO_KEYWORD {
		return nil
	}
	verb := strings.ToUpper(sql[t.GetStart():t.GetEnd()])
	if hint, refused := refusedVerbs[verb]; refused {
		return refuseVerb(verb, hint).at(t.GetStart())
	}
	return nil
}
