package privacy

import "fmt"

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

// String returns the model's name, for messages.
func (m Model) String() string { return nameOf("Model", modelNames, int(m)) }

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

func nameOf(kind string, names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, i)
	}
	return names[i]
}
