package proxy

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/kproxy/kproxy/proxy/answers"
)

// maxKeptStatements is how many prepared statements of a session are remembered because their
// answers may be kept. Those beyond it run as they do without.
const maxKeptStatements = 500

// preparedKept is a prepared statement whose answers may be kept.
type preparedKept struct{ sql, look, types string }

// boundKept is a portal of one, with what it was bound to. Its memory is used again for the next one.
type boundKept struct {
	*preparedKept
	portal, statement []byte
	values            []byte // behind the names: formats, values, formats of the result
}

// What a name stands for is decided by the server. So what is remembered here is used only once the
// server has answered everything before the open segment, and without an error since: then every
// Parse and Bind that was sent has succeeded, or the server skips what follows it in this segment
// too. An error makes all of it forgotten.

// prepare remembers a statement that is about to be parsed; one without a look is none of these.
func (k *keeper) prepare(name []byte, sql, look string, types []byte) {
	if !k.keeps() {
		return
	}
	if look == "" || declaresTimeOfDay(types) {
		delete(k.statements, held(name))
		return
	}
	if k.statements == nil || len(k.statements) >= maxKeptStatements {
		k.statements = make(map[string]*preparedKept)
	}
	k.statements[held(name)] = &preparedKept{sql: sql, look: look, types: string(types)}
}

// made takes note of a text that may give names by SQL: PREPARE and DECLARE.
func (k *keeper) made(statement *Statement) {
	if statement.Makes != nil {
		k.forget()
	}
}

// forgetUnnamed forgets what a Query drops.
func (k *keeper) forgetUnnamed() {
	delete(k.statements, "")
	k.bound = nil
}

// forget forgets all statements and portals.
func (k *keeper) forget() { k.statements, k.bound = nil, nil }

// remembers tells whether the names in Bind, Execute and Close matter.
func (k *keeper) remembers() bool { return len(k.statements) > 0 || k.bound != nil }

// named follows a Bind or a Close that is sent; whole says that all of it was looked at.
func (k *keeper) named(names *messageNames, whole bool) {
	switch names.kind {
	case messageBind:
		k.bound = nil
		statement := names.statement[:min(len(names.statement), maxNameBytes)]
		if of := k.statements[string(statement)]; of != nil && whole && len(names.portal) <= maxNameBytes {
			b := &k.portal
			b.preparedKept, b.portal, b.statement, b.values = of, append(b.portal[:0], names.portal...), append(b.statement[:0], names.statement...), append(b.values[:0], names.rest...)
			k.bound = b
		}
	case messageCloseStatement:
		delete(k.statements, held(names.statement))
	case messageClosePortal, messageExecute:
		k.bound = nil
	default:
	}
}

// executed returns the question that an Execute asks; nil if no answer to it is kept. If it is not
// known yet what the portal is, the message waits.
func (c *clientSide) executed(names *messageNames) (q *question, known bool) {
	k, t := &c.keeper, c.tracker
	b := k.bound
	if b == nil || !k.keeps() || !bytes.Equal(b.portal, names.portal) || t.touched || t.skipping {
		return nil, true
	}
	if len(names.rest) != 4 || binary.BigEndian.Uint32(names.rest) != 0 { // a part of the rows
		return nil, true
	}
	k.parameters = append(append(k.parameters[:0], b.types...), b.values...) // types tell their number
	id := k.store.Question(b.sql, k.parameters)
	costly := k.store.Costly(id)
	switch {
	case !t.ended() && costly:
		c.until = t.ended
		return nil, false
	case !t.ended(), t.status != 'I':
		return nil, true
	}
	k.executes = question{sql: b.sql, look: b.look, id: id, cheap: !costly && k.asking == nil}
	if !k.executes.cheap {
		k.executes.parameters = string(k.parameters)
	}
	return &k.executes, true
}

// keptExecute answers an Execute by a kept answer if there is one, or has its answer kept. Parse, Bind
// and Describe before it went to the server, which has checked all that it checks before it runs a
// statement.
func (c *clientSide) keptExecute(q *question, m *message, f frame, begin []byte, names *messageNames, out *writeBuffer) (does action, done bool) {
	k := &c.keeper
	if q.cheap {
		m.kind, m.question, m.questioned = messageExecute, q.id, time.Now()
		return wait, false
	}
	o := c.ask(q, func(l *look) {
		c.sendLookInside(l, q.look, out)
		out.set(appendFrame(out.buffer(), 'H', nil))
	})
	switch {
	case o.waits:
		return wait, true
	case o.refused != nil:
		does, _ = c.refuseExtended(newRefusal(o.refused, stateQueryCanceled), ruling{}, refusedStatement, out)
		return does, true
	case o.answer != nil:
		k.reply = append(k.reply, o.answer.Messages...)
		c.tracker.observation.keptExecute(*names, o.answer)
		c.closePortal(names.portal, out)
		k.bound = nil
		return drop, true
	}
	m.kind, m.capture, m.question, m.questioned = messageExecute, o.capture, q.id, time.Now()
	if o.capture == nil && o.since.IsZero() {
		return wait, false // it runs as any other
	}
	if o.capture != nil {
		c.bindAgain(k.bound, out)
	}
	c.sendNamed(f, m, *names)
	k.bound = nil
	if c.clock != nil {
		c.clock.expect(1)
	}
	c.began(o.since)
	out.set(appendFrame(out.buffer(), 'E', begin))
	if o.capture != nil {
		c.sendLookInside(k.after(o.capture), q.look, out)
	}
	return drop, true
}

// bindAgain binds a portal once more. The server reads what it saw when a portal was bound: that was
// before the look, by which its answer is kept.
func (c *clientSide) bindAgain(b *boundKept, out *writeBuffer) {
	if len(b.portal) > 0 { // the unnamed one is replaced
		c.closePortal(b.portal, out)
	}
	c.send(stepExtended, &message{kind: messageBind, portal: held(b.portal), statement: held(b.statement), hidden: true})
	out.set(appendFrame(out.buffer(), 'B', slices.Concat(b.portal, []byte{0}, b.statement, []byte{0}, b.values)))
}

// closePortal closes a portal without the client's knowledge: one that is bound again, or that the client
// takes for executed, so that it has no rows any more.
func (c *clientSide) closePortal(name []byte, out *writeBuffer) {
	c.send(stepExtended, &message{kind: messageClosePortal, portal: held(name), hidden: true})
	out.set(appendFrame(out.buffer(), 'C', append(append([]byte{'P'}, name...), 0)))
}

// keptQuery reports a Query that a kept answer has answered.
func (o *observation) keptQuery(r *ruling, answer *answers.Answer) {
	if o == nil {
		return
	}
	m := message{kind: messageQuery}
	o.ruled(&m, r, nil)
	o.kept(&m, Simple, answer)
}

// keptExecute reports an Execute that a kept answer has answered.
func (o *observation) keptExecute(names messageNames, answer *answers.Answer) {
	if o == nil {
		return
	}
	m := message{}
	o.named(&m, names)
	o.kept(&m, Executed, answer)
}

func (o *observation) kept(m *message, phase Phase, answer *answers.Answer) {
	o.receive(len(answer.Messages))
	o.report(&m.observed, phase, answer.Rows, "")
	o.forget(m)
}
