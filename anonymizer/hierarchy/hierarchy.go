// Package hierarchy codes the values of one quasi-identifying attribute and
// says what stands for several of them.
//
// A Hierarchy turns a value's PostgreSQL text form into a Cell, places the cell
// on the attribute's axis, where cuts are made, and generalizes a set of cells
// to what an equivalence class publishes: honest bounds and a representative
// for numbers and dates, a taxonomy's node for categories, a masked prefix for
// codes, a range of an order. Levels are its value generalization hierarchy, for
// methods that climb one. Entry points: Spec, New, the Hierarchy interface,
// LevelsOf and ReadTaxonomy.
package hierarchy

import (
	"fmt"
	"math"
	"slices"
)

// Cell is one attribute's value in coded form; its meaning belongs to the
// Hierarchy that encoded it. NaN is off the scale: NULL, NaN, an infinity, or
// a text that the attribute's domain cannot place.
type Cell = float64

// OffScale returns the cell of a value that has no place on the axis, such as
// NULL.
func OffScale() Cell { return math.NaN() }

// IsOffScale reports whether the cell has no place on the axis.
func IsOffScale(c Cell) bool { return math.IsNaN(c) }

// Kind is the way in which an attribute's values are generalized.
type Kind int

// The kinds of generalization.
const (
	Numeric     Kind = iota // numbers: an interval
	Date                    // dates and points in time: an interval
	Categorical             // labels: a node of a taxonomy
	Prefix                  // codes: their common beginning
	Ordered                 // labels with an order: a range of it
	Suppression             // anything: the value where all agree, else nothing
)

var kindNames = [...]string{
	Numeric: "numeric", Date: "date", Categorical: "categorical", Prefix: "prefix",
	Ordered: "ordered", Suppression: "suppression",
}

// String returns the kind's name as configurations spell it.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Domain is what the source column's type can hold, which decides the text
// form of what is published.
type Domain int

// The domains of source columns.
const (
	DomainInteger     Domain = iota // smallint, integer, bigint: within 64 bits
	DomainDecimal                   // numeric, real, double precision
	DomainDate                      // date
	DomainTimestamp                 // timestamp without time zone
	DomainTimestampTZ               // timestamp with time zone
	DomainText                      // everything that is text
)

var domainNames = [...]string{
	DomainInteger: "integer", DomainDecimal: "decimal", DomainDate: "date",
	DomainTimestamp: "timestamp", DomainTimestampTZ: "timestamptz", DomainText: "text",
}

// String returns the domain's name.
func (d Domain) String() string {
	if d < 0 || int(d) >= len(domainNames) {
		return fmt.Sprintf("Domain(%d)", int(d))
	}
	return domainNames[d]
}

// Generalization is what stands for all values of one attribute in a class. It depends only on the
// multiset of the values, never on their order.
type Generalization struct {
	// Hidden says that a value is off the scale, or that no fixed interval holds
	// all values: value and bounds are published as NULL, which therefore means
	// "missing or hidden".
	Hidden bool
	// Value is the representative. Numeric and Date: the midpoint in the
	// domain's own text form, rounded down to a whole number for
	// DomainInteger, to a whole day for DomainDate and to a microsecond for
	// points in time; of a fixed interval it can lie beyond the ends of a narrow
	// column type. All other kinds: the label.
	Value string
	// Lower and Upper are inclusive bounds in the domain's text form, Numeric
	// and Date only: the true value of every member lies within, whatever
	// precision its text had. Fixed intervals of decimals share their bounds: a
	// number at a bound lies in the upper interval.
	Lower, Upper string
}

// Hierarchy codes and generalizes the values of one attribute.
type Hierarchy interface {
	// Kind is the kind of generalization.
	Kind() Kind
	// Encode turns the value's PostgreSQL text form (DateStyle ISO, TimeZone
	// UTC, extra_float_digits 1) into a cell. It never fails: what cannot be
	// placed is off the scale. Categorical, Prefix and Suppression keep an
	// append-only dictionary, so Encode is not safe for concurrent use.
	Encode(value string) Cell
	// Position is the cell's place on the attribute's axis, monotone in the
	// order used for cuts; NaN when off the scale. Units: the number itself,
	// days or microseconds since 2000-01-01, leaf index, the first six bytes of
	// the code as a big-endian number, rank, or order of first appearance.
	Position(c Cell) float64
	// Generalize gives what stands for all of the cells; no cells at all, or
	// a cell of another hierarchy, are hidden.
	Generalize(cells []Cell) Generalization
}

// New builds the hierarchy that a valid specification describes; the error is
// that of Spec.Validate.
func New(s Spec) (Hierarchy, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	switch s.Kind {
	case Numeric:
		return newNumbers(s)
	case Date:
		return calendar{domain: s.Domain, units: slices.Clone(s.Units)}, nil
	case Categorical:
		return newTaxonomy(s.Taxonomy), nil
	case Prefix:
		return newPrefixes(s.Keep), nil
	case Ordered:
		return newOrdered(slices.Clone(s.Order)), nil
	default:
		return newSuppression(), nil
	}
}

func newNumbers(s Spec) (Hierarchy, error) {
	var h Hierarchy = decimals{}
	if s.Domain == DomainInteger {
		h = integers{}
	}
	if len(s.Steps) == 0 {
		return h, nil
	}
	g, err := newGrid(s.Domain, s.Steps, s.Origin)
	if err != nil {
		return nil, err
	}
	return gridded{Hierarchy: h, grid: g}, nil
}
