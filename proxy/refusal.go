package proxy

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
)

// maxRefusalBytes caps the message and the hint of a refusal.
const maxRefusalBytes = 8 << 10

// refusal is a statement that is not to be executed. In its place the server
// gets a text with the token that cannot succeed, and the error about the token
// that the server answers with at that point of the pipeline is replaced by the
// refusal's own.
type refusal struct {
	report
	token string
	shape string // of the text, for the Observer; "" = none is known
}

// newRefusal makes the refusal of a statement for the reason err; state is its
// SQLSTATE where err has none.
func newRefusal(err error, state string) *refusal {
	r := &refusal{token: newToken(), report: report{severity: "ERROR", state: state}}
	r.message = truncate(err.Error())
	var stater interface{ SQLState() string }
	if errors.As(err, &stater) && validSQLState(stater.SQLState()) {
		r.state = stater.SQLState()
	}
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		r.hint = truncate(hinter.Hint())
	}
	var positioner interface{ Position() int }
	if errors.As(err, &positioner) {
		r.position = positioner.Position()
	}
	var shaper interface{ Shape() string }
	if errors.As(err, &shaper) {
		r.shape = shaper.Shape()
	}
	return r
}

// fatal is the refusal of a login.
func (r *refusal) fatal() *fatal {
	last := r.report
	last.severity, last.position = "FATAL", 0
	return (*fatal)(&last)
}

// text is what to send. The bare token is a syntax error, which the server reports before anything
// else. As the name of a column, it is found missing only after the server has checked whether the
// transaction has failed; if it has, that is the answer.
func (r *refusal) text() string {
	if r.state == stateSyntaxError {
		return r.token
	}
	return "SELECT " + r.token
}

// matches reports whether message is the server's answer to the token.
func (r *refusal) matches(message string) bool {
	return strings.Contains(message, r.token)
}

// newToken returns an unguessable identifier. It stays under NAMEDATALEN (64
// bytes), beyond which the server would add a notice about truncation.
func newToken() string {
	var random [16]byte
	rand.Read(random[:]) // never fails: it returns or ends the process
	return "kproxy_refused_" + hex.EncodeToString(random[:])
}

func truncate(text string) string {
	if len(text) > maxRefusalBytes {
		return strings.ToValidUTF8(text[:maxRefusalBytes], "")
	}
	return text
}
