package rewrite

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// Texts that differ only in constants share one rewriting (template.go). It is valid for all of
// them as long as no decision depended on a constant's value. Therefore only the functions of this
// file read values. They mark the constant in the tree: its location becomes negative, which no
// comparison of trees looks at. A test looks through the sources for other ways.

// mark makes a constant one on whose value the rewriting depends.
func mark(c *pg.A_Const) {
	if c != nil && c.Location >= 0 {
		c.Location = -2 - c.Location // -1 means unknown
	}
}

// clientLocation is the byte offset that a node of a checked tree had when it was
// parsed; negative where it is unknown.
func clientLocation(location int32) int32 {
	if location < -1 {
		return -2 - location
	}
	return location
}

// isConstant says whether a node is a constant, of whatever value.
func isConstant(n *pg.Node) bool { return n.GetAConst() != nil }

// isNull says whether a node is the word NULL.
func isNull(n *pg.Node) bool { return n.GetAConst().GetIsnull() }

// isPlain says whether a node is a number, a boolean or a bit string: constants that have
// a type by themselves.
func isPlain(n *pg.Node) bool {
	_, text := n.GetAConst().GetVal().(*pg.A_Const_Sval)
	return isConstant(n) && !text && !isNull(n)
}

// isInteger says whether a node is an integer constant, of whatever value.
func isInteger(n *pg.Node) bool {
	_, integer := n.GetAConst().GetVal().(*pg.A_Const_Ival)
	return integer
}

// booleanConstant is the only argument of a call, if it is the word TRUE or FALSE.
func booleanConstant(f *pg.FuncCall) (value, ok bool) {
	if len(f.GetArgs()) != 1 {
		return false, false
	}
	b, ok := f.GetArgs()[0].GetAConst().GetVal().(*pg.A_Const_Boolval)
	return ok && b.Boolval.GetBoolval(), ok
}

// isTrue says whether a node is the word TRUE.
func isTrue(n *pg.Node) bool {
	b, ok := n.GetAConst().GetVal().(*pg.A_Const_Boolval)
	return ok && b.Boolval.GetBoolval()
}

func stringConstant(n *pg.Node) (string, bool) {
	text, ok := n.GetAConst().GetVal().(*pg.A_Const_Sval)
	if !ok {
		return "", false
	}
	mark(n.GetAConst())
	return text.Sval.GetSval(), true
}

// deny makes a word of the grammar, which the parser writes as a boolean, FALSE.
func deny(n *pg.Node) {
	if word, ok := n.GetAConst().GetVal().(*pg.A_Const_Boolval); ok {
		word.Boolval.Boolval = false
	}
}

// numberConstant is the text of a number without a sign.
func numberConstant(n *pg.Node) (string, bool) {
	switch v := n.GetAConst().GetVal().(type) {
	case *pg.A_Const_Ival:
		mark(n.GetAConst())
		return strconv.Itoa(int(v.Ival.GetIval())), true
	case *pg.A_Const_Fval:
		mark(n.GetAConst())
		return v.Fval.GetFval(), true
	}
	return "", false
}

// textConstant is the text of a constant that no cast changes.
func textConstant(n *pg.Node) (string, bool) {
	for isText(n.GetTypeCast().GetTypeName()) {
		n = n.GetTypeCast().GetArg()
	}
	return stringConstant(n)
}

// constantAt is where a constant stands, at which PostgreSQL points when it names nothing; or the
// location of what it is in, where the constant was put there.
func constantAt(n *pg.Node, location int32) int32 {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().GetArg()
	}
	if at := clientLocation(n.GetAConst().GetLocation()); at > 0 {
		return at
	}
	return location
}

// setText replaces the text of a constant.
func setText(n *pg.Node, text string) {
	mark(n.GetAConst())
	n.GetAConst().Val = &pg.A_Const_Sval{Sval: &pg.String{Sval: text}}
}
