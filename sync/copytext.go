package sync

import (
	"bytes"
	"errors"
	"strings"
)

// value is one column of a row in PostgreSQL's text form.
type value struct {
	text string
	null bool
	// kept marks an unchanged TOAST value, which the stream leaves out: the store
	// has it.
	kept bool
}

func (v value) pointer() *string {
	if v.null {
		return nil
	}
	return &v.text
}

var errCopyText = internal(errors.New("a row of the COPY stream is malformed"))

// copyReader cuts COPY's text format into rows (PostgreSQL, COPY, "Text
// Format") and hands each to row. It is an io.Writer, as COPY TO pushes.
type copyReader struct {
	columns int
	row     func([]value) error

	rest   []byte // an unfinished line
	values []value
}

// Write takes the next piece of the stream. Pieces need not end at a row's end.
func (r *copyReader) Write(piece []byte) (int, error) {
	written := len(piece)
	for {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			r.rest = append(r.rest, piece...)
			return written, nil
		}
		line := piece[:end]
		if len(r.rest) > 0 {
			r.rest = append(r.rest, line...)
			line = r.rest
		}
		if err := r.line(line); err != nil {
			return 0, err
		}
		r.rest, piece = r.rest[:0], piece[end+1:]
	}
}

// Close checks that the stream ended at a row's end.
func (r *copyReader) Close() error {
	if len(r.rest) > 0 {
		return errCopyText
	}
	return nil
}

// line hands over a row. Its values share one text: who keeps one of them for good, and
// not the others, keeps a copy.
func (r *copyReader) line(line []byte) error {
	r.values = r.values[:0]
	text := string(line)
	for more := true; more; {
		field := text
		end := strings.IndexByte(text, '\t')
		if more = end >= 0; more {
			field, text = text[:end], text[end+1:]
		}
		v, err := copyField(field)
		if err != nil {
			return err
		}
		r.values = append(r.values, v)
	}
	if len(r.values) != r.columns {
		return errCopyText
	}
	return r.row(r.values)
}

var copyEscapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\'}

func copyField(field string) (value, error) {
	if strings.IndexByte(field, '\\') < 0 {
		return value{text: field}, nil
	}
	if field == copyNull {
		return value{null: true}, nil
	}
	text := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		if field[i] != '\\' {
			text = append(text, field[i])
			continue
		}
		i++
		if i == len(field) {
			return value{}, errCopyText
		}
		plain, known := copyEscapes[field[i]]
		if !known {
			return value{}, errCopyText
		}
		text = append(text, plain)
	}
	return value{text: string(text)}, nil
}
