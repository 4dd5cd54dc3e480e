package proxy

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// maxLookBytes is the longest row of a look; a longer one is none.
const maxLookBytes = 64 << 10

// lookColumns are the columns of a look; see Statement.Look.
const lookColumns = 4

// look is one look at the state that a statement reads, by a query of the proxy's own on the
// session's connection: what it sees the session could read itself at that moment.
type look struct {
	done, failed bool
	read         bool
	state        string // of the marks of what is read; "" = it cannot be told, or must not be read
	settings     string // those that the answer may depend on
	off          bool   // the session does not want kept answers
	timeout      string // the session's statement_timeout
	canceled     string // what the server says of it if it was canceled, or took too long

	// then is called once it is done or has failed; nil = nothing is.
	then func()
}

// usable reports whether the look shows the state.
func (l *look) usable() bool { return l.done && !l.failed && l.read && l.state != "" && !l.off }

// same tells whether another look has seen the same.
func (l *look) same(other *look) bool {
	return l.usable() && other.usable() && l.state == other.state && l.settings == other.settings
}

func (l *look) isDone() bool { return l.done }

// end notes that nothing more comes of the look.
func (l *look) end() {
	if l.done {
		return
	}
	l.done = true
	if l.then != nil {
		l.then()
	}
}

// fail ends the look without a result. It may be called for one that is done.
func (l *look) fail() {
	if !l.done {
		l.failed = true
		l.end()
	}
}

// row reads a DataRow with text columns.
func (l *look) row(body []byte) {
	values, ok := textColumns(body, lookColumns)
	if !ok || l.read {
		l.failed = true
		return
	}
	l.read = true
	l.state, l.settings, l.off, l.timeout = values[0], values[1], values[2] == "off", values[3]
}

// textColumns returns the values of a DataRow of so many columns; NULL is "".
func textColumns(body []byte, columns int) (values []string, ok bool) {
	if len(body) < 2 || int(binary.BigEndian.Uint16(body)) != columns {
		return nil, false
	}
	rest := body[2:]
	for range columns {
		if len(rest) < 4 {
			return nil, false
		}
		size := int(int32(binary.BigEndian.Uint32(rest)))
		rest = rest[4:]
		if size < 0 {
			values = append(values, "")
			continue
		}
		if size > len(rest) {
			return nil, false
		}
		values = append(values, string(rest[:size]))
		rest = rest[size:]
	}
	return values, len(rest) == 0
}

// lookName is that of the statement and the portal of looks inside a segment. Clients may not use it.
var lookName = func() string {
	var random [12]byte
	rand.Read(random[:]) // never fails: it returns or ends the process
	return "kproxy_look_" + hex.EncodeToString(random[:])
}()

var errLookName = errors.New("names that begin with kproxy_look_ are kproxy's own")

// isLookName tells whether a name is like that of a look.
func isLookName(name []byte) bool { return bytes.HasPrefix(name, []byte("kproxy_look_")) }

// sendLook sends a look as a Query, which drops the unnamed statement as the client's own would.
func (c *clientSide) sendLook(l *look, sql string, out *writeBuffer) {
	c.send(stepQuery, &message{kind: messageQuery, hidden: true, look: l})
	out.set(appendQuery(out.buffer(), sql))
}

// sendLookInside sends a look inside the open segment.
func (c *clientSide) sendLookInside(l *look, sql string, out *writeBuffer) {
	name := append([]byte(lookName), 0)
	send := func(m message, kind byte, body ...byte) {
		m.hidden, m.look = true, l
		c.send(stepExtended, &m)
		out.set(appendFrame(out.buffer(), kind, body))
	}
	// What an error has left of a former look goes first.
	c.send(stepExtended, &message{kind: messageCloseStatement, statement: lookName, hidden: true})
	out.set(appendFrame(out.buffer(), 'C', append([]byte{'S'}, name...)))
	c.send(stepExtended, &message{kind: messageParse, statement: lookName, hidden: true, look: l})
	out.set(appendParse(out.buffer(), parseMessage{name: []byte(lookName), types: []byte{0, 0}}, sql))
	names := append(append([]byte{}, name...), name...)
	send(message{kind: messageBind, portal: lookName, statement: lookName}, 'B', append(names, 0, 0, 0, 0, 0, 0)...)
	send(message{kind: messageExecute, portal: lookName}, 'E', append(append([]byte{}, name...), 0, 0, 0, 0)...)
	send(message{kind: messageClosePortal, portal: lookName}, 'C', append([]byte{'P'}, name...)...)
	send(message{kind: messageCloseStatement, statement: lookName}, 'C', append([]byte{'S'}, name...)...)
}

// deliverLook takes what the server answers to a look. The client sees nothing of it, but for the
// error of one inside its segment, which is that of the segment.
func (s *serverSide) deliverLook(m *message, f frame, begin []byte, out *writeBuffer) (action, error) {
	l, simple, last := m.look, m.kind == messageQuery, m.kind == messageCloseStatement
	switch f.kind {
	case 'D':
		l.row(begin)
	case 'E':
		told := parseReport(begin, s.tracker.answers())
		l.failed = true
		switch {
		case told.state == stateQueryCanceled:
			l.canceled = told.message
		case strings.HasPrefix(told.state, "42"): // the marks are not there, or must not be read
			s.keeper.impossible = true
		}
		if !simple || told.severity != "ERROR" {
			return s.deliverReport(f, begin, out), nil
		}
		s.keeper.forget()
		s.unnamed.fail(s.tracker)
		s.tracker.fail(told.state, told.message)
		s.rows = rows{}
		if s.clock != nil {
			s.clock.failed(time.Now(), s.tracker.running())
		}
	case 'N':
	case 'Z':
		l.end()
		return drop, s.ready(begin[0], out)
	default:
		if last {
			l.end()
		}
		s.complete(f, begin)
	}
	return drop, nil
}
