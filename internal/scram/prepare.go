package scram

import (
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
	"golang.org/x/text/unicode/norm"
)

// prohibited are tables of RFC 3454 whose characters no normalized password has: those
// of SASLprep (RFC 4013, section 2.3) and those that Unicode 3.2 does not assign.
var prohibited = []stringprep.Set{
	stringprep.TableC2_1, stringprep.TableC2_2, stringprep.TableC3, stringprep.TableC4, stringprep.TableC5,
	stringprep.TableC6, stringprep.TableC7, stringprep.TableC8, stringprep.TableC9, stringprep.TableA1,
}

// Prepare normalizes a password as PostgreSQL and libpq do (pg_saslprep), with which the result
// must agree in each byte. They differ from SASLprep (RFC 4013): they look for prohibited
// characters before normalization, not after, and take a password as it is if it is not
// UTF-8, has prohibited characters, or would become empty.
func Prepare(password string) string {
	if isASCII(password) || !utf8.ValidString(password) {
		return password
	}
	var mapped []rune
	for _, r := range password {
		switch {
		case stringprep.TableC1_2.Contains(r): // first: U+200B is in both tables
			mapped = append(mapped, ' ')
		case !mappedToNothing(r):
			mapped = append(mapped, r)
		}
	}
	if len(mapped) == 0 || hasProhibited(mapped) || mixesDirections(mapped) {
		return password
	}
	return norm.NFKC.String(string(mapped))
}

func isASCII(text string) bool {
	for _, b := range []byte(text) {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mappedToNothing is table B.1 of RFC 3454. The library's lacks the Mongolian soft
// hyphen.
func mappedToNothing(r rune) bool {
	_, ok := stringprep.TableB1.Map(r)
	return ok || r == '\u1806'
}

func hasProhibited(text []rune) bool {
	for _, r := range text {
		for _, set := range prohibited {
			if set.Contains(r) {
				return true
			}
		}
	}
	return false
}

// mixesDirections reports whether a text with right-to-left characters also has left-to-right
// ones, or does not begin and end with a right-to-left one (RFC 3454, section 6).
func mixesDirections(text []rune) bool {
	rightToLeft, leftToRight := false, false
	for _, r := range text {
		rightToLeft = rightToLeft || stringprep.TableD1.Contains(r)
		leftToRight = leftToRight || stringprep.TableD2.Contains(r)
	}
	if !rightToLeft {
		return false
	}
	return leftToRight || !stringprep.TableD1.Contains(text[0]) || !stringprep.TableD1.Contains(text[len(text)-1])
}
