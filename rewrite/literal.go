package rewrite

import "strings"

// literal is a constant as it stands in a text.
type literal struct {
	start, end int
	class      class
}

// class says as which token of the grammar PostgreSQL reads a literal. Zero is for
// literals that are not plain.
type class byte

const (
	// classInteger: one to nine digits, not led by a zero, hence an ICONST.
	classInteger class = 'i'
	// classDecimal: digits with a point among them, hence an FCONST.
	classDecimal class = 'd'
	// classString: a text in single quotes without prefix or backslash, an SCONST.
	classString class = 's'
)

// maxLiterals bounds the literals of a text that has a template.
const maxLiterals = 4096

// literals finds the plain literals of a text. What is not plain counts as part of the
// text around. It is false where there are none, or too many, or where it cannot be
// sure.
func literals(sql string, found []literal) ([]literal, bool) {
	found = found[:0]
	l := lexer{sql: sql}
	for previous := lexEnd; ; {
		of := l.next()
		var plain class
		switch {
		case of == lexEnd:
			return found, len(found) > 0
		case of == lexUnknown, of == lexString && previous == lexString: // perhaps one string
			return nil, false
		case of == lexString:
			plain = stringClass(sql[l.start:l.end])
		case of == lexNumber && (l.start == 0 || sql[l.start-1] != '.'):
			plain = numberClass(sql[l.start:l.end])
		}
		if plain != 0 {
			found = append(found, literal{l.start, l.end, plain})
		}
		if len(found) > maxLiterals {
			return nil, false
		}
		previous = of
	}
}

func stringClass(quoted string) class {
	if quoted[0] != '\'' || strings.IndexByte(quoted, '\\') >= 0 || strings.IndexByte(quoted, 0) >= 0 {
		return 0
	}
	return classString
}

// numberClass is the class of a number, or of several in a row, which are not plain.
func numberClass(number string) class {
	if number[0] == '0' && len(number) > 1 && number[1] != '.' {
		return 0
	}
	point := -1
	for i := range len(number) {
		switch {
		case number[i] >= '0' && number[i] <= '9':
		case number[i] == '.' && point < 0 && i+1 < len(number):
			point = i
		default:
			return 0
		}
	}
	switch {
	case point >= 0:
		return classDecimal
	case len(number) <= 9:
		return classInteger
	}
	return 0
}

// value is the content of a plain literal: the digits, or the string without its
// quotes.
func (l literal) value(sql string) string {
	text := sql[l.start:l.end]
	if l.class == classString {
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	}
	return text
}
