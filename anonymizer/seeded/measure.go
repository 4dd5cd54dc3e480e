package seeded

import "math"

// measure computes the distances of all records left from the centroid of a
// cluster, up to the number of attributes.
func (b *block) measure(c *cluster) {
	distance, size := b.distance[:b.left], float32(len(c.members))
	clear(distance)
	for a, column := range b.scales {
		c.sums[a].measure(column[:b.left], distance, size)
	}
	for a, t := range b.space.trees {
		t.measureAll(c.members, b.codes[a][:b.left], distance, b.weights[a])
	}
}

// measureAll adds the mean distances of the codes from the members. The distance
// of two codes is the share of levels on which their ancestors differ, so the
// mean is a sum over the ancestors of how few members are below them. The weights
// of nodes above no member are one level's, before and after.
func (t tree) measureAll(members, column []int32, distance, weights []float32) {
	each := 1 / float32(t.height)
	share := each / float32(len(members))
	for _, r := range members {
		for _, node := range t.ancestors(t.codes[r]) {
			weights[node] -= share
		}
	}
	distance = distance[:len(column)]
	if t.flat {
		for i, code := range column {
			distance[i] += weights[code]
		}
	} else {
		for i, code := range column {
			for _, node := range t.ancestors(code) {
				distance[i] += weights[node]
			}
		}
	}
	for _, r := range members {
		for _, node := range t.ancestors(t.codes[r]) {
			weights[node] = each
		}
	}
}

// measure adds the distances of the codes from one of them.
func (t tree) measure(code int32, column []int32, distance []float32) {
	distance = distance[:len(column)]
	if t.height == 1 {
		for i, other := range column {
			if other != code {
				distance[i]++
			}
		}
		return
	}
	for i, other := range column {
		distance[i] += t.distance(code, other)
	}
}

// measure adds what distance gives for each x.
func (s sum) measure(column, distance []float32, size float32) {
	distance = distance[:len(column)]
	if s.on == 0 {
		for i, x := range column {
			distance[i] += s.distance(x, size)
		}
		return
	}
	mean, on := s.mean(), float32(s.on)/size
	off := 1 - on
	for i, x := range column {
		if x == x {
			distance[i] += on*math.Float32frombits(math.Float32bits(x-mean)&^(1<<31)) + off
		} else {
			distance[i] += on
		}
	}
}
