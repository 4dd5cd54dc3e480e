package recoding

import "math/bits"

// box numbers vectors of steps above low over some attributes, in lexicographic
// order.
type box struct {
	size    int // 1<<62 stands for all beyond
	strides []int
	radices []int
}

func (s *search) box(attributes []int) box {
	b := box{size: 1, strides: make([]int, len(attributes)), radices: make([]int, len(attributes))}
	for i := len(attributes) - 1; i >= 0; i-- {
		a := attributes[i]
		b.strides[i], b.radices[i] = b.size, int(s.high[a]-s.low[a])+1
		if over, product := bits.Mul64(uint64(b.size), uint64(b.radices[i])); over == 0 && product < 1<<62 {
			b.size = int(product)
		} else {
			b.size = 1 << 62
		}
	}
	return b
}

// step is that of the vector with the index at a place.
func (b box) step(index, place int) int { return index / b.strides[place] % b.radices[place] }

// each visits the vectors in their order; what lies below a vector comes before
// it.
func (b box) each(visit func(index int, steps []uint8)) {
	steps := make([]uint8, len(b.radices))
	for index := range b.size {
		visit(index, steps)
		for i := len(steps) - 1; i >= 0; i-- {
			if int(steps[i])+1 < b.radices[i] {
				steps[i]++
				break
			}
			steps[i] = 0
		}
	}
}

// lookup finds a vector's projection on some of its places.
type lookup struct {
	satisfied []bool
	places    []int
	box       box
}

func (l lookup) holds(steps []uint8) bool {
	index := 0
	for i, place := range l.places {
		index += int(steps[place]) * l.box.strides[i]
	}
	return l.satisfied[index]
}

// combinations visits the ascending choices of size numbers below n until visit
// returns false.
func combinations(n, size int, visit func([]int) bool) {
	chosen := upTo(size)
	for visit(chosen) {
		i := size - 1
		for i >= 0 && chosen[i] == n-size+i {
			i--
		}
		if i < 0 {
			return
		}
		chosen[i]++
		for j := i + 1; j < size; j++ {
			chosen[j] = chosen[j-1] + 1
		}
	}
}

func maskOf(attributes []int) uint64 {
	mask := uint64(0)
	for _, a := range attributes {
		mask |= 1 << a
	}
	return mask
}
