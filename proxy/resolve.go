package proxy

// maxResolvedBytes caps the texts of named statements that are remembered. Beyond it
// they are forgotten, and mean what they meant when they were parsed.
const maxResolvedBytes = 512 << 10

// resolved is a named statement as it was sent. PostgreSQL looks the names in a
// prepared statement up again where search_path has changed since (PostgreSQL
// documentation, PREPARE); what the server has is a text without such names.
type resolved struct {
	sql, sent string // the client's text and the one in its place
	types     []byte // as in parseMessage
	path      string // that the names were looked up in
	gone      bool   // the server has closed it, and could not parse it again
}

func (r *resolved) size() int {
	if r == nil {
		return 0
	}
	return heldOverhead + len(r.sql) + len(r.sent) + len(r.types) + len(r.path)
}

// errTaken refuses another statement under the name of one that the client takes to be
// there while the server has lost it.
type errTaken string

func (e errTaken) Error() string { return `prepared statement "` + string(e) + `" already exists` }

// resolutions are the named statements of a session by name.
type resolutions struct {
	all   map[string]*resolved
	bytes int
}

func (r *resolutions) put(name string, statement *resolved) {
	r.remove(name)
	if r.bytes += statement.size(); r.bytes > maxResolvedBytes || r.all == nil {
		*r = resolutions{all: make(map[string]*resolved), bytes: statement.size()}
	}
	r.all[name] = statement
}

func (r *resolutions) remove(name string) {
	if before := r.all[name]; before != nil {
		r.bytes -= before.size()
		delete(r.all, name)
	}
}

// lose takes note that the server does not have a statement any more that it has for
// the client. It is a copy, for the other may be in notes as well.
func (r *resolutions) lose(name string) {
	if before := r.all[name]; before != nil {
		lost := *before
		lost.gone = true
		r.all[name] = &lost
	}
}

// forget forgets what the server has: another statement may have the name.
func (r *resolutions) forget() {
	for name, statement := range r.all {
		if !statement.gone {
			r.remove(name)
		}
	}
}

// apply records what a message with a name does once it has succeeded.
func (r *resolutions) apply(m *message) {
	switch {
	case m.statement == "" || m.kind != messageParse && m.kind != messageCloseStatement:
	case m.hidden && m.kind == messageCloseStatement:
		r.lose(m.statement)
	case m.resolved == nil:
		r.remove(m.statement)
	default:
		r.put(m.statement, m.resolved)
	}
}

// travels records the search path after a text: once it is another one than at first,
// statements must be looked at when they are bound.
func (c *clientSide) travels(in State, effects []any) {
	for _, effect := range effects {
		if effect != nil {
			in = in.After(effect)
			c.moved = c.moved || in.SearchPath() != c.firstPath
		}
	}
}

// resolve makes sure that a statement that is about to be bound or described means what
// it means in the present search path: it is parsed again if it does not, or if that
// failed the last time. It returns the refusal of the text, if it is refused now; the
// message waits until what the statement is now is known for certain.
func (c *clientSide) resolve(name string, out *writeBuffer) (refused *refusal, known bool) {
	before, certain := c.tracker.resolution(name)
	if before == nil {
		return nil, true
	}
	state, foreseen := c.tracker.ahead()
	if !foreseen || !certain {
		c.until = c.tracker.ended
		return nil, false
	}
	if before.path == state.SearchPath() && !before.gone {
		return nil, true
	}
	ruling, known := c.rule(before.sql, state)
	switch {
	case !known:
		return nil, false
	case ruling.refused != nil:
		return ruling.refused, true
	case ruling.statement.SQL == before.sent && !before.gone:
		return nil, true
	case c.tracker.status == 'E' && !before.gone && !c.tracker.touched:
		// The server refuses it, whatever its names are, and would lose the statement.
		return nil, true
	case c.tracker.running():
		// What is on its way may fail, or be a PREPARE under the name.
		c.waitForAnswers(out)
		return nil, false
	}
	c.parseAgain(name, before, ruling, state, out)
	return nil, true
}

// parseAgain replaces a statement without the client's knowledge. Nothing is on its way,
// so that the tracker has room.
func (c *clientSide) parseAgain(name string, before *resolved, now ruling, in State, out *writeBuffer) {
	c.send(stepExtended, &message{kind: messageCloseStatement, statement: name, hidden: true})
	out.set(appendFrame(out.buffer(), 'C', append([]byte("S"+name), 0)))
	parsed := parseMessage{name: []byte(name), sql: before.sql, types: before.types}
	again := textMessage(messageParse, before.sql, in, now.statement)
	again.hidden, again.escaped = true, now.sent != now.statement.SQL
	again.name(parsed, now.statement)
	c.keeper.prepare(parsed.name, now.sent, now.statement.Look, parsed.types)
	c.send(stepExtended, &again)
	out.set(appendParse(out.buffer(), parsed, now.sent))
}
