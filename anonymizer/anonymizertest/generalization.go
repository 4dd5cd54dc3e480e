package anonymizertest

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// CheckGeneralization proves that a generalization holds for every text of a
// class, says no more than the specification allows, and is hidden only where
// it has to be. Dates are compared as texts, so years must have four digits and
// offsets be zero. Numbers must be within the reach of steps.
func CheckGeneralization(spec hierarchy.Spec, texts []string, g hierarchy.Generalization) error {
	hidden := hides(spec, texts)
	if hidden != g.Hidden {
		return fmt.Errorf("hidden is %v, %v expected", g.Hidden, hidden)
	}
	if hidden {
		return nil
	}
	if err := checkAllowed(spec, g); err != nil {
		return err
	}
	published := intervalOf(spec, g)
	for _, text := range texts {
		if !holds(spec, text, g, published) {
			return fmt.Errorf("%+v does not hold for %q", g, text)
		}
		if spec.Kind == hierarchy.Suppression && g.Value != text && allEqual(texts) {
			return fmt.Errorf("%q is published as %q though all agree", text, g.Value)
		}
	}
	return nil
}

// hides reports whether nothing can be published: something has no place, or
// no configured interval holds everything.
func hides(spec hierarchy.Spec, texts []string) bool {
	for _, text := range texts {
		if text == workload.Null || spec.Kind == hierarchy.Ordered && !slices.Contains(spec.Order, text) {
			return true
		}
	}
	switch {
	case len(texts) == 0:
		return true
	case len(spec.Steps) > 0:
		step := spec.Steps[len(spec.Steps)-1]
		first := cellNumber(spec, step, rational(texts[0]))
		return slices.ContainsFunc(texts, func(text string) bool {
			return cellNumber(spec, step, rational(text)).Cmp(first) != 0
		})
	case len(spec.Units) > 0:
		unit := spec.Units[len(spec.Units)-1]
		return slices.ContainsFunc(texts, func(text string) bool {
			return !truncate(text, unit).Equal(truncate(texts[0], unit))
		})
	default:
		return false
	}
}

func allEqual(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return text != texts[0] })
}

// interval is what is published for numbers.
type interval struct{ lower, value, upper *big.Rat }

// intervalOf reads the numbers of a generalization; it is empty for other kinds.
func intervalOf(spec hierarchy.Spec, g hierarchy.Generalization) interval {
	if spec.Kind != hierarchy.Numeric {
		return interval{}
	}
	return interval{rational(g.Lower), rational(g.Value), rational(g.Upper)}
}

func holds(spec hierarchy.Spec, text string, g hierarchy.Generalization, published interval) bool {
	switch spec.Kind {
	case hierarchy.Numeric:
		x := rational(text)
		if len(spec.Steps) > 0 && spec.Domain == hierarchy.DomainDecimal && x.Cmp(published.upper) == 0 {
			return false // a shared bound belongs to the upper interval
		}
		return between(published.lower, x, published.upper) && between(published.lower, published.value, published.upper)
	case hierarchy.Date:
		return g.Lower <= text && text <= g.Upper && g.Lower <= g.Value && g.Value <= g.Upper
	case hierarchy.Categorical:
		return g.Value == "*" || g.Value == text || below(spec.Taxonomy, g.Value, text)
	case hierarchy.Prefix:
		return masks(g.Value, text)
	case hierarchy.Ordered:
		low, high, isRange := strings.Cut(g.Value, "..")
		if !isRange {
			high = low
		}
		first, last, at := slices.Index(spec.Order, low), slices.Index(spec.Order, high), slices.Index(spec.Order, text)
		return first >= 0 && first <= at && at <= last && isRange == (first < last)
	default:
		return g.Value == "*" || g.Value == text
	}
}

// masks reports whether the text can be meant by the label: it is the label, or
// begins as the label does before some of the asterisks at its end; several of
// them stand for as many characters, one for any number.
func masks(label, text string) bool {
	if label == text {
		return true
	}
	for stars := 1; strings.HasSuffix(label, strings.Repeat("*", stars)) && stars <= len(label); stars++ {
		if strings.HasPrefix(text, label[:len(label)-stars]) &&
			(stars == 1 || utf8.RuneCountInString(text) == utf8.RuneCountInString(label)) {
			return true
		}
	}
	return false
}

// checkAllowed proves that what is published is on the configured grid, is a
// calendar unit, or has a number of characters that may be kept.
func checkAllowed(spec hierarchy.Spec, g hierarchy.Generalization) error {
	allowed := false
	switch {
	case len(spec.Steps) > 0:
		for _, step := range spec.Steps {
			allowed = allowed || isCell(spec, step, rational(g.Lower), rational(g.Upper))
		}
	case len(spec.Units) > 0:
		for _, unit := range spec.Units {
			allowed = allowed || isUnit(unit, g.Lower, g.Upper)
		}
	case len(spec.Keep) > 0:
		kept := utf8.RuneCountInString(strings.TrimRight(g.Value, "*"))
		whole := !strings.HasSuffix(g.Value, "*") && kept <= spec.Keep[0]
		allowed = whole || g.Value == "*" || slices.Contains(spec.Keep, kept)
	default:
		return nil
	}
	if !allowed {
		return fmt.Errorf("%+v is finer than allowed, or nowhere on the grid", g)
	}
	return nil
}

// cellNumber numbers the interval of a width that holds x: the floor of
// (x - origin) / step, over the decimals that the floats are written as.
func cellNumber(spec hierarchy.Spec, step float64, x *big.Rat) *big.Int {
	quotient := new(big.Rat).Sub(x, written(spec.Origin))
	quotient.Quo(quotient, written(step))
	return new(big.Int).Div(quotient.Num(), quotient.Denom()) // Euclidean: the floor, as the denominator is positive
}

func isCell(spec hierarchy.Spec, step float64, lower, upper *big.Rat) bool {
	start := new(big.Rat).SetInt(cellNumber(spec, step, lower))
	start.Mul(start, written(step)).Add(start, written(spec.Origin))
	end := new(big.Rat).Add(start, written(step))
	if spec.Domain == hierarchy.DomainInteger {
		end.Sub(end, big.NewRat(1, 1))
	}
	return start.Cmp(lower) == 0 && end.Cmp(upper) == 0
}

// written is the decimal that a float64 is written as.
func written(f float64) *big.Rat { return rational(strconv.FormatFloat(f, 'g', -1, 64)) }

const dayLayout = "2006-01-02"

// truncate is the first day of the unit that holds a date or point in time.
func truncate(text string, unit hierarchy.Unit) time.Time {
	at, err := time.Parse(dayLayout, text[:len(dayLayout)])
	if err != nil {
		panic("no date: " + text)
	}
	year, month, day := at.Date()
	switch unit {
	case hierarchy.Day:
	case hierarchy.Month:
		day = 1
	case hierarchy.Quarter:
		month, day = (month-1)/3*3+1, 1
	case hierarchy.Year:
		month, day = 1, 1
	case hierarchy.Decade:
		year, month, day = year/10*10, 1, 1
	default:
		year, month, day = year/100*100, 1, 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// isUnit reports whether the bounds are the first and the last moment of one
// unit: what follows the upper bound is in the next.
func isUnit(unit hierarchy.Unit, lower, upper string) bool {
	start, end := truncate(lower, unit), truncate(upper, unit)
	last, err := time.Parse(dayLayout, upper[:len(dayLayout)])
	if err != nil || !start.Equal(end) {
		return false
	}
	next := last.AddDate(0, 0, 1).Format(dayLayout)
	clocks := len(lower) == len(dayLayout) && len(upper) == len(dayLayout) ||
		strings.HasPrefix(lower[len(dayLayout):], " 00:00:00") && strings.HasPrefix(upper[len(dayLayout):], " 23:59:59.999999")
	return clocks && lower[:len(dayLayout)] == start.Format(dayLayout) && truncate(next, unit).Format(dayLayout) == next
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return r
}

func between(low, x, high *big.Rat) bool { return low.Cmp(x) <= 0 && x.Cmp(high) <= 0 }

// below reports whether the label stands somewhere under the node named top.
func below(nodes []hierarchy.Node, top, label string) bool {
	for _, n := range nodes {
		if n.Label == top {
			return stands(n.Children, label)
		}
		if below(n.Children, top, label) {
			return true
		}
	}
	return false
}

func stands(nodes []hierarchy.Node, label string) bool {
	for _, n := range nodes {
		if n.Label == label || stands(n.Children, label) {
			return true
		}
	}
	return false
}
