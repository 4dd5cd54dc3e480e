package sample

import (
	"bytes"
	"math/rand/v2"
)

// draw takes some of the records that it meets, each with the same chance: Algorithm R of
// Vitter, Random Sampling with a Reservoir, 1985.
type draw struct {
	limit  int // 0 takes all, as they come
	random *rand.Rand
	take   func(record [][]byte)

	met  int
	kept [][][]byte
}

// add meets a record, which it copies where it keeps it.
func (d *draw) add(record [][]byte) {
	d.met++
	switch {
	case d.limit == 0:
		d.take(record)
	case len(d.kept) < d.limit:
		d.kept = append(d.kept, copied(record))
	default:
		if at := d.random.IntN(d.met); at < d.limit {
			d.kept[at] = copied(record)
		}
	}
}

// end hands on what was kept.
func (d *draw) end() {
	for _, record := range d.kept {
		d.take(record)
	}
}

// copied keeps NULL, which is nil, apart from an empty text.
func copied(record [][]byte) [][]byte {
	c := make([][]byte, len(record))
	for i, text := range record {
		c[i] = bytes.Clone(text)
	}
	return c
}
