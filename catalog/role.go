package catalog

import "fmt"

// Role says what a column tells about a person, in the field's terms.
type Role int

// The four roles of disclosure control.
const (
	// Identifying columns name a person (name, national id); they are never published.
	Identifying Role = iota + 1
	// QuasiIdentifying columns identify in combination; they are published generalized.
	QuasiIdentifying
	// Sensitive columns are what must not be attributed to a person; published as they are.
	Sensitive
	// Insensitive columns tell nothing about a person; published as they are.
	Insensitive
)

var roleNames = map[Role]string{
	Identifying:      "identifying",
	QuasiIdentifying: "quasi-identifying",
	Sensitive:        "sensitive",
	Insensitive:      "insensitive",
}

// String is the role's name in a policy.
func (r Role) String() string {
	if name, ok := roleNames[r]; ok {
		return name
	}
	return fmt.Sprintf("Role(%d)", int(r))
}
