package incremental_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// shadow is a store that knows the classes of a partition by its Changes alone: where
// each record stands, and what was published when its class was written last.
type shadow struct {
	classOf map[incremental.RecordID]incremental.ClassID
	members map[incremental.ClassID]map[incremental.RecordID]bool // 0 has those withheld
	written map[incremental.ClassID]writtenClass
	retired map[incremental.ClassID]bool
}

type writtenClass struct {
	rows map[incremental.RecordID]anonymizertest.Row
	box  []hierarchy.Generalization
}

func newShadow() *shadow {
	return &shadow{
		classOf: map[incremental.RecordID]incremental.ClassID{},
		members: map[incremental.ClassID]map[incremental.RecordID]bool{},
		written: map[incremental.ClassID]writtenClass{},
		retired: map[incremental.ClassID]bool{},
	}
}

// apply follows the changes; rows are the records as they are now, and box is what is
// published for a class now.
func (s *shadow) apply(c incremental.Changes, rows map[incremental.RecordID]anonymizertest.Row, box func(incremental.ClassID) []hierarchy.Generalization) error {
	if !slices.IsSorted(c.Rewrite) || !slices.IsSorted(c.Retired) {
		return fmt.Errorf("lists are not in order: %v, %v", c.Rewrite, c.Retired)
	}
	for _, class := range c.Retired {
		if _, known := s.written[class]; !known {
			return fmt.Errorf("class %d retired and was not published", class)
		}
		delete(s.written, class)
		s.retired[class] = true
	}
	for id, class := range c.Moved {
		before, known := s.classOf[id]
		if _, exists := rows[id]; !exists || known && before == class || s.retired[class] {
			return fmt.Errorf("record %d moved from class %d to %d (it exists: %v)", id, before, class, exists)
		}
		s.forget(id)
		s.place(id, class)
	}
	for _, class := range c.Rewrite {
		if class < 1 || len(s.members[class]) == 0 {
			return fmt.Errorf("class %d is to be written and has no records", class)
		}
		w := writtenClass{rows: map[incremental.RecordID]anonymizertest.Row{}, box: box(class)}
		for id := range s.members[class] {
			w.rows[id] = rows[id]
		}
		s.written[class] = w
	}
	return nil
}

func (s *shadow) place(id incremental.RecordID, class incremental.ClassID) {
	s.classOf[id] = class
	if s.members[class] == nil {
		s.members[class] = map[incremental.RecordID]bool{}
	}
	s.members[class][id] = true
}

// forget takes a record out of the store.
func (s *shadow) forget(id incremental.RecordID) {
	class, known := s.classOf[id]
	if !known {
		return
	}
	delete(s.classOf, id)
	if delete(s.members[class], id); len(s.members[class]) == 0 {
		delete(s.members, class)
	}
}

// clear takes all records out of the store.
func (s *shadow) clear() {
	clear(s.classOf)
	clear(s.members)
}

// sorted lists the records of each class in ascending order.
func (s *shadow) sorted() map[incremental.ClassID][]incremental.RecordID {
	sorted := map[incremental.ClassID][]incremental.RecordID{}
	for class, ids := range s.members {
		sorted[class] = slices.Sorted(maps.Keys(ids))
	}
	return sorted
}

// check compares what is written with the partition and the rows: had all been written
// anew, it would be the same.
func (s *shadow) check(p *incremental.Partition, rows map[incremental.RecordID]anonymizertest.Row) error {
	if len(s.classOf) != len(rows) || p.Len() != len(rows) {
		return fmt.Errorf("%d records, %d with a place, %d in the partition", len(rows), len(s.classOf), p.Len())
	}
	members := s.sorted()
	if got := p.Members(0); !slices.Equal(got, members[0]) || p.Withheld() != len(got) {
		return fmt.Errorf("withheld are %v (%d), %v expected", got, p.Withheld(), members[0])
	}
	delete(members, 0)
	if p.Classes() != len(members) || len(s.written) != len(members) {
		return fmt.Errorf("%d classes, %d written, %d with records", p.Classes(), len(s.written), len(members))
	}
	for class, ids := range members {
		if got := p.Members(class); !slices.Equal(got, ids) {
			return fmt.Errorf("class %d has %v, %v expected", class, got, ids)
		}
		w := s.written[class]
		if len(w.rows) != len(ids) || !reflect.DeepEqual(w.box, p.Generalize(class)) {
			return fmt.Errorf("class %d is written as %+v, it is %+v", class, w, p.Generalize(class))
		}
		for _, id := range ids {
			if p.ClassOf(id) != class || !reflect.DeepEqual(w.rows[id], rows[id]) {
				return fmt.Errorf("record %d of class %d is written as %v, it is %v", id, class, w.rows[id], rows[id])
			}
		}
	}
	return nil
}
