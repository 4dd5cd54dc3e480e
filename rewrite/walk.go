package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// walker checks one text's statements and changes their trees in place.
type walker struct {
	snapshot *catalog.Snapshot
	// session is the one in which the statement that is visited will run, if those
	// before it in the text succeed.
	session  *Session
	paths    pathsOf
	database string
	// effect is what the statement that is visited does to the session; effects are
	// those of the text's statements so far.
	effect  Effect
	effects []Effect
	// plans says that a statement of the text answers with plans.
	plans bool
	// uses are the names in EXECUTE, FETCH and MOVE.
	uses []string
	// makes are those in PREPARE and DECLARE.
	makes []string
	// traces is the opposite of Statement.Traceless.
	traces bool
	// reads are the protected and readable tables met so far, each once.
	reads []catalog.Name
	// calls are the functions met so far that the operator lists, each once.
	calls []string
	// formAlone says that the statement that is visited reads a relation of which plans show
	// their form alone.
	formAlone bool
	// rows is what is known of the rows of the queries that have been visited, relations of
	// those of relations; firstArms are told of the rows of their queries.
	rows      map[*pg.SelectStmt]*composite
	relations map[catalog.Name]*composite
	firstArms map[*pg.SelectStmt]func(*composite)
	// replaced counts what was replaced by something else; see put.
	replaced int
	// named says whether the value that is visited ends up before the client's
	// eyes, or in a text; see object.go.
	named bool
	// privileges says that a relation is named to ask for privileges on it.
	privileges bool
	// temporaryTables says that the session may have some.
	temporaryTables bool
	// definition says that the statement is a view's definition, not a client's.
	definition bool
	// operator are the settings that only the operator sets.
	operator map[string]bool
}

// understood are the node types whose fields may simply be walked. The other
// allowed ones have a case in visit; whatever is in neither is refused. Types of
// PostgreSQL's analyzed trees (Query, Var, OpExpr) never come from the parser.
var understood = words(`
	A_ArrayExpr A_Const A_Indices A_Star Alias BitString BoolExpr Boolean BooleanTest CTECycleClause
	CTESearchClause CaseExpr CaseWhen CoalesceExpr ColumnDef Float GroupingFunc GroupingSet Integer
	JsonAggConstructor JsonArrayAgg JsonArrayConstructor JsonArrayQueryConstructor JsonFormat JsonIsPredicate
	JsonKeyValue JsonObjectAgg JsonObjectConstructor JsonOutput JsonReturning JsonValueExpr List MinMaxExpr
	NamedArgExpr NullTest ParamRef RangeSubselect RangeTableFunc RangeTableFuncCol RowExpr
	MultiAssignRef SetToDefault String WindowDef XmlSerialize`)

// children visits all that a message holds, in the order of its fields, without
// knowing them: a field that nobody thought of cannot be missed.
func (w *walker) children(m protoreflect.Message, s *scope) error {
	was := w.named
	defer func() { w.named = was }()
	for _, f := range innerFields()[m.Descriptor()] {
		if !m.Has(f.field) {
			continue
		}
		w.named = namedInside(m, f.name, was)
		if !f.list {
			if err := w.visit(m.Get(f.field).Message(), s); err != nil {
				return err
			}
			continue
		}
		list := m.Get(f.field).List()
		for j := range list.Len() {
			if err := w.visit(list.Get(j).Message(), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit checks one message of the tree under the names in scope.
func (w *walker) visit(m protoreflect.Message, s *scope) error {
	switch n := m.Interface().(type) {
	case *pg.Node:
		return w.node(n, s)
	case *pg.SelectStmt:
		return w.selectStmt(n, s)
	case *pg.RangeVar:
		return w.relation(n, s)
	case *pg.JoinExpr:
		if refusal := w.compares(n); refusal != nil {
			return refusal
		}
		return w.join(n, s)
	case *pg.RangeFunction:
		return w.rangeFunction(n, s)
	case *pg.ResTarget:
		return w.target(n, s)
	case *pg.TypeName:
		return w.typeName(n, s)
	case *pg.CollateClause:
		return w.collation(n, s)
	case *pg.XmlExpr:
		return w.xml(n, s)
	case *pg.A_Expr:
		if refusal := w.known(compared(n)...); refusal != nil {
			return refusal.at(n.GetLocation())
		}
		return w.operation(n.GetName(), n.GetLocation(), m, s)
	case *pg.CaseExpr:
		if refusal := w.compares(n); refusal != nil {
			return refusal
		}
		return w.children(m, s)
	case *pg.SubLink:
		if refusal := w.compares(n); refusal != nil {
			return refusal
		}
		return w.operation(n.GetOperName(), n.GetLocation(), m, s)
	case *pg.SortBy:
		return w.operation(n.GetUseOp(), n.GetLocation(), m, s)
	case *pg.LockingClause:
		return refuse(statePrivilege, "Leave the locking clause out.",
			"kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed")
	case *pg.IntoClause:
		return refuseInto().at(n.GetRel().GetLocation())
	case *pg.InsertStmt, *pg.UpdateStmt, *pg.DeleteStmt, *pg.MergeStmt:
		return refuseVerb("changing data in WITH", "Only SELECT may stand inside WITH.")
	}
	if !understood[string(m.Descriptor().Name())] {
		return refuse(stateNotSupported, "", "kproxy does not support %s here", m.Descriptor().Name())
	}
	return w.children(m, s)
}

// node visits what is inside a Node wrapper, or replaces it.
func (w *walker) node(n *pg.Node, s *scope) error {
	switch inner := n.GetNode().(type) {
	case nil: // an absent element, as in a[:2] or a SELECT without targets
		return nil
	case *pg.Node_String_, *pg.Node_AConst: // most nodes; they hold no others
		return nil
	case *pg.Node_ColumnRef:
		if w.systemColumn(n, inner.ColumnRef, s) {
			return keepLocation(n, inner.ColumnRef.GetLocation(), nil)
		}
		return keepLocation(n, inner.ColumnRef.GetLocation(), w.reference(n, inner.ColumnRef, s))
	case *pg.Node_AIndirection:
		return w.indirection(n, inner.AIndirection, s)
	case *pg.Node_FuncCall:
		return keepLocation(n, inner.FuncCall.GetLocation(), w.call(n, inner.FuncCall, s))
	case *pg.Node_SqlvalueFunction:
		return keepLocation(n, inner.SqlvalueFunction.GetLocation(), w.valueFunction(n, inner.SqlvalueFunction))
	case *pg.Node_RangeVar:
		if err := w.relation(inner.RangeVar, s); err != nil {
			return err
		}
		w.withPath(n, inner.RangeVar)
		return nil
	case *pg.Node_RangeTableSample:
		return w.sample(n, inner.RangeTableSample, s)
	case *pg.Node_TypeCast:
		return keepLocation(n, leftmost(inner.TypeCast), w.cast(n, inner.TypeCast, s))
	}
	m := n.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	return w.visit(m.Get(field).Message(), s)
}

// operation refuses operators of other schemas than pg_catalog; unqualified ones
// are found on the session's search path, which clients cannot set.
func (w *walker) operation(name []*pg.Node, location int32, m protoreflect.Message, s *scope) error {
	if len(name) > 1 && (len(name) > 2 || name[0].GetString_().GetSval() != "pg_catalog") {
		return refuse(statePrivilege, "Only the operators of pg_catalog are allowed.",
			"permission denied for operator %s", dotted(name)).at(location)
	}
	if len(name) > 0 {
		if refusal := w.known(lastName(name)); refusal != nil {
			return refusal.at(location)
		}
	}
	return w.children(m, s)
}

// xml refuses the one form in which the deparser takes an expression for a
// constant: xmlroot(x, version y).
func (w *walker) xml(n *pg.XmlExpr, s *scope) error {
	if n.GetOp() == pg.XmlExprOp_IS_XMLROOT && (len(n.GetArgs()) != 3 || !isConstant(n.GetArgs()[1])) {
		return refuse(stateNotSupported, "Write the version as a constant.",
			"kproxy supports xmlroot with a constant version only").at(n.GetLocation())
	}
	if n.GetOp() == pg.XmlExprOp_IS_XMLPARSE && len(n.GetArgs()) == 2 {
		// The deparser does not write PRESERVE WHITESPACE, and PostgreSQL's answer is the
		// text as it was in any case (xml_parse in utils/adt/xml.c).
		deny(n.GetArgs()[1])
	}
	return w.children(n.ProtoReflect(), s)
}

func (w *walker) collation(n *pg.CollateClause, s *scope) error {
	name := n.GetCollname()
	if len(name) > 1 && (len(name) > 2 || name[0].GetString_().GetSval() != "pg_catalog") {
		return refuse(statePrivilege, "Only the collations of pg_catalog are allowed.",
			"permission denied for collation %s", dotted(name)).at(n.GetLocation())
	}
	return w.children(n.ProtoReflect(), s)
}

func dotted(name []*pg.Node) string { return strings.Join(names(name), ".") }
