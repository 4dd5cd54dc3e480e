package chaos

import (
	"bytes"
	"maps"
	"strconv"
)

// SQLSTATEs of the model's errors; PostgreSQL documentation, "Error Codes".
const (
	stateProtocolViolation = "08P01"
	stateDivisionByZero    = "22012"
	stateInvalidText       = "22P02"
	stateFailedTransaction = "25P02"
	stateNoTransaction     = "25P01"
	stateTransactionOpen   = "25001"
	stateNoStatement       = "26000"
	stateNoPortal          = "34000"
	stateNoSavepoint       = "3B001"
	stateSyntaxError       = "42601"
	stateUndefinedTable    = "42P01"
	stateUndefinedArgument = "42P02"
	stateDuplicatePortal   = "42P03"
	stateDuplicateName     = "42P05"
	stateNotRunnable       = "55000"
	stateNotSupported      = "0A000"
	stateTooLong           = "54000"
)

// Refusal is why a text is not run.
type Refusal struct {
	State   string // SQLSTATE
	Message string
	Early   bool // a syntax error, which comes before that of a failed transaction
}

// Model is one session of PostgreSQL 15. The zero value is one that has logged in.
//
// Sessions of PostgreSQL 18 differ in two ways. It reports the search path, see
// ReportsPath, and a simple query commits nothing of what came before it in its segment,
// which the model does not know.
type Model struct {
	// Refuse tells which texts are refused; nil = none. Copies share it.
	Refuse func(text string) *Refusal

	// MaxText is how long the body of Query and Parse may be; 0 = of any length.
	MaxText int

	// Rewriting says that what Where names is looked up when the unnamed statement
	// is parsed, as of a text that a Gate has rewritten. PostgreSQL looks it up at Bind.
	Rewriting bool

	// ReportsPath says that the client is told of the search path, as it is from
	// PostgreSQL 18 on. Where one ReadyForQuery reports a style as well, the model does not
	// know which comes first.
	ReportsPath bool

	ledger
	reported      values // what the client knows
	block, failed bool
	busy          bool // something has run in the implicit transaction
	skipping      bool
	unbound       bool // see Unbound
	statements    map[string]statement
	portals       map[string]*portal
}

// statement is a prepared statement; its text may be empty.
type statement struct {
	Statement
	empty bool
	types []byte // OIDs of parameters
	path  int    // of the unnamed one, see Rewriting
}

type portal struct {
	statement
	formats  []int16
	argument int
	path     int
	level    int // how many savepoints were open
	at       int // rows that were sent
	ended    bool
	aborted  bool // its transaction has failed since
	left     bool // by a simple query that failed
}

// tooLong refuses a text that is too long.
var tooLong = Refusal{State: stateTooLong}

func (m *Model) tooLong(body []byte) bool { return m.MaxText > 0 && len(body) > m.MaxText }

// Unbound tells whether no Bind of the unnamed portal has succeeded since a simple query
// was sent, if only to be skipped.
// To describe or execute it can crash PostgreSQL then, which kproxy prevents.
func (m *Model) Unbound() bool { return m.unbound }

// Clone returns a copy that goes its own way.
func (m *Model) Clone() *Model {
	c := *m
	c.statements = maps.Clone(m.statements)
	c.portals = maps.Clone(m.portals)
	for name, p := range c.portals {
		copied := *p
		c.portals[name] = &copied
	}
	return &c
}

// Status is that of ReadyForQuery.
func (m *Model) Status() byte {
	switch {
	case m.failed:
		return 'E'
	case m.block:
		return 'T'
	default:
		return 'I'
	}
}

// Step returns the answer to a message, without one to Flush and Terminate.
func (m *Model) Step(kind byte, body []byte) []byte {
	m.unbound = m.unbound || kind == 'Q' || kind == 'F'
	if m.skipping && kind != 'S' {
		return nil
	}
	switch kind {
	case 'Q':
		if m.tooLong(body) {
			delete(m.statements, "")
			out, state := m.refused(&tooLong)
			return m.ready(m.fail(out, state, ""))
		}
		text, _, _ := bytes.Cut(body, []byte{0})
		out, state := m.query(string(text))
		if state != "" {
			out = m.fail(out, state, m.message(state, string(text)))
		}
		return m.ready(out)
	case 'F': // which is refused as a simple query
		delete(m.statements, "")
		out, state := m.refused(&Refusal{State: stateNotSupported})
		return m.ready(m.fail(out, state, ""))
	case 'S':
		m.skipping = false
		return m.ready(nil)
	}
	out, state, text := m.extended(kind, body)
	if state != "" {
		out = m.fail(out, state, m.message(state, text))
		m.skipping = true
	}
	return out
}

// Cancel returns what is left of the answer to a message that is canceled.
func (m *Model) Cancel(kind byte, body []byte) []byte {
	if kind == 'Q' || kind == 'P' && body[0] == 0 {
		delete(m.statements, "")
	}
	m.unbound = m.unbound || kind == 'Q'
	out := m.fail(nil, "57014", "canceling statement due to user request")
	if kind == 'Q' {
		if m.block {
			m.hold("", &portal{statement: statement{Statement: Statement{Verb: Sleep}}, left: true, aborted: true, level: len(m.points)})
		}
		return m.ready(out)
	}
	m.skipping = true
	return out
}

// message is what an error about a text says.
func (m *Model) message(state, text string) string {
	if m.Refuse != nil && state != stateFailedTransaction {
		if r := m.Refuse(text); r != nil {
			return r.Message
		}
	}
	return "an error"
}

// fail appends an error and aborts the transaction.
func (m *Model) fail(out []byte, state, message string) []byte {
	out = appendReport(out, 'E', "ERROR", state, message)
	for _, p := range m.portals {
		p.aborted = p.aborted || p.level == len(m.points)
	}
	switch {
	case !m.block:
		m.end(false)
	case len(m.points) > 0:
		m.now = m.points[len(m.points)-1].before
		m.failed = true
	default:
		m.now = m.before
		m.failed = true
	}
	return out
}

// end ends the transaction.
func (m *Model) end(commit bool) {
	if commit {
		m.commit()
	} else {
		m.rollback()
	}
	m.block, m.failed, m.busy = false, false, false
	clear(m.portals)
}

// ready appends ReadyForQuery, and before it what has changed.
func (m *Model) ready(out []byte) []byte {
	if !m.block {
		m.end(true)
	}
	if m.reported.style != m.now.style {
		out = appendSetting(out, "IntervalStyle", Styles[m.now.style])
	}
	if m.ReportsPath && m.reported.path != m.now.path {
		out = appendSetting(out, "search_path", "s"+strconv.Itoa(m.now.path+1))
	}
	m.reported = m.now
	return AppendMessage(out, 'Z', []byte{m.Status()})
}

// refused returns the error of a refusal: texts that cannot succeed are sent in place of
// what is refused, which a failed transaction refuses before.
func (m *Model) refused(r *Refusal) ([]byte, string) {
	if m.failed && !r.Early {
		return nil, stateFailedTransaction
	}
	return nil, r.State
}

// query runs the text of a simple query.
func (m *Model) query(text string) (out []byte, state string) {
	delete(m.statements, "")
	if m.Refuse != nil {
		if r := m.Refuse(text); r != nil {
			return m.refused(r)
		}
	}
	all := parseTexts(text)
	for _, s := range all {
		if s.Verb == Syntax {
			return nil, stateSyntaxError
		}
	}
	if all == nil {
		return AppendMessage(nil, 'I', nil), ""
	}
	for _, s := range all {
		if state := m.analyze(s, false); state != "" {
			return out, state
		}
		delete(m.portals, "")
		p := &portal{statement: statement{Statement: s}, path: m.pathOf(s), level: len(m.points)}
		if s.selects() {
			out = appendDescription(out, columnsOf(s), nil)
		}
		if out, state = m.run(out, p, 0); state != "" {
			if m.block {
				p.left = true
				m.hold("", p) // until the transaction ends
			}
			return out, state
		}
	}
	return out, ""
}

// hold takes a portal in.
func (m *Model) hold(name string, p *portal) {
	if m.portals == nil {
		m.portals = make(map[string]*portal)
	}
	m.portals[name] = p
}

// pathOf is the schema in which a statement finds its table now.
func (m *Model) pathOf(s Statement) int {
	if s.schema != 0 {
		return s.schema
	}
	return m.now.path + 1
}

// analyze returns the error that a statement meets before it runs.
func (m *Model) analyze(s Statement, parameters bool) (state string) {
	switch {
	case m.failed && !s.exits():
		return stateFailedTransaction
	case s.Verb == Missing || s.Verb == Refused:
		return stateUndefinedTable
	case s.Verb == Parameter && !parameters:
		return stateUndefinedArgument
	default:
		return ""
	}
}
