package sync

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// copyRows is an io.Reader of rows in COPY's text form (PostgreSQL, COPY, "Text
// Format"), as COPY FROM pulls. Fields are *string, *int64, *time.Time, int64, float32 or
// bool; nil pointers are NULL.
type copyRows struct {
	next func() ([]any, error) // nil at the end
	text []byte
	rest []byte
	done bool
}

// Read fills the buffer with whole and unfinished rows.
func (r *copyRows) Read(into []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.done {
			return 0, io.EOF
		}
		r.text = r.text[:0]
		for len(r.text) < pieceBytes {
			row, err := r.next()
			if err != nil {
				return 0, err
			}
			if r.done = row == nil; r.done {
				break
			}
			if r.text, err = appendCopyRow(r.text, row); err != nil {
				return 0, err
			}
		}
		r.rest = r.text
	}
	n := copy(into, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func appendCopyRow(text []byte, row []any) ([]byte, error) {
	for i, field := range row {
		if i > 0 {
			text = append(text, '\t')
		}
		var err error
		if text, err = appendCopyValue(text, field); err != nil {
			return nil, err
		}
	}
	return append(text, '\n'), nil
}

// appendCopyValue appends a field.
func appendCopyValue(text []byte, field any) ([]byte, error) {
	switch v := field.(type) {
	case int64:
		return strconv.AppendInt(text, v, 10), nil
	case float32:
		return strconv.AppendFloat(text, float64(v), 'g', -1, 32), nil
	case bool:
		return strconv.AppendBool(text, v), nil
	case *int64:
		if v != nil {
			return strconv.AppendInt(text, *v, 10), nil
		}
	case *string:
		if v != nil {
			return appendCopyText(text, *v), nil
		}
	case *time.Time:
		if v != nil {
			return v.UTC().AppendFormat(text, time.RFC3339Nano), nil
		}
	default:
		return nil, internal(fmt.Errorf("a field of type %T cannot be copied", field))
	}
	return append(text, copyNull...), nil
}

const copyNull = `\N`

func appendCopyField(text []byte, v value) []byte {
	if v.null {
		return append(text, copyNull...)
	}
	return appendCopyText(text, v.text)
}

// appendCopyText escapes what ends fields and rows, and the escape itself.
func appendCopyText(text []byte, value string) []byte {
	for i := range len(value) {
		switch c := value[i]; c {
		case '\\':
			text = append(text, `\\`...)
		case '\n':
			text = append(text, `\n`...)
		case '\r':
			text = append(text, `\r`...)
		case '\t':
			text = append(text, `\t`...)
		default:
			text = append(text, c)
		}
	}
	return text
}

// copyIn fills a table. Rows are asked for on a goroutine of the driver's.
func (p *publisher) copyIn(ctx context.Context, conn *pgconn.PgConn, into string, next func() ([]any, error)) error {
	guarded := func() (row []any, err error) {
		err = guard(p.config.Logger, func() error {
			row, err = next()
			return err
		})
		return row, err
	}
	_, err := conn.CopyFrom(ctx, &copyRows{next: guarded}, "COPY "+into+" FROM STDIN")
	return err
}
