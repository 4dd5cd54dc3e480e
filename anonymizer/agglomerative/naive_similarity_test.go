package agglomerative_test

import (
	"math"
	"sort"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// The similarity of Yang et al. 2013 as printed, corrected: one sum over the
// pairs of values for each pair that is asked for. It shares nothing with the
// package.

// naiveColumn holds the values of one attribute and how often each occurs.
type naiveColumn struct {
	numeric bool
	values  []float64 // of each record; NaN off the scale
	domain  []float64 // the different values, ascending, NaN last
	counts  []float64
	upTo    []float64          // records of a value or a lower one
	known   map[[2]int]float64 // what was computed before, by places in the domain
	place   []int              // of each record in the domain
}

func naiveColumns(t *anonymizer.Table) []*naiveColumn {
	columns := make([]*naiveColumn, len(t.Attributes()))
	for a, attribute := range t.Attributes() {
		kind := attribute.Hierarchy.Kind()
		c := &naiveColumn{
			numeric: kind == hierarchy.Numeric || kind == hierarchy.Date || kind == hierarchy.Ordered,
			known:   map[[2]int]float64{},
		}
		seen := map[float64]int{}
		missing := 0
		for _, cell := range t.Cells(a) {
			v := cell
			if c.numeric {
				v = attribute.Hierarchy.Position(cell)
			}
			c.values = append(c.values, v)
			if math.IsNaN(v) {
				missing++
			} else {
				seen[v]++
			}
		}
		for v := range seen {
			c.domain = append(c.domain, v)
		}
		sort.Float64s(c.domain)
		for _, v := range c.domain {
			c.counts = append(c.counts, float64(seen[v]))
		}
		for _, v := range c.values {
			at := len(c.domain)
			if !math.IsNaN(v) {
				at = sort.SearchFloat64s(c.domain, v)
			}
			c.place = append(c.place, at)
		}
		if missing > 0 {
			c.domain, c.counts = append(c.domain, math.NaN()), append(c.counts, float64(missing))
		}
		sum := 0.0
		for _, f := range c.counts {
			sum += f
			c.upTo = append(c.upTo, sum)
		}
		columns[a] = c
	}
	return columns
}

// numberPair gives gap and enclosed mass of two values; ok is false for off the
// scale with another value.
func (c *naiveColumn) numberPair(l, m int) (gap, mass float64, ok bool) {
	if l > m {
		l, m = m, l
	}
	if math.IsNaN(c.domain[m]) {
		return 0, c.counts[m], l == m
	}
	return c.domain[m] - c.domain[l], c.upTo[m] - c.upTo[l] + c.counts[l], true
}

// number is D of two numeric values.
func (c *naiveColumn) number(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	if d, ok := c.known[[2]int{i, j}]; ok {
		return d
	}
	gap, mass, ok := c.numberPair(i, j)
	if !ok {
		return 1
	}
	n, same := float64(len(c.values)), c.width()*math.Pow(2, -40)
	sum := 0.0
	for l := range c.domain {
		for m := l; m < len(c.domain); m++ {
			g, e, ok := c.numberPair(l, m)
			if !ok || g > gap+same || math.Abs(g-gap) <= same && e > mass {
				continue
			}
			if l == m {
				sum += c.counts[l] * (c.counts[l] - 1) / (n * (n - 1))
			} else {
				sum += 2 * c.counts[l] * c.counts[m] / (n * (n - 1))
			}
		}
	}
	c.known[[2]int{i, j}] = sum
	return sum
}

func (c *naiveColumn) width() float64 {
	last := len(c.domain) - 1
	if last >= 0 && math.IsNaN(c.domain[last]) {
		last--
	}
	if last < 0 {
		return 0
	}
	return c.domain[last] - c.domain[0]
}

// label is D of two categorical values.
func (c *naiveColumn) label(i, j int) float64 {
	if i != j {
		return 1
	}
	n, sum := float64(len(c.values)), 0.0
	for _, f := range c.counts {
		if f <= c.counts[i] {
			sum += f * (f - 1) / (n * (n - 1))
		}
	}
	return sum
}

// smaller is the next smaller attainable D, 0 if there is none.
func (c *naiveColumn) smaller(d float64) float64 {
	most := 0.0
	for i := range c.domain {
		if other := c.label(i, i); other < d-1e-12 {
			most = math.Max(most, other)
		}
	}
	return most
}

// lancaster is the chi-square of two categorical values.
func (c *naiveColumn) lancaster(i, j int) float64 {
	key := [2]int{i, j}
	if i != j {
		key = [2]int{-1, -1}
	}
	if _, ok := c.known[key]; !ok {
		d := c.label(i, j)
		below := c.smaller(d)
		c.known[key] = 2 * (1 - (xlnx(d)-xlnx(below))/(d-below))
	}
	return c.known[key]
}

func xlnx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}

// naiveSimilarity is the matrix of S.
func naiveSimilarity(t *anonymizer.Table) [][]float64 {
	columns := naiveColumns(t)
	n := t.Len()
	matrix := make([][]float64, n)
	for i := range matrix {
		matrix[i] = make([]float64, n)
		for j := range i {
			chi := 0.0
			for _, c := range columns {
				if c.numeric {
					chi += -2 * math.Log(c.number(c.place[i], c.place[j]))
					continue
				}
				chi += c.lancaster(c.place[i], c.place[j])
			}
			sum, term := 0.0, 1.0
			for m := range columns {
				if m > 0 {
					term *= chi / 2 / float64(m)
				}
				sum += term
			}
			matrix[i][j] = 1 - math.Exp(-chi/2)*sum
			matrix[j][i] = matrix[i][j]
		}
	}
	return matrix
}
