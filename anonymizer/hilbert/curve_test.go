package hilbert

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// keyOf is the index of a cell as words.
func keyOf(cell []uint32, bits int) []uint64 {
	key := make([]uint64, keyWords(len(cell), bits))
	putKey(key, slices.Clone(cell), bits)
	return key
}

// TestCurveVisitsEveryCellByUnitSteps is what makes a curve a Hilbert curve: it
// is a bijection, and consecutive cells differ by one in one coordinate.
func TestCurveVisitsEveryCellByUnitSteps(t *testing.T) {
	t.Parallel()
	for _, grid := range []struct{ axes, bits int }{
		{1, 6}, {2, 1}, {2, 2}, {2, 5}, {3, 1}, {3, 4}, {4, 1}, {4, 3}, {5, 2}, {7, 2},
	} {
		cells := 1 << (grid.axes * grid.bits)
		visited := make([][]uint32, cells)
		for i := range cells {
			cell := make([]uint32, grid.axes)
			for a := range cell {
				cell[a] = uint32(i>>(a*grid.bits)) & (1<<grid.bits - 1)
			}
			index := keyOf(cell, grid.bits)[0] >> (wordBits - grid.axes*grid.bits)
			if index >= uint64(cells) || visited[index] != nil {
				t.Fatalf("%+v: cell %v has index %d, which is beyond the grid or taken", grid, cell, index)
			}
			visited[index] = cell
		}
		for i := 1; i < cells; i++ {
			if steps := distance(visited[i-1], visited[i]); steps != 1 {
				t.Fatalf("%+v: %d steps from %v to %v", grid, steps, visited[i-1], visited[i])
			}
		}
	}
}

func distance(a, b []uint32) int {
	steps := 0
	for i := range a {
		steps += int(max(a[i], b[i]) - min(a[i], b[i]))
	}
	return steps
}

// TestKeysBeyondOneWord compares the digits of long keys with the transposed
// index.
func TestKeysBeyondOneWord(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for _, grid := range []struct{ axes, bits int }{{3, 32}, {8, 24}, {16, 17}, {1, 32}, {64, 1}, {65, 1}} {
		for range 200 {
			cell := make([]uint32, grid.axes)
			for a := range cell {
				cell[a] = random.Uint32() >> (32 - grid.bits)
			}
			key := keyOf(cell, grid.bits)
			toTranspose(cell, grid.bits)
			place := 0
			for q := grid.bits - 1; q >= 0; q-- {
				for _, x := range cell {
					if uint64(x>>q&1) != key[place/64]>>(63-place%64)&1 {
						t.Fatalf("%+v: digit %d differs", grid, place)
					}
					place++
				}
			}
		}
	}
}

// TestOrderFollowsTheKeys checks the line of a table whose keys have two words
// and which is large enough for parallel sorting.
func TestOrderFollowsTheKeys(t *testing.T) {
	t.Parallel()
	const records = 70_000
	random := rand.New(rand.NewPCG(7, 8))
	axes := make([]axis, 5)
	for a := range axes {
		positions := make([]float64, records)
		for i := range positions {
			positions[i] = random.NormFloat64()
		}
		if a == 2 { // the records of one key word differ in the other
			for i := range positions {
				positions[i] = float64(random.IntN(3))
			}
		}
		axes[a] = newAxis(context.Background(), positions)
	}
	line, err := order(context.Background(), axes, records, 1)
	if err != nil {
		t.Fatal(err)
	}
	bits := gridBits(axes)
	if keyWords(len(axes), bits) != 2 {
		t.Fatalf("keys of %d words", keyWords(len(axes), bits))
	}
	coordinates := make([][]uint32, len(axes))
	for a, x := range axes {
		coordinates[a] = x.coordinates(bits)
	}
	var last []uint64
	seen := make([]bool, records)
	for _, r := range line {
		cell := make([]uint32, len(axes))
		for a := range axes {
			cell[a] = coordinates[a][axes[a].ranks[r]]
		}
		key := keyOf(cell, bits)
		if slices.Compare(last, key) > 0 {
			t.Fatal("a key is less than the one before")
		}
		last, seen[r] = key, true
	}
	if slices.Contains(seen, false) {
		t.Error("a record is not on the line")
	}
}

// TestCoordinates checks that every rank has a cell of its own, in order, and that
// off the scale is the last cell, half an axis away.
func TestCoordinates(t *testing.T) {
	t.Parallel()
	null := math.NaN()
	for _, positions := range [][]float64{
		{},
		{3},
		{null},
		{3, null},
		{1, 2},
		{5, 1, 5, null, 9},
		{1, 2, 3, 4, 5, 6, 7, 8, 9},
		{-math.MaxFloat64, math.MaxFloat64, 0, null},
	} {
		x := newAxis(context.Background(), positions)
		bits := gridBits([]axis{x})
		cells := x.coordinates(bits)
		for i := 1; i < len(cells); i++ {
			if cells[i] <= cells[i-1] {
				t.Errorf("%v: cells %v do not ascend", positions, cells)
			}
		}
		if x.offScale && cells[len(cells)-1] != 1<<bits-1 {
			t.Errorf("%v: off the scale is cell %d", positions, cells[len(cells)-1])
		}
		for i, p := range positions {
			for j, q := range positions {
				if (p < q) != (!math.IsNaN(p) && !math.IsNaN(q) && x.ranks[i] < x.ranks[j]) {
					t.Errorf("%v: ranks %v", positions, x.ranks)
				}
			}
		}
	}
}
