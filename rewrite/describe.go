package rewrite

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"
)

// The names inside a guard.
const (
	guardAlias    = "kproxy_guard"
	argumentAlias = "kproxy_argument"
)

// guardObject makes a function that describes any object by its OID, the argument
// at the given place, describe only objects that the session may see, by asking the
// stand-in for the catalog first:
//
//	f(x, y)  ->  (SELECT f(g.key, a.a1)
//	              FROM (SELECT x::oid AS a0, y AS a1) a, stand_in g WHERE g.key = a.a0)
//
// OIDs can be guessed, and definitions (a partial index's predicate, a check's
// constants, the names of columns that are not published) may hold raw values.
// Columns of the catalog named in others hold another relation that the description
// names, or 0; it must be visible, too.
func guardObject(relation, key string, place int, others ...string) special {
	return guardedObject(relation, key, place, func(e expression, _ []*pg.Node) ([]*pg.Node, error) {
		var conditions []*pg.Node
		for _, other := range others {
			visible, err := e.visibleOrZero(other)
			if err != nil {
				return nil, err
			}
			conditions = append(conditions, visible)
		}
		return conditions, nil
	})
}

// storedExpression guards pg_get_expr, which gives columns' names for the numbers in an
// expression, whatever it was stored for.
var storedExpression = guardedObject("pg_class", "oid", 1, func(_ expression, f []*pg.Node) ([]*pg.Node, error) {
	if f[0].GetColumnRef() == nil {
		return nil, nil // a constant: the type's input function takes none but null
	}
	return []*pg.Node{ownCall("may_show", casted(f[0], "text"), columnNode(guardAlias, "oid"))}, nil
})

// guardBound guards expressions that show a partition's bound.
var guardBound = guardedObject("pg_class", "oid", 0, func(expression, []*pg.Node) ([]*pg.Node, error) {
	return []*pg.Node{ownCall("shows_bound", columnNode(guardAlias, "oid"))}, nil
})

// guardedObject is guardObject under conditions on the call's arguments, where they are
// replaced.
func guardedObject(relation, key string, place int, further func(expression, []*pg.Node) ([]*pg.Node, error)) special {
	return func(e expression, f *pg.FuncCall) error {
		if len(f.GetArgs()) <= place {
			return nil // the database knows no such function
		}
		arguments := []*pg.Node{f.Args[place]}
		if content, constant := textConstant(arguments[0]); constant && !isNumber(content) {
			return refuse(NotSupported, "Cast the name to regclass.",
				"kproxy supports %s of OIDs only", f.Funcname[1].GetString_().GetSval()).at(f.GetLocation())
		}
		for i, argument := range f.Args {
			switch {
			case i == place:
				f.Args[i] = columnNode(guardAlias, key)
			case !isConstant(argument): // a constant would lose its lack of a type
				f.Args[i] = columnNode(argumentAlias, argumentName(len(arguments)))
				arguments = append(arguments, argument)
			}
		}
		conditions := []*pg.Node{equal(columnNode(guardAlias, key), columnNode(argumentAlias, argumentName(0)))}
		more, err := further(e, f.Args)
		if err != nil {
			return err
		}
		conditions = append(conditions, more...)
		condition := conditions[0]
		if len(conditions) > 1 {
			condition = and(conditions...)
		}
		return e.guard(relation, e.definition(f, columnNode(guardAlias, key)), arguments, condition)
	}
}

// definition is the call, which asks for the definition of the object with the given OID. What
// stands for keys of published tables has another one than the server's.
func (e expression) definition(f *pg.FuncCall, oid *pg.Node) *pg.Node {
	var own *pg.Node
	switch f.Funcname[1].GetString_().GetSval() {
	case "pg_get_constraintdef":
		own = ownCall("key_definition", oid, e.w.names.pathNode())
	case "pg_get_indexdef":
		number := integerNode(0)
		if len(f.GetArgs()) > 1 {
			number = proto.CloneOf(f.GetArgs()[1])
		}
		own = ownCall("key_index_definition", oid, number)
	default:
		return functionNode(f)
	}
	return &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{Args: []*pg.Node{own, functionNode(f)}}}}
}

// visibleOrZero is the condition that a column of the stand-in holds 0 or a visible relation.
func (e expression) visibleOrZero(column string) (*pg.Node, error) {
	class, refusal := e.w.names.read("pg_catalog", "pg_class")
	if refusal != nil {
		return nil, refusal
	}
	oids := selectNode(&pg.SelectStmt{
		TargetList: []*pg.Node{targetNode("", columnNode("oid"))},
		FromClause: []*pg.Node{readNode(class, "")},
	})
	in := subLinkNode(pg.SubLinkType_ANY_SUBLINK, oids)
	in.GetSubLink().Testexpr = columnNode(guardAlias, column)
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{
		Boolop: pg.BoolExprType_OR_EXPR, Args: []*pg.Node{equal(columnNode(guardAlias, column), integerNode(0)), in},
	}}}, nil
}

// guardComment reads comments from the stand-in for pg_description, which is how
// PostgreSQL defines these two functions over the catalog itself.
func guardComment(e expression, f *pg.FuncCall) error {
	arguments := f.GetArgs()
	className, subobject := "pg_class", integerNode(0)
	switch name := f.Funcname[1].GetString_().GetSval(); {
	case len(arguments) == 1 && name == "obj_description": // of any catalog; the newest form names it
		condition := and(
			equal(columnNode(guardAlias, "objoid"), columnNode(argumentAlias, argumentName(0))),
			equal(columnNode(guardAlias, "objsubid"), integerNode(0)),
		)
		return e.guard("pg_description", callNode("max", columnNode(guardAlias, "description")), arguments, condition)
	case len(arguments) != 2:
		return refuse(NotSupported, "Name the catalog: obj_description(oid, 'pg_class').",
			"kproxy supports %s with two arguments only", name).at(f.GetLocation())
	case name == "col_description":
		subobject = columnNode(argumentAlias, argumentName(1))
	default:
		catalogName, constant := stringConstant(arguments[1])
		if !constant {
			return refuse(NotSupported, "Write the catalog's name as a constant.",
				"kproxy supports obj_description with a constant only").at(f.GetLocation())
		}
		className = catalogName
		arguments = arguments[:1]
	}
	condition := and(
		equal(columnNode(guardAlias, "objoid"), columnNode(argumentAlias, argumentName(0))),
		equal(columnNode(guardAlias, "classoid"), catalogOID(className)),
		equal(columnNode(guardAlias, "objsubid"), subobject),
	)
	return e.guard("pg_description", columnNode(guardAlias, "description"), arguments, condition)
}

// guard replaces node by a subquery over the stand-in. The client's arguments
// stand in a subquery of their own, where no name of the stand-in can capture
// theirs; the first is an OID.
func (e expression) guard(relation string, result *pg.Node, arguments []*pg.Node, condition *pg.Node) error {
	typed := append([]*pg.Node{casted(arguments[0], "oid")}, arguments[1:]...)
	found, err := e.find(relation, result, typed, condition)
	if err != nil {
		return err
	}
	e.put(found)
	return nil
}

// find makes the subquery of guard, for arguments of any type.
func (e expression) find(relation string, result *pg.Node, arguments []*pg.Node, condition *pg.Node) (*pg.Node, error) {
	target, refusal := e.w.names.read("pg_catalog", relation)
	if refusal != nil {
		return nil, refusal
	}
	inner := &pg.SelectStmt{}
	for i, argument := range arguments {
		inner.TargetList = append(inner.TargetList, targetNode(argumentName(i), argument))
	}
	computed := selectNode(inner)
	if !simple(arguments[0]) {
		// Without OFFSET, the planner puts the argument into the condition, where it is
		// computed for every row of the catalog.
		inner.LimitOffset, inner.LimitOption = integerNode(0), pg.LimitOption_LIMIT_OPTION_COUNT
	}
	return subLinkNode(pg.SubLinkType_EXPR_SUBLINK, selectNode(&pg.SelectStmt{
		TargetList:  []*pg.Node{targetNode("", result)},
		FromClause:  []*pg.Node{subqueryNode(computed, &pg.Alias{Aliasname: argumentAlias}), readNode(target, guardAlias)},
		WhereClause: condition,
	})), nil
}

// simple says whether a value costs nothing to compute again.
func simple(n *pg.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().GetArg()
	}
	return n.GetColumnRef() != nil || n.GetParamRef() != nil || isConstant(n)
}

func argumentName(i int) string { return fmt.Sprintf("a%d", i) }
