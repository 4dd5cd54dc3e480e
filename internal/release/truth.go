package release

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// truth decides whether what a generalized column shows is true of a record's value. It does not use the
// hierarchies that have generalized it.
type truth struct {
	column catalog.PublishedColumn
	spec   hierarchy.Spec
	known  map[pair]bool
}

type pair struct{ shown, raw string }

// maxKnown bounds the answers that are kept.
const maxKnown = 1 << 18

func newTruth(c catalog.PublishedColumn, spec hierarchy.Spec) *truth {
	return &truth{column: c, spec: spec, known: make(map[pair]bool)}
}

// holds decides about a value that is shown; raw is "" where it is missing.
func (t *truth) holds(shown, raw string) bool {
	if t.column.Part == catalog.Representative {
		return raw != "" // its range says where it lies, see comparingGeneralized
	}
	holds, known := t.known[pair{shown, raw}]
	if known {
		return holds
	}
	if len(t.known) >= maxKnown {
		clear(t.known)
	}
	holds = raw != "" && t.decide(shown, raw)
	t.known[pair{strings.Clone(shown), strings.Clone(raw)}] = holds
	return holds
}

func (t *truth) decide(shown, raw string) bool {
	if t.column.Part == catalog.Range {
		return t.contains(shown, raw)
	}
	switch t.spec.Kind {
	case hierarchy.Categorical:
		return shown == "*" || shown == raw || isAncestor(t.spec.Taxonomy, shown, raw)
	case hierarchy.Prefix:
		return shown == "*" || shown == raw || isMask(shown, raw)
	case hierarchy.Ordered:
		low, high, found := strings.Cut(shown, "..")
		if !found {
			high = low
		}
		at := slices.Index(t.spec.Order, raw)
		first, last := slices.Index(t.spec.Order, low), slices.Index(t.spec.Order, high)
		return shown == "*" || at >= 0 && first >= 0 && first <= at && at <= last
	}
	return shown == "*" || shown == raw
}

// contains decides whether a range, as PostgreSQL writes it, contains a value.
func (t *truth) contains(shown, raw string) bool {
	if len(shown) < len("(,)") {
		return false
	}
	lower, upper, found := strings.Cut(shown[1:len(shown)-1], ",")
	if !found {
		return false
	}
	compare := compareNumbers
	if t.spec.Kind == hierarchy.Date {
		compare = compareMoments
	}
	within := func(bound string, side int, inclusive bool) bool {
		if bound = strings.Trim(bound, `"`); bound == "" {
			return true
		}
		c, ok := compare(raw, bound)
		return ok && (c == side || c == 0 && inclusive)
	}
	return within(lower, 1, shown[0] == '[') && within(upper, -1, shown[len(shown)-1] == ']')
}

func compareNumbers(a, b string) (int, bool) {
	x, err := strconv.ParseInt(a, 10, 64)
	y, failed := strconv.ParseInt(b, 10, 64)
	if err == nil && failed == nil {
		switch {
		case x < y:
			return -1, true
		case x > y:
			return 1, true
		}
		return 0, true
	}
	p, ok := new(big.Rat).SetString(a)
	q, is := new(big.Rat).SetString(b)
	if !ok || !is {
		return 0, false
	}
	return p.Cmp(q), true
}

// compareMoments compares dates or points in time in UTC, as PostgreSQL writes them.
func compareMoments(a, b string) (int, bool) {
	yearA, restA, beforeA, ok := moment(a)
	yearB, restB, beforeB, is := moment(b)
	switch {
	case !ok || !is:
		return 0, false
	case beforeA != beforeB:
		if beforeA {
			return -1, true
		}
		return 1, true
	case yearA != yearB:
		if (yearA < yearB) != beforeA {
			return -1, true
		}
		return 1, true
	}
	return strings.Compare(restA, restB), true
}

func moment(text string) (year int, rest string, beforeChrist, ok bool) {
	text, beforeChrist = strings.CutSuffix(text, " BC")
	text = strings.TrimSuffix(text, "+00")
	before, rest, found := strings.Cut(text, "-")
	year, err := strconv.Atoi(before)
	return year, rest, beforeChrist, found && err == nil
}

// isAncestor tells whether a node of a taxonomy stands above a value.
func isAncestor(nodes []hierarchy.Node, label, value string) bool {
	for _, n := range nodes {
		if n.Label == label && hasLeaf(n.Children, value) || isAncestor(n.Children, label, value) {
			return true
		}
	}
	return false
}

func hasLeaf(nodes []hierarchy.Node, value string) bool {
	return slices.ContainsFunc(nodes, func(n hierarchy.Node) bool { return n.Label == value || hasLeaf(n.Children, value) })
}

// isMask tells whether a text can be meant by a mask: it begins as the mask does before asterisks at its
// end, several of which stand for as many characters, and one for any number.
func isMask(mask, text string) bool {
	for stars := 1; stars <= len(mask) && strings.HasSuffix(mask, strings.Repeat("*", stars)); stars++ {
		if strings.HasPrefix(text, mask[:len(mask)-stars]) && (stars == 1 || utf8.RuneCountInString(text) >= utf8.RuneCountInString(mask)-stars) {
			return true
		}
	}
	return false
}
