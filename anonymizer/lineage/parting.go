package lineage

import "time"

// parting is what is known of a record that is not published as it is now.
type parting struct {
	since  time.Time // since when it waits, or its row is stale; zero for one that is as its row
	change change    // what its row does not show
}

// partings holds them by number, 0 for none. Few records have one at most times, and where many
// begin to wait at once it is the same.
type partings struct {
	list   []parting // from number 1 on
	users  []int32   // how many records have each
	free   []int32   // numbers
	latest int32
}

func (p *partings) of(number int32) parting {
	if number == 0 {
		return parting{}
	}
	return p.list[number-1]
}

// take gives the number of a parting that one more record has.
func (p *partings) take(has parting) int32 {
	if has == (parting{}) {
		return 0
	}
	if p.latest == 0 || p.list[p.latest-1] != has {
		p.latest = p.enter(has)
	}
	p.users[p.latest-1]++
	return p.latest
}

func (p *partings) enter(has parting) int32 {
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
func (p *partings) give(number int32) {
	if number == 0 {
		return
	}
	if p.users[number-1]--; p.users[number-1] > 0 {
		return
	}
	p.list[number-1] = parting{}
	if p.latest == number {
		p.latest = 0
	}
	if p.free = append(p.free, number); len(p.free) == len(p.list) {
		*p = partings{} // they may have been many
	}
}

// fewPartings are so few that it does not matter who has them.
const fewPartings = 1024

// tidy numbers the partings anew where most numbers are nobody's. A large transaction makes as many
// of them as it has rows, each of which came at another time; the few that stay after it must not
// keep the room of all. It takes time for each record, so it waits for a share of these.
func (s *records) tidy() {
	p := &s.partings
	if nobodys := len(p.free); nobodys < max(fewPartings, len(s.ids)/64) || 4*nobodys < 3*len(p.list) {
		return
	}
	kept, numbers := partings{}, make([]int32, 1+len(p.list)) // the new ones by the old
	for i, users := range p.users {
		if users > 0 {
			kept.list, kept.users = append(kept.list, p.list[i]), append(kept.users, users)
			numbers[i+1] = int32(len(kept.list))
		}
	}
	for slot := range s.ids {
		at := s.at(int32(slot))
		at.parting = numbers[at.parting]
	}
	*p = kept
}
