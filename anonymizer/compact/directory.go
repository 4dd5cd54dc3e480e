// Package compact has the parts of what keeps many records in little memory: lists by slot,
// a number from 0 on that stands for a record as long as it is there, and what finds the
// slot of an id. None of them has a pointer for each record, so that the garbage collector
// passes over all of them. And it has what goes over many records at once.
package compact

// Directory finds the place of an id among the ids that its owner keeps: a hash
// table by linear probing (Knuth, volume 3, 6.4) of nothing but places. Ids are
// numbers that the program gives out, so nobody can choose them to collide.
type Directory[ID ~int64] struct {
	slots []int32 // 1 + place, 0 = free; a power of two of them
	shift int     // 64 - log2(len(slots))
	used  int
}

// Len is the number of ids.
func (d *Directory[ID]) Len() int { return d.used }

// Find gives the place of an id, -1 for an unknown one.
func (d *Directory[ID]) Find(ids []ID, id ID) int32 {
	if d.used == 0 {
		return -1
	}
	for at := d.home(id); d.slots[at] != 0; at = d.next(at) {
		if place := d.slots[at] - 1; ids[place] == id {
			return place
		}
	}
	return -1
}

// home is where the search for an id begins: multiplicative hashing, by the golden
// ratio.
func (d *Directory[ID]) home(id ID) int { return int(uint64(id) * 0x9e3779b97f4a7c15 >> d.shift) }

func (d *Directory[ID]) next(at int) int { return (at + 1) & (len(d.slots) - 1) }

// Add enters an id that is not there; the owner has it at the place already.
func (d *Directory[ID]) Add(ids []ID, place int32) {
	if 4*(d.used+1) > 3*len(d.slots) {
		d.enlarge(ids)
	}
	d.enter(ids, place)
	d.used++
}

func (d *Directory[ID]) enter(ids []ID, place int32) {
	at := d.home(ids[place])
	for d.slots[at] != 0 {
		at = d.next(at)
	}
	d.slots[at] = place + 1
}

// Reserve makes an empty directory one in which so many ids have room.
func (d *Directory[ID]) Reserve(room int) {
	*d = Directory[ID]{shift: 64 - 4}
	for 4*room > 3<<(64-d.shift) {
		d.shift--
	}
	d.slots = make([]int32, 1<<(64-d.shift))
}

// Fill makes the directory of all ids, each at its own place, at once; -1, or the place of
// an id that is there twice.
func (d *Directory[ID]) Fill(ids []ID) int32 {
	d.Reserve(len(ids))
	d.used = len(ids)
	for place, id := range ids {
		at := d.home(id)
		for ; d.slots[at] != 0; at = d.next(at) {
			if ids[d.slots[at]-1] == id {
				return int32(place)
			}
		}
		d.slots[at] = int32(place) + 1
	}
	return -1
}

func (d *Directory[ID]) enlarge(ids []ID) {
	old := d.slots
	if d.slots = make([]int32, max(16, 2*len(old))); len(old) == 0 {
		d.shift = 64 - 4
	} else {
		d.shift--
	}
	for _, slot := range old {
		if slot != 0 {
			d.enter(ids, slot-1)
		}
	}
}

// slotOf is where an id that is there is entered.
func (d *Directory[ID]) slotOf(ids []ID, id ID) int {
	at := d.home(id)
	for ids[d.slots[at]-1] != id {
		at = d.next(at)
	}
	return at
}

// Move enters another place for an id that is there; the owner still has it at the
// old one.
func (d *Directory[ID]) Move(ids []ID, id ID, to int32) { d.slots[d.slotOf(ids, id)] = to + 1 }

// Remove forgets an id that is there and that the owner still has. Entries behind it
// that it stood in the way of move up (Knuth's algorithm R).
func (d *Directory[ID]) Remove(ids []ID, id ID) {
	gap := d.slotOf(ids, id)
	d.used--
	for at := d.next(gap); d.slots[at] != 0; at = d.next(at) {
		home := d.home(ids[d.slots[at]-1])
		if (at-home)&(len(d.slots)-1) >= (at-gap)&(len(d.slots)-1) {
			d.slots[gap] = d.slots[at]
			gap = at
		}
	}
	d.slots[gap] = 0
}
