package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// Where value has no column f, PostgreSQL reads value.f and (value).f as the call
// f(value), or as a cast to type f. Such a name passes where it is a column, or where the
// call that it may be passes, too. DESIGN.md has the argument.

// attributed says what becomes of a name behind a dot.
type attributed int

const (
	// asItStands: it is a column, or else a call that passes.
	asItStands attributed = iota
	// asCall: it is a call, which is written out to be checked like others.
	asCall
)

// attribute decides on value.name, of which it is known whether name is a column of the
// value, and what else is known of it. Called is the value in words.
func (w *walker) attribute(name string, is columnState, value *composite, called string) (attributed, *Refusal) {
	if is == knownColumn {
		return asItStands, nil
	}
	if systemColumns[name] {
		return 0, missingSystemColumn(called + name)
	}
	missing := refuse(UndefinedColumn, "Nothing in FROM gives it a column of this name.", "column %s does not exist", called+name)
	schema, function, allowed := w.names.lookupFunction([]string{name})
	guarded := schema != "pg_catalog" || specials[function] != nil
	switch added := w.names.snapshot.Added(); {
	case (added.Functions[name] || added.Types[name]) && (allowedFunctions[name] || allowedTypes[name]):
		return 0, refuseAdded("function", name)
	case allowed && !guarded:
		if leavesTrace[name] {
			w.result.Traceless = false
		}
		return asItStands, nil
	case allowed && schema == "pg_catalog" && value != nil && value.row: // none of these is about rows
		return 0, missing
	case allowed && is == noColumn:
		return asCall, nil
	case !w.names.mayBeCall(name):
		if is == noColumn {
			return 0, missing
		}
		return asItStands, nil
	case allowedTypes[name] && !strings.HasPrefix(name, "reg") && !isBuiltin([]string{name}):
		return asItStands, nil
	}
	refusal := w.names.refuseFunction([]string{name})
	if is == unknownColumn {
		refusal.hint = "A column of this name can be read through column aliases: FROM t AS t(a, b)."
	}
	return 0, refusal
}

// mayBeCall says whether a name may be that of a function or a type in pg_catalog, which is
// all that such a call can find: by what is known of all versions, and by what the server
// has. Where that is not known, any name may be.
func (r *resolver) mayBeCall(name string) bool {
	return isBuiltin([]string{name}) || allowedTypes[name] || r.snapshot.Callable(name)
}

// reference checks a column reference. A qualified one may be a call.
func (w *walker) reference(node *pg.Node, n *pg.ColumnRef, s *scope) error {
	fields := n.GetFields()
	if len(fields) < 2 || fields[len(fields)-1].GetString_() == nil {
		return w.column(n, s)
	}
	name, item := lastName(fields), fields[len(fields)-2].GetString_().GetSval()
	is, _ := s.columnOf(item, name)
	if err := w.column(n, s); err != nil {
		return err
	}
	as, refusal := w.attribute(name, is, s.row(item), item+".")
	if refusal != nil {
		return refusal.at(n.GetLocation())
	}
	if as == asItStands {
		return nil
	}
	// The whole row; the item's bare name may be that of a column, too.
	n.Fields[len(n.Fields)-1] = &pg.Node{Node: &pg.Node_AStar{AStar: &pg.A_Star{}}}
	return w.attributeCall(node, name, &pg.Node{Node: node.GetNode()}, n.GetLocation())
}

// indirection checks the field names in (expression).field.
func (w *walker) indirection(node *pg.Node, n *pg.A_Indirection, s *scope) error {
	if err := w.children(n.ProtoReflect(), s); err != nil {
		return err
	}
	value := w.rows.typeOf(n.GetArg(), s)
	for i, step := range n.GetIndirection() {
		if step.GetString_() == nil {
			value = nil
			continue
		}
		name := step.GetString_().GetSval()
		is, inner := value.has(name)
		as, refusal := w.attribute(name, is, value, "")
		switch {
		case refusal != nil:
			return refusal.at(placeOf(n.GetArg()))
		case as == asItStands:
			value = inner
			continue
		}
		called, rest := n.GetArg(), n.GetIndirection()[i+1:]
		if i > 0 {
			called = &pg.Node{Node: &pg.Node_AIndirection{AIndirection: &pg.A_Indirection{Arg: called, Indirection: n.GetIndirection()[:i]}}}
		}
		if len(rest) > 0 {
			return refuse(NotSupported, "Write "+name+"(...) as a call.", "kproxy does not support what follows %q here", name).
				at(placeOf(n.GetArg()))
		}
		return w.attributeCall(node, name, called, placeOf(n.GetArg()))
	}
	return nil
}

// attributeCall replaces node by the call of a function that may be called.
func (w *walker) attributeCall(node *pg.Node, name string, value *pg.Node, location int32) error {
	f := &pg.FuncCall{
		Funcname: nameNodes(name), Args: []*pg.Node{value}, Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL, Location: location,
	}
	expression{w, node}.put(functionNode(f))
	return w.checkedCall(node, f)
}

// placeOf is where an expression begins, according to its own node.
func placeOf(n *pg.Node) int32 {
	if reference := n.GetColumnRef(); reference != nil {
		return reference.GetLocation()
	}
	if cast := n.GetTypeCast(); cast != nil {
		return placeOf(cast.GetArg())
	}
	if call := n.GetFuncCall(); call != nil {
		return call.GetLocation()
	}
	return -1
}
