package sync

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"
)

// The messages of which there are as many as changes are read here, into what they are
// needed as; the others by pglogrepl (PostgreSQL, "Logical Replication Message Formats",
// protocol version 1).

// errMessage means that a message of the stream is not what its kind says.
var errMessage = internal(errors.New("a message of the stream is malformed"))

// messageReader reads a message from its beginning to its end. After it has run short it
// yields zeros.
type messageReader struct {
	rest  []byte
	short bool
}

func (r *messageReader) bytes(n int) []byte {
	if r.short = r.short || n < 0 || n > len(r.rest); r.short {
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *messageReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *messageReader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *messageReader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *messageReader) lsn() pglogrepl.LSN {
	if b := r.bytes(8); b != nil {
		return pglogrepl.LSN(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Kinds of tuples in a change, and of the columns in a tuple.
const (
	newTuple   = 'N'
	oldTuple   = 'O' // all of the old row
	oldKey     = 'K' // its replica identity
	nullColumn = 'n'
	keptColumn = 'u' // an unchanged TOAST value
	textColumn = 't'
)

// change is one row change: old and new row, nil where the message has none.
type change struct{ old, new []value }

// change reads an INSERT, UPDATE or DELETE from behind its relation.
func (r *relation) change(from *messageReader) (c change, err error) {
	for len(from.rest) > 0 && err == nil {
		switch kind := from.byte(); kind {
		case newTuple:
			c.new, err = r.row(from)
		case oldTuple, oldKey:
			c.old, err = r.row(from)
		default:
			err = errMessage
		}
	}
	return c, err
}

// row reads a tuple into the columns that the store keeps.
func (r *relation) row(from *messageReader) ([]value, error) {
	values, columns := make([]value, len(r.place)), int(from.uint16())
	if columns < len(r.stored) {
		return nil, internal(errors.New("a row of the stream is shorter than its relation"))
	}
	for column := range columns {
		var v value
		var text []byte
		switch kind := from.byte(); kind {
		case nullColumn:
			v.null = true
		case keptColumn:
			v.kept = true
		case textColumn:
			text = from.bytes(int(from.uint32()))
		default:
			return nil, internal(fmt.Errorf("a row of the stream has a value of kind %q", kind))
		}
		if from.short {
			return nil, errMessage
		}
		if column < len(r.stored) && r.stored[column] >= 0 {
			v.text = string(text)
			values[r.stored[column]] = v
		}
	}
	return values, nil
}
