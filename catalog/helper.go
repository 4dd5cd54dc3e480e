package catalog

import (
	"maps"
	"slices"
)

// HelperSchema holds the SQL helpers for analysts. All that clients find in it are
// functions: there is no relation in it that they may read.
const HelperSchema = "kproxy"

// helpers are the functions of HelperSchema with the number of their overloads. Those that
// compare are over each of the six range types, with an interval or two bounds, and over
// labels, with a taxonomy or without.
var helpers = map[string]int{
	"certain": 14, "possible": 14, "overlap": 14,
	"counts": 2, "describe": 2, "labels": 2, "tables": 1,
}

// Helpers are the names of the functions of HelperSchema, in order.
func Helpers() []string { return slices.Sorted(maps.Keys(helpers)) }

// HelperOverloads is how many functions of that name the helpers have, 0 for none.
func HelperOverloads(name string) int { return helpers[name] }

// IsHelper says whether the helpers have a function of that name.
func IsHelper(name string) bool { return helpers[name] > 0 }
