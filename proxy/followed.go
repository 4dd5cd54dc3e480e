package proxy

import (
	"bytes"
	"slices"
)

// maxFollowed caps the named statements, and the named portals, of a session that are
// followed.
const maxFollowed = 1000

// names are the prepared statements of a session by name, or its portals, for the diary.
type names struct {
	unnamed followed
	all     map[string]*followed
	there   int // of them, those that the server has
}

// followed is a name, and what it stands for.
type followed struct {
	of   *names // nil = it is the unnamed one
	name string
	text *asked // nil = nothing that is known
	// The server has it, and made it for SQL's DECLARE.
	there, declared bool
	mentions        int // entries that are about it; with none it goes unless it is there
}

// mention returns what is followed under a name, for an entry to be about. What is only
// mentioned does not count against the cap: the server may not come to have it.
func (n *names) mention(name []byte) *followed {
	if len(name) == 0 {
		return &n.unnamed
	}
	name = name[:min(len(name), maxNameBytes)]
	f := n.all[string(name)]
	if f == nil {
		if n.all == nil {
			n.all = make(map[string]*followed)
		}
		f = &followed{of: n, name: string(name)}
		n.all[f.name] = f
	}
	f.mentions++
	return f
}

// release takes note of the end of an entry that was about f; nil = about none.
func (f *followed) release() {
	if f != nil && f.of != nil {
		f.mentions--
		f.of.sweep(f)
	}
}

// become takes note that the server has made what has the name, of a text; false, and
// nothing is known of it, where there is too much.
func (f *followed) become(text *asked, declared bool) bool {
	if f.of != nil && !f.there {
		if f.of.there >= maxFollowed {
			return false
		}
		f.there = true
		f.of.there++
	}
	f.text, f.declared = text, declared
	return true
}

// vanish takes note that the server has nothing under the name any more.
func (f *followed) vanish() {
	f.text = nil
	if f.of != nil && f.there {
		f.there = false
		f.of.there--
		f.of.sweep(f)
	}
}

func (n *names) sweep(f *followed) {
	if f.mentions == 0 && !f.there {
		delete(n.all, f.name)
	}
}

// vanish takes note that the server has none of the named ones any more.
func (n *names) vanish() {
	for _, f := range n.all {
		f.vanish()
	}
}

// become takes note of what the server has prepared or bound. Beyond those that are
// followed, it is told of now.
func (d *diary) become(e *entry, text *asked) {
	if !e.is.become(text, false) {
		d.lose(text)
		e.text = text
		d.tell(e, Prepared, 0, "")
	}
}

// lose takes note of a statement or portal that is not followed.
func (d *diary) lose(text *asked) {
	if text == nil {
		return
	}
	for _, relation := range text.reads {
		if at, known := slices.BinarySearch(d.others, relation); !known {
			// A copy: the former one was told.
			d.others = slices.Insert(slices.Clone(d.others), at, relation)
		}
	}
}

// ran takes note that the server has run a statement, with its tag.
func (d *diary) ran(e *entry, tag []byte) {
	text := e.about()
	if text == nil {
		return
	}
	d.reach(e, text)
	into, declared := &d.statements, false
	switch {
	case e.made == len(text.makes):
		return
	case bytes.HasPrefix(tag, []byte("DECLARE CURSOR\x00")):
		into, declared = &d.portals, true
	case !bytes.HasPrefix(tag, []byte("PREPARE\x00")):
		return
	}
	f := into.mention([]byte(text.makes[e.made]))
	e.made++
	if !f.become(text, declared) {
		d.lose(text)
	}
	f.release()
}

// reach takes note of what the names stand for now that a text uses.
func (d *diary) reach(e *entry, text *asked) {
	for _, name := range text.uses {
		known := false
		for _, f := range []*followed{d.statements.all[name], d.portals.all[name]} {
			if f != nil && f.text != nil {
				known = true
				e.reads = union(e.reads, f.text.reads)
			}
		}
		if !known {
			e.reads = union(e.reads, d.others)
		}
	}
}

// endPortals takes note of the end of a transaction, which only cursors WITH HOLD outlive.
func (d *diary) endPortals() {
	for _, f := range d.portals.all {
		if f.declared {
			d.lose(f.text)
		}
	}
	d.portals.vanish()
	d.portals.unnamed.vanish()
}

// deallocate forgets all named statements.
func (d *diary) deallocate() {
	if d == nil {
		return
	}
	if d.statements.vanish(); len(d.statements.all) == 0 {
		d.statements.all = nil // with its memory
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
