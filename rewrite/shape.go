package rewrite

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// maxShapeBytes is where a shape is cut, at a word.
const maxShapeBytes = 2000

// What a shape has in place of what is the client's own.
const (
	shapeConstant = "?"      // a constant
	shapeMore     = ", ..."  // the rest of a list of constants, or of rows of them
	shapeCut      = " [...]" // the rest of a long statement
)

// shapeOf is a text that parses, without anything in it that is the client's own: it is
// what the operator sees of statements. Constants become ?, lists of them (?, ...); names
// that are not in the vocabulary are numbered, _1, _2, ...; comments are gone.
//
// It is put together from tokens, and each is a keyword of PostgreSQL's grammar, a word
// of the vocabulary, punctuation or a placeholder. So nothing else can get into it,
// whatever the text is, and whatever the grammar makes of it.
func shapeOf(sql string, known func(string) bool) string {
	s := shaper{sql: sql, known: known}
	if !s.quick() && !s.thorough() {
		return ""
	}
	return string(s.out)
}

// verbOf is the shape reported for a text that is refused by its first word, before it is parsed:
// that word.
func verbOf(err error, sql string) string {
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.reason != ReadOnly {
		return ""
	}
	l := lexer{sql: sql}
	if l.next() != lexWord || !keywords[foldASCII(sql[l.start:l.end])] {
		return ""
	}
	return strings.ToUpper(sql[l.start:l.end]) + shapeCut
}

// part is what a token is for a shape.
type part byte

const (
	partNone part = iota
	partKeyword
	partCall // a keyword that is written like a function
	partName
	partConstant
	partOpen
	partClose
	partComma
	partDot
	partOperator
	partSemicolon
)

// shaper makes one shape.
type shaper struct {
	sql   string
	known func(string) bool
	out   []byte
	full  bool

	last, before, third part           // what was written last, before that, and before that
	list                bool           // what was written last are constants after a parenthesis, or a comma after them
	end                 int            // where the last operator ends in the text
	mark                int            // where the last operator or constant begins in the shape, with its blank
	signs               bool           // list, before the last operator
	numbers             map[string]int // of names
	opened              []int          // where the open parentheses are in the shape
	group               []byte         // the last list of constants in parentheses
	groupEnd            int            // where it ends in the shape
}

// quick makes the shape with kproxy's own lexer; false where that gives up.
func (s *shaper) quick() bool {
	if strings.Contains(s.sql, "..") || strings.Contains(s.sql, "\v") {
		return false // as quickScan does
	}
	for l := (lexer{sql: s.sql}); !s.full; {
		of := l.next()
		if of == lexEnd {
			return true
		}
		if of == lexUnknown || of == lexQuoted && l.start > 0 && strings.IndexByte(`&"`, s.sql[l.start-1]) >= 0 {
			return s.giveUp() // perhaps U&"...", or a quote in a name
		}
		text := s.sql[l.start:l.end]
		switch of {
		case lexNumber, lexString:
			s.constant(of == lexNumber)
		case lexParam:
			s.parameter(text)
		case lexQuoted:
			s.quoted(text)
		case lexWord:
			s.word(text)
		default:
			if text == "." && l.end < len(s.sql) && s.sql[l.end] >= '0' && s.sql[l.end] <= '9' {
				return s.giveUp() // a number
			}
			s.symbol(text, l.start)
		}
	}
	return true
}

// giveUp begins again, and is false.
func (s *shaper) giveUp() bool {
	*s = shaper{sql: s.sql, known: s.known}
	return false
}

// thorough makes it with PostgreSQL's lexer; false for a text that it cannot read.
func (s *shaper) thorough() bool {
	tokens, err := scan(s.sql)
	if err != nil {
		return false
	}
	for _, t := range tokens {
		if s.full {
			break
		}
		text := s.sql[t.start:t.end]
		switch {
		case t.kind == pg.Token_IDENT && strings.HasPrefix(text, `"`):
			s.quoted(text)
		case t.kind == pg.Token_IDENT, t.keyword != pg.KeywordKind_NO_KEYWORD:
			s.word(text)
		case t.kind == pg.Token_UIDENT: // of which the lexer does not tell the end
			s.name(text)
		case t.kind == pg.Token_PARAM:
			s.parameter(text)
		case t.kind == pg.Token_ICONST, t.kind == pg.Token_FCONST:
			s.constant(true)
		case text != "" && isPunctuation(text):
			s.symbol(text, int(t.start))
		default:
			s.constant(false)
		}
	}
	return true
}

// isPunctuation says whether a token has no other characters than operators and brackets.
func isPunctuation(text string) bool {
	for i := range len(text) {
		if !isSymbol[text[i]] {
			return false
		}
	}
	return true
}

// write appends a token's text.
func (s *shaper) write(text string, as part) {
	if len(s.out)+len(text)+1 > maxShapeBytes {
		s.out, s.full = append(s.out, shapeCut...), true
		return
	}
	s.mark = len(s.out)
	if s.spaced(as) {
		s.out = append(s.out, ' ')
	}
	s.out = append(s.out, text...)
	s.list = as == partConstant && (s.list || s.last == partOpen) || as == partComma && s.list
	s.third, s.before, s.last = s.before, s.last, as
}

// spaced says whether a blank belongs before what is written next.
func (s *shaper) spaced(next part) bool {
	switch s.last {
	case partNone, partOpen, partDot:
		return false
	}
	switch next {
	case partComma, partClose, partDot, partSemicolon:
		return false
	case partOpen:
		return s.last != partName && s.last != partCall
	}
	return true
}

// word writes an identifier that is not quoted, or a keyword.
func (s *shaper) word(text string) {
	folded := foldASCII(text)
	switch {
	case folded == "true", folded == "false":
		s.constant(false)
	case s.known(folded) && !reservedWords[folded]:
		s.write(folded, partName)
	case callWords[folded]:
		s.write(strings.ToUpper(folded), partCall)
	case reservedWords[folded]:
		s.write(strings.ToUpper(folded), partKeyword)
	case keywords[folded]: // it may be a name, too
		s.write(strings.ToUpper(folded), partName)
	default:
		s.name(folded)
	}
}

// quoted writes a quoted identifier.
func (s *shaper) quoted(text string) {
	content := strings.Trim(text, `"`)
	if s.known(content) {
		s.write(content, partName)
		return
	}
	s.name(text)
}

// name writes the number of a name that is the client's own.
func (s *shaper) name(of string) {
	number, numbered := s.numbers[of]
	if !numbered {
		if s.numbers == nil {
			s.numbers = make(map[string]int)
		}
		number = len(s.numbers) + 1
		s.numbers[of] = number
	}
	s.write("_"+strconv.Itoa(number), partName)
}

// parameter writes $1; a number could be somebody's.
func (s *shaper) parameter(text string) {
	if len(text) > len("$99") {
		text = "$" + shapeConstant
	}
	s.write(text, partName)
}

// constant writes a constant. Several in a row are one.
func (s *shaper) constant(number bool) {
	switch {
	case s.last == partConstant: // parts of one string
		return
	case number && s.signed():
		s.out = s.out[:s.mark]
		s.last, s.before, s.list = s.before, s.third, s.signs
	}
	if s.last == partComma && s.list {
		s.out = s.out[:len(s.out)-1]
		if !bytes.HasSuffix(s.out, []byte(shapeMore)) {
			s.out = append(s.out, shapeMore...)
		}
		s.last, s.before, s.third = partConstant, partComma, partConstant
		return
	}
	s.write(shapeConstant, partConstant)
}

// signed says whether the last operator is the sign of a number.
func (s *shaper) signed() bool {
	if s.last != partOperator {
		return false
	}
	operator := string(bytes.TrimLeft(s.out[s.mark:], " "))
	if operator != "-" && operator != "+" {
		return false
	}
	switch s.before {
	case partName, partConstant, partClose, partCall:
		return false
	}
	return true
}

// symbol writes punctuation, which begins at a place of the text.
func (s *shaper) symbol(text string, at int) {
	switch text {
	case "(", "[":
		s.write(text, partOpen)
		s.opened = append(s.opened, len(s.out)-1)
	case ")", "]":
		s.write(text, partClose)
		s.close()
	case ",":
		s.write(text, partComma)
	case ".":
		s.write(text, partDot)
	case ";":
		s.write(text, partSemicolon)
	default:
		list := s.list
		switch {
		case s.last != partOperator || s.end != at || len(s.out) >= maxShapeBytes:
			s.write(text, partOperator)
		case !s.full:
			s.out = append(s.out, text...) // of one operator
		}
		s.signs = list
		s.end = at + len(text)
	}
}

// close takes note of the end of parentheses: of equal lists of constants in a row, one is
// kept.
func (s *shaper) close() {
	if len(s.opened) == 0 || s.full {
		return
	}
	start := s.opened[len(s.opened)-1]
	s.opened = s.opened[:len(s.opened)-1]
	group := s.out[start:]
	if !bytes.HasPrefix(group, []byte("("+shapeConstant)) {
		return
	}
	if bytes.Equal(group, s.group) && start == s.groupEnd+len(", ") && string(s.out[s.groupEnd:start]) == ", " {
		s.out = s.out[:s.groupEnd]
		if !bytes.HasSuffix(s.out, []byte(shapeMore)) {
			s.out = append(s.out, shapeMore...)
		}
	} else {
		s.group = bytes.Clone(group)
	}
	s.groupEnd = len(s.out)
}
