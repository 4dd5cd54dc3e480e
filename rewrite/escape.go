package rewrite

import (
	"fmt"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/internal/charset"
)

// Escape writes a text in ASCII, with escapes for all other characters (PostgreSQL documentation,
// "Lexical Structure"), so that the server reads the same whatever encoding it assumes for the
// client. It returns false for a text that cannot be written so.
func (r *Rewriter) Escape(sql string) (ascii string, ok bool) {
	if charset.IsASCII(sql) {
		return sql, true
	}
	tokens, err := r.scan(sql)
	if err != nil {
		return "", false
	}
	e := escaper{sql: sql}
	for _, t := range tokens {
		if !e.before(t) || !e.token(t) {
			return "", false
		}
	}
	ok = e.between(len(sql))
	return e.text.String(), ok
}

// Unescape maps a position in what Escape makes of a text to one in the text itself. Both
// are counted in characters from 1; 0 = unknown.
func (r *Rewriter) Unescape(sql string, position int) int {
	tokens, err := r.scan(sql)
	if err != nil || position <= 0 {
		return 0
	}
	e := escaper{sql: sql}
	before, written := 0, 0 // where the last token begins in both, in bytes
	for _, t := range tokens {
		if !e.before(t) {
			return 0
		}
		if e.text.Len() >= position {
			break
		}
		before, written = int(t.start), e.text.Len()
		if !e.token(t) {
			return 0
		}
	}
	// A token that is escaped is of another length: its beginning stands for all of it.
	inside := position - 1 - written
	if end := before + inside; end > len(sql) || !charset.IsASCII(sql[before:end]) {
		inside = 0
	}
	return utf8.RuneCountInString(sql[:before+inside]) + 1
}

// scan is scan within the bound of threads.
func (r *Rewriter) scan(sql string) ([]token, error) {
	r.parsers <- struct{}{}
	defer func() { <-r.parsers }()
	return scan(sql)
}

// escaper writes a text, token by token.
type escaper struct {
	sql      string
	done     int // as far as it is written
	text     strings.Builder
	changed  bool // the last token is written in another way
	prefixed bool // and that with the prefix U&
	national bool // it is the prefix of N'a text'
}

// between writes what stands before a place: blanks and comments, which mean nothing. It is
// false where there is more.
func (e *escaper) between(end int) bool {
	gap := e.sql[e.done:end]
	if !charset.IsASCII(gap) {
		if l := (lexer{sql: e.sql[:end]}); l.blank(e.done) != end {
			return false
		}
	}
	for _, r := range gap {
		if r >= utf8.RuneSelf {
			r = '?'
		}
		e.text.WriteRune(r)
	}
	e.done = end
	return true
}

// before writes what precedes a token. Escaped text must not run into its neighbors.
func (e *escaper) before(t token) bool {
	if !e.between(int(t.start)) {
		return false
	}
	written, first := e.text.String(), e.sql[t.start]
	runs := e.changed && (isWord[first] || first == '"' || first == '\'')
	if changes := runs || e.endsPrefix(t) || !charset.IsASCII(e.sql[t.start:t.end]); changes && written != "" && !strings.ContainsRune(" (\n", rune(written[len(written)-1])) {
		e.text.WriteByte(' ')
	}
	return true
}

func (e *escaper) token(t token) bool {
	word, ends := e.sql[t.start:t.end], e.endsPrefix(t)
	national := e.national
	e.done, e.prefixed, e.national, e.changed = int(t.end), false, t.kind == pg.Token_NCHAR, ends || !charset.IsASCII(word)
	switch {
	case ends:
		e.text.WriteString(`"uescape"`)
		return true
	case !e.changed:
		e.text.WriteString(word)
		return true
	case national:
		return false
	}
	switch {
	case t.kind == pg.Token_SCONST && word[0] == '\'':
		e.unicode(word)
	case t.kind == pg.Token_SCONST && (word[0] == 'e' || word[0] == 'E'):
		e.backslashes(word)
	case t.kind == pg.Token_IDENT && word[0] == '"':
		e.unicode(word)
	case t.kind == pg.Token_IDENT:
		e.unicode(`"` + lowerASCII(word) + `"`)
	default:
		return false
	}
	return true
}

// endsPrefix says of a token that it is the name "uescape", which would go with the prefix U&
// before it.
func (e *escaper) endsPrefix(t token) bool { return e.prefixed && t.kind == pg.Token_UESCAPE }

// unicode writes a quoted text or identifier with the prefix U&.
func (e *escaper) unicode(quoted string) {
	e.prefixed = true
	e.text.WriteString("U&")
	for _, r := range quoted {
		switch {
		case r == '\\':
			e.text.WriteString(`\\`)
		case r < utf8.RuneSelf:
			e.text.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&e.text, `\+%06x`, r)
		default:
			fmt.Fprintf(&e.text, `\%04x`, r)
		}
	}
}

// backslashes writes a text with the prefix E.
func (e *escaper) backslashes(quoted string) {
	escaped := false // the next character has a backslash, and stands for itself if it is not ASCII
	for _, r := range quoted {
		switch {
		case r == '\\' && !escaped:
			escaped = true
			continue
		case r > 0xffff:
			fmt.Fprintf(&e.text, `\U%08x`, r)
		case r >= utf8.RuneSelf:
			fmt.Fprintf(&e.text, `\u%04x`, r)
		case escaped:
			e.text.WriteByte('\\')
			e.text.WriteRune(r)
		default:
			e.text.WriteRune(r)
		}
		escaped = false
	}
}
