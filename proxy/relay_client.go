package proxy

import (
	"errors"
	"fmt"
)

// maxShortBytes caps Describe, Execute and Close (PQ_SMALL_MESSAGE_LIMIT).
const maxShortBytes = 10_000

// errTerminated is the orderly end of a session.
var errTerminated = errors.New("terminated by the client")

// relayClient takes messages from the client to the server until one of them
// is gone, or the client breaks the protocol.
func (s *session) relayClient() error {
	for {
		f, err := readFrame(s.clientIn)
		if errors.Is(err, errFrameLength) {
			return violation(err.Error())
		}
		if err != nil {
			return err
		}
		if err := s.config.checkFrame(f); err != nil {
			return err
		}
		if f.kind == 'X' {
			return s.terminate(f)
		}
		if err := s.forward(f); err != nil {
			return err
		}
	}
}

// terminate passes Terminate on and waits for the client to close: what it has
// sent before is still answered if it stays to hear it.
func (s *session) terminate(f frame) error {
	s.terminated.Store(true)
	if err := relay(s.up.w, s.clientIn, f); err != nil {
		return err
	}
	_, _ = s.clientIn.Peek(1) // the end, or what no client sends
	return errTerminated
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

// forward handles one message whose header has been read and checked.
func (s *session) forward(f frame) error {
	switch f.kind {
	case 'd', 'c', 'f':
		// There is no COPY FROM; the server too ignores leftovers of one.
		return skipBody(s.clientIn, f.size)
	case 'H':
		return relay(s.up.w, s.clientIn, f)
	case 'S':
		s.doomed = false
		if err := s.push(stepSync, nil, nil); err != nil {
			return err
		}
		return relay(s.up.w, s.clientIn, f)
	}
	if s.doomed {
		// The server would skip it as well: it is at a refusal and has not
		// seen Sync.
		return skipBody(s.clientIn, f.size)
	}
	switch f.kind {
	case 'Q':
		return s.query(f)
	case 'P':
		return s.parse(f)
	case 'F':
		if err := skipBody(s.clientIn, f.size); err != nil {
			return err
		}
		return s.refuseQuery(newRefusal(errors.New("function calls through the protocol are not supported"), stateFeatureNotSupported))
	case 'B', 'E':
		if err := s.config.Available(); err != nil {
			return s.refuseMessage(f, newRefusal(err, stateCannotConnectNow))
		}
	}
	n, err := s.noteOf(f)
	if err != nil {
		return err
	}
	if n != nil {
		refused, err := s.prepare(n)
		if err != nil {
			return err
		}
		if refused != nil {
			return s.refuseMessage(f, refused)
		}
		if f.kind == 'D' {
			n = nil
		}
	}
	if err := s.push(stepExtended, nil, n); err != nil {
		return err
	}
	return relay(s.up.w, s.clientIn, f)
}

// refusedStatement is the Parse that stands for a refused Bind or Execute. It
// has a name of its own: a Parse of the unnamed statement drops the client's.
var refusedStatement = parseMessage{name: []byte("kproxy_refused"), types: []byte{0, 0}}

// query handles a Query message.
func (s *session) query(f frame) error {
	body, tooLong, err := s.statementBody(f)
	if err != nil {
		return err
	}
	if tooLong != nil {
		return s.refuseQuery(tooLong)
	}
	text, err := parseQuery(body)
	if err != nil {
		return err
	}
	statement, n, refused, err := s.judge(noteQuery, text)
	if err != nil {
		return err
	}
	if refused != nil {
		return s.refuseQuery(refused)
	}
	if err := s.push(stepQuery, nil, &n); err != nil {
		return err
	}
	return send(s.up.w, appendQuery(s.up.w.AvailableBuffer(), statement.SQL))
}

// parse handles a Parse message.
func (s *session) parse(f frame) error {
	body, tooLong, err := s.statementBody(f)
	if err != nil {
		return err
	}
	if tooLong != nil {
		return s.refuseExtended(tooLong, refusedStatement)
	}
	message, err := parseParse(body)
	if err != nil {
		return err
	}
	statement, n, refused, err := s.judge(noteParse, message.sql)
	if err != nil {
		return err
	}
	if refused == nil {
		refused = message.checkTypes()
	}
	if len(message.name) > 0 {
		n.name(message, statement)
		s.naming = true
	}
	if n.prepared != nil || s.holding {
		s.holding = true
		s.reaching = s.reaching || statement.Uses != nil
		if refused == nil {
			if refused, err = s.hold(&n); err != nil {
				return err
			}
		}
	}
	if refused != nil {
		return s.refuseExtended(refused, message)
	}
	if err := s.push(stepExtended, nil, &n); err != nil {
		return err
	}
	return send(s.up.w, appendParse(s.up.w.AvailableBuffer(), message, statement.SQL))
}

// statementBody reads the body of Query or Parse, or skips one that is too long
// and returns its refusal.
func (s *session) statementBody(f frame) ([]byte, *refusal, error) {
	if f.size > s.config.MaxStatementBytes {
		err := skipBody(s.clientIn, f.size)
		return nil, newRefusal(errTooLong(s.config.MaxStatementBytes), stateProgramLimitExceeded), err
	}
	body, err := readBody(s.clientIn, f.size, f.size)
	return body, nil, err
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
func (s *session) refuseQuery(r *refusal) error {
	if err := s.push(stepQuery, r, nil); err != nil {
		return err
	}
	return send(s.up.w, appendQuery(nil, r.text()))
}

// refuseMessage skips a message of the extended protocol and refuses it.
func (s *session) refuseMessage(f frame, r *refusal) error {
	if err := skipBody(s.clientIn, f.size); err != nil {
		return err
	}
	return s.refuseExtended(r, refusedStatement)
}

// refuseExtended sends the refusal's token as a Parse in place of a message.
func (s *session) refuseExtended(r *refusal, inPlace parseMessage) error {
	if err := s.push(stepExtended, r, nil); err != nil {
		return err
	}
	s.doomed = true
	return send(s.up.w, appendParse(nil, inPlace, r.text()))
}

// push notes in the pipeline what is sent next, once there is room and no
// cancel request is on its way.
func (s *session) push(kind stepKind, r *refusal, n *note) error {
	if s.pipeline.full() {
		// The server holds the answers of an open segment back until it is asked.
		if err := send(s.up.w, appendFrame(nil, 'H', nil)); err != nil {
			return err
		}
		if err := s.await(s.pipeline.waitForRoom); err != nil {
			return err
		}
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	s.pipeline.push(kind, r, n)
	return nil
}

// await waits for answers of the server, which must have got what it is to answer.
func (s *session) await(answers func() error) error {
	if err := s.up.w.Flush(); err != nil {
		return &flushError{err}
	}
	return answers()
}
