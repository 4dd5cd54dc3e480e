package proxy

import (
	"bytes"
	"slices"
)

// maxObservedNames caps the named statements, and the named portals, of a session that
// are followed for the Observer.
const maxObservedNames = 1000

// preparedNames are the names of a session's prepared statements and portals, as reported to the
// Observer.
type preparedNames struct {
	statements, portals observedNames
	others              []string // relations that statements and portals read which are not followed
}

// observedNames are the prepared statements of a session by name, or its portals.
type observedNames struct {
	unnamed observedName
	all     map[string]*observedName
	there   int // of them, those that the server has
}

// observedName is a name, and what it stands for.
type observedName struct {
	of   *observedNames // nil = it is the unnamed one
	name string
	text *observedText // nil = nothing that is known
	// The server has it, and made it for SQL's DECLARE.
	there, declared bool
	mentions        int // messages that are about it; with none it goes unless it is there
}

// mention returns what is followed under a name, for a message to be about. What is only
// mentioned does not count against the cap: the server may not come to have it.
func (n *observedNames) mention(name []byte) *observedName {
	if len(name) == 0 {
		return &n.unnamed
	}
	name = name[:min(len(name), maxNameBytes)]
	f := n.all[string(name)]
	if f == nil {
		if n.all == nil {
			n.all = make(map[string]*observedName)
		}
		f = &observedName{of: n, name: string(name)}
		n.all[f.name] = f
	}
	f.mentions++
	return f
}

// release ends the mention by a message; nil = it mentions none.
func (f *observedName) release() {
	if f != nil && f.of != nil {
		f.mentions--
		f.of.sweep(f)
	}
}

// become records that the server has made what has the name, of a text. It returns false,
// and nothing is known of it, where there are too many.
func (f *observedName) become(text *observedText, declared bool) bool {
	if f.of != nil && !f.there {
		if f.of.there >= maxObservedNames {
			return false
		}
		f.there = true
		f.of.there++
	}
	f.text, f.declared = text, declared
	return true
}

// vanish records that the server has nothing under the name any more.
func (f *observedName) vanish() {
	f.text = nil
	if f.of != nil && f.there {
		f.there = false
		f.of.there--
		f.of.sweep(f)
	}
}

func (n *observedNames) sweep(f *observedName) {
	if f.mentions == 0 && !f.there {
		delete(n.all, f.name)
	}
}

// vanish records that the server has none of the named ones any more.
func (n *observedNames) vanish() {
	for _, f := range n.all {
		f.vanish()
	}
}

// lose records a statement or portal that is not followed.
func (p *preparedNames) lose(text *observedText) {
	if text == nil {
		return
	}
	for _, relation := range text.reads {
		if at, known := slices.BinarySearch(p.others, relation); !known {
			// A copy: the Observer has the former one.
			p.others = slices.Insert(slices.Clone(p.others), at, relation)
		}
	}
}

// ran records that the server has run a statement, with its tag.
func (p *preparedNames) ran(m *observed, tag []byte) {
	text := m.about()
	if text == nil {
		return
	}
	p.reach(m, text)
	into, declared := &p.statements, false
	switch {
	case m.made == len(text.makes):
		return
	case bytes.HasPrefix(tag, []byte("DECLARE CURSOR\x00")):
		into, declared = &p.portals, true
	case !bytes.HasPrefix(tag, []byte("PREPARE\x00")):
		return
	}
	f := into.mention([]byte(text.makes[m.made]))
	m.made++
	if !f.become(text, declared) {
		p.lose(text)
	}
	f.release()
}

// reach records what the names that a text uses stand for now.
func (p *preparedNames) reach(m *observed, text *observedText) {
	for _, name := range text.uses {
		known := false
		for _, f := range []*observedName{p.statements.all[name], p.portals.all[name]} {
			if f != nil && f.text != nil {
				known = true
				m.reads = union(m.reads, f.text.reads)
			}
		}
		if !known {
			m.reads = union(m.reads, p.others)
		}
	}
}

// endPortals records the end of a transaction, which only cursors WITH HOLD outlive.
func (p *preparedNames) endPortals() {
	for _, f := range p.portals.all {
		if f.declared {
			p.lose(f.text)
		}
	}
	p.portals.vanish()
	p.portals.unnamed.vanish()
}

// deallocate forgets all named statements.
func (o *observation) deallocate() {
	if o == nil {
		return
	}
	if o.statements.vanish(); len(o.statements.all) == 0 {
		o.statements.all = nil // with its memory
	}
}

// union returns the elements of two lists, each once, perhaps in the memory of one.
func union(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	a = slices.Clip(a)
	for _, element := range b {
		if !slices.Contains(a, element) {
			a = append(a, element)
		}
	}
	return a
}
