package privacy

// Restricted is a constraint on a sensitive attribute over some of the
// quasi-identifying ones: <QI, ...>, as Yang, Liu, Wang and Yu 2006 write it for k.
// It bounds what somebody who knows these attributes, and no others, can infer of
// a person. The bare constraint is about records that are alike in all
// quasi-identifying attributes, against somebody who knows them all.
//
// A class of records that are alike in further attributes as well satisfies it
// where it satisfies the bare constraint: records that are alike in Over alone are
// unions of such classes (for persons see Constraint.Satisfied). It is therefore
// judged like the bare one, and ConstraintSet.Components hands out that.
type Restricted struct {
	// Constraint is neither a KAnonymity, which has an Over of its own, nor
	// Restricted itself.
	Constraint
	Over []int // indexes of attributes, ascending; none = all
}

// bare is the constraint without its restriction.
func bare(c Constraint) Constraint {
	if r, ok := c.(Restricted); ok {
		return r.Constraint
	}
	return c
}
