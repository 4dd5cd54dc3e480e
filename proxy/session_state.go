package proxy

// prepared is what matters of a statement besides its text; nil = nothing.
type prepared struct {
	effects []any
	plans   bool
	uses    []string // as Statement.Uses
	bytes   int      // of the client's text, in place of the effects' own, and heldOverhead
}

// heldOverhead is what a statement costs in addition to its texts: its name, map slots and headers,
// in bytes, rounded up.
const heldOverhead = 256

// maxNameBytes is how much PostgreSQL looks at of the name of a statement or a portal:
// NAMEDATALEN - 1, the size of its tables' keys (prepare.c, portalmem.c, dynahash.c).
const maxNameBytes = 63

// held is the name of a statement or a portal by which the server knows it.
func held(name []byte) string { return string(name[:min(len(name), maxNameBytes)]) }

func (p *prepared) size() int {
	if p == nil {
		return 0
	}
	return p.bytes
}

// portal is a statement that is bound; the zero one has nothing that matters.
type portal struct {
	*prepared
	ran bool // its effect has happened: executing the rest of it has none
}

// sessionState is what the server holds for a session: the Gate's state, and those prepared
// statements and portals that change it, show plans or reach others. Others are not remembered.
// Statements that the server has dropped on its own may still be remembered: they cannot be
// executed before they are replaced here. It belongs to a tracker.
type sessionState struct {
	under      *sessionState // what is not here is there; nil = nowhere
	state      State
	statements map[string]*prepared
	portals    map[string]portal
	bytes      int // of all statements
}

func (h *sessionState) statement(name string) *prepared {
	if p, here := h.statements[name]; here || h.under == nil {
		return p
	}
	return h.under.statement(name)
}

func (h *sessionState) portal(name string) portal {
	if p, here := h.portals[name]; here || h.under == nil {
		return p
	}
	return h.under.portal(name)
}

// prepare replaces a statement; nil removes it.
func (h *sessionState) prepare(name string, p *prepared) {
	h.bytes += p.size() - h.statements[name].size()
	if p == nil && h.under == nil {
		delete(h.statements, name)
		return
	}
	if h.statements == nil {
		h.statements = make(map[string]*prepared)
	}
	h.statements[name] = p
}

// bind replaces a portal; the zero one removes it.
func (h *sessionState) bind(name string, p portal) {
	if p.prepared == nil && h.under == nil {
		delete(h.portals, name)
		return
	}
	if h.portals == nil {
		h.portals = make(map[string]portal)
	}
	h.portals[name] = p
}

// apply does what a message does once it has succeeded.
func (h *sessionState) apply(m *message) {
	switch m.kind {
	case messageParse:
		h.prepare(m.statement, m.prepared)
	case messageBind:
		of := h.statement(m.statement)
		if m.prepared != nil { // with the parameter's value
			of = m.prepared
		}
		h.bind(m.portal, portal{prepared: of})
	case messageExecute:
		if p := h.portal(m.portal); p.prepared != nil && !p.ran {
			h.ran(p.effects, 0)
			p.ran = true
			h.bind(m.portal, p)
		}
	case messageCloseStatement:
		h.prepare(m.statement, nil)
	case messageClosePortal:
		h.bind(m.portal, portal{})
	}
}

// ran is the end of the i-th statement of a text.
func (h *sessionState) ran(effects []any, i int) {
	if i < len(effects) && effects[i] != nil {
		h.state = h.state.After(effects[i])
	}
}

// deallocate forgets all statements.
func (h *sessionState) deallocate() { h.statements, h.bytes = nil, 0 }

// touchedBy reports whether a message changes the session state or depends on what it
// remembers.
func (h *sessionState) touchedBy(m *message) bool {
	switch m.kind {
	case messageParse, messageCloseStatement:
		return h.statement(m.statement) != nil
	case messageBind:
		return h.statement(m.statement) != nil || h.portal(m.portal).prepared != nil
	default:
		return h.portal(m.portal).prepared != nil
	}
}

// holds reports whether a statement or a portal has one of the names.
func (h *sessionState) holds(names []string) bool {
	for _, name := range names {
		if h.statement(name) != nil || h.portal(name).prepared != nil {
			return true
		}
	}
	return false
}

// uses returns the names that the statement of a portal uses in SQL.
func (h *sessionState) uses(portal string) []string {
	if of := h.portal(portal).prepared; of != nil {
		return of.uses
	}
	return nil
}

// synced is a ReadyForQuery. Outside of transactions there are no portals.
func (h *sessionState) synced(status byte, failed bool) {
	h.state = h.state.Synced(status, failed)
	if status == 'I' {
		clear(h.portals)
	}
}
