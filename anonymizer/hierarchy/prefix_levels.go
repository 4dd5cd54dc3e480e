package hierarchy

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxPrefixLevels bounds the ladder of codes without configured lengths, whose
// memory grows with its height. A code that is longer loses all that is beyond at
// level 1.
const maxPrefixLevels = 32

// prefixLevels are the levels of a Prefix hierarchy over the codes of a column.
// At each, a code is cut to a number of characters; a shorter one stays whole.
// Nodes are named by the first of their codes in the order of the texts.
type prefixLevels struct {
	texts   []string
	keep    []int     // of level 1 and up, descending
	nodes   [][]int32 // level, code: the node's first code, or none
	counts  [][]int32 // level, node's first code: distinct codes
	uneven  [][]bool  // level, node's first code: they differ in length
	all     int       // distinct codes
	snapped bool      // level 0 publishes no more characters than level 1
}

// none is the node of a code that is not in the column.
const none int32 = -1

// rungs keeps the configured numbers of characters, or each number below the
// length of the longest code; a number as large as that cuts nothing.
func (p *prefixes) rungs(column []Cell) (rungs, int) {
	codes := p.sorted(column)
	longest := 0
	for _, code := range codes {
		longest = max(longest, utf8.RuneCountInString(p.texts[code]))
	}
	l := prefixLevels{texts: p.texts[:len(p.texts):len(p.texts)], all: len(codes)}
	for _, n := range p.keep {
		if n < longest {
			l.keep = append(l.keep, n)
		}
	}
	l.snapped = len(p.keep) > 0 && len(l.keep) == len(p.keep)
	if len(p.keep) == 0 {
		for n := min(longest-1, maxPrefixLevels); n > 0; n-- {
			l.keep = append(l.keep, n)
		}
	}
	// Level 0 tells which codes are in the column.
	for _, n := range append([]int{math.MaxInt}, l.keep...) {
		l.addLevel(codes, n)
	}
	return l, len(l.keep)
}

// sorted returns the codes of a column, each once, in the order of their texts.
func (p *prefixes) sorted(column []Cell) []int32 {
	present := make([]bool, len(p.texts))
	for _, c := range column {
		if _, ok := p.text(c); ok {
			present[int(c)] = true
		}
	}
	var codes []int32
	for code, is := range present {
		if is {
			codes = append(codes, int32(code))
		}
	}
	slices.SortFunc(codes, func(a, b int32) int { return strings.Compare(p.texts[a], p.texts[b]) })
	return codes
}

// addLevel cuts to n characters; codes that are then equal are neighbors.
func (l *prefixLevels) addLevel(codes []int32, n int) {
	nodes := make([]int32, len(l.texts))
	counts := make([]int32, len(l.texts))
	uneven := make([]bool, len(l.texts))
	for i := range nodes {
		nodes[i] = none
	}
	first, runes := none, 0
	for _, code := range codes {
		text := l.texts[code]
		if first == none || leading(text, n) != leading(l.texts[first], n) {
			first, runes = code, utf8.RuneCountInString(text)
		}
		nodes[code] = first
		counts[first]++
		uneven[first] = uneven[first] || utf8.RuneCountInString(text) != runes
	}
	l.nodes = append(l.nodes, nodes)
	l.counts = append(l.counts, counts)
	l.uneven = append(l.uneven, uneven)
}

func (l prefixLevels) place(c Cell) (at int64, ok bool) {
	if !(c >= 0 && c < float64(len(l.texts))) {
		return 0, false
	}
	return int64(c), l.nodes[0][int(c)] != none
}

func (l prefixLevels) node(at int64, level int) NodeID { return NodeID(l.nodes[level][at]) }

func (l prefixLevels) share(at int64, level int) float64 {
	if level == 0 && l.snapped {
		level = 1
	}
	return countShare(int(l.counts[level][l.nodes[level][at]]), l.all)
}

func (l prefixLevels) label(at int64, level int) Generalization {
	first := l.nodes[level][at]
	return Generalization{Value: masked(l.texts[first], l.keep[level-1], !l.uneven[level][first])}
}
