package nested

import (
	"cmp"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// placed is a class of a group that is to be divided, with what it covers.
type placed struct {
	class incremental.ClassID
	size  int
	box   []span
}

// divide divides a group into two that satisfy the constraints, where that loses less, and returns
// both; none where it cannot be. It is tried again when the group has grown by a quarter.
func (s *settling) divide(one *union) []*union {
	classes := make([]placed, len(one.classes))
	for i, class := range one.classes {
		classes[i] = placed{class, len(s.finer.AppendSlots(nil, class)), s.boxOf(class)}
	}
	best, least := []placed(nil), float64(one.size)*s.loss(one.box)
	middle := 0
	for a := range s.axes {
		slices.SortFunc(classes, func(x, y placed) int {
			return cmp.Or(cmp.Compare(x.box[a].low+x.box[a].high, y.box[a].low+y.box[a].high), cmp.Compare(x.class, y.class))
		})
		if at, lost := s.cut(classes, least); at > 0 {
			best, middle, least = slices.Clone(classes), at, lost
		}
	}
	if best == nil {
		one.splitAt = one.size + (one.size+3)/4
		return nil
	}
	other := s.make()
	one.classes, one.size, one.box, one.splitAt = nil, 0, nil, 0
	for i, p := range best {
		into := one
		if i >= middle {
			into = other
		}
		s.join(into, p.class)
	}
	s.touch(one)
	s.touch(other)
	return []*union{one, other}
}

// cut finds the place at which classes in their order are best divided into two groups, if that loses
// less than so much.
func (s *settling) cut(classes []placed, least float64) (at int, lost float64) {
	after := make([][]span, len(classes)+1)
	for i := len(classes) - 1; i >= 0; i-- {
		after[i] = include(append([]span(nil), after[i+1]...), classes[i].box)
		if after[i+1] == nil {
			after[i] = append([]span(nil), classes[i].box...)
		}
	}
	total := 0
	for _, p := range classes {
		total += p.size
	}
	var before []span
	front := 0
	for i, p := range classes[:len(classes)-1] {
		before, front = include(before, p.box), front+p.size
		if front < s.k || total-front < s.k {
			continue
		}
		lost := float64(front)*s.loss(before) + float64(total-front)*s.loss(after[i+1])
		if lost < least && s.satisfied(classesOf(classes[:i+1])) && s.satisfied(classesOf(classes[i+1:])) {
			at, least = i+1, lost
		}
	}
	return at, least
}

func classesOf(all []placed) []incremental.ClassID {
	ids := make([]incremental.ClassID, len(all))
	for i, p := range all {
		ids[i] = p.class
	}
	return ids
}
