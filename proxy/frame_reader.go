package proxy

import (
	"encoding/binary"
	"errors"
	"io"
)

// headerBytes is a message's type and length.
const headerBytes = 5

// errFrameLength reports a length that no message can have.
var errFrameLength = errors.New("invalid message length")

// frame is the header of a typed message.
type frame struct {
	kind byte
	size int // of the body, which follows in the stream
}

// parseHeader reads the five bytes that begin a message.
func parseHeader(b []byte) (frame, error) {
	length := int32(binary.BigEndian.Uint32(b[1:headerBytes]))
	if length < 4 {
		return frame{}, errFrameLength
	}
	return frame{kind: b[0], size: int(length) - 4}, nil
}

// unexpected makes the end of a stream inside a message an error of its own.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendHeader appends the header of a message with a body of size bytes.
func appendHeader(dst []byte, kind byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, kind), uint32(size+4))
}

// appendFrame appends a message with a body.
func appendFrame(dst []byte, kind byte, body []byte) []byte {
	return append(appendHeader(dst, kind, len(body)), body...)
}

// action is what is done with a message.
type action byte

const (
	wait action = iota // it is looked at again later: see clientSide.until
	pass               // it goes on as it is
	drop               // it does not; something else may have gone in its place
)

// handler decides on the messages of one direction.
type handler interface {
	// check validates a header and returns how many bytes of the body, of those that
	// decide gets, must be there.
	check(frame) (int, error)
	// decide decides on a message by the beginning of its body.
	decide(f frame, begin []byte, out *writeBuffer) (action, error)
}

// frameReader divides one direction's bytes into messages.
type frameReader struct {
	rest    int      // bytes of the message begun that are yet to come
	passing bool     // they go on; else they are dropped
	copied  *capture // gets what goes on of the message begun; nil = nobody does
}

// run takes messages from in until they end, a message that must be seen is incomplete, or a
// message must wait. It returns how much of in it has taken, and how long the rest must be before
// anything can happen.
func (r *frameReader) run(in []byte, out *writeBuffer, h handler) (taken, need int, err error) {
	for {
		if r.rest > 0 {
			n := min(r.rest, len(in)-taken)
			if r.passing {
				out.pass(in[taken : taken+n])
				if r.copied != nil {
					r.copied.add(in[taken : taken+n])
				}
			}
			taken += n
			if r.rest -= n; r.rest > 0 {
				return taken, 1, nil
			}
		}
		left := in[taken:]
		if len(left) < headerBytes {
			return taken, headerBytes, nil
		}
		f, err := parseHeader(left)
		if err != nil {
			return taken, 0, err
		}
		seen, err := h.check(f)
		if err != nil {
			return taken, 0, err
		}
		if len(left) < headerBytes+seen {
			return taken, headerBytes + seen, nil
		}
		does, err := h.decide(f, left[headerBytes:headerBytes+seen], out)
		if err != nil || does == wait {
			return taken, 0, err
		}
		r.rest, r.passing = headerBytes+f.size, does == pass
	}
}

// inside tells whether the last message that goes on has gone in part only.
func (r *frameReader) inside() bool { return r.rest > 0 && r.passing }
