package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

const (
	// headerBytes is a message's type and length.
	headerBytes = 5

	// relayBufferBytes is the size of each of a session's four buffers.
	relayBufferBytes = 16 << 10
)

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

// readFrame reads the next header. It returns io.EOF only between messages.
func readFrame(r *bufio.Reader) (frame, error) {
	b, err := r.Peek(headerBytes)
	if err != nil {
		if len(b) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	f, err := parseHeader(b)
	if err != nil {
		return frame{}, err
	}
	_, err = r.Discard(headerBytes)
	return f, err
}

// relay copies the message whose header has been read, through the buffers
// there are.
func relay(w *bufio.Writer, r *bufio.Reader, f frame) error {
	if err := send(w, appendHeader(w.AvailableBuffer(), f.kind, f.size)); err != nil {
		return err
	}
	for size := f.size; size > 0; {
		if _, err := r.Peek(1); err != nil {
			return unexpected(err)
		}
		b, err := r.Peek(min(size, r.Buffered()))
		if err != nil {
			return unexpected(err)
		}
		if err := send(w, b); err != nil {
			return err
		}
		if _, err := r.Discard(len(b)); err != nil {
			return unexpected(err)
		}
		size -= len(b)
	}
	return nil
}

// send writes whole messages, or a part of the one being relayed.
func send(w *bufio.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return &flushError{err}
	}
	return nil
}

// readBody reads a body of size bytes, of which it returns at most limit and
// skips the rest. It allocates no more than limit.
func readBody(r *bufio.Reader, size, limit int) ([]byte, error) {
	body := make([]byte, min(size, limit))
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, unexpected(err)
	}
	return body, skipBody(r, size-len(body))
}

// skipBody discards size bytes.
func skipBody(r *bufio.Reader, size int) error {
	_, err := r.Discard(size)
	return unexpected(err)
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

// flushError is the failure to write to the peer that a relay writes to, as
// opposed to the one it reads from.
type flushError struct{ err error }

func (e *flushError) Error() string { return e.err.Error() }
func (e *flushError) Unwrap() error { return e.err }

// flushingReader flushes what has been relayed before it waits for more: writes
// are coalesced while input lasts, and nothing is held back when it does not.
type flushingReader struct {
	from io.Reader
	to   *bufio.Writer // nil = nothing to flush
}

func (r *flushingReader) Read(p []byte) (int, error) {
	if r.to != nil {
		if err := r.to.Flush(); err != nil {
			return 0, &flushError{err}
		}
	}
	return r.from.Read(p)
}
