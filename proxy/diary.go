package proxy

import (
	"bytes"
	"cmp"
	"strconv"
	"time"
)

// diary follows which of a session's statements each answer is about, for the Observer.
// It says nothing of what is sent and decides nothing.
//
// What a name stands for is settled when the server has answered, not when the client has
// sent: a Parse may fail, and what is told of an Execute must be what ran.
type diary struct {
	observer Observer
	client   *Client  // whose session it is
	answer   Answered // used again for each

	sent                queue[entry] // what the server has yet to answer
	spare               *asked       // of a Query that is done, for the next one; nil = there is none
	statements, portals names
	others              []string // what statements and portals read that are not followed

	moment   time.Duration // after epoch, as read for the input that is at hand; 0 = not yet
	began    time.Duration // when the message that is decided on came; 0 = none is
	received int64         // bytes of the server's messages
	told     int64         // of them, those of statements that are done
}

// asked is what is told of a client's text.
type asked struct {
	shape     string
	reads     []string
	uses      []string // as Statement.Uses
	makes     []string // as Statement.Makes
	rewriting time.Duration
	recalled  bool
	told      bool // the time it took has been told of
}

// entry is a message that the server has yet to answer.
type entry struct {
	message     uint64 // its number in the pipeline
	kind        noteKind
	text        *asked    // of a Query or a Parse, or of what was refused
	is, of      *followed // the name that it is about; the statement that a Bind takes; nil = none
	came, began time.Duration
	rows        int64 // of a Query so far; the most of an Execute
	refused     *refusal
	made        int      // of the text's names, those that the server has made so far
	reads       []string // by the names that the text uses
}

// epoch is when moments are counted from, on the monotonic clock, which is read faster so.
var epoch = time.Now()

func newDiary(to Observer) *diary {
	if to == nil {
		return nil
	}
	return &diary{observer: to, client: &Client{}}
}

// look takes note that a message is decided on, perhaps not for the first time.
func (d *diary) look() {
	if d != nil && d.began == 0 {
		d.began = d.now()
	}
}

// looked takes note that it was decided on.
func (d *diary) looked() {
	if d != nil {
		d.began = 0
	}
}

// turn takes note that other input is at hand. To read the clock costs as much as all else
// that is noted: it is read once for what has come together.
func (d *diary) turn() {
	if d != nil {
		d.moment = 0
	}
}

// now is the moment, after epoch.
func (d *diary) now() time.Duration {
	if d.moment == 0 {
		d.moment = time.Since(epoch)
	}
	return d.moment
}

// ruled takes note of what the Gate has said at once, which took until now.
func (d *diary) ruled(r *ruling) {
	if d == nil {
		return
	}
	began := d.now()
	d.moment = 0
	r.took = d.now() - began
}

// note takes note of a message that was pushed.
func (d *diary) note(p *pipeline, e entry) {
	if p.skipping {
		e.release()
		return
	}
	e.message, e.came = p.sent, d.began
	e.began = d.now()
	if e.came == 0 {
		e.came = e.began
	}
	d.sent.push(e)
}

// query takes note of a Query, or of its refusal.
func (d *diary) query(p *pipeline, r *ruling, refused *refusal) {
	if d == nil {
		return
	}
	text := d.spare
	if d.spare = nil; text == nil {
		text = new(asked)
	}
	*text = r.asked(refused)
	d.note(p, entry{kind: noteQuery, text: text, refused: refused})
}

// parse takes note of a Parse that is sent.
func (d *diary) parse(p *pipeline, name []byte, r *ruling) {
	if d != nil {
		text := r.asked(nil)
		d.note(p, entry{kind: noteParse, text: &text, is: d.statements.mention(name)})
	}
}

// refuse takes note of a message of a run in whose place its refusal was sent.
func (d *diary) refuse(p *pipeline, r *ruling, refused *refusal) {
	if d != nil {
		text := r.asked(refused)
		d.note(p, entry{kind: noteParse, text: &text, refused: refused})
	}
}

// names takes note of a Bind, Execute or Close, whose body begins so.
func (d *diary) names(p *pipeline, kind byte, begin []byte) error {
	if d == nil || kind == 'D' {
		return nil
	}
	e := entry{kind: noteKindOf(kind, begin[0])}
	if kind == 'C' {
		begin = begin[1:]
	}
	first, rest, complete := bytes.Cut(begin, []byte{0})
	switch {
	case !complete:
		return violation("invalid name of a statement or portal")
	case e.kind == noteCloseStatement:
		e.is = d.statements.mention(first)
	case e.kind == noteClosePortal:
		e.is = d.portals.mention(first)
	case e.kind == noteExecute:
		e.is = d.portals.mention(first)
		if len(rest) >= 4 {
			e.rows = int64(int32(uint32(rest[0])<<24 | uint32(rest[1])<<16 | uint32(rest[2])<<8 | uint32(rest[3])))
		}
	default:
		var of []byte
		if of, _, complete = bytes.Cut(rest, []byte{0}); !complete {
			return violation("invalid name of a statement or portal")
		}
		e.is, e.of = d.portals.mention(first), d.statements.mention(of)
	}
	d.note(p, e)
	return nil
}

// at returns what is noted of the message that the server is at; nil = nothing.
func (d *diary) at(p *pipeline) *entry {
	if p.head() == nil {
		return nil
	}
	for d.sent.len() > 0 && d.sent.at(0).message < p.at {
		d.pop()
	}
	if d.sent.len() == 0 || d.sent.at(0).message != p.at {
		return nil
	}
	return d.sent.at(0)
}

// pop forgets the first entry. A Query's text is nobody else's, but for one that makes
// names, which may stand for it.
func (d *diary) pop() {
	first := d.sent.at(0)
	if first.kind == noteQuery && len(first.text.makes) == 0 {
		d.spare = first.text
	}
	first.release()
	d.sent.pop()
}

// release takes note of the entry's end.
func (e *entry) release() {
	e.is.release()
	e.of.release()
}

// complete takes note of an answer that completes a message, or a statement of a Query.
// The pipeline has not been told yet.
func (d *diary) complete(p *pipeline, kind byte, begin []byte) {
	e := d.at(p)
	switch {
	case e == nil:
		return
	case e.kind == noteQuery:
		if kind == 'C' {
			e.rows += rowsInTag(begin)
			d.ran(e, begin)
		}
		return // its ReadyForQuery is the end
	case e.kind == noteExecute:
		rows := e.rows
		if kind != 's' { // the whole of the part that was asked for
			rows = rowsInTag(begin)
		}
		d.ran(e, begin)
		d.tell(e, Executed, rows, "")
	case e.kind == noteParse:
		d.become(e, e.text)
	case e.kind == noteBind:
		d.become(e, e.of.text)
	default:
		e.is.vanish()
	}
	d.pop()
}

// about is the text that an entry is about; nil = it is not known.
func (e *entry) about() *asked {
	if e.text == nil && e.is != nil {
		return e.is.text
	}
	return e.text
}

// fail takes note of an error of the server, after which it skips to the next Sync. The
// pipeline has not been told yet.
func (d *diary) fail(p *pipeline, state, message string) {
	e := d.at(p)
	if e == nil {
		return
	}
	own := e.refused != nil && e.refused.matches(message)
	if own {
		state = e.refused.state
	}
	phase := Prepared
	switch e.kind {
	case noteQuery:
		phase = Simple
	case noteExecute:
		phase = Executed
	case noteBind:
		if e.text == nil && e.of != nil {
			e.text = e.of.text
		}
	}
	if text := e.about(); text != nil {
		d.reach(e, text)
	}
	d.answer.Refused = own
	d.tell(e, phase, 0, state)
	d.pop()
}

// ready takes note of a ReadyForQuery with its status. The pipeline has not been told yet.
func (d *diary) ready(p *pipeline, status byte) {
	if e := d.at(p); e != nil && e.kind == noteQuery {
		d.tell(e, Simple, e.rows, "")
		d.pop()
	}
	if status == 'I' {
		d.endPortals()
	}
	d.told = d.received
}

// abandon tells of all that was sent and whose answer will not come.
func (d *diary) abandon(state string) {
	if d == nil {
		return
	}
	d.turn()
	state = cmp.Or(state, stateConnectionFailure)
	for ; d.sent.len() > 0; d.pop() {
		switch e := d.sent.at(0); e.kind {
		case noteQuery:
			d.tell(e, Simple, 0, state)
		case noteExecute:
			d.tell(e, Executed, 0, state)
		}
	}
}

// tell tells of a statement that is done.
func (d *diary) tell(e *entry, phase Phase, rows int64, state string) {
	now := d.now()
	a := &d.answer
	a.Client, a.Phase, a.Rows, a.SQLState = d.client, phase, rows, state
	a.At, a.Waited, a.Serving = epoch.Add(now), e.began-e.came, now-e.began
	a.Bytes, d.told = d.received-d.told, d.received
	if text := e.about(); text != nil {
		a.Shape, a.Reads = text.shape, union(text.reads, e.reads)
		if a.Asked = !text.told; a.Asked {
			a.Rewriting, a.Recalled = text.rewriting, text.recalled
			text.told = true
		}
	} else if phase == Executed {
		a.Reads = d.others
	}
	d.observer.Answered(a)
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

// asked is what is told of the text that was ruled on.
func (r *ruling) asked(refused *refusal) asked {
	of := &r.statement
	a := asked{shape: of.Shape, reads: of.Reads, uses: of.Uses, makes: of.Makes, rewriting: r.took, recalled: r.recalled}
	if refused != nil && a.shape == "" {
		a.shape = refused.shape
	}
	return a
}
