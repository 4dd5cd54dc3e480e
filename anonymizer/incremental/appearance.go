package incremental

import (
	"fmt"
	"maps"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Readers cannot tell classes apart that are published with the same values. A union of
// classes satisfies what each of them does, so this makes no difference, unless a person
// has records in both: the union is no smaller, but frequencies and diversity differ.
// Where constraints on these count persons, classes that look alike are therefore united.

// looks finds classes that look alike to readers.
type looks struct {
	members *membership
	look    func([]hierarchy.Generalization) string
	class   map[string]ClassID // the one class of each look; stale where that looks otherwise now
}

func newLooks(members *membership, look func([]hierarchy.Generalization) string) looks {
	if look == nil {
		look = func(published []hierarchy.Generalization) string { return fmt.Sprintf("%#v", published) }
	}
	return looks{members: members, look: look, class: map[string]ClassID{}}
}

// unite merges classes that look alike and reports whether there were any; it adds the
// number of records that it compared.
// The constraints may then be violated.
func (l *looks) unite(compared *int) (united bool) {
	for i := 0; i < len(l.members.unseen); i++ {
		id := l.members.unseen[i]
		index := l.members.classes.index(id)
		if index < 0 {
			continue
		}
		c := &l.members.classes.list[index]
		*compared += len(c.members)
		c.look, c.unseen = l.look(l.members.generalize(c.members)), false
		other := l.members.classes.index(l.class[c.look])
		if other < 0 || other == index || l.members.classes.list[other].look != c.look {
			l.class[c.look] = id
			continue
		}
		if len(l.members.classes.list[other].members) < len(c.members) {
			index, other = other, index
		}
		l.class[c.look] = l.members.classes.list[other].id
		l.members.merge(other, index) // which has the union looked at again
		united = true
	}
	l.members.unseen = l.members.unseen[:0]
	if len(l.class) > 2*len(l.members.classes.list)+1000 {
		maps.DeleteFunc(l.class, func(look string, id ClassID) bool {
			index := l.members.classes.index(id)
			return index < 0 || l.members.classes.list[index].look != look
		})
	}
	return united
}

// combine unites the parts of a division that would look alike.
func (l *looks) combine(parts [][]int32) [][]int32 {
	if !l.members.distinct {
		return parts
	}
	places := make(map[string]int, len(parts))
	combined := parts[:0]
	for _, part := range parts {
		look := l.look(l.members.generalize(part))
		if place, known := places[look]; known {
			combined[place] = append(combined[place], part...)
			continue
		}
		places[look] = len(combined)
		combined = append(combined, part)
	}
	return combined
}
