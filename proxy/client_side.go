package proxy

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxShortBytes caps Describe, Execute and Close (PQ_SMALL_MESSAGE_LIMIT).
const maxShortBytes = 10_000

// maxNamesBytes is how much is looked at for the names that begin a message.
const maxNamesBytes = 16 << 10

// errTerminated is the orderly end of a session.
var errTerminated = errors.New("terminated by the client")

// clientSide decides on the messages of the client: what goes to the server, what waits and
// what is refused. It belongs to a relay.
type clientSide struct {
	config  *Config
	tracker *tracker
	gate    *gatekeeper
	clock   *clock // nil = there are no time limits
	unnamed *unnamedPortal
	types   *parameterTypes
	keeper  keeper
	frames  frameReader

	// until reports whether the client's next message need not wait any more; nil = it
	// does not wait. What was done for the message before must be safe to be done again.
	until   func() bool
	flushed bool // Flush was sent for the message that waits

	terminated bool // the client has sent Terminate
	refusing   bool // a refusal was sent and no Sync since
	traces     bool // something was sent that may leave something in the session

	holding   bool   // statements with effects, plans or uses were prepared
	reaching  bool   // statements with uses were prepared
	naming    bool   // statements were prepared under names
	opening   bool   // statements with effects that depend on parameters were prepared
	moved     bool   // search_path may have changed
	firstPath string // the search_path at first
}

// check validates a header and returns how much of the body must be seen.
func (c *clientSide) check(f frame) (int, error) {
	if err := c.config.checkFrame(f); err != nil {
		return 0, err
	}
	switch f.kind {
	case 'Q', 'P':
		if c.refusing || f.size > c.config.MaxStatementBytes {
			return 0, nil
		}
		return f.size, nil
	case 'B', 'E', 'C', 'D':
		if !c.refusing && (c.namesMatter(f.kind) || c.namesObserved(f.kind) || c.gate.escapes || c.keeper.remembers()) {
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

// decide decides on a message.
func (c *clientSide) decide(f frame, begin []byte, out *writeBuffer) (action, error) {
	does, err := c.decideOnce(f, begin, out)
	if does != wait {
		c.keeper.asking = nil // a look is for one message, however that is decided
	}
	return does, err
}

// decideOnce decides on a message, or makes it wait for another decision.
func (c *clientSide) decideOnce(f frame, begin []byte, out *writeBuffer) (action, error) {
	if c.terminated {
		return drop, nil
	}
	switch f.kind {
	case 'X':
		c.terminated = true
		return drop, nil
	case 'd', 'c', 'f':
		// There is no COPY FROM; the server too ignores leftovers of one.
		return drop, nil
	case 'H':
		return pass, nil
	}
	if c.refusing && f.kind != 'S' {
		// The server would skip it as well: it is at a refusal and has not
		// seen Sync.
		return drop, nil
	}
	if c.tracker.full() {
		// The server holds the answers of an open segment back until it is asked.
		c.flush(out)
		c.until = func() bool { return !c.tracker.full() }
		return wait, nil
	}
	c.tracker.observation.deciding()
	does, err := c.forward(f, begin, out)
	c.gate.given = nil // it was ruled for this message in this state
	if does != wait {
		c.flushed = false
		c.tracker.observation.decided()
	}
	return does, err
}

// forward decides on a message that the server answers.
func (c *clientSide) forward(f frame, begin []byte, out *writeBuffer) (action, error) {
	switch f.kind {
	case 'S':
		c.refusing = false
		c.keeper.bound = nil // outside of transactions there are no portals
		c.send(stepSync, nil)
		return pass, nil
	case 'Q':
		return c.query(f, begin, out)
	case 'P':
		return c.parse(f, begin, out)
	case 'F':
		return c.refuseQuery(newRefusal(errors.New("function calls through the protocol are not supported"), stateFeatureNotSupported), ruling{}, out)
	default:
		return c.extended(f, begin, out)
	}
}

// extended handles Bind, Execute, Describe and Close.
func (c *clientSide) extended(f frame, begin []byte, out *writeBuffer) (action, error) {
	refuse := func(refused *refusal) (action, error) {
		return c.refuseExtended(refused, ruling{}, refusedStatement, out)
	}
	if f.kind == 'B' || f.kind == 'E' {
		if err := c.gate.available(); err != nil {
			return refuse(newRefusal(err, stateCannotConnectNow))
		}
	}
	if f.kind == 'E' && unnamed(f.kind, begin) {
		if c.unnamed.uncertain(c.tracker) {
			return c.waitForAnswers(out), nil
		}
		if refused := c.unnamed.refused(); refused != nil {
			return refuse(refused)
		}
	}
	var names messageNames
	var m message
	matters := c.namesMatter(f.kind)
	if matters || c.namesObserved(f.kind) || c.gate.escapes || c.keeper.remembers() {
		var err error
		if names, err = parseNames(f.kind, begin); err != nil {
			return drop, err
		}
		if refused := c.gate.foreign(names.statement, names.portal); refused != nil {
			return refuse(refused)
		}
		if isLookName(names.statement) || isLookName(names.portal) {
			return refuse(newRefusal(errLookName, stateFeatureNotSupported))
		}
	}
	if matters {
		m = message{kind: names.kind, statement: held(names.statement), portal: held(names.portal)}
		refused, known := c.bound(&m, names.rest, f.size <= len(begin))
		if refused == nil && known {
			refused, known = c.prepare(&m, out)
		}
		if !known {
			return wait, nil
		}
		if refused != nil {
			return refuse(refused)
		}
	}
	whole := f.size <= len(begin)
	if f.kind == 'E' && whole {
		q, known := c.executed(&names)
		if !known {
			return wait, nil
		}
		if q != nil {
			if does, done := c.keptExecute(q, &m, f, begin, &names, out); done {
				return does, nil
			}
		}
	}
	c.keeper.named(&names, whole)
	c.sendNamed(f, &m, names)
	if f.kind == 'B' && unnamed(f.kind, begin) {
		c.unnamed.bound, c.unnamed.rebound = true, c.tracker.sent
	}
	if f.kind == 'E' && c.clock != nil {
		c.clock.expect(1)
	}
	return pass, nil
}

// sendNamed records a Bind, Execute, Describe or Close.
func (c *clientSide) sendNamed(f frame, m *message, names messageNames) {
	if c.namesObserved(f.kind) {
		c.tracker.observation.named(m, names)
	}
	if f.kind == 'D' || m.kind == 0 {
		m = nil // nothing is remembered of it
	}
	c.send(stepExtended, m)
}

// send records a message that the server will answer, with what to remember of it; nil =
// nothing.
func (c *clientSide) send(kind stepKind, m *message) {
	if c.clock != nil {
		c.clock.sent(time.Now(), c.tracker.running())
	}
	c.unnamed.bound = c.unnamed.bound && kind == stepExtended
	c.tracker.send(kind, m)
}

// waits reports whether the client's next message still has to wait.
func (c *clientSide) waits() bool {
	if c.until != nil && c.until() {
		c.until = nil
	}
	return c.until != nil
}

// waitForAnswers has the message wait until the server has answered everything.
func (c *clientSide) waitForAnswers(out *writeBuffer) action {
	c.flush(out)
	c.until = c.tracker.idle
	return wait
}

// waitForSegments has the message wait until earlier segments have ended, if any have not.
func (c *clientSide) waitForSegments() bool {
	if c.tracker.ended() {
		return false
	}
	c.until = c.tracker.ended
	return true
}

// flush asks the server for its answers, once for each message that waits.
func (c *clientSide) flush(out *writeBuffer) {
	if !c.flushed {
		c.flushed = true
		out.set(appendFrame(out.buffer(), 'H', nil))
	}
}

// refusedStatement is the Parse that stands for a refused Bind or Execute. It
// has a name of its own: a Parse of the unnamed statement drops the client's.
var refusedStatement = parseMessage{name: []byte("kproxy_refused"), types: []byte{0, 0}}

// query handles a Query message.
func (c *clientSide) query(f frame, body []byte, out *writeBuffer) (action, error) {
	if f.size > len(body) {
		return c.refuseQuery(c.config.tooLong(), ruling{}, out)
	}
	text, err := parseQuery(body)
	if err != nil {
		return drop, err
	}
	j, known := c.judge(messageQuery, text)
	if !known {
		return wait, nil
	}
	if j.refused != nil {
		return c.refuseQuery(j.refused, j.ruling, out)
	}
	if does, done := c.keptQuery(&j, out); done {
		return does, nil
	}
	c.sendQuery(&j, out)
	return drop, nil
}

// sendQuery sends what a Query has become.
func (c *clientSide) sendQuery(j *judgment, out *writeBuffer) {
	c.keeper.made(&j.ruling.statement)
	c.tracker.observation.ruled(&j.message, &j.ruling, nil)
	c.send(stepQuery, &j.message)
	c.gate.escapes = c.gate.escapes || j.ruling.statement.LeavesUTF8
	if c.clock != nil {
		c.clock.expect(1 + strings.Count(j.sql, ";")) // or fewer
	}
	out.set(appendQuery(out.buffer(), j.ruling.sent))
}

// parse handles a Parse message.
func (c *clientSide) parse(f frame, body []byte, out *writeBuffer) (action, error) {
	if f.size > len(body) {
		return c.refuseExtended(c.config.tooLong(), ruling{}, refusedStatement, out)
	}
	parsed, err := parseParse(body)
	if err != nil {
		return drop, err
	}
	if refused := c.gate.foreign(parsed.name); refused != nil {
		return c.refuseExtended(refused, ruling{}, refusedStatement, out)
	}
	j, known := c.judge(messageParse, parsed.sql)
	if !known {
		return wait, nil
	}
	refused, m := j.refused, &j.message
	parsed.sql = j.sql
	if refused == nil {
		refused = c.types.refuse(parsed)
	}
	if len(parsed.name) > 0 {
		if known, _ := c.tracker.resolution(held(parsed.name)); known != nil && known.gone && refused == nil {
			refused = newRefusal(errTaken(held(parsed.name)), stateDuplicateStatement)
		}
		m.name(parsed, j.ruling.statement)
		c.naming = true
	}
	if m.prepared != nil || c.holding {
		c.holding = true
		c.reaching = c.reaching || j.ruling.statement.Uses != nil
		if _, open := openEffect(j.ruling.statement.Effects); open {
			c.opening = true
			if refused == nil && !ofText(parsed.types) {
				refused = newRefusal(errTyped, stateFeatureNotSupported)
			}
		}
		if refused == nil {
			if refused, known = c.hold(m); !known {
				return wait, nil
			}
		}
	}
	if refused != nil {
		return c.refuseExtended(refused, j.ruling, parsed, out)
	}
	c.tracker.observation.ruled(m, &j.ruling, parsed.name)
	c.keeper.made(&j.ruling.statement)
	c.keeper.prepare(parsed.name, j.ruling.sent, j.ruling.statement.Look, parsed.types)
	c.send(stepExtended, m)
	c.gate.escapes = c.gate.escapes || j.ruling.statement.LeavesUTF8
	out.set(appendParse(out.buffer(), parsed, j.ruling.sent))
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

// Hint says what to do instead.
func (errTooLong) Hint() string {
	return "Send less text at once; the operator can raise the limit (limits.max_statement_bytes)."
}

// refuseQuery sends the refusal's token as a simple query.
func (c *clientSide) refuseQuery(refused *refusal, ruled ruling, out *writeBuffer) (action, error) {
	m := message{kind: messageQuery, refused: refused}
	c.tracker.observation.ruled(&m, &ruled, nil)
	c.send(stepQuery, &m)
	out.set(appendQuery(out.buffer(), refused.text()))
	return drop, nil
}

// refuseExtended sends the refusal's token as a Parse in place of a message.
func (c *clientSide) refuseExtended(refused *refusal, ruled ruling, inPlace parseMessage, out *writeBuffer) (action, error) {
	c.keeper.forget() // it fails
	m := message{kind: messageParse, refused: refused}
	c.tracker.observation.ruled(&m, &ruled, nil)
	c.send(stepExtended, &m)
	c.refusing = true
	out.set(appendParse(out.buffer(), inPlace, refused.text()))
	return drop, nil
}
