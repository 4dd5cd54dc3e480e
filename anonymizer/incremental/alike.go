package incremental

import (
	"fmt"
	"maps"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Readers cannot tell classes apart of which the same is published. A union of
// classes satisfies what each of them does, so that this makes no difference,
// unless a person has records in both: then its size still cannot be smaller, but
// frequencies and diversity are others. Where constraints on these count persons,
// classes that look alike are therefore made one.

// alike finds the classes that look alike.
type alike struct {
	needed bool
	look   func([]hierarchy.Generalization) string
	class  map[string]ClassID // the one class of each look; stale where that looks otherwise now
	unseen []ClassID          // classes whose look may be new, each once
}

func newAlike(subjects bool, constraints privacy.ConstraintSet, look func([]hierarchy.Generalization) string) alike {
	a := alike{look: look, class: map[string]ClassID{}}
	for _, c := range constraints {
		if _, size := c.(privacy.KAnonymity); !size {
			a.needed = subjects
		}
	}
	if look == nil {
		a.look = func(published []hierarchy.Generalization) string { return fmt.Sprintf("%#v", published) }
	}
	return a
}

// uniteAlike merges classes that look alike and reports whether there were any.
// The constraints may then be violated.
func (p *Partition) uniteAlike() (united bool) {
	for i := 0; i < len(p.alike.unseen); i++ {
		id := p.alike.unseen[i]
		index := p.classes.index(id)
		if index < 0 {
			continue
		}
		c := &p.classes.list[index]
		p.compared += len(c.members)
		c.look, c.unseen = p.alike.look(p.generalize(c.members)), false
		other := p.classes.index(p.alike.class[c.look])
		if other < 0 || other == index || p.classes.list[other].look != c.look {
			p.alike.class[c.look] = id
			continue
		}
		if len(p.classes.list[other].members) < len(c.members) {
			index, other = other, index
		}
		p.alike.class[c.look] = p.classes.list[other].id
		p.merge(other, index) // which has the union looked at again
		united = true
	}
	p.alike.unseen = p.alike.unseen[:0]
	if len(p.alike.class) > 2*len(p.classes.list)+1000 {
		maps.DeleteFunc(p.alike.class, func(look string, id ClassID) bool {
			index := p.classes.index(id)
			return index < 0 || p.classes.list[index].look != look
		})
	}
	return united
}

// combineAlike makes one of the parts of a division that would look alike.
func (p *Partition) combineAlike(parts [][]int32) [][]int32 {
	if !p.alike.needed {
		return parts
	}
	places := make(map[string]int, len(parts))
	combined := parts[:0]
	for _, part := range parts {
		look := p.alike.look(p.generalize(part))
		if place, known := places[look]; known {
			combined[place] = append(combined[place], part...)
			continue
		}
		places[look] = len(combined)
		combined = append(combined, part)
	}
	return combined
}
