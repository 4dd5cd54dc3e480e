package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The types regclass, regtype, ... print the name of any object whose OID is
// guessed, and literals, integers and OIDs become one of them wherever they meet
// one: CASE WHEN true THEN '16500' ELSE 'pg_class'::regclass END. Hence no
// expression of such a type is ever sent. Where the value is shown, the cast
// becomes the text of the object's name, read through the stand-in for its catalog;
// everywhere else, its OID.

// objectCatalogs are the catalogs that list the objects of such a type.
var objectCatalogs = map[string]string{
	"regclass": "pg_class", "regtype": "pg_type", "regproc": "pg_proc", "regprocedure": "pg_proc",
	"regnamespace": "pg_namespace", "regrole": "pg_roles", "regoper": "pg_operator", "regoperator": "pg_operator",
	"regcollation": "pg_collation", "regconfig": "pg_ts_config", "regdictionary": "pg_ts_dict",
}

// objectType is the name of the checked type if it is one of objectCatalogs, array
// or not, and otherwise empty.
func objectType(n *pg.TypeName) string {
	if name := builtinName(n); objectCatalogs[name] != "" {
		return name
	}
	return ""
}

// valueFields are the fields whose value becomes the value of what holds them.
var valueFields = words(`SelectStmt.target_list SelectStmt.values_lists SelectStmt.larg SelectStmt.rarg
	SelectStmt.sort_clause SelectStmt.group_clause SelectStmt.distinct_clause ResTarget.val SortBy.node
	GroupingSet.content CaseExpr.args CaseExpr.defresult CaseWhen.result CoalesceExpr.args MinMaxExpr.args
	A_ArrayExpr.elements RowExpr.args List.items CollateClause.arg A_Indirection.arg`)

// textFunctions are functions that make a text of any value.
var textFunctions = words(`array_agg array_to_string concat concat_ws format json_agg json_build_array json_build_object jsonb_agg
	jsonb_build_array jsonb_build_object quote_literal quote_nullable to_json to_jsonb`)

// shownInside says whether values in a field of m are shown, where m is itself or
// is not.
func shownInside(m protoreflect.Message, field protoreflect.Name, named bool) bool {
	switch n := m.Interface().(type) {
	case *pg.RangeSubselect, *pg.CommonTableExpr, *pg.RangeFunction:
		return true
	case *pg.SubLink:
		scalar := n.GetSubLinkType() == pg.SubLinkType_EXPR_SUBLINK || n.GetSubLinkType() == pg.SubLinkType_ARRAY_SUBLINK
		return named && scalar && field == "subselect"
	case *pg.FuncCall:
		return field == "args" && textFunctions[lastName(n.GetFuncname())]
	case *pg.A_Expr:
		return lastName(n.GetName()) == "||"
	}
	return named && valueFields[string(m.Descriptor().Name())+"."+string(field)]
}

// cast checks a cast; those to types of objects are replaced.
func (w *walker) cast(node *pg.Node, n *pg.TypeCast, s *scope) error {
	named, before := w.shown, w.replaced
	last := names(n.GetTypeName().GetNames())
	w.shown = isText(n.GetTypeName()) || isTextArray(n.GetTypeName()) || len(last) > 0 && (last[len(last)-1] == "name" || last[len(last)-1] == "bpchar")
	procedure := w.shown && namesProcedure(n.GetArg(), s)
	err := w.node(n.GetArg(), s)
	if err == nil && procedure {
		err = expression{w, n.GetArg()}.procedure()
	}
	w.shown = named
	if err != nil {
		return err
	}
	if err := w.visibleType(n.GetTypeName(), s); err != nil {
		return err
	}
	if name := objectType(n.GetTypeName()); name != "" && len(n.GetTypeName().GetArrayBounds()) > 0 {
		return expression{w, node}.objects(n.GetTypeName(), n.GetArg(), n.GetLocation())
	} else if name != "" {
		return expression{w, node}.object(name, n.GetArg(), n.GetLocation())
	}
	if builtinName(n.GetTypeName()) == "bool" {
		spellOut(n.GetArg())
	}
	if inner := n.GetArg().GetTypeCast(); inner != nil && w.replaced != before && plain(n) && plain(inner) &&
		builtinName(inner.GetTypeName()) == builtinName(n.GetTypeName()) {
		node.Node = n.GetArg().GetNode() // cast to it already, by object
	}
	return nil
}

// spellOut writes 't' and 'f' in full: cast to boolean, the deparser would write
// them as the words TRUE and FALSE, which are another tree.
func spellOut(n *pg.Node) {
	switch truth, _ := stringConstant(n); truth {
	case "t":
		setText(n, "true")
	case "f":
		setText(n, "false")
	}
}

// plain says whether a checked cast is to a type without modifiers and no array.
func plain(n *pg.TypeCast) bool {
	return len(n.GetTypeName().GetTypmods()) == 0 && len(n.GetTypeName().GetArrayBounds()) == 0
}

// object replaces node, a cast of the checked arg, by the object's name or OID.
func (e expression) object(typ string, arg *pg.Node, location int32) error {
	content, constant := textConstant(arg)
	switch {
	case isNull(arg):
		e.put(e.reveal(arg))
	case constant && !isNumber(content) && (typ == "regtype" && e.w.names.mayNameUserType(content) || typ == "regrole"): // not known here
		return e.visibleObject(typ, e.w.names.lookUp(typ, arg))
	case constant && !isNumber(content):
		known, err := e.w.names.objectName(typ, content, constantAt(arg, location))
		if err != nil {
			return err
		}
		if e.w.shown && typ == "regclass" && known != content { // not a system catalog
			e.put(e.w.names.clientName(casted(castNode(known, typ), "oid")))
			return nil
		}
		e.put(e.reveal(castNode(known, typ)))
	case !e.w.shown && !isRuntimeText(arg):
		e.put(casted(arg, "oid"))
	default:
		return e.visibleObject(typ, e.w.names.objectKey(typ, arg))
	}
	return nil
}

// objects replaces node, a cast of the checked arg to an array of such a type, by the objects' names or
// OIDs if the array is a constant. Otherwise it does so only where names are shown, and only for
// OIDs of types, which tools ask for, as in pg_proc.proargtypes::regtype[]::text[]: names would
// have to be looked up.
func (e expression) objects(to *pg.TypeName, arg *pg.Node, location int32) error {
	if elements, constant := constantElements(arg); constant && len(elements) <= maxObjects {
		return e.constantObjects(objectType(to), elements, constantAt(arg, location))
	}
	_, constant := textConstant(arg)
	if objectType(to) != "regtype" || !e.w.shown || constant || isRuntimeText(arg) || arg.GetAArrayExpr() != nil ||
		isTextArray(arg.GetTypeCast().GetTypeName()) {
		return refuseObjectType(to)
	}
	e.put(ownCall("type_names", arrayOf(arg, "oid"), e.w.names.pathNode()))
	return nil
}

// maxObjects bounds the objects of an array, each of which can become a subquery.
const maxObjects = 1000

// constantObjects replaces node by an array of what takes the place of each constant.
func (e expression) constantObjects(typ string, elements []*pg.Node, location int32) error {
	array := &pg.A_ArrayExpr{}
	for _, element := range elements {
		one := expression{e.w, &pg.Node{Node: element.GetNode()}}
		if err := one.object(typ, element, location); err != nil {
			return err
		}
		array.Elements = append(array.Elements, one.node)
	}
	of := "oid"
	if e.w.shown {
		of = "text"
	}
	e.put(arrayOf(&pg.Node{Node: &pg.Node_AArrayExpr{AArrayExpr: array}}, of))
	return nil
}

// shown casts a value of an object's type to what takes its place.
func (e expression) reveal(value *pg.Node) *pg.Node {
	if e.w.shown {
		return casted(value, "text")
	}
	return casted(value, "oid")
}

// visibleObject replaces node by the name or OID of the object with the given key
// if the session may see it, and by null otherwise.
func (e expression) visibleObject(typ string, key *pg.Node) error {
	result := columnNode(guardAlias, "oid")
	switch {
	case e.w.shown && typ == "regclass":
		result = e.w.names.clientName(result)
	case e.w.shown && typ == "regtype":
		result = e.w.names.typeNameOf(casted(nullNode(), "int4"), casted(casted(result, typ), "text"))
	case e.w.shown:
		result = casted(casted(result, typ), "text")
	}
	return e.guard(objectCatalogs[typ], result, []*pg.Node{key}, equal(columnNode(guardAlias, "oid"), columnNode(argumentAlias, argumentName(0))))
}

// clientName is a relation's name as the client would have to write it.
func (r *resolver) clientName(oid *pg.Node) *pg.Node { return ownCall("class_name", oid, r.pathNode()) }

// objectKey is the OID that the argument of such a cast stands for. A name that is
// made at run time is looked up in a way that does not fail if there is none, so
// that hidden objects and missing ones look the same.
func (r *resolver) objectKey(typ string, arg *pg.Node) *pg.Node {
	if !isRuntimeText(arg) {
		return arg
	}
	return r.lookUp(typ, arg)
}

// lookUp looks up an object's name that is made at run time.
func (r *resolver) lookUp(typ string, name *pg.Node) *pg.Node {
	switch typ {
	case "regclass":
		return ownCall("to_class", casted(name, "text"), r.pathNode())
	case "regtype":
		return ownCall("to_type", casted(name, "text"), r.pathNode())
	case "regconfig", "regdictionary": // have no to_ function: a missing name is an error
		return casted(casted(name, "text"), typ)
	}
	return callNode("to_"+typ, ownCall("usable_name", casted(name, "text")))
}

// isRuntimeText says whether an expression is, by its looks, a text made at run time.
func isRuntimeText(n *pg.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		return true
	case *pg.Node_ColumnRef: // relname, table_name, udt_name: nothing tells its type
		return strings.HasSuffix(lastName(n.ColumnRef.GetFields()), "name")
	case *pg.Node_TypeCast:
		_, constant := textConstant(n.TypeCast.GetArg())
		return isText(n.TypeCast.GetTypeName()) && !constant || builtinName(n.TypeCast.GetTypeName()) == "name"
	case *pg.Node_AExpr:
		parts := names(n.AExpr.GetName())
		return len(parts) > 0 && parts[len(parts)-1] == "||"
	case *pg.Node_FuncCall:
		parts := names(n.FuncCall.GetFuncname())
		return textMakers[parts[len(parts)-1]]
	}
	return false
}

// textMakers are functions with which clients make names.
var textMakers = words("concat concat_ws format lower quote_ident quote_literal replace upper")

// isNumber reports whether reg* types take the text for an OID.
func isNumber(content string) bool {
	return content != "" && strings.Trim(content, "0123456789") == ""
}

// objectName is the text to send for an object's name, or a refusal.
func (r *resolver) objectName(typ, content string, location int32) (string, error) {
	if typ == "regclass" {
		return r.relationName(content, false, location)
	}
	if schema := strings.ReplaceAll(content, `"`, ""); typ == "regnamespace" && !r.snapshot.HasSchema(schema) {
		return "", refuse(UndefinedSchema, "", "schema %q does not exist", schema).at(location)
	}
	// Only built-in objects can be named with a schema; without one, only those and
	// what is published lie on the session's path.
	rest := content
	for {
		before, after, dot := strings.Cut(rest, ".")
		if !dot {
			return content, nil
		}
		schema := before[strings.LastIndexAny(before, " ,(")+1:]
		if typ == "regnamespace" || schema != "pg_catalog" && schema != "information_schema" {
			return "", refuse(UndefinedType, "Only built-in types and functions can be named.", "%q does not exist", content).at(location)
		}
		rest = after
	}
}

// lookup handles to_regclass and its like.
func lookup(typ string) special {
	return func(e expression, f *pg.FuncCall) error {
		if len(f.GetArgs()) != 1 {
			return nil // the database knows no such function
		}
		arg := f.Args[0]
		if content, constant := textConstant(arg); constant && typ == "regclass" && !isNumber(content) {
			known, err := e.w.names.relationName(content, false, f.GetLocation())
			if err != nil { // to_regclass answers with null
				e.put(e.reveal(nullNode()))
				return nil
			}
			return e.visibleObject(typ, casted(castNode(known, typ), "oid"))
		}
		return e.visibleObject(typ, e.w.names.lookUp(typ, arg))
	}
}

// converted handles the function-like casts regclass(x) and pg_typeof.
func converted(e expression, f *pg.FuncCall) error {
	if name := f.Funcname[1].GetString_().GetSval(); objectCatalogs[name] != "" && len(f.GetArgs()) == 1 {
		return e.object(name, f.Args[0], f.GetLocation())
	}
	e.put(e.reveal(functionNode(f)))
	return nil
}

// objectArgument routes the argument that names an object, counted from the end if
// i is negative, through its stand-in: a hidden one becomes null.
func objectArgument(typ string, i int) special {
	return routeArgument(typ, i, func(r *resolver, name string, location int32) (string, error) {
		return r.objectName(typ, name, location)
	})
}

// routeArgument is objectArgument with the text to send for a constant name.
func routeArgument(typ string, i int, send func(r *resolver, name string, location int32) (string, error)) special {
	return func(e expression, f *pg.FuncCall) error {
		at := i
		if at < 0 {
			at += len(f.GetArgs())
		}
		if at < 0 || at >= len(f.GetArgs()) {
			return nil
		}
		arg := f.Args[at]
		content, constant := textConstant(arg)
		if constant && typ == "regtype" && !isNumber(content) && e.w.names.mayNameUserType(content) {
			arg = casted(arg, "text")
			constant = false
		}
		if constant && !isNumber(content) {
			known, err := send(e.w.names, content, constantAt(arg, f.GetLocation()))
			if err != nil {
				return err
			}
			for arg.GetTypeCast() != nil {
				arg = arg.GetTypeCast().GetArg()
			}
			setText(arg, known)
			return nil
		}
		named := e.w.shown
		e.w.shown = false
		defer func() { e.w.shown = named }()
		f.Args[at] = &pg.Node{}
		if typ == "regtype" && content != "" {
			return expression{e.w, f.Args[at]}.visibleObject(typ, e.w.names.lookUp(typ, arg))
		}
		return expression{e.w, f.Args[at]}.visibleObject(typ, e.w.names.objectKey(typ, arg))
	}
}
