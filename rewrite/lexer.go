package rewrite

import "strings"

// lexeme is what a lexer finds.
type lexeme byte

const (
	// lexEnd is the end of the text, lexUnknown what the lexer gives up on.
	lexEnd lexeme = iota
	lexUnknown
	lexWord   // an identifier or a keyword
	lexQuoted // "an identifier"
	lexNumber // one or more numbers: "1.5.3" are two
	lexString // 'a text'
	lexParam  // $1
	lexSymbol // one byte of an operator, or a bracket, comma, ...
)

// lexer splits the texts that clients send as a rule into parts, many times faster
// than PostgreSQL's (scan.l), which it follows. What it finds begins and ends where
// PostgreSQL's tokens do, but that an operator may be several symbols. It gives up on
// the rest: on dollar quotes, nested comments and strings with a prefix other than E. It presumes
// standard_conforming_strings, which the proxy pins.
type lexer struct {
	sql string
	// start and end are where the last part stands.
	start, end int
}

// isWord reports the bytes of identifiers, isNumeral those that continue a number, and isBlank
// those that begin what separates the parts, or may begin a comment.
var (
	isBlank   = byteSet(" \t\n\r\f\v-/")
	isWord    = wordBytes("")
	isNumeral = wordBytes(".")
	isSymbol  = byteSet("~!@#^&|`?+-*/%<>=()[],;:.")
)

func wordBytes(more string) [256]bool {
	set := byteSet("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_" + more)
	for c := 0x80; c < 0x100; c++ {
		set[c] = true
	}
	return set
}

// next finds the next part.
func (l *lexer) next() lexeme {
	l.start = l.end
	for l.start < len(l.sql) && l.sql[l.start] == ' ' {
		l.start++
	}
	if l.start < len(l.sql) && isBlank[l.sql[l.start]] {
		if l.start = l.blank(l.start); l.start < 0 {
			return lexUnknown
		}
	}
	l.end = l.start + 1
	if l.start == len(l.sql) {
		l.end = l.start
		return lexEnd
	}
	switch c := l.sql[l.start]; {
	case c >= '0' && c <= '9':
		l.run(&isNumeral, lexNumber)
		if l.end < len(l.sql) && l.sql[l.end] == '\'' {
			return lexUnknown // its last letter may be a prefix: "1.5.b'"
		}
		return lexNumber
	case isWord[c]:
		l.run(&isWord, lexWord)
		if l.end == len(l.sql) || l.sql[l.end] != '\'' {
			return lexWord
		}
		if l.end == l.start+1 && c|0x20 == 'e' {
			return l.escaped()
		}
		return lexUnknown // another prefix
	case c == '\'':
		return l.quoted()
	case c == '"':
		closing := strings.IndexByte(l.sql[l.end:], '"')
		if closing < 0 {
			return lexUnknown
		}
		l.end += closing + 1 // a doubled quote begins another one, at once
		return lexQuoted
	case c == '$':
		for l.end < len(l.sql) && l.sql[l.end] >= '0' && l.sql[l.end] <= '9' {
			l.end++
		}
		if l.end == l.start+1 || l.start > 0 && isWord[l.sql[l.start-1]] || l.end < len(l.sql) && isWord[l.sql[l.end]] {
			return lexUnknown
		}
		return lexParam
	case isSymbol[c]:
		return lexSymbol
	}
	return lexUnknown
}

func (l *lexer) run(of *[256]bool, found lexeme) lexeme {
	sql, end := l.sql, l.end
	for end < len(sql) && of[sql[end]] {
		end++
	}
	l.end = end
	return found
}

// escaped reads a string with the prefix E.
func (l *lexer) escaped() lexeme {
	for l.end++; l.end < len(l.sql); l.end++ {
		switch l.sql[l.end] {
		case '\\':
			l.end++
		case '\'':
			if l.end+1 == len(l.sql) || l.sql[l.end+1] != '\'' {
				l.end++
				return lexString
			}
			l.end++
		}
	}
	return lexUnknown
}

// quoted reads a string. One behind & may have the prefix U&.
func (l *lexer) quoted() lexeme {
	if l.start > 0 && l.sql[l.start-1] == '&' {
		return lexUnknown
	}
	for {
		quote := strings.IndexByte(l.sql[l.end:], '\'')
		if quote < 0 {
			return lexUnknown
		}
		l.end += quote + 1
		if l.end == len(l.sql) || l.sql[l.end] != '\'' {
			return lexString
		}
		l.end++
	}
}

// blank is where the spaces and comments that begin at i end; negative where the lexer
// gives up.
func (l *lexer) blank(i int) int {
	for i < len(l.sql) {
		switch l.sql[i] {
		case ' ', '\t', '\n', '\r', '\f', '\v':
			i++
		case '-', '/':
			end := l.comment(i)
			if end == 0 {
				return i
			}
			if i = end; end < 0 {
				return end
			}
		default:
			return i
		}
	}
	return i
}

// comment is where the comment that begins at i ends; 0 if there is none, and negative
// for one without end and for one with another inside.
func (l *lexer) comment(i int) int {
	switch rest := l.sql[i:]; {
	case strings.HasPrefix(rest, "--"):
		line := strings.IndexAny(rest, "\n\r")
		if line < 0 {
			return len(l.sql)
		}
		return i + line
	case strings.HasPrefix(rest, "/*"):
		closing := strings.Index(rest[2:], "*/")
		if closing < 0 || strings.Contains(rest[2:2+closing+1], "/*") {
			return -1
		}
		return i + 2 + closing + 2
	}
	return 0
}
