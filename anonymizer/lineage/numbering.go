package lineage

import "iter"

// numbering numbers persons who can have several rows, so that the number of persons behind ghosts
// is known. It forgets nobody before the table is truncated, or loaded again: a person who has left
// altogether by then, and comes back, counts as a new person.
type numbering struct {
	numbers map[uint32]uint32 // by subject
	next    uint32
	// local says that persons were numbered within each class, so that numbers of several say nothing.
	local bool
}

func newNumbering() numbering { return numbering{numbers: make(map[uint32]uint32)} }

// of is the number of a subject.
func (n *numbering) of(subject uint32) uint32 {
	number, known := n.numbers[subject]
	if !known {
		number = n.next
		n.next++
		n.numbers[subject] = number
	}
	return number
}

// clear forgets whose the numbers are.
func (n *numbering) clear() { clear(n.numbers) }

// skip has no new number be one that a row has.
func (n *numbering) skip(number uint32) { n.next = max(n.next, number+1) }

// restore takes the numbers of subjects that have rows. Stores of earlier versions number persons within
// each class.
func (n *numbering) restore(rows iter.Seq2[uint32, uint32]) {
	subjects := make(map[uint32]uint32) // by number
	for subject, number := range rows {
		before, known := n.numbers[subject]
		other, taken := subjects[number]
		if known && before != number || taken && other != subject {
			n.local = true
			n.clear()
			return
		}
		n.numbers[subject], subjects[number] = number, subject
	}
}
