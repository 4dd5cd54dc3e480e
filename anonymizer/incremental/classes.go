package incremental

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer/compact"
)

// classes holds the classes in no order, what they cover, and an index of that.
type classes struct {
	list    []class
	ids     []ClassID // of list
	numbers compact.Directory[ClassID]
	covers  compact.Slab[extent] // class, attribute
	tree    tree
	astray  []ClassID // classes that cover something else than the tree says
	related bool      // classes have relations
}

// class is an equivalence class.
type class struct {
	id      ClassID
	members []int32 // slots
	*relations
	splitAt int32 // size at which the next split is tried
	known   bool  // it existed at the last Settle
	due     bool  // it is in the list of those to examine
	noted   bool  // it is in the list of those changed
	rewrite bool  // its published rows must be written anew
	altered bool  // members or their values changed since the last Settle
	unseen  bool  // look may not be that of the members
	stale   bool  // a member left: it may cover less than is noted
	astray  bool  // it is in the list of those astray
}

// relations is what is known of a class next to others, where that matters.
type relations struct {
	look  string    // what readers see of it; kept only where classes must not look alike
	until []float64 // how far the whole table may move before it must be compared again
}

// hiddenAt is both ends of a class on an attribute that it hides, because a member is off
// the scale: further out than any position.
const hiddenAt = math.MaxFloat64

// extent is an inclusive range of positions; low > high is empty.
type extent struct{ low, high float64 }

var emptyExtent = extent{math.Inf(1), math.Inf(-1)}

// include widens the extent; an off-scale position hides it for good.
func (e extent) include(position float64) extent {
	if math.IsNaN(position) || e.low == hiddenAt {
		return extent{hiddenAt, hiddenAt}
	}
	return extent{min(e.low, position), max(e.high, position)}
}

func newClasses(attributes int, related bool) classes {
	return classes{covers: compact.NewSlab[extent](attributes), related: related}
}

// index finds a class, -1 if there is none.
func (c *classes) index(id ClassID) int32 { return c.numbers.Find(c.ids, id) }

// add makes an empty class.
func (c *classes) add(id ClassID, splitAt int) int32 {
	index := int32(len(c.list))
	c.list = append(c.list, class{id: id, splitAt: int32(splitAt)})
	c.ids = append(c.ids, id)
	if c.related {
		c.list[index].relations = &relations{}
	}
	c.numbers.Add(c.ids, index)
	c.covers.Grow()
	covers := c.covers.Row(index)
	for a := range covers {
		covers[a] = emptyExtent
	}
	c.stray(index)
	return index
}

// row is what a class covers, by attribute. A caller that changes it calls stray.
func (c *classes) row(index int32) []extent { return c.covers.Row(index) }

func (c *classes) cover(index int32, attribute int) extent { return c.covers.Row(index)[attribute] }

// stray notes that the tree does not know what a class covers.
func (c *classes) stray(index int32) {
	if of := &c.list[index]; !of.astray {
		of.astray = true
		c.astray = append(c.astray, of.id)
	}
}

// remove removes a class and moves the last one to its index; the caller updates the moved class's
// members.
func (c *classes) remove(index int32) {
	last := int32(len(c.list) - 1)
	c.tree.drop(index)
	c.numbers.Remove(c.ids, c.ids[index])
	if index != last {
		c.numbers.Move(c.ids, c.ids[last], index)
		c.list[index], c.ids[index] = c.list[last], c.ids[last]
		copy(c.covers.Row(index), c.covers.Row(last))
		c.tree.rename(last, index)
	}
	c.list[last] = class{}
	c.list, c.ids = c.list[:last], c.ids[:last]
	c.covers.Shrink()
}
