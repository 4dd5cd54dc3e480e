package privacy

import (
	"fmt"
	"slices"
	"strings"
)

// Model is a privacy model: a kind of constraint.
type Model int

// The privacy models.
const (
	K               Model = iota // k-anonymity
	DistinctL                    // distinct l-diversity
	EntropyL                     // entropy l-diversity
	RecursiveCL                  // recursive (c,l)-diversity
	AlphaK                       // the (alpha) part of (alpha,k)-anonymity
	TClose                       // t-closeness
	BetaLike                     // beta-likeness
	DeltaDisclosure              // delta-disclosure
)

var modelNames = []string{
	K: "k-anonymity", DistinctL: "distinct-l-diversity", EntropyL: "entropy-l-diversity",
	RecursiveCL: "recursive-cl-diversity", AlphaK: "alpha-k-anonymity", TClose: "t-closeness",
	BetaLike: "beta-likeness", DeltaDisclosure: "delta-disclosure",
}

// String returns the model's name as configurations spell it.
func (m Model) String() string { return nameOf("Model", modelNames, int(m)) }

// ParseModel is the inverse of Model.String.
func ParseModel(name string) (Model, error) {
	m, err := parseName("privacy model", modelNames, name)
	return Model(m), err
}

// Distance is the ground distance between two sensitive values in t-closeness,
// between 0 and 1.
type Distance int

// The ground distances of Li, Li and Venkatasubramanian 2007.
const (
	EqualDistance        Distance = iota // 1 between any two values
	OrderedDistance                      // by rank in the attribute's order
	HierarchicalDistance                 // by depth of the common ancestor
)

var distanceNames = []string{EqualDistance: "equal", OrderedDistance: "ordered", HierarchicalDistance: "hierarchical"}

// String returns the distance's name as configurations spell it.
func (d Distance) String() string { return nameOf("Distance", distanceNames, int(d)) }

// ParseDistance is the inverse of Distance.String.
func ParseDistance(name string) (Distance, error) {
	d, err := parseName("ground distance", distanceNames, name)
	return Distance(d), err
}

func nameOf(kind string, names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, i)
	}
	return names[i]
}

func parseName(kind string, names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("unknown %s %q: %s are known", kind, name, strings.Join(names, ", "))
}
