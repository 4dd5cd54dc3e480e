package lookahead

import "slices"

// class is an equivalence class that is being improved.
type class struct {
	members []int32
	lane    int
	// Of each attribute, the lowest and the highest rank of the members, and the next ones:
	// what is left of them without one member that has it.
	low, high, low2, high2 []int32
	loss                   float32 // of each member, the sum over all attributes
}

func (s *search) newClass(members []int32, lane int) *class {
	d := len(s.scales)
	ends := make([]int32, 4*d)
	k := &class{members: members, lane: lane, low: ends[:d], high: ends[d : 2*d], low2: ends[2*d : 3*d], high2: ends[3*d:]}
	s.measure(k)
	for _, r := range members {
		s.of[r] = k
	}
	return k
}

const beyond = 1 << 30

// measure finds the ends and the loss of a class.
func (s *search) measure(k *class) {
	for a := range k.low {
		k.low[a], k.low2[a], k.high[a], k.high2[a] = beyond, beyond, -1, -1
	}
	for _, r := range k.members {
		for a, rank := range s.row(r) {
			if rank <= k.low[a] {
				k.low[a], k.low2[a] = rank, k.low[a]
			} else {
				k.low2[a] = min(k.low2[a], rank)
			}
			if rank >= k.high[a] {
				k.high[a], k.high2[a] = rank, k.high[a]
			} else {
				k.high2[a] = max(k.high2[a], rank)
			}
		}
	}
	k.loss = 0
	for a := range k.low {
		k.loss += s.scales[a].Of(k.low[a], k.high[a])
	}
}

// with is what each member of the class loses with one more record.
func (s *search) with(k *class, record int32) (loss float32) {
	for a, rank := range s.row(record) {
		loss += s.scales[a].Of(min(k.low[a], rank), max(k.high[a], rank))
	}
	return loss
}

// without is what each other member loses without one of them; 0 where there is no other.
func (s *search) without(k *class, member int32) (loss float32) {
	if len(k.members) == 1 {
		return 0
	}
	for a, rank := range s.row(member) {
		low, high := k.less(a, rank)
		loss += s.scales[a].Of(low, high)
	}
	return loss
}

// exchanged is what each member loses with another record in place of one of them.
func (s *search) exchanged(k *class, member, record int32) (loss float32) {
	others := s.row(record)
	for a, rank := range s.row(member) {
		low, high := k.less(a, rank)
		loss += s.scales[a].Of(min(low, others[a]), max(high, others[a]))
	}
	return loss
}

// less are the ends of the class without a member of the rank.
func (k *class) less(a int, rank int32) (low, high int32) {
	low, high = k.low[a], k.high[a]
	if rank == low {
		low = k.low2[a]
	}
	if rank == high {
		high = k.high2[a]
	}
	return low, high
}

// total is what all members lose.
func (k *class) total() float32 { return float32(len(k.members)) * k.loss }

// improvable says whether there is something to gain, by not too much work.
func (k *class) improvable() bool { return k.loss > 0 && len(k.members) <= mostMembers }

func (k *class) remove(member int32) {
	last := len(k.members) - 1
	i := slices.Index(k.members, member)
	k.members[i] = k.members[last]
	k.members = k.members[:last]
}
