package rewrite

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// The SQLSTATEs of refusals (PostgreSQL, appendix A).
const (
	stateNotSupported      = "0A000"
	stateEncoding          = "22021"
	stateInvalidValue      = "22023"
	stateSampleArgument    = "2202H"
	stateReadOnly          = "25006"
	statePrivilege         = "42501"
	stateSyntax            = "42601"
	stateUndefinedColumn   = "42703"
	stateUndefinedSchema   = "3F000"
	stateUndefinedFunction = "42883"
	stateUndefinedType     = "42704"
	stateTableDefinition   = "42P16"
	stateUndefinedRel      = "42P01"
	stateAmbiguous         = "42P09"
	stateLimit             = "54000"
	stateTooComplex        = "54001"
	stateNotPublished      = "55000"
	stateInternal          = "XX000"
)

// Refusal says why a statement is not run, in the client's own words.
type Refusal struct {
	state    string
	message  string
	hint     string
	location int // byte offset in the client's text + 1; 0 = unknown
	position int // 1-based character position; 0 = unknown
	shape    string
}

// Error is the message for the client.
func (r *Refusal) Error() string { return r.message }

// SQLState is the five-character code of PostgreSQL's appendix A.
func (r *Refusal) SQLState() string { return r.state }

// Hint says what to do instead; it may be empty.
func (r *Refusal) Hint() string { return r.hint }

// Position is the 1-based character position in the client's text, 0 if unknown.
func (r *Refusal) Position() int { return r.position }

// Shape is that of the text, as Statement.Shape; empty where it was refused before it was
// parsed.
func (r *Refusal) Shape() string { return r.shape }

// shaped gives a refusal the shape of its text.
func shaped(err error, shape string) error {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		refusal.shape = shape
	}
	return err
}

func refuse(state, hint, format string, args ...any) *Refusal {
	return &Refusal{state: state, hint: hint, message: fmt.Sprintf(format, args...)}
}

// at notes where in the client's text the refused thing stands: a byte offset
// from the parser, negative when it knows none.
func (r *Refusal) at(location int32) *Refusal {
	if location >= 0 && r.location == 0 {
		r.location = int(location) + 1
	}
	return r
}

// locate turns the byte offset into the protocol's character position.
func (r *Refusal) locate(sql string) *Refusal {
	if r.position == 0 && r.location > 0 && r.location-1 <= len(sql) {
		r.position = utf8.RuneCountInString(sql[:r.location-1]) + 1
	}
	return r
}
