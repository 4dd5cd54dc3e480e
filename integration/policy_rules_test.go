package integration

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// promise is what every class over some quasi-identifying columns keeps, all of
// them where none is named. It is about a sensitive column or, without one, about
// sizes.
type promise struct {
	says string
	over []string
	of   string
	kept func(class, whole spread) bool
}

// spread is a set of records as a constraint sees it, in persons: a record that is
// nobody's is a person of its own.
type spread struct {
	persons int
	values  map[string]int // persons who have the value
	// who are the persons, and having those who have each value; single tells that nobody
	// has several.
	who    map[string]bool
	having map[string]map[string]bool
	single bool
}

// worst is how many persons have each value at one choice of a value for each person, the
// worst of all choices as of measures, descending. No measure is worse than where one value
// is chosen by all who have it, another by all others who have it, and so on: all orders are
// tried.
func (s spread) worst(of func(counts []int) float64) float64 {
	worst := math.Inf(1)
	var choose func(counts []int, left map[string]bool, tried map[string]bool)
	choose = func(counts []int, left, tried map[string]bool) {
		if len(left) == 0 {
			descending := slices.Sorted(slices.Values(counts))
			slices.Reverse(descending)
			worst = min(worst, of(descending))
			return
		}
		for value, who := range s.having {
			rest := maps.Clone(left)
			maps.DeleteFunc(rest, func(person string, _ bool) bool { return who[person] })
			if tried[value] || len(rest) == len(left) {
				continue
			}
			tried[value] = true
			choose(append(slices.Clone(counts), len(left)-len(rest)), rest, tried)
			tried[value] = false
			if s.single {
				return // all orders are the same
			}
		}
	}
	choose(nil, s.who, map[string]bool{})
	return worst
}

// share is a value's frequency.
func (s spread) share(value string) float64 { return float64(s.values[value]) / float64(s.persons) }

// tolerance is more than rounding can be, and less than a record counts in the
// tables of these tests.
const tolerance = 1e-9

func atLeast(k int) func(class, whole spread) bool {
	return func(class, _ spread) bool { return class.persons >= k }
}

func distinctL(l int) func(class, whole spread) bool {
	return func(class, _ spread) bool {
		return class.worst(func(counts []int) float64 { return float64(len(counts)) }) >= float64(l)
	}
}

func entropyL(l float64) func(class, whole spread) bool {
	return func(class, _ spread) bool {
		return class.worst(func(counts []int) float64 {
			entropy := 0.0
			for _, n := range counts {
				p := float64(n) / float64(class.persons)
				entropy -= p * math.Log(p)
			}
			return entropy
		}) >= math.Log(l)-tolerance
	}
}

func recursiveL(c float64, l int) func(class, whole spread) bool {
	return func(class, _ spread) bool {
		return class.worst(func(counts []int) float64 {
			tail := 0
			for _, n := range counts[min(l-1, len(counts)):] {
				tail += n
			}
			return c*float64(tail) - float64(counts[0])
		}) > 0
	}
}

// alphaBound is about every value where none is given.
func alphaBound(alpha float64, values ...string) func(class, whole spread) bool {
	return func(class, _ spread) bool {
		for value := range class.values {
			if (len(values) == 0 || slices.Contains(values, value)) && class.share(value) > alpha+tolerance {
				return false
			}
		}
		return true
	}
}

// equalDistance is the earth mover's distance where all values are equally far.
func equalDistance(class, whole spread) float64 {
	d := 0.0
	for value := range whole.values {
		d += math.Abs(class.share(value) - whole.share(value))
	}
	return d / 2
}

// hierarchicalDistance goes by a taxonomy of two levels, given by the parents:
// values with one parent are half as far as others.
func hierarchicalDistance(parents map[string]string) func(class, whole spread) float64 {
	lifted := func(s spread) spread {
		up := spread{persons: s.persons, values: map[string]int{}}
		for value, n := range s.values {
			up.values[parents[value]] += n
		}
		return up
	}
	return func(class, whole spread) float64 {
		return (equalDistance(class, whole) + equalDistance(lifted(class), lifted(whole))) / 2
	}
}

func closeness(t float64, distance func(class, whole spread) float64) func(class, whole spread) bool {
	return func(class, whole spread) bool { return distance(class, whole) <= t+tolerance }
}

// orderedCloseness goes by the ranks of those values that the table has.
func orderedCloseness(t float64, order ...string) func(class, whole spread) bool {
	return closeness(t, func(class, whole spread) float64 {
		ranks, gone, work := 0, 0.0, 0.0
		for _, value := range order {
			if whole.values[value] == 0 {
				continue
			}
			ranks++
			gone += class.share(value) - whole.share(value)
			work += math.Abs(gone)
		}
		return work / float64(max(1, ranks-1))
	})
}

func likeness(beta float64, enhanced bool) func(class, whole spread) bool {
	return func(class, whole spread) bool {
		for value := range class.values {
			p := whole.share(value)
			bound := beta
			if enhanced {
				bound = min(beta, -math.Log(p))
			}
			if gain := (class.share(value) - p) / p; gain > tolerance && gain > bound+tolerance {
				return false
			}
		}
		return true
	}
}

func disclosure(delta float64) func(class, whole spread) bool {
	return func(class, whole spread) bool {
		for value := range whole.values {
			if class.values[value] == 0 || math.Abs(math.Log(class.share(value)/whole.share(value))) >= delta {
				return false
			}
		}
		return true
	}
}

// The rest says what a generalized value may stand for. NULL and * stand for
// everything.

func hides(published *string) bool { return published == nil || *published == "*" }

func anything(_, _ *string) bool { return true }

// below takes a value and the labels above it, given by their parents.
func below(parents map[string]string) func(published, value *string) bool {
	return func(published, value *string) bool {
		if hides(published) {
			return true
		}
		if value == nil {
			return false
		}
		for label := *value; label != ""; label = parents[label] {
			if label == *published {
				return true
			}
		}
		return *published == *value
	}
}

// beginning takes a value or so many of its first characters with a star.
func beginning(keep ...int) func(published, value *string) bool {
	return func(published, value *string) bool {
		if hides(published) || value != nil && *published == *value {
			return true
		}
		prefix, starred := strings.CutSuffix(*published, "*")
		kept := strings.TrimRight(prefix, "*")
		return starred && value != nil && strings.HasPrefix(*value, kept) && slices.Contains(keep, len(kept))
	}
}

// between takes a value or a range low..high of the order.
func between(order ...string) func(published, value *string) bool {
	return func(published, value *string) bool {
		if hides(published) || value != nil && *published == *value {
			return true
		}
		low, high, ranged := strings.Cut(*published, "..")
		if !ranged || value == nil {
			return false
		}
		at := slices.Index(order, *value)
		return at >= 0 && slices.Index(order, low) <= at && at <= slices.Index(order, high)
	}
}

func byText(a, b string) bool { return a < b }

func byNumber(a, b string) bool {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return x < y
}

// inRange takes the text of a range that contains the value.
func inRange(less func(a, b string) bool) func(published, value *string) bool {
	return func(published, value *string) bool {
		if hides(published) {
			return true
		}
		text := strings.ReplaceAll(*published, `"`, "")
		low, high, ranged := strings.Cut(strings.Trim(text, "[]()"), ",")
		if value == nil || !ranged {
			return false
		}
		from := low == "" || less(low, *value) || text[0] == '[' && !less(*value, low)
		to := high == "" || less(*value, high) || text[len(text)-1] == ']' && !less(high, *value)
		return from && to
	}
}
