package privacy

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Model is a privacy model: a kind of constraint.
type Model int

// The privacy models.
const (
	K               Model = iota // k-anonymity, over all or some attributes
	DistinctL                    // distinct l-diversity
	EntropyL                     // entropy l-diversity
	RecursiveCL                  // recursive (c,l)-diversity
	AlphaK                       // the (alpha) part of (alpha,k)-anonymity
	TClose                       // t-closeness
	BetaLike                     // beta-likeness
	DeltaDisclosure              // delta-disclosure privacy
)

// Distance is the ground distance between two sensitive values in t-closeness.
type Distance int

// The ground distances of Li, Li and Venkatasubramanian 2007.
const (
	EqualDistance        Distance = iota // 1 between any two values
	OrderedDistance                      // by rank in the attribute's order
	HierarchicalDistance                 // by height of the common ancestor
)

// Spec describes a constraint as a policy writes it.
type Spec struct {
	Model Model
	// K is the k of k-anonymity.
	K int
	// Over names the attributes of a constraint <QI, K>; empty = all. Model K only.
	Over []string
	// L is the l of the three diversities; whole for DistinctL.
	L float64
	// C is the c of recursive (c,l)-diversity.
	C float64
	// Alpha, T, Beta and Delta are the bounds of the models of their names.
	Alpha, T, Beta, Delta float64
	// Of names the sensitive attribute; all models but K.
	Of string
	// Values are the values that AlphaK bounds; empty = every value.
	Values []string
	// Distance is that of t-closeness.
	Distance Distance
}

// Schema is what specifications refer to by name.
type Schema struct {
	Attributes []string // quasi-identifying, in the order of Table.Attributes
	Sensitive  []Sensitive
}

// Sensitive is a sensitive attribute, in the order of Summary.Sensitive.
type Sensitive struct {
	Name string
	// Values gives the text of a value code.
	Values *Dictionary
	// Hierarchy orders the values or arranges them in a taxonomy, for the ordered
	// and the hierarchical distance; nil where no constraint needs one.
	Hierarchy hierarchy.Hierarchy
}

// Dictionary numbers the different texts of a sensitive attribute, from 0 in
// the order of their first appearance. It is append-only and not safe for
// concurrent use.
type Dictionary struct {
	codes map[string]uint32
	texts []string
}

// NewDictionary returns an empty dictionary.
func NewDictionary() *Dictionary { return &Dictionary{codes: map[string]uint32{}} }

// Code is the text's number, a new one where it is new.
func (d *Dictionary) Code(text string) uint32 {
	code, known := d.codes[text]
	if !known {
		code = uint32(len(d.texts))
		d.codes[text] = code
		d.texts = append(d.texts, text)
	}
	return code
}

// Text is the text of a code, and whether the code is known.
func (d *Dictionary) Text(code uint32) (string, bool) {
	if int(code) >= len(d.texts) {
		return "", false
	}
	return d.texts[code], true
}

// Validate returns all that is wrong with the specification, joined.
func (s Spec) Validate() error { return fmt.Errorf("unfinished") }

// String is the constraint in the field's notation, for example "5-anonymity" or
// "distinct 3-diversity of diagnosis".
func (s Spec) String() string { return "" }

// New makes the constraint that a valid specification describes; the error names
// what the schema does not have.
func New(s Spec, schema Schema) (Constraint, error) { return nil, s.Validate() }
