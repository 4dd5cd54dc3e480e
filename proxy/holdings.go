package proxy

// prepared is what matters of a statement besides its text; nil = nothing.
type prepared struct {
	effects []any
	plans   bool
	uses    []string // as Statement.Uses
	bytes   int      // of the client's text, in place of the effects' own, and heldOverhead
}

// heldOverhead is what a statement costs beside its texts: its name, map slots and
// headers, in bytes, rounded up.
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

// holdings are what the server holds for a session: the state, and those prepared
// statements and portals that change it, show plans or reach others. Others are not remembered,
// and statements that the server has dropped by itself may be remembered still:
// there is no way to execute them before they are replaced here.
type holdings struct {
	under      *holdings // what is not here is there; nil = nowhere
	state      State
	statements map[string]*prepared
	portals    map[string]portal
	bytes      int // of all statements
}

func (h *holdings) statement(name string) *prepared {
	if p, here := h.statements[name]; here || h.under == nil {
		return p
	}
	return h.under.statement(name)
}

func (h *holdings) portal(name string) portal {
	if p, here := h.portals[name]; here || h.under == nil {
		return p
	}
	return h.under.portal(name)
}

// prepare replaces a statement; nil removes it.
func (h *holdings) prepare(name string, p *prepared) {
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
func (h *holdings) bind(name string, p portal) {
	if p.prepared == nil && h.under == nil {
		delete(h.portals, name)
		return
	}
	if h.portals == nil {
		h.portals = make(map[string]portal)
	}
	h.portals[name] = p
}

// apply does what the message of a note does once it has succeeded.
func (h *holdings) apply(n *note) {
	switch n.kind {
	case noteParse:
		h.prepare(n.statement, n.prepared)
	case noteBind:
		h.bind(n.portal, portal{prepared: h.statement(n.statement)})
	case noteExecute:
		if p := h.portal(n.portal); p.prepared != nil && !p.ran {
			h.ran(p.effects, 0)
			p.ran = true
			h.bind(n.portal, p)
		}
	case noteCloseStatement:
		h.prepare(n.statement, nil)
	case noteClosePortal:
		h.bind(n.portal, portal{})
	}
}

// ran is the end of the i-th statement of a text.
func (h *holdings) ran(effects []any, i int) {
	if i < len(effects) && effects[i] != nil {
		h.state = h.state.After(effects[i])
	}
}

// deallocate forgets all statements.
func (h *holdings) deallocate() { h.statements, h.bytes = nil, 0 }

// touchedBy tells whether the message of a note changes the holdings or depends on
// what they remember.
func (h *holdings) touchedBy(n *note) bool {
	switch n.kind {
	case noteParse, noteCloseStatement:
		return h.statement(n.statement) != nil
	case noteBind:
		return h.statement(n.statement) != nil || h.portal(n.portal).prepared != nil
	default:
		return h.portal(n.portal).prepared != nil
	}
}

// synced is a ReadyForQuery. Outside of transactions there are no portals.
func (h *holdings) synced(status byte, failed bool) {
	h.state = h.state.Synced(status, failed)
	if status == 'I' {
		clear(h.portals)
	}
}
