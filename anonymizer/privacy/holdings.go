package privacy

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
)

// holdings are the sets of values that the persons of a summary have of one
// attribute. Values are numbered from 0, the most frequent first.
type holdings struct {
	persons int
	counts  []int // of each value: the persons who have it
	sets    []holding
	work    int // steps that a search may still take
}

// holding is a set of values, ascending, and how many persons have exactly it.
type holding struct {
	values  []int32
	persons int
}

// A search takes leastWork steps at the most, or workOfPair for each different value
// of a person. It is over after far fewer where some values are much more frequent
// than others; to find out in general how few values everybody has one of is NP-hard.
const (
	leastWork  = 1 << 22
	workOfPair = 64
)

// holdings lays out what the persons of a summary have. The time is that of sorting
// the different values of all persons.
func (s Summary) holdings(attribute int) *holdings {
	counts := s.Sensitive[attribute]
	codes := slices.SortedFunc(maps.Keys(counts), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	h := &holdings{persons: s.Records, counts: make([]int, len(codes))}
	ranks := make(map[uint32]int32, len(codes))
	alone := make([]int, len(codes)) // persons who have the value and no other
	for rank, code := range codes {
		ranks[code], h.counts[rank], alone[rank] = int32(rank), counts[code], counts[code]
	}
	var pairs []uint64
	if s.subjects != nil {
		pairs = make([]uint64, 0, len(s.subjects.values[attribute]))
		for p := range s.subjects.values[attribute] {
			pairs = append(pairs, uint64(p.subject)<<32|uint64(ranks[p.code]))
			alone[ranks[p.code]]-- // what is left is of records that are nobody's
		}
	}
	slices.Sort(pairs)
	h.gather(pairs, alone)
	h.work = leastWork + workOfPair*len(pairs)
	return h
}

// gather makes the sets of pairs of a person and a value, sorted.
func (h *holdings) gather(pairs []uint64, alone []int) {
	places := map[string]int{}
	var key []byte
	for from := 0; from < len(pairs); {
		to := from + 1
		for to < len(pairs) && pairs[to]>>32 == pairs[from]>>32 {
			to++
		}
		if to == from+1 {
			alone[uint32(pairs[from])]++
			from = to
			continue
		}
		key = key[:0]
		for _, p := range pairs[from:to] {
			key = binary.LittleEndian.AppendUint32(key, uint32(p))
		}
		place, known := places[string(key)]
		if !known {
			place = len(h.sets)
			places[string(key)] = place
			set := holding{values: make([]int32, to-from)}
			for i, p := range pairs[from:to] {
				set.values[i] = int32(uint32(p))
			}
			h.sets = append(h.sets, set)
		}
		h.sets[place].persons++
		from = to
	}
	for rank, persons := range alone {
		if persons > 0 {
			h.sets = append(h.sets, holding{values: []int32{int32(rank)}, persons: persons})
		}
	}
}

// spend notes the steps of a search, and reports whether it may go on.
func (h *holdings) spend(steps int) bool {
	h.work -= steps
	return h.work >= 0
}

// left are the sets without a value.
func (h *holdings) left(sets []holding, value int32) (rest []holding, persons int) {
	rest = make([]holding, 0, len(sets))
	for _, s := range sets {
		if _, has := slices.BinarySearch(s.values, value); !has {
			rest = append(rest, s)
			persons += s.persons
		}
	}
	return rest, persons
}

// frequency is how many persons of some sets have a value.
type frequency struct {
	value   int32
	persons int
}

// frequencies counts in some sets, but for values that are ruled out, the most
// frequent first.
func (h *holdings) frequencies(sets []holding, out []bool) []frequency {
	in := make(map[int32]int)
	for _, s := range sets {
		for _, v := range s.values {
			if !out[v] {
				in[v] += s.persons
			}
		}
	}
	all := make([]frequency, 0, len(in))
	for v, persons := range in {
		all = append(all, frequency{v, persons})
	}
	slices.SortFunc(all, func(a, b frequency) int {
		return cmp.Or(cmp.Compare(b.persons, a.persons), cmp.Compare(a.value, b.value))
	})
	return all
}

// covered reports whether so many values, or fewer, are enough for all but slack
// persons to have one of them; true also where the search takes too long to say.
func (h *holdings) covered(by, slack int) bool {
	return h.cover(h.sets, h.persons, by, slack, make([]bool, len(h.counts)))
}

// coveredWith is covered where one of the values is given.
func (h *holdings) coveredWith(value int32, by, slack int) bool {
	rest, persons := h.left(h.sets, value)
	return h.spend(len(h.sets)) && h.cover(rest, persons, by-1, slack, make([]bool, len(h.counts))) || h.work < 0
}

// cover branches over the values of a person who must have one, if everybody must, and
// else over the most frequent. Values that have been tried are ruled out below.
func (h *holdings) cover(sets []holding, persons, by, slack int, out []bool) bool {
	if persons <= slack {
		return true
	}
	if by <= 0 {
		return false
	}
	if !h.spend(1 + 4*len(sets)) {
		return true
	}
	all := h.frequencies(sets, out)
	branches := all
	if slack == 0 {
		if branches = h.choices(sets, out, all); branches == nil {
			return false // nobody's: all of a person's values are ruled out
		}
	}
	var tried []int32
	defer func() {
		for _, v := range tried {
			out[v] = false
		}
	}()
	for i, f := range branches {
		if slack > 0 && most(all[i:], by) < persons-slack || slack == 0 && most(all, by) < persons {
			return false
		}
		rest, left := h.left(sets, f.value)
		if h.cover(rest, left, by-1, slack, out) {
			return true
		}
		out[f.value] = true
		tried = append(tried, f.value)
	}
	return false
}

// choices are the values of one of the persons with the fewest that are not ruled out.
func (h *holdings) choices(sets []holding, out []bool, all []frequency) []frequency {
	var fewest []int32
	for i, s := range sets {
		possible := make([]int32, 0, len(s.values))
		for _, v := range s.values {
			if !out[v] {
				possible = append(possible, v)
			}
		}
		if i == 0 || len(possible) < len(fewest) {
			fewest = possible
		}
	}
	var chosen []frequency
	for _, f := range all {
		if slices.Contains(fewest, f.value) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// most is how many persons so many values can have between them at the most.
func most(of []frequency, values int) int {
	sum := 0
	for _, f := range of[:min(values, len(of))] {
		sum += f.persons
	}
	return sum
}

// smallest is how few values are enough for everybody to have one of them.
func (h *holdings) smallest() int {
	values := 1
	for values < len(h.counts) && !h.covered(values, 0) {
		values++
	}
	return values
}

// undercut reports whether some choice of one value for each person has counts that do
// not hold. Some choice of the least entropy has all persons in the place that the most
// others have: so places are filled one after the other, by all who have a value of those
// that are left, the most first.
func (h *holdings) undercut(holds func(counts []int) bool, least float64) bool {
	d := dive{h: h, holds: holds, least: least, out: make([]bool, len(h.counts))}
	return d.below(h.sets, h.persons, frequency{persons: h.persons}, 0)
}

// dive looks for a choice of little entropy.
type dive struct {
	h      *holdings
	holds  func(counts []int) bool
	least  float64
	counts []int
	out    []bool // no value is
}

func (d *dive) below(sets []holding, persons int, last frequency, sum float64) bool {
	if persons == 0 {
		return !d.holds(d.counts)
	}
	if !d.h.spend(1 + 4*len(sets)) {
		return true
	}
	all := d.h.frequencies(sets, d.out)
	if most(all, len(all)) == persons { // nobody has a choice any more
		counts := slices.Clone(d.counts)
		for _, f := range all {
			counts = append(counts, f.persons)
		}
		slices.SortFunc(counts, func(a, b int) int { return b - a })
		return !d.holds(counts)
	}
	for _, f := range all {
		// Equal places can be filled in any order.
		if f.persons > last.persons || f.persons == last.persons && f.value < last.value {
			continue
		}
		if d.entropy(all, persons, f.persons, sum) > d.least+entropyTolerance {
			return false
		}
		rest, left := d.h.left(sets, f.value)
		d.counts = append(d.counts, f.persons)
		found := d.below(rest, left, f, sum+weighed(f.persons))
		d.counts = d.counts[:len(d.counts)-1]
		if found {
			return true
		}
	}
	return false
}

// entropy is less than that of any choice that goes on with places of so many persons
// at the most. Sum is that of n ln n over the places before.
func (d *dive) entropy(all []frequency, persons, largest int, sum float64) float64 {
	for _, f := range all {
		n := min(f.persons, largest, persons)
		sum += weighed(n)
		persons -= n
	}
	n := float64(d.h.persons)
	return math.Log(n) - sum/n
}

func weighed(n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) * math.Log(float64(n))
}

// together says how widespread some values are, for messages: the most frequent one, and
// the most widespread so many of them.
func (s Summary) together(attribute, values int) string {
	text := s.mostShared(attribute)
	if values < 2 {
		return text
	}
	h := s.holdings(attribute)
	slack := sort.Search(h.persons, func(slack int) bool { return h.covered(values, slack) })
	if h.work < 0 {
		return text
	}
	return fmt.Sprintf("%s, and %d values together by %s of them", text, values, percent(h.persons-slack, h.persons))
}

func (s Summary) mostShared(attribute int) string {
	most := 0
	for _, persons := range s.Sensitive[attribute] {
		most = max(most, persons)
	}
	return fmt.Sprintf("the most frequent is held by %s of them", percent(most, s.Records))
}

func percent(part, of int) string {
	if part == of {
		return "all"
	}
	return fmt.Sprintf("%.4g %%", math.Floor(10000*float64(part)/float64(of))/100)
}

// undecided is why a table whose search takes too long counts as one that violates.
func undecided(c Constraint) error {
	return fmt.Errorf("%v cannot be shown to hold: persons have too many values in too many combinations to tell in reasonable time", c)
}
