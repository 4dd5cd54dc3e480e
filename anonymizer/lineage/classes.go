package lineage

import (
	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// classes are those that are published, each at an index by which records find it.
type classes struct {
	numbers compact.Directory[incremental.ClassID]
	ids     []incremental.ClassID // index
	list    []*class              // index; nil where there is none
	free    []int32
}

func (s *classes) count() int { return s.numbers.Len() }

// index finds a class, -1 for an unknown one.
func (s *classes) index(id incremental.ClassID) int32 { return s.numbers.Find(s.ids, id) }

// find gives a class, nil for an unknown one.
func (s *classes) find(id incremental.ClassID) *class {
	if index := s.index(id); index >= 0 {
		return s.list[index]
	}
	return nil
}

// add takes a class that is not there.
func (s *classes) add(c *class) {
	if last := len(s.free) - 1; last >= 0 {
		c.index, s.free = s.free[last], s.free[:last]
		s.ids[c.index], s.list[c.index] = c.id, c
	} else {
		c.index = int32(len(s.list))
		s.ids, s.list = append(s.ids, c.id), append(s.list, c)
	}
	s.numbers.Add(s.ids, c.index)
}

func (s *classes) remove(c *class) {
	s.numbers.Remove(s.ids, c.id)
	s.ids[c.index], s.list[c.index] = 0, nil
	s.free = append(s.free, c.index)
}
