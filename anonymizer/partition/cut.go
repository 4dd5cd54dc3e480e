package partition

import (
	"context"
	"math/bits"
	"slices"
)

// cut is a way to divide a class: the first size records in the order of one
// attribute, others breaking ties, against the rest.
type cut struct{ attribute, size int }

// cutter makes cuts in classes of any size. Each goroutine has its own: it owns
// nothing but scratch memory and the records of its class.
type cutter struct {
	*partitioning
	sides  []uint8 // of each record of the class
	line   []int32 // records on the cutting line
	keys   []int32 // their ranks on a further attribute; scratch of moves
	counts [radix][2]int32
}

// cut moves the records of the left to the front of the segment and those of the
// right behind them, keeping the order among each. The attributes, in their
// order, decide among records on the cutting line, and the order of the records
// among those that are equal in all of them. The cut is unfinished once the context
// has ended.
func (c *cutter) cut(ctx context.Context, s segment, chosen cut, ties []int) {
	c.lay(s, chosen, ties)
	c.move(ctx, s, chosen.size)
}

// move separates the sides in all columns.
func (c *cutter) move(ctx context.Context, s segment, size int) {
	spare := slices.Grow(c.keys[:0], s.len()-size+1)
	spare = spare[:cap(spare)]
	for a := range c.columns {
		if ctx.Err() != nil {
			return
		}
		c.separate(c.columns[a].ranks[s.from:s.to], spare)
	}
	c.separate(c.records[s.from:s.to], spare)
	c.keys = spare
}

// lay puts each record of the class on its side.
func (c *cutter) lay(s segment, chosen cut, ties []int) {
	column := &c.columns[chosen.attribute]
	ranks := column.ranks[s.from:s.to]
	rank, lefts := c.selectRank(ranks, chosen.size, len(column.axis))
	c.sides = slices.Grow(c.sides[:0], len(ranks))[:len(ranks)]
	c.line = c.line[:0]
	onLine := 0
	for i, r := range ranks {
		c.sides[i] = above(r, rank)
		onLine += same(r, rank)
	}
	if lefts == onLine {
		return
	}
	c.line = slices.Grow(c.line, onLine+1)[:onLine+1]
	at := 0
	for i, r := range ranks {
		c.line[at] = int32(i)
		at += same(r, rank)
	}
	c.line = c.line[:onLine]
	for _, a := range ties {
		if a != chosen.attribute && lefts > 0 {
			lefts = c.layLine(&c.columns[a], s, lefts)
		}
		if lefts == len(c.line) {
			return // all on the line are left, where they lie already
		}
	}
	for _, i := range c.line[lefts:] {
		c.sides[i] = right
	}
}

// layLine orders the records on the line by another attribute, lays those that this decides and
// keeps the others on the line; it returns how many of them belong to the left.
func (c *cutter) layLine(column *rankedColumn, s segment, lefts int) int {
	ranks := column.ranks[s.from:s.to]
	c.keys = slices.Grow(c.keys[:0], len(c.line))[:len(c.line)]
	for j, i := range c.line {
		c.keys[j] = ranks[i]
	}
	rank, lefts := c.selectRank(c.keys, lefts, len(column.axis))
	onLine := 0
	for j, i := range c.line {
		r := c.keys[j]
		c.sides[i] = above(r, rank)
		c.line[onLine] = i
		onLine += same(r, rank)
	}
	c.line = c.line[:onLine]
	return lefts
}

// selectRank finds the rank that the record after the first size ones has
// (0 <= size < len(ranks)), and how many records of that rank are among the
// first. Ranks, which are below distinct, are counted by their highest digit,
// those with the right one by the next digit, and so on.
func (c *cutter) selectRank(ranks []int32, size, distinct int) (rank int32, before int) {
	if len(ranks) <= fewRanks {
		var sorted [fewRanks]int32
		copy(sorted[:], ranks)
		slices.Sort(sorted[:len(ranks)])
		return sorted[size], size - slices.Index(sorted[:], sorted[size])
	}
	shift := (bits.Len(uint(distinct-1)) - 1) / radixBits * radixBits
	counts := c.counts[:min(distinct, radix)]
	for ; shift >= 0; shift -= radixBits {
		clear(counts)
		// Two counters take turns: one that has just been raised is slow to
		// raise again.
		for i, r := range ranks {
			if r>>shift>>radixBits == rank {
				counts[r>>shift%radix][i%2]++
			}
		}
		for digit, count := range counts {
			of := int(count[0] + count[1])
			if size < of {
				rank = rank<<radixBits | int32(digit)
				break
			}
			size -= of
		}
	}
	return rank, size
}

// fewRanks is the number up to which sorting ranks is faster than counting them.
const fewRanks = 64

// separate moves the values of the left in front of those of the right and
// keeps the order among each. Every value is written to both ends and the wrong
// one is overwritten: nothing could predict a branch here. There is room in
// spare for one more than the values of the right.
func (c *cutter) separate(values, spare []int32) {
	lefts, rights := 0, 0
	for i, v := range values {
		onRight := int(c.sides[i])
		values[lefts], spare[rights] = v, v
		lefts += 1 - onRight
		rights += onRight
	}
	copy(values[lefts:], spare[:rights])
}

// above is 1 for a rank above another, same is 1 for equal ones, else they are
// 0. They are made of the sign of a difference, without a branch, which nothing
// could predict.
func above(rank, other int32) uint8 { return uint8(uint32(other-rank) >> 31) }

func same(rank, other int32) int { return int((uint64(uint32(rank^other)) - 1) >> 63) }
