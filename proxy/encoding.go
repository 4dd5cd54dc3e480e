package proxy

import (
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/internal/charset"
)

// A client may use an encoding other than UTF-8. The server knows the session's client_encoding and
// converts everything that it sends and the values in Bind. kproxy decodes the texts of statements
// for the Gate, and sends them in ASCII, so that the server reads what the Gate has decided on,
// whatever encoding it assumes.

// encodingParameter is followed as the search_path is.
const encodingParameter = "client_encoding"

var utf8Charset, _ = charset.Find(charset.UTF8)

// encodingOfDatabase is what a server reports.
const encodingOfDatabase = "server_encoding"

// charsetOf is the encoding of the session in a state. The Gate knows no others than charset.
func (t *tracker) charsetOf(in State) *charset.Charset {
	name := in.Encoding()
	if name == charset.UTF8 {
		return utf8Charset
	}
	if name == charset.None && t.database != nil {
		return t.database
	}
	if c, known := charset.Find(name); known {
		return c
	}
	return utf8Charset
}

// answers is the encoding of what the server answers.
func (t *tracker) answers() *charset.Charset { return t.charsetOf(t.done.state) }

// decodeText returns a client's text in UTF-8. What claims to be UTF-8 is looked at later.
func (t *tracker) decodeText(in State, text string) (string, error) {
	if c := t.charsetOf(in); c != utf8Charset {
		return c.Decode(text)
	}
	return text, nil
}

// checkEncoding refuses to go on where the server has another encoding than the session: it
// would read texts otherwise than the Gate. UNICODE is UTF8, and the one other name that the
// server reports as it is set. A session without an encoding is one with the database's, which has
// to be known; database is nil for another one.
func checkEncoding(reported string, in State, database *charset.Charset) error {
	want := in.Encoding()
	if want == charset.None && database == nil {
		return newFatal(stateFeatureNotSupported, "kproxy does not know the encoding of the database").withHint("Use client_encoding UTF8.")
	}
	if reported == want || want == charset.UTF8 && (reported == "" || reported == "UNICODE") {
		return nil
	}
	return newFatal(stateFeatureNotSupported, fmt.Sprintf("%s must be %s", encodingParameter, want))
}

// errForeignName refuses names that the server spells differently than the tracker.
var errForeignName error = foreignName{errors.New("names of prepared statements and portals must be ASCII unless client_encoding is UTF8 throughout the session")}

type foreignName struct{ error }

// Hint says what to do instead.
func (foreignName) Hint() string { return "Use other names, or client_encoding UTF8." }

// foreign returns the refusal of names in an encoding that changes, or nil.
func (g *gatekeeper) foreign(names ...[]byte) *refusal {
	if !g.escapes {
		return nil
	}
	for _, name := range names {
		if !charset.IsASCII(string(name)) {
			return newRefusal(errForeignName, stateFeatureNotSupported)
		}
	}
	return nil
}
