package pool

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxAnswerBytes caps a message of the server to the pool itself.
const maxAnswerBytes = 64 << 10

// readerBytes holds any message but those that are long for the purpose.
const readerBytes = 16 << 10

// readers are kept from one exchange to the next; a connection has none of its own.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readerBytes) }}

// answer is what the server says to one request.
type answer struct {
	row    []string          // the first one; NULL is ""
	digest [sha256.Size]byte // of all rows
	failed error             // with the SQLSTATE and the server's message
	status byte              // of the transaction afterwards, as in ReadyForQuery
}

// request is what the server answers with one ReadyForQuery, in the end.
type request []byte

// endSegment is Sync: it ends a segment of the extended protocol, in which the server may be skipping what
// comes after an error, and does nothing otherwise.
var endSegment = request{'S', 0, 0, 0, 4}

// query runs a text.
func query(text string) request {
	out := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(4+len(text)+1))
	return append(append(out, text...), 0)
}

// ask sends requests in one write and reads the answers to all of them.
func ask(conn net.Conn, report func(name, value string), requests ...request) ([]answer, error) {
	if _, err := conn.Write(slices.Concat(requests...)); err != nil {
		return nil, err
	}
	return readAnswers(conn, report, len(requests))
}

// readAnswers reads the answers to all requests that were sent, so that nothing is left in conn
// or in a buffer. What the server reports of its parameters meanwhile goes to report.
func readAnswers(conn net.Conn, report func(name, value string), requests int) ([]answer, error) {
	r := readers.Get().(*bufio.Reader)
	r.Reset(conn)
	defer func() {
		r.Reset(nil)
		readers.Put(r)
	}()
	answers := make([]answer, 0, requests)
	var current answer
	rows := sha256.New()
	for len(answers) < requests || r.Buffered() > 0 {
		kind, body, err := readMessage(r)
		if err != nil {
			return nil, errors.Join(current.failed, err) // the server may have said why
		}
		switch kind {
		case 'D':
			_, _ = rows.Write(body) // never fails
			if current.row == nil {
				current.row, err = parseRow(body)
			}
		case 'E':
			current.failed = parseError(body)
		case 'S':
			err = parseReport(body, report)
		case 'Z':
			if len(body) != 1 || len(answers) == requests {
				return nil, errMalformed
			}
			current.status = body[0]
			rows.Sum(current.digest[:0])
			rows.Reset()
			answers, current = append(answers, current), answer{}
		case 'T', 'C', 'I', 'N', 'A': // notices and notifications are nobody's
		default:
			err = errMalformed
		}
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

var errMalformed = errors.New("the server's answer is not what the protocol says")

// readMessage reads a message and returns its body, which lives until the next read.
func readMessage(r *bufio.Reader) (byte, []byte, error) {
	header, err := r.Peek(5)
	if err != nil {
		return 0, nil, err
	}
	kind, size := header[0], int64(binary.BigEndian.Uint32(header[1:]))-4
	if size < 0 || size > maxAnswerBytes {
		return 0, nil, errMalformed
	}
	_, _ = r.Discard(5)
	if size > readerBytes {
		body := make([]byte, size)
		_, err := io.ReadFull(r, body)
		return kind, body, err
	}
	body, err := r.Peek(int(size))
	if err != nil {
		return 0, nil, err
	}
	_, _ = r.Discard(len(body)) // it stays where it is until the next read
	return kind, body, nil
}

// parseRow reads the body of DataRow.
func parseRow(body []byte) ([]string, error) {
	if len(body) < 2 {
		return nil, errMalformed
	}
	row := make([]string, binary.BigEndian.Uint16(body))
	body = body[2:]
	for i := range row {
		if len(body) < 4 {
			return nil, errMalformed
		}
		size := int32(binary.BigEndian.Uint32(body))
		body = body[4:]
		if size < 0 {
			continue
		}
		if int64(size) > int64(len(body)) {
			return nil, errMalformed
		}
		row[i], body = string(body[:size]), body[size:]
	}
	return row, nil
}

// parseReport reads the body of ParameterStatus.
func parseReport(body []byte, report func(name, value string)) error {
	texts := splitTexts(body)
	if len(texts) != 2 {
		return errMalformed
	}
	report(texts[0], texts[1])
	return nil
}

// parseError reads the body of ErrorResponse.
func parseError(body []byte) error {
	code, message := "XX000", ""
	for _, field := range splitTexts(body) {
		switch field[:min(1, len(field))] {
		case "C":
			code = field[1:]
		case "M":
			message = field[1:]
		}
	}
	return &pgconn.PgError{Severity: "ERROR", Code: code, Message: message}
}

// splitTexts splits what ends in NULs each.
func splitTexts(body []byte) []string {
	var texts []string
	for start, i := 0, 0; i < len(body); i++ {
		if body[i] == 0 {
			texts = append(texts, string(body[start:i]))
			start = i + 1
		}
	}
	return texts
}
