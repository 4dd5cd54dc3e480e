package incremental

import "math"

// classes holds the classes in no order, and apart from them what they cover,
// attribute by attribute, for the search of the most similar one.
type classes struct {
	list    []class
	indexes map[ClassID]int32
	low     [][]float64 // attribute, class: least position
	high    [][]float64 // attribute, class: greatest position
}

// class is an equivalence class.
type class struct {
	id      ClassID
	members []int32   // slots
	splitAt int       // size at which the next split is tried
	known   bool      // it existed at the last Settle
	due     bool      // it is in the list of those to examine
	noted   bool      // it is in the list of those changed
	rewrite bool      // its published rows must be written anew
	altered bool      // members or their values changed since the last Settle
	unseen  bool      // look may not be that of the members
	stale   bool      // a member left: it may cover less than is noted
	look    string    // what readers see of it; kept only where classes must not look alike
	until   []float64 // how far the whole table may move before it must be compared again
}

// hiddenAt is where a class lies, low and high, on an attribute of which it
// hides the values because a member is off the scale: further out than any
// position.
const hiddenAt = math.MaxFloat64

// extent is an inclusive range of positions; low > high is empty.
type extent struct{ low, high float64 }

// include widens the extent; an off-scale position hides it for good.
func (e extent) include(position float64) extent {
	if math.IsNaN(position) || e.low == hiddenAt {
		return extent{hiddenAt, hiddenAt}
	}
	return extent{min(e.low, position), max(e.high, position)}
}

func newClasses(attributes int) classes {
	return classes{
		indexes: map[ClassID]int32{},
		low:     make([][]float64, attributes),
		high:    make([][]float64, attributes),
	}
}

// index finds a class, -1 if there is none.
func (c *classes) index(id ClassID) int32 {
	if index, ok := c.indexes[id]; ok {
		return index
	}
	return -1
}

// add makes an empty class.
func (c *classes) add(id ClassID, splitAt int) int32 {
	index := int32(len(c.list))
	c.list = append(c.list, class{id: id, splitAt: splitAt})
	c.indexes[id] = index
	for a := range c.low {
		c.low[a] = append(c.low[a], math.Inf(1))
		c.high[a] = append(c.high[a], math.Inf(-1))
	}
	return index
}

func (c *classes) cover(index int32, attribute int) extent {
	return extent{c.low[attribute][index], c.high[attribute][index]}
}

func (c *classes) setCover(index int32, attribute int, e extent) {
	c.low[attribute][index], c.high[attribute][index] = e.low, e.high
}

// remove takes a class away and moves the last one to its index; the caller
// tells the moved class's members.
func (c *classes) remove(index int32) {
	last := int32(len(c.list) - 1)
	delete(c.indexes, c.list[index].id)
	if index != last {
		c.list[index] = c.list[last]
		c.indexes[c.list[index].id] = index
	}
	c.list[last] = class{}
	c.list = c.list[:last]
	for a := range c.low {
		c.low[a][index], c.high[a][index] = c.low[a][last], c.high[a][last]
		c.low[a], c.high[a] = c.low[a][:last], c.high[a][:last]
	}
}
