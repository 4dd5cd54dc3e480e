package lineage

import "time"

// difference is how a record differs from what is published of it.
type difference struct {
	since  time.Time // when it began to wait, or its row became stale; zero for neither
	change change    // what its row does not show
}

// differences holds them by number, 0 for none. At most times few records have one, and
// records that begin to wait at once share one.
type differences struct {
	list   []difference // from number 1 on
	users  []int32      // how many records have each
	free   []int32      // numbers
	latest int32
}

func (p *differences) of(number int32) difference {
	if number == 0 {
		return difference{}
	}
	return p.list[number-1]
}

// take gives the number of a difference that one more record has.
func (p *differences) take(has difference) int32 {
	if has == (difference{}) {
		return 0
	}
	if p.latest == 0 || p.list[p.latest-1] != has {
		p.latest = p.enter(has)
	}
	p.users[p.latest-1]++
	return p.latest
}

func (p *differences) enter(has difference) int32 {
	if last := len(p.free) - 1; last >= 0 {
		number := p.free[last]
		p.free = p.free[:last]
		p.list[number-1] = has
		return number
	}
	p.list, p.users = append(p.list, has), append(p.users, 0)
	return int32(len(p.list))
}

// give takes a number back that one record no longer has.
func (p *differences) give(number int32) {
	if number == 0 {
		return
	}
	if p.users[number-1]--; p.users[number-1] > 0 {
		return
	}
	p.list[number-1] = difference{}
	if p.latest == number {
		p.latest = 0
	}
	if p.free = append(p.free, number); len(p.free) == len(p.list) {
		*p = differences{} // they may have been many
	}
}

// fewDifferences are too few to be worth tidying.
const fewDifferences = 1024

// tidy renumbers the differences if most numbers are unused. A large transaction makes as many of
// them as it has rows, each of which came at another time; the few that remain after it must not
// keep the memory of all. It takes time for each record, so it waits until enough numbers are
// unused.
func (s *records) tidy() {
	p := &s.differences
	if unused := len(p.free); unused < max(fewDifferences, len(s.ids)/64) || 4*unused < 3*len(p.list) {
		return
	}
	kept, numbers := differences{}, make([]int32, 1+len(p.list)) // the new ones by the old
	for i, users := range p.users {
		if users > 0 {
			kept.list, kept.users = append(kept.list, p.list[i]), append(kept.users, users)
			numbers[i+1] = int32(len(kept.list))
		}
	}
	for slot := range s.ids {
		at := s.at(int32(slot))
		at.difference = numbers[at.difference]
	}
	*p = kept
}
