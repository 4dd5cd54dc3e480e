package proxy

import (
	"errors"
	"fmt"
	"strings"
)

// maxShortBytes caps Describe, Execute and Close (PQ_SMALL_MESSAGE_LIMIT).
const maxShortBytes = 10_000

// maxNamesBytes is how much is looked at for the names that begin a message.
const maxNamesBytes = 16 << 10

// errTerminated is the orderly end of a session.
var errTerminated = errors.New("terminated by the client")

// lookClient checks a header and tells what of the body must be seen.
func (r *relay) lookClient(f frame) (int, error) {
	if err := r.config.checkFrame(f); err != nil {
		return 0, err
	}
	switch f.kind {
	case 'Q', 'P':
		if r.doomed || f.size > r.config.MaxStatementBytes {
			return 0, nil
		}
		return f.size, nil
	case 'B', 'E', 'C', 'D':
		if !r.doomed && (r.namesMatter(f.kind) || r.diary != nil && f.kind != 'D') {
			return min(f.size, maxNamesBytes), nil
		}
		return 2, nil // for unnamed
	}
	return 0, nil
}

// checkFrame validates a header: its type must be known after login and its
// body neither too short for the type's fields nor too long.
func (c *Config) checkFrame(f frame) error {
	least, most := 0, 0
	switch f.kind {
	case 'S', 'H', 'X', 'c':
	case 'Q':
		least, most = 1, max(c.MaxMessageBytes, c.MaxStatementBytes)
	case 'P':
		least, most = 4, max(c.MaxMessageBytes, c.MaxStatementBytes)
	case 'B':
		least, most = 8, c.MaxMessageBytes
	case 'D', 'C':
		least, most = 2, maxShortBytes
	case 'E':
		least, most = 5, maxShortBytes
	case 'F':
		least, most = 10, c.MaxMessageBytes
	case 'd':
		most = c.MaxMessageBytes
	case 'f':
		least, most = 1, c.MaxMessageBytes
	default:
		return violation("invalid frontend message type")
	}
	if f.size < least || f.size > most {
		return violation("invalid message length")
	}
	return nil
}

// forward decides on a message of the client.
func (r *relay) forward(f frame, begin []byte, out *outlet) (fate, error) {
	if r.terminated {
		return drop, nil
	}
	switch f.kind {
	case 'X':
		r.terminated = true
		return drop, nil
	case 'd', 'c', 'f':
		// There is no COPY FROM; the server too ignores leftovers of one.
		return drop, nil
	case 'H':
		return pass, nil
	}
	if r.doomed && f.kind != 'S' {
		// The server would skip it as well: it is at a refusal and has not
		// seen Sync.
		return drop, nil
	}
	if r.pipeline.crowded() {
		// The server holds the answers of an open segment back until it is asked.
		r.flush(out)
		r.until = func() bool { return !r.pipeline.crowded() }
		return wait, nil
	}
	r.diary.look()
	does, err := r.judged(f, begin, out)
	r.ruling = nil // it was thought of for this message in this state
	if does != wait {
		r.flushed = false
		r.diary.looked()
	}
	return does, err
}

// judged is forward for messages that the server answers.
func (r *relay) judged(f frame, begin []byte, out *outlet) (fate, error) {
	switch f.kind {
	case 'S':
		r.doomed = false
		r.push(stepSync, nil, nil)
		return pass, nil
	case 'Q':
		return r.query(f, begin, out)
	case 'P':
		return r.parse(f, begin, out)
	case 'F':
		return r.refuseQuery(newRefusal(errors.New("function calls through the protocol are not supported"), stateFeatureNotSupported), ruling{}, out)
	case 'B', 'E':
		if err := r.available(); err != nil {
			return r.refuseExtended(newRefusal(err, stateCannotConnectNow), ruling{}, refusedStatement, out)
		}
	}
	if f.kind == 'E' && unnamed(f.kind, begin) {
		if refused, known := r.reachUnnamed(out); refused != nil {
			return r.refuseExtended(refused, ruling{}, refusedStatement, out)
		} else if !known {
			return wait, nil
		}
	}
	n, err := r.noteOf(f, begin)
	if err != nil {
		return drop, err
	}
	if n != nil {
		refused, known, err := r.prepare(n, out)
		switch {
		case err != nil:
			return drop, err
		case !known:
			return wait, nil
		case refused != nil:
			return r.refuseExtended(refused, ruling{}, refusedStatement, out)
		case f.kind == 'D':
			n = nil
		}
	}
	r.push(stepExtended, nil, n)
	if err := r.diary.names(r.pipeline, f.kind, begin); err != nil {
		return drop, err
	}
	if f.kind == 'B' && unnamed(f.kind, begin) {
		r.bound, r.rebound = true, r.pipeline.sent
	}
	if r.timed && f.kind == 'E' {
		r.clock.expect(1)
	}
	return pass, nil
}

// flush asks the server for its answers, once for each message that waits.
func (r *relay) flush(out *outlet) {
	if !r.flushed {
		r.flushed = true
		out.set(appendFrame(out.buffer(), 'H', nil))
	}
}

// refusedStatement is the Parse that stands for a refused Bind or Execute. It
// has a name of its own: a Parse of the unnamed statement drops the client's.
var refusedStatement = parseMessage{name: []byte("kproxy_refused"), types: []byte{0, 0}}

// query handles a Query message.
func (r *relay) query(f frame, body []byte, out *outlet) (fate, error) {
	if f.size > len(body) {
		return r.refuseQuery(r.config.tooLong(), ruling{}, out)
	}
	text, err := parseQuery(body)
	if err != nil {
		return drop, err
	}
	j, known := r.judge(noteQuery, text)
	if !known {
		return wait, nil
	}
	if j.refused != nil {
		return r.refuseQuery(j.refused, j.ruling, out)
	}
	r.push(stepQuery, nil, &j.note)
	r.diary.query(r.pipeline, &j.ruling, nil)
	if r.timed {
		r.clock.expect(1 + strings.Count(text, ";")) // or fewer
	}
	out.set(appendQuery(out.buffer(), j.ruling.statement.SQL))
	return drop, nil
}

// parse handles a Parse message.
func (r *relay) parse(f frame, body []byte, out *outlet) (fate, error) {
	if f.size > len(body) {
		return r.refuseExtended(r.config.tooLong(), ruling{}, refusedStatement, out)
	}
	message, err := parseParse(body)
	if err != nil {
		return drop, err
	}
	j, known := r.judge(noteParse, message.sql)
	if !known {
		return wait, nil
	}
	refused, n := j.refused, &j.note
	if refused == nil {
		refused = message.checkTypes(r.types)
	}
	if len(message.name) > 0 {
		if known, _ := r.pipeline.resolution(held(message.name)); known != nil && known.gone && refused == nil {
			refused = newRefusal(errTaken(held(message.name)), stateDuplicateStatement)
		}
		n.name(message, j.ruling.statement)
		r.naming = true
	}
	if n.prepared != nil || r.holding {
		r.holding = true
		r.reaching = r.reaching || j.ruling.statement.Uses != nil
		if refused == nil {
			if refused, known = r.hold(n); !known {
				return wait, nil
			}
		}
	}
	if refused != nil {
		return r.refuseExtended(refused, j.ruling, message, out)
	}
	r.push(stepExtended, nil, n)
	r.diary.parse(r.pipeline, message.name, &j.ruling)
	out.set(appendParse(out.buffer(), message, j.ruling.statement.SQL))
	return drop, nil
}

// tooLong refuses a statement for its length.
func (c *Config) tooLong() *refusal {
	return newRefusal(errTooLong(c.MaxStatementBytes), stateProgramLimitExceeded)
}

// errTooLong refuses a statement that is longer than so many bytes.
type errTooLong int

func (e errTooLong) Error() string {
	return fmt.Sprintf("the statement is longer than %d bytes", int(e))
}

// Hint tells what to do instead.
func (errTooLong) Hint() string {
	return "Send less text at once; the operator can raise the limit (limits.max_statement_bytes)."
}

// refuseQuery sends the refusal's token as a simple query.
func (r *relay) refuseQuery(refused *refusal, ruled ruling, out *outlet) (fate, error) {
	r.push(stepQuery, refused, nil)
	r.diary.query(r.pipeline, &ruled, refused)
	out.set(appendQuery(out.buffer(), refused.text()))
	return drop, nil
}

// refuseExtended sends the refusal's token as a Parse in place of a message.
func (r *relay) refuseExtended(refused *refusal, ruled ruling, inPlace parseMessage, out *outlet) (fate, error) {
	r.push(stepExtended, refused, nil)
	r.diary.refuse(r.pipeline, &ruled, refused)
	r.doomed = true
	out.set(appendParse(out.buffer(), inPlace, refused.text()))
	return drop, nil
}
