package metric

// tree finds points in boxes: a k-d tree whose nodes are halved in the middle of
// their widest side. Points are numbers on some axes.
type tree struct {
	points [][]int32 // axis, point
	order  []int32   // points, those of a node together
	nodes  []node
	bounds []span // of each node on each axis
}

// node holds the points order[from:to]; left is the number of its first child,
// the second one follows at right. A leaf has right 0.
type node struct {
	from, to, right int32
}

// leafSize is how many points are looked at one by one.
const leafSize = 8

func newTree(points [][]int32, count int) *tree {
	t := &tree{points: points, order: make([]int32, count)}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	if count > 0 {
		t.build(0, int32(count))
	}
	return t
}

// build adds the node of some points and all below it; its left child follows it
// at once.
func (t *tree) build(from, to int32) {
	number := len(t.nodes)
	t.nodes = append(t.nodes, node{from: from, to: to})
	widest, middle := -1, int32(0)
	wide := int32(0)
	for a, axis := range t.points {
		s := span{axis[t.order[from]], axis[t.order[from]]}
		for _, p := range t.order[from:to] {
			s = s.include(axis[p])
		}
		t.bounds = append(t.bounds, s)
		if s.high-s.low > wide {
			widest, wide, middle = a, s.high-s.low, s.low+(s.high-s.low)/2
		}
	}
	if widest < 0 || to-from <= leafSize {
		return
	}
	axis, cut := t.points[widest], from
	for i := from; i < to; i++ {
		if axis[t.order[i]] <= middle {
			t.order[i], t.order[cut] = t.order[cut], t.order[i]
			cut++
		}
	}
	t.build(from, cut)
	t.nodes[number].right = int32(len(t.nodes))
	t.build(cut, to)
}

// within calls back with the points inside the box, in runs order[from:to]: of
// whole nodes, whose number is given, or of single points with number -1.
func (t *tree) within(box []span, call func(number int, from, to int32)) {
	if len(t.nodes) > 0 {
		t.search(0, box, call)
	}
}

func (t *tree) search(number int, box []span, call func(number int, from, to int32)) {
	inside := true
	for a, s := range t.bounds[number*len(box) : (number+1)*len(box)] {
		if s.high < box[a].low || box[a].high < s.low {
			return
		}
		inside = inside && box[a].low <= s.low && s.high <= box[a].high
	}
	n := t.nodes[number]
	switch {
	case inside:
		call(number, n.from, n.to)
	case n.right > 0:
		t.search(number+1, box, call)
		t.search(int(n.right), box, call)
	default:
		for i := n.from; i < n.to; i++ {
			if t.holds(box, t.order[i]) {
				call(-1, i, i+1)
			}
		}
	}
}

func (t *tree) holds(box []span, point int32) bool {
	for a, s := range box {
		if rank := t.points[a][point]; rank < s.low || s.high < rank {
			return false
		}
	}
	return true
}
