// Package charset converts texts between UTF-8 and the encodings that PostgreSQL lets
// clients choose (PostgreSQL documentation, "Character Set Support"). Its tables are those
// of golang.org/x/text, with what PostgreSQL reads differently.
package charset

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// UTF8 is PostgreSQL's name of UTF-8, and None of no conversion: texts are in the database's
// encoding, whichever that is.
const (
	UTF8 = "UTF8"
	None = "SQL_ASCII"
)

// Charset is an encoding of clients. ASCII is the same in all of them.
type Charset struct {
	// Name is PostgreSQL's, as SHOW client_encoding gives it.
	Name string

	source
	tables func() *tables // of source, made when they are first needed; nil for UTF-8
}

// Find returns the encoding that PostgreSQL finds by a name. Not found are, besides unknown
// names, None and those for which there are no tables: MULE_INTERNAL, EUC_TW, EUC_JIS_2004, SHIFT_JIS_2004 and JOHAB.
func Find(name string) (c *Charset, known bool) {
	c, known = byName[Normalize(name)]
	return c, known
}

// Normalize returns what PostgreSQL compares of the name of an encoding: letters and digits.
func Normalize(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		}
		return -1
	}, name)
}

// InvalidError is a text that is none in an encoding.
type InvalidError struct {
	Encoding string
	Bytes    string // the first that are no character
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("invalid byte sequence for encoding %q: % #x", e.Encoding, e.Bytes)
}

// SQLState is character_not_in_repertoire.
func (e *InvalidError) SQLState() string { return "22021" }

// Decode returns in UTF-8 what a text in the encoding says. The error is an *InvalidError.
func (c *Charset) Decode(text string) (string, error) {
	decoded, invalid := c.decode(text, false)
	if invalid != nil {
		return "", invalid
	}
	return decoded, nil
}

// DecodeValid is Decode of what of a text is valid; U+FFFD stands for the rest.
func (c *Charset) DecodeValid(text string) string {
	decoded, _ := c.decode(text, true)
	return decoded
}

// decode ends at the first bytes that are no character, unless it is to go on.
func (c *Charset) decode(text string, goOn bool) (string, *InvalidError) {
	if IsASCII(text) || c.tables == nil && utf8.ValidString(text) {
		return text, nil
	}
	read := utf8.DecodeRuneInString
	if c.tables != nil {
		read = c.tables().read
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			b.WriteByte(text[i])
			i++
			continue
		}
		r, n := read(text[i:])
		if r == utf8.RuneError && !goOn {
			return "", &InvalidError{c.Name, text[i : i+n]}
		}
		b.WriteRune(r)
		i += n
	}
	return b.String(), nil
}

// Encode returns in the encoding what a text in UTF-8 says, with question marks for what the
// encoding does not have.
func (c *Charset) Encode(text string) string {
	if c.tables == nil || IsASCII(text) {
		return text
	}
	t := c.tables()
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
			continue
		}
		b.WriteString(t.write(r))
	}
	return b.String()
}

// IsASCII reports whether a text is ASCII, which is the same in all encodings.
func IsASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
