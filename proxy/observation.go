package proxy

import (
	"bytes"
	"cmp"
	"strconv"
	"time"
)

// observation is the part of a tracker that reports statements to the Observer. It
// decides nothing and sends nothing. Its methods that others call accept nil: there is no
// Observer.
//
// What a name stands for is settled when the server has answered, not when the client has
// sent: a Parse may fail, and what is reported of an Execute must be what ran.
type observation struct {
	stopwatch
	preparedNames

	observer Observer
	client   *Client       // whose session it is
	answer   Answered      // reused for each report
	spare    *observedText // of a Query that is done, for the next one; nil = there is none

	received int64 // bytes of the server's messages
	reported int64 // of them, those of statements that are done
}

// observedText is what is reported of a client's text.
type observedText struct {
	shape     string
	reads     []string
	uses      []string // as Statement.Uses
	makes     []string // as Statement.Makes
	rewriting time.Duration
	recalled  bool
	asked     bool // the time it took has been reported
}

// observed is what is reported of a message.
type observed struct {
	watched     bool          // it is to be reported
	text        *observedText // of a Query or a Parse, or of what was refused
	is, of      *observedName // the name that it is about; the statement that a Bind takes; nil = none
	came, began time.Duration
	rows        int64    // of a Query so far; the most of an Execute
	made        int      // of the text's names, those that the server has made so far
	reads       []string // by the names that the text uses
}

// epoch is the moment that durations are counted from. The monotonic clock is read faster
// so.
var epoch = time.Now()

// stopwatch measures how long messages wait. Reading the clock costs as much as all else
// that is observed: it is read once for what has come together.
type stopwatch struct {
	moment time.Duration // after epoch, as read for the input that is at hand; 0 = not yet
	began  time.Duration // when the message that is decided on came; 0 = none is
}

// now returns the moment, after epoch.
func (s *stopwatch) now() time.Duration {
	if s.moment == 0 {
		s.moment = time.Since(epoch)
	}
	return s.moment
}

func newObservation(to Observer) *observation {
	if to == nil {
		return nil
	}
	return &observation{observer: to, client: &Client{}}
}

// turn notes that other input is at hand.
func (o *observation) turn() {
	if o != nil {
		o.moment = 0
	}
}

// deciding notes that a message is decided on, perhaps not for the first time.
func (o *observation) deciding() {
	if o != nil && o.began == 0 {
		o.began = o.now()
	}
}

// decided notes that it was decided on.
func (o *observation) decided() {
	if o != nil {
		o.began = 0
	}
}

// recalled notes what the Gate has said at once, which took until now.
func (o *observation) recalled(r *ruling) {
	if o == nil {
		return
	}
	began := o.now()
	o.moment = 0
	r.took = o.now() - began
}

// receive counts the bytes of a message of the server.
func (o *observation) receive(bytes int) {
	if o != nil {
		o.received += int64(bytes)
	}
}

// watch reports a message that is about to be sent.
func (o *observation) watch(m *message) {
	m.watched, m.came, m.began = true, o.began, o.now()
	if m.came == 0 {
		m.came = m.began
	}
}

// ruled has a Query, a Parse under a name, or its refusal reported.
func (o *observation) ruled(m *message, r *ruling, name []byte) {
	if o == nil {
		return
	}
	o.watch(m)
	if m.kind == messageQuery && o.spare != nil {
		m.text, o.spare = o.spare, nil
	} else {
		m.text = new(observedText)
	}
	of := &r.statement
	*m.text = observedText{shape: of.Shape, reads: of.Reads, uses: of.Uses, makes: of.Makes, rewriting: r.took, recalled: r.recalled}
	if m.refused != nil {
		m.text.shape = cmp.Or(m.text.shape, m.refused.shape)
	} else if m.kind == messageParse {
		m.is = o.statements.mention(name)
	}
}

// named has a Bind, Execute or Close with these names reported. O is not nil.
func (o *observation) named(m *message, names messageNames) {
	o.watch(m)
	m.kind = names.kind
	switch m.kind {
	case messageCloseStatement:
		m.is = o.statements.mention(names.statement)
	case messageClosePortal:
		m.is = o.portals.mention(names.portal)
	case messageExecute:
		m.is = o.portals.mention(names.portal)
		if rows := names.rest; len(rows) >= 4 {
			m.rows = int64(int32(uint32(rows[0])<<24 | uint32(rows[1])<<16 | uint32(rows[2])<<8 | uint32(rows[3])))
		}
	default:
		m.is, m.of = o.portals.mention(names.portal), o.statements.mention(names.statement)
	}
}

// forget ends what is observed of a message. A Query's text is used again, but for one
// that makes names, which may stand for it.
func (o *observation) forget(m *message) {
	if !m.watched {
		return
	}
	if m.kind == messageQuery && len(m.text.makes) == 0 {
		o.spare = m.text
	}
	m.is.release()
	m.of.release()
	m.observed = observed{}
}

// about is the text that a message is about; nil = it is not known.
func (m *observed) about() *observedText {
	if m.text == nil && m.is != nil {
		return m.is.text
	}
	return m.text
}

// complete reports an answer that completes a message, or a statement of a Query.
func (o *observation) complete(m *message, kind byte, begin []byte) {
	switch m.kind {
	case messageQuery:
		if kind == 'C' {
			m.rows += rowsInTag(begin)
			o.ran(&m.observed, begin)
		}
		return // its ReadyForQuery is the end
	case messageExecute:
		rows := m.rows
		if kind != 's' { // the whole of the part that was asked for
			rows = rowsInTag(begin)
		}
		o.ran(&m.observed, begin)
		o.report(&m.observed, Executed, rows, "")
	case messageParse:
		o.become(m, m.text)
	case messageBind:
		o.become(m, m.of.text)
	default:
		m.is.vanish()
	}
	o.forget(m)
}

// become records what the server has prepared or bound. What is beyond the names that are
// followed is reported now.
func (o *observation) become(m *message, text *observedText) {
	if !m.is.become(text, false) {
		o.lose(text)
		m.text = text
		o.report(&m.observed, Prepared, 0, "")
	}
}

// fail reports an error of the server, after which it skips to the next Sync, or the
// refusal that it stands for.
func (o *observation) fail(m *message, refused *refusal, state string) {
	if !m.watched {
		return
	}
	if refused != nil {
		state = refused.state
	}
	phase := Prepared
	switch m.kind {
	case messageQuery:
		phase = Simple
	case messageExecute:
		phase = Executed
	case messageBind:
		if m.text == nil && m.of != nil {
			m.text = m.of.text
		}
	}
	if text := m.about(); text != nil {
		o.reach(&m.observed, text)
	}
	o.answer.Refused = refused != nil
	o.report(&m.observed, phase, 0, state)
	o.forget(m)
}

// ready records a ReadyForQuery with its status; m is the message it ends, or nil.
func (o *observation) ready(m *message, status byte) {
	if o == nil {
		return
	}
	if m != nil && m.watched && m.kind == messageQuery {
		o.report(&m.observed, Simple, m.rows, "")
		o.forget(m)
	}
	if status == 'I' {
		o.endPortals()
	}
	o.reported = o.received
}

// abandon reports all that was sent and whose answer will not come.
func (t *tracker) abandon(state string) {
	o := t.observation
	if o == nil {
		return
	}
	o.turn()
	state = cmp.Or(state, stateConnectionFailure)
	for i := range t.messages.len() {
		switch m := t.messages.at(i); {
		case !m.watched:
		case m.kind == messageQuery:
			o.report(&m.observed, Simple, 0, state)
		case m.kind == messageExecute:
			o.report(&m.observed, Executed, 0, state)
		}
	}
}

// runs returns what the server runs of what is observed: the first statement whose answer
// is outstanding; nil = nothing.
func (t *tracker) runs() *observed {
	m := t.current()
	if m == nil || !m.watched {
		return nil
	}
	for i := range t.messages.len() {
		if m := t.messages.at(i); m.watched && (m.kind == messageQuery || m.kind == messageExecute) {
			return &m.observed
		}
	}
	return &m.observed
}

// report reports a statement that is done.
func (o *observation) report(m *observed, phase Phase, rows int64, state string) {
	now := o.now()
	a := &o.answer
	a.Client, a.Phase, a.Rows, a.SQLState = o.client, phase, rows, state
	a.At, a.Waited, a.Serving = epoch.Add(now), m.began-m.came, now-m.began
	a.Bytes, o.reported = o.received-o.reported, o.received
	if text := m.about(); text != nil {
		a.Shape, a.Reads = text.shape, union(text.reads, m.reads)
		if a.Asked = !text.asked; a.Asked {
			a.Rewriting, a.Recalled = text.rewriting, text.recalled
			text.asked = true
		}
	} else if phase == Executed {
		a.Reads = o.others
	}
	o.observer.Answered(a)
	*a = Answered{}
}

// rowsInTag is the number at the end of a command tag; 0 if there is none.
func rowsInTag(tag []byte) int64 {
	tag = bytes.TrimSuffix(tag, []byte{0})
	rows, err := strconv.ParseInt(string(tag[bytes.LastIndexByte(tag, ' ')+1:]), 10, 64)
	if err != nil {
		return 0
	}
	return rows
}
