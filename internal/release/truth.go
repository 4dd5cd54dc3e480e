package release

import (
	"cmp"
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
	known  map[pair]bool // of categories

	shown string // the range at hand: rows that show the same come one behind the other
	limit [2]limit
}

type pair struct{ shown, raw string }

// limit is a bound of a range, "" for none.
type limit struct {
	bound     string
	inclusive bool
}

// maxKnown bounds the answers that are kept.
const maxKnown = 1 << 18

func newTruth(c catalog.PublishedColumn, spec hierarchy.Spec) *truth {
	return &truth{column: c, spec: spec, known: make(map[pair]bool)}
}

// holds decides about a value that is shown; raw is "" where it is missing.
func (t *truth) holds(shown, raw string) bool {
	switch {
	case raw == "":
		return false
	case t.column.Part == catalog.Representative:
		return true // its range says where it lies, see comparingGeneralized
	case t.column.Part == catalog.Range:
		return t.contains(shown, raw)
	case shown == "*" || shown == raw:
		return true
	case t.spec.Kind == hierarchy.Prefix:
		return isMask(shown, raw)
	}
	holds, known := t.known[pair{shown, raw}]
	if known {
		return holds
	}
	if len(t.known) >= maxKnown {
		clear(t.known)
	}
	holds = t.isAbove(shown, raw)
	t.known[pair{strings.Clone(shown), strings.Clone(raw)}] = holds
	return holds
}

// isAbove decides whether a category, or an interval of some, stands above a value.
func (t *truth) isAbove(shown, raw string) bool {
	switch t.spec.Kind {
	case hierarchy.Categorical:
		return isAncestor(t.spec.Taxonomy, shown, raw)
	case hierarchy.Ordered:
		low, high, found := strings.Cut(shown, "..")
		if !found {
			high = low
		}
		at := slices.Index(t.spec.Order, raw)
		first, last := slices.Index(t.spec.Order, low), slices.Index(t.spec.Order, high)
		return at >= 0 && first >= 0 && first <= at && at <= last
	}
	return false
}

// contains decides whether a range, as PostgreSQL writes it, contains a value.
func (t *truth) contains(shown, raw string) bool {
	if shown != t.shown {
		if len(shown) < len("(,)") {
			return false
		}
		lower, upper, found := strings.Cut(shown[1:len(shown)-1], ",")
		if !found {
			return false
		}
		t.shown = strings.Clone(shown)
		t.limit = [2]limit{
			{strings.Clone(strings.Trim(lower, `"`)), shown[0] == '['},
			{strings.Clone(strings.Trim(upper, `"`)), shown[len(shown)-1] == ']'},
		}
	}
	compare := compareNumbers
	if t.spec.Kind == hierarchy.Date {
		compare = compareMoments
	}
	for i, side := range []int{1, -1} {
		if of := t.limit[i]; of.bound != "" {
			if c, ok := compare(raw, of.bound); !ok || c != side && (c != 0 || !of.inclusive) {
				return false
			}
		}
	}
	return true
}

// compareNumbers compares decimal numbers.
func compareNumbers(a, b string) (int, bool) {
	if isPlain(a) && isPlain(b) {
		return comparePlain(a, b), true
	}
	p, ok := new(big.Rat).SetString(a)
	q, is := new(big.Rat).SetString(b)
	if !ok || !is {
		return 0, false
	}
	return p.Cmp(q), true
}

// isPlain tells whether a number is digits, perhaps with a sign and a point.
func isPlain(number string) bool {
	digits, points := 0, 0
	for i, c := range []byte(number) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		case c != '-' || i > 0:
			return false
		}
	}
	return digits > 0 && points <= 1
}

// comparePlain compares plain numbers by their digits.
func comparePlain(a, b string) int {
	a, negative := strings.CutPrefix(a, "-")
	b, other := strings.CutPrefix(b, "-")
	a, b = significant(a), significant(b)
	switch {
	case a == "" && b == "": // both are zero
		return 0
	case a == "":
		negative = other
	case b == "":
		other = negative
	}
	if negative != other {
		if negative {
			return -1
		}
		return 1
	}
	if negative {
		a, b = b, a
	}
	wholeA, fractionA, _ := strings.Cut(a, ".")
	wholeB, fractionB, _ := strings.Cut(b, ".")
	return cmp.Or(cmp.Compare(len(wholeA), len(wholeB)), strings.Compare(wholeA, wholeB), strings.Compare(fractionA, fractionB))
}

// significant leaves out the zeros that do not count: "" for zero.
func significant(number string) string {
	number = strings.TrimLeft(number, "0")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number
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
		if strings.HasPrefix(text, mask[:len(mask)-stars]) && (stars == 1 || utf8.RuneCountInString(text) == utf8.RuneCountInString(mask)) {
			return true
		}
	}
	return false
}
