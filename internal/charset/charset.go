// Package charset converts texts between UTF-8 and the encodings that PostgreSQL lets
// clients choose (PostgreSQL documentation, "Character Set Support"). Its tables are those
// of golang.org/x/text, with what PostgreSQL reads differently.
package charset

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// UTF8 is PostgreSQL's name of UTF-8.
const UTF8 = "UTF8"

// replacement stands for what an encoding does not have.
const replacement = '?'

// Charset is an encoding of clients. ASCII is the same in all of them.
type Charset struct {
	// Name is PostgreSQL's, as SHOW client_encoding gives it.
	Name string

	// library is the encoding as the library knows it; nil for UTF-8.
	library encoding.Encoding
	// length is the length of the character of several bytes that a text begins with;
	// nil where all have one byte.
	length func(text string) int
	// read are the characters that PostgreSQL reads differently; 0 = none is read, since
	// the library's would be wrong.
	read map[string]rune
}

// Find returns the encoding that PostgreSQL finds by a name: it looks at letters and digits
// only. Not found are, besides unknown names, SQL_ASCII, which is no encoding, and those for
// which there are no tables: MULE_INTERNAL, EUC_TW, EUC_JIS_2004, SHIFT_JIS_2004 and JOHAB.
func Find(name string) (c *Charset, known bool) {
	cleaned := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	c, known = byName[cleaned]
	return c, known
}

// InvalidError is a text that is none in an encoding.
type InvalidError struct {
	Encoding string
	Bytes    string // the first that are no character
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("invalid byte sequence for encoding %q: 0x% 02x", e.Encoding, e.Bytes)
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
	if isASCII(text) || c.library == nil && utf8.ValidString(text) {
		return text, nil
	}
	var b strings.Builder
	b.Grow(2 * len(text))
	read := c.reader()
	for i := 0; i < len(text); {
		r, n, known := read(text[i:])
		if !known && !goOn {
			return "", &InvalidError{c.Name, text[i : i+n]}
		}
		b.WriteRune(r)
		i += n
	}
	return b.String(), nil
}

// reader returns what reads the character that a text begins with and the number of its
// bytes; U+FFFD where they are none.
func (c *Charset) reader() func(text string) (r rune, n int, known bool) {
	if c.library == nil {
		return func(text string) (rune, int, bool) {
			r, n := utf8.DecodeRuneInString(text)
			return r, n, r != utf8.RuneError || n > 1
		}
	}
	decoder := c.library.NewDecoder()
	return func(text string) (rune, int, bool) {
		if text[0] < utf8.RuneSelf {
			return rune(text[0]), 1, true
		}
		n := 1
		if c.length != nil {
			n = c.length(text)
		}
		if n > len(text) {
			return utf8.RuneError, len(text), false
		}
		r, known := c.character(decoder, text[:n])
		return r, n, known
	}
}

// character decodes a single one.
func (c *Charset) character(decoder *encoding.Decoder, bytes string) (r rune, known bool) {
	if r, special := c.read[bytes]; special && r == 0 {
		return utf8.RuneError, false
	} else if special {
		return r, true
	}
	decoder.Reset()
	var found [8]byte
	n, _, err := decoder.Transform(found[:], []byte(bytes), true)
	r, size := utf8.DecodeRune(found[:n])
	if err != nil || size != n || r < utf8.RuneSelf || r == utf8.RuneError {
		return utf8.RuneError, false
	}
	return r, true
}

// Encode returns in the encoding what a text in UTF-8 says, with question marks for what the
// encoding does not have.
func (c *Charset) Encode(text string) string {
	if c.library == nil || isASCII(text) {
		return text
	}
	encoder := c.library.NewEncoder()
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		encoder.Reset()
		encoded, err := encoder.String(string(r))
		// The library has characters that PostgreSQL reads otherwise.
		if back, invalid := c.Decode(encoded); err != nil || invalid != nil || back != string(r) {
			encoded = string(replacement)
		}
		b.WriteString(encoded)
	}
	return b.String()
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
