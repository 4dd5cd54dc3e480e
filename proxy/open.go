package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// openEffect is the Open of a statement of the extended protocol, which has no others.
func openEffect(effects []any) (open Open, is bool) {
	if len(effects) == 1 {
		open, is = effects[0].(Open)
	}
	return open, is
}

// errLongValue refuses a value that is too long to be inspected whole.
var errLongValue = fmt.Errorf("the value of a parameter that changes the session is longer than %d bytes", maxNamesBytes)

// bound has a Bind carry the effect of its statement for the value that it brings, if the
// statement's effect depends on it. Values are what follows the names, whole if that is all of
// it. The message waits until it is known which statement it takes, and in which encoding.
func (c *clientSide) bound(m *message, values []byte, whole bool) (refused *refusal, known bool) {
	if !c.opening || m.kind != messageBind {
		return nil, true
	}
	if c.waitForSegments() {
		return nil, false
	}
	of := c.tracker.foresee().statement(m.statement)
	if of == nil {
		return nil, true
	}
	open, is := openEffect(of.effects)
	if !is {
		return nil, true
	}
	state, known := c.tracker.ahead()
	if !known {
		c.until = c.tracker.ended
		return nil, false
	}
	value, complete := soleValue(values)
	switch {
	case !complete && !whole:
		return newRefusal(errLongValue, stateProgramLimitExceeded), true
	case !complete:
		return nil, true // the server refuses it
	}
	size := heldOverhead
	if value != nil {
		size += len(*value)
		text, err := c.tracker.decodeText(state, *value)
		if err == nil && !utf8.ValidString(text) {
			err = errors.New(`invalid byte sequence for encoding "UTF8"`)
		}
		if err != nil {
			return newRefusal(err, stateCharacterNotInEncoding), true
		}
		value = &text
	}
	effect, err := open.With(value)
	if err != nil {
		return newRefusal(err, stateFeatureNotSupported), true
	}
	m.prepared = &prepared{effects: []any{effect}, bytes: size}
	c.travels(state, m.prepared.effects)
	return nil, true
}

// errTyped refuses a statement whose parameter is declared as a type other than text.
var errTyped = errors.New("the parameter of set_config cannot be declared as another type than text")

// ofText says whether the declared types of parameters, as Parse has them, are at most one, which
// is not given or a text: others change the value before it counts.
func ofText(types []byte) bool {
	if len(types) <= 2 {
		return true
	}
	switch binary.BigEndian.Uint32(types[2:]) {
	case 0, pgtype.TextOID, pgtype.UnknownOID, pgtype.VarcharOID:
		return len(types) == 6
	}
	return false
}

// soleValue is the value in what follows the names in a Bind, nil for NULL, if it is there as a
// whole and the only one. A text is the same in both formats.
func soleValue(values []byte) (value *string, complete bool) {
	if len(values) < 2 {
		return nil, false
	}
	formats := 2 * int(binary.BigEndian.Uint16(values))
	values = values[2:]
	if len(values) < formats+6 || binary.BigEndian.Uint16(values[formats:]) != 1 {
		return nil, false
	}
	size := int32(binary.BigEndian.Uint32(values[formats+2:]))
	values = values[formats+6:]
	if size == -1 {
		return nil, true
	}
	if size < 0 || int(size) > len(values) {
		return nil, false
	}
	text := string(values[:size])
	return &text, true
}
