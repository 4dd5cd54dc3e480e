package sync

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// keys finds records by the texts of their rows' keys. Where rows have no key, all their
// values are one, and equal rows are possible: which of them is found makes no
// difference.
//
// There are as many as the table has rows, so that each must take little more than its
// text: a hash table by linear probing (Knuth, volume 3, 6.4) leads to places in which
// texts and records lie. It is divided, so that none of its parts takes long to grow.
type keys struct {
	seed    maphash.Seed
	shards  [keyShards]keyShard
	further map[string][]incremental.RecordID // nil where keys are unique
}

// keyShards is a power of two.
const keyShards = 256

func newKeys(repeats bool) *keys {
	k := &keys{seed: maphash.MakeSeed()}
	if repeats {
		k.further = make(map[string][]incremental.RecordID)
	}
	return k
}

// keyShard holds the keys whose hashes begin alike.
type keyShard struct {
	slots   []uint64 // the hash's low half, and below 1 + place; 0 = free; a power of two of them
	used    int
	records []incremental.RecordID // by place
	texts   textStore              // by place
	free    []int32                // places
}

// shard finds a key's part, and what decides on its slot in there.
func (k *keys) shard(key []byte) (s *keyShard, hash uint32) {
	sum := maphash.Bytes(k.seed, key)
	return &k.shards[sum>>56&(keyShards-1)], uint32(sum)
}

func (k *keys) find(key []byte) (incremental.RecordID, bool) {
	s, hash := k.shard(key)
	if at := s.find(hash, key); at >= 0 {
		return s.records[s.place(at)], true
	}
	return 0, false
}

// findLast finds the record of that key that was added last, where there are several.
func (k *keys) findLast(key []byte) (incremental.RecordID, bool) {
	if others := k.further[string(key)]; len(others) > 0 {
		return others[len(others)-1], true
	}
	return k.find(key)
}

// add notes a record; false where another one has its key and must not.
func (k *keys) add(key []byte, id incremental.RecordID) bool {
	s, hash := k.shard(key)
	if s.find(hash, key) < 0 {
		s.add(hash, key, id)
		return true
	}
	if k.further == nil {
		return false
	}
	k.further[string(key)] = append(k.further[string(key)], id)
	return true
}

// remove forgets a record of that key.
func (k *keys) remove(key []byte, id incremental.RecordID) {
	s, hash := k.shard(key)
	at, others := s.find(hash, key), k.further[string(key)]
	if at >= 0 && s.records[s.place(at)] == id {
		if len(others) == 0 {
			s.remove(at)
			return
		}
		s.records[s.place(at)] = others[0]
		others = others[1:]
	} else if i := slices.Index(others, id); i >= 0 {
		others = slices.Delete(others, i, i+1)
	}
	if len(others) == 0 {
		delete(k.further, string(key))
		return
	}
	k.further[string(key)] = others
}

// keyGathering takes the keys of all records of a table that knows none yet. What leads to
// them is made at the end, one part after the other, each of which then lies near. Until
// then keys come in any order, and their parts lie far apart: some thousands are taken
// together, those of each part after the other.
type keyGathering struct {
	of     *keys
	slots  [keyShards][]uint64 // of each shard, by place
	repeat bool                // a key was there twice, and must not

	gathered []gatheredKey // not in their shards yet
	texts    []byte        // of these, one after the other
	order    []int32       // of these, by shard
}

// gatheredKey is a key on its way into its shard.
type gatheredKey struct {
	sum uint64 // of its text
	end int32  // of its text
	id  incremental.RecordID
}

// gatherTogether is how many keys are taken together: so many that each of the parts gets
// some dozens, and so few that they lie near.
const gatherTogether = 64 * keyShards

func (k *keys) gather(room int) *keyGathering {
	g := &keyGathering{of: k, gathered: make([]gatheredKey, 0, gatherTogether), order: make([]int32, gatherTogether)}
	room /= keyShards
	room += 4 * int(math.Sqrt(float64(room))) // as some have more than others
	for i := range g.slots {
		k.shards[i].records = make([]incremental.RecordID, 0, room)
		g.slots[i] = make([]uint64, 0, room)
	}
	return g
}

func (g *keyGathering) add(key []byte, id incremental.RecordID) {
	g.texts = append(g.texts, key...)
	g.gathered = append(g.gathered, gatheredKey{maphash.Bytes(g.of.seed, key), int32(len(g.texts)), id})
	if len(g.gathered) == gatherTogether || len(g.texts) >= maxGathered {
		g.distribute()
	}
}

// maxGathered bounds the bytes of keys that are taken together.
const maxGathered = 1 << 20

func (k gatheredKey) shard() int { return int(k.sum >> 56 & (keyShards - 1)) }

// distribute takes keys into their shards.
func (g *keyGathering) distribute() {
	var ends [keyShards]int32 // in the order: first where those of a shard begin
	for _, key := range g.gathered {
		if shard := key.shard(); shard+1 < keyShards {
			ends[shard+1]++
		}
	}
	for shard := 1; shard < keyShards; shard++ {
		ends[shard] += ends[shard-1]
	}
	for i, key := range g.gathered {
		shard := key.shard()
		g.order[ends[shard]] = int32(i)
		ends[shard]++
	}
	for _, i := range g.order[:len(g.gathered)] {
		key, from := g.gathered[i], int32(0)
		if i > 0 {
			from = g.gathered[i-1].end
		}
		shard := key.shard()
		s := &g.of.shards[shard]
		place := int32(len(s.records))
		s.records = append(s.records, key.id)
		s.texts.set(place, g.texts[from:key.end])
		g.slots[shard] = append(g.slots[shard], uint64(uint32(key.sum))<<32|uint64(place+1))
	}
	g.gathered, g.texts = g.gathered[:0], g.texts[:0]
}

// end has the keys found; false where one was there twice that must not.
func (g *keyGathering) end() bool {
	g.distribute()
	for i := range g.slots {
		g.of.shards[i].records = compact.Fit(g.of.shards[i].records)
		g.enter(&g.of.shards[i], g.slots[i])
		g.slots[i] = nil
	}
	return !g.repeat
}

// enter makes the slots of a shard.
func (g *keyGathering) enter(s *keyShard, slots []uint64) {
	room := 8
	for 4*len(slots) > 3*room {
		room *= 2
	}
	s.slots = make([]uint64, room)
	for _, slot := range slots {
		place := int32(uint32(slot)) - 1
		if s.collides(slot) {
			if key := s.texts.get(place); s.find(uint32(slot>>32), key) >= 0 {
				g.repeated(s, place, key)
				continue
			}
		}
		s.enter(slot)
		s.used++
	}
}

// collides tells whether a slot with the same hash may be there.
func (s *keyShard) collides(slot uint64) bool {
	for at := s.home(uint32(slot >> 32)); s.slots[at] != 0; at = s.next(at) {
		if s.slots[at]>>32 == slot>>32 {
			return true
		}
	}
	return false
}

// repeated takes a record whose key another one has.
func (g *keyGathering) repeated(s *keyShard, place int32, key []byte) {
	if g.of.further == nil {
		g.repeat = true
		return
	}
	g.of.further[string(key)] = append(g.of.further[string(key)], s.records[place])
	s.texts.set(place, nil)
	s.free = append(s.free, place)
}

func (k *keys) clear() {
	k.shards = [keyShards]keyShard{}
	clear(k.further)
}

// none says that no record is known.
func (k *keys) none() bool {
	for i := range k.shards {
		if k.shards[i].used > 0 {
			return false
		}
	}
	return true
}

// each calls back with every record, by key; the keys must not be changed meanwhile.
func (k *keys) each(do func(key []byte, id incremental.RecordID) error) error {
	for i := range k.shards {
		s := &k.shards[i]
		for at, slot := range s.slots {
			if slot == 0 {
				continue
			}
			key := s.texts.get(s.place(at))
			if err := do(key, s.records[s.place(at)]); err != nil {
				return err
			}
			for _, id := range k.further[string(key)] {
				if err := do(key, id); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *keyShard) place(at int) int32 { return int32(uint32(s.slots[at])) - 1 }

// find gives the slot of a key, -1 for an unknown one.
func (s *keyShard) find(hash uint32, key []byte) int {
	if s.used == 0 {
		return -1
	}
	for at := s.home(hash); s.slots[at] != 0; at = s.next(at) {
		if uint32(s.slots[at]>>32) == hash && bytes.Equal(s.texts.get(s.place(at)), key) {
			return at
		}
	}
	return -1
}

func (s *keyShard) home(hash uint32) int { return int(hash) & (len(s.slots) - 1) }
func (s *keyShard) next(at int) int      { return (at + 1) & (len(s.slots) - 1) }

// add enters a key that is not there.
func (s *keyShard) add(hash uint32, key []byte, id incremental.RecordID) {
	if 4*(s.used+1) > 3*len(s.slots) {
		s.enlarge()
	}
	place := int32(len(s.records))
	if last := len(s.free) - 1; last >= 0 {
		place, s.free = s.free[last], s.free[:last]
		s.records[place] = id
	} else {
		s.records = append(s.records, id)
	}
	s.texts.set(place, key)
	s.enter(uint64(hash)<<32 | uint64(place+1))
	s.used++
}

func (s *keyShard) enter(slot uint64) {
	at := s.home(uint32(slot >> 32))
	for s.slots[at] != 0 {
		at = s.next(at)
	}
	s.slots[at] = slot
}

func (s *keyShard) enlarge() {
	old := s.slots
	s.slots = make([]uint64, max(8, 2*len(old)))
	for _, slot := range old {
		if slot != 0 {
			s.enter(slot)
		}
	}
}

// remove forgets the key in a slot. Those behind it that it stood in the way of move up
// (Knuth's algorithm R).
func (s *keyShard) remove(gap int) {
	place := s.place(gap)
	s.texts.set(place, nil)
	s.free = append(s.free, place)
	s.used--
	for at := s.next(gap); s.slots[at] != 0; at = s.next(at) {
		home := s.home(uint32(s.slots[at] >> 32))
		if (at-home)&(len(s.slots)-1) >= (at-gap)&(len(s.slots)-1) {
			s.slots[gap] = s.slots[at]
			gap = at
		}
	}
	s.slots[gap] = 0
}
