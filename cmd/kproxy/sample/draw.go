package sample

import (
	"bytes"
	"math/rand/v2"
)

// draw samples records with equal probability, by Algorithm R of Vitter, Random Sampling with a
// Reservoir, 1985.
type draw struct {
	limit  int // 0 takes all, as they come
	random *rand.Rand
	take   func(record [][]byte)

	met  int
	kept [][][]byte
}

// add offers a record, which is copied if it is kept.
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

// end passes on the sample.
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
