package proxy

import (
	"bytes"
	"time"

	"github.com/kproxy/kproxy/proxy/answers"
)

// Limits on what is remembered of a session.
const (
	// maxMessages caps the remembered messages; a client that is ahead by as many waits.
	maxMessages = 1024

	// maxTexts and maxTextBytes cap the texts that are kept while they are unanswered.
	// Errors about texts beyond them have no position, and named statements with such
	// texts keep the meaning they had when they were parsed.
	maxTexts     = 256
	maxTextBytes = 256 << 10

	// maxPrepared caps the prepared statements, and the portals, that are remembered
	// because they change the session or show plans, and maxPreparedBytes the
	// statements' texts. What exceeds them is refused.
	maxPrepared      = 1000
	maxPreparedBytes = 1 << 20
)

type messageKind byte

const (
	messageQuery messageKind = iota + 1
	messageParse
	messageBind
	messageExecute
	messageCloseStatement
	messageClosePortal
	messageDescribe // of a statement; nothing is kept of it
	messageDescribePortal
)

// messageKindOf returns the kind of a message by its type and the first byte of its body.
func messageKindOf(kind, first byte) messageKind {
	switch {
	case kind == 'B':
		return messageBind
	case kind == 'C' && first == 'S':
		return messageCloseStatement
	case kind == 'C':
		return messageClosePortal
	case kind == 'D' && first == 'S':
		return messageDescribe
	case kind == 'D':
		return messageDescribePortal
	default:
		return messageExecute
	}
}

// message is what the tracker must know of a message until the server has answered it.
type message struct {
	kind    messageKind
	number  uint64   // assigned by the tracker
	refused *refusal // that was sent in its place; nil = none

	statement, portal string // the names in it

	touches  bool      // it may change the session state, or depend on it
	counted  bool      // it counts against maxMessages and maxTexts
	hidden   bool      // neither it nor its answer is the client's
	resolved *resolved // of a named Parse
	prepared *prepared // what its text is, of a Query or Parse
	ran      int       // statements of a Query that have run

	// The text and the state that it was rewritten in, for the position of its error;
	// "" = not kept.
	sql     string
	in      State
	sent    uint64 // the fingerprint of the text in its place
	escaped bool   // which was sent in ASCII

	look       *look            // that it is a part of
	capture    *capture         // that its answer is gathered for
	question   answers.Question // that it is the answer to, if that may be kept
	questioned time.Time        // when that was sent

	observed // for the Observer
}

// kept reports whether the session has to remember the message.
func (m *message) kept() bool {
	return m.touches || m.hidden || m.question != 0 || m.prepared != nil || m.sql != "" || m.statement != "" && m.kind != messageBind
}

// dropped notes that the server is past the message, or skips it.
func (m *message) dropped() {
	if m.look != nil && m.kind == messageCloseStatement || m.look != nil && m.kind == messageQuery {
		m.look.fail()
	}
	if m.capture != nil && !m.capture.complete {
		m.capture.end(nil)
	}
}

// textMessage is what to remember of a text that is to be sent.
func textMessage(kind messageKind, sql string, in State, statement Statement) message {
	m := message{kind: kind, sql: sql, in: in, sent: fingerprint(statement.SQL)}
	if statement.Effects != nil || statement.Plans || statement.Uses != nil {
		m.prepared = &prepared{effects: statement.Effects, plans: statement.Plans, uses: statement.Uses, bytes: heldOverhead}
		if statement.Effects != nil || statement.Uses != nil {
			m.prepared.bytes += len(sql)
		}
	}
	return m
}

// name makes m the message of a Parse under a name.
func (m *message) name(parsed parseMessage, sent Statement) {
	m.statement = held(parsed.name)
	m.resolved = &resolved{sql: parsed.sql, sent: sent.SQL, types: bytes.Clone(parsed.types), path: m.in.SearchPath()}
}

// messageNames are the names in a Bind, Execute, Close or Describe.
type messageNames struct {
	kind              messageKind
	statement, portal []byte
	rest              []byte // of what was looked at, behind the names
}

// parseNames reads the names at the beginning of a body. All names must end in it.
func parseNames(kind byte, begin []byte) (messageNames, error) {
	names := messageNames{kind: messageKindOf(kind, begin[0])}
	if kind == 'C' || kind == 'D' {
		begin = begin[1:]
	}
	first, rest, complete := bytes.Cut(begin, []byte{0})
	switch names.kind {
	case messageCloseStatement, messageDescribe:
		names.statement = first
	default:
		names.portal = first
	}
	if names.kind == messageBind && complete {
		names.statement, rest, complete = bytes.Cut(rest, []byte{0})
	}
	if !complete {
		return messageNames{}, violation("invalid name of a statement or portal")
	}
	names.rest = rest
	return names, nil
}
