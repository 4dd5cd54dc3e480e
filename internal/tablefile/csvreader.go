package tablefile

import (
	"bufio"
	"errors"
	"io"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
)

// csvReader reads what csvWriter writes. Unlike encoding/csv, it tells NULL from an empty text, takes an empty line for
// a row whose only column is NULL, and leaves line ends in values as they are.
type csvReader struct {
	from *bufio.Reader
	text []byte // of the fields of the row at hand, one behind the other
	ends []int  // of each field in text
	null []bool // of each field
}

var errCSV = errors.New("the file is no CSV as kproxy writes it")

// read reads a row into row, whose length is the number of fields; the error is io.EOF behind the last row.
func (r *csvReader) read(row []parquetfile.Value) ([]parquetfile.Value, error) {
	if _, err := r.from.Peek(1); err != nil {
		return nil, err
	}
	r.text, r.ends, r.null = r.text[:0], r.ends[:0], r.null[:0]
	for {
		last, err := r.field()
		if err != nil {
			return nil, err
		}
		if last {
			break
		}
	}
	all, start := string(r.text), 0
	row = row[:0]
	for i, end := range r.ends {
		row = append(row, parquetfile.Value{Text: all[start:end], Null: r.null[i]})
		start = end
	}
	return row, nil
}

// field reads a field and what ends it; last says that it is the last one of its row.
func (r *csvReader) field() (last bool, err error) {
	start, quoted, inside := len(r.text), false, false
	for first := true; ; first = false {
		c, err := r.from.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errCSV // a row ends with a line end
			}
			return false, err
		}
		switch {
		case inside && c != '"':
			r.text = append(r.text, c)
		case inside:
			inside = false
		case c == '"' && first:
			quoted, inside = true, true
		case c == '"' && quoted: // the second one of two
			inside = true
			r.text = append(r.text, c)
		case c == ',' || c == '\n':
			r.ends, r.null = append(r.ends, len(r.text)), append(r.null, !quoted && len(r.text) == start)
			return c == '\n', nil
		case c == '"' || c == '\r' || quoted:
			return false, errCSV
		default:
			r.text = append(r.text, c)
		}
	}
}
