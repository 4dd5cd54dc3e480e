package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

// Functions that tools call for every object they list, and whose true answers would
// tell of rows, of files, or of what the server does with published relations. They
// answer the same for every object that the session may see, and null for others.

// sizeOf says 0 bytes: a size counts rows, and changes with them.
func sizeOf(w *walker, node *pg.Node, f *pg.FuncCall) error {
	return neutral("0", "int8", objectArgument("regclass", 0))(w, node, f)
}

// neutral answers with a value of a type wherever the first argument, found by find,
// is an object that the session may see.
func neutral(value, typ string, find special) special {
	return func(w *walker, node *pg.Node, f *pg.FuncCall) error {
		if len(f.GetArgs()) == 0 {
			return nil // the database knows no such function
		}
		if err := find(w, node, f); err != nil {
			return err
		}
		seen := &pg.Node{Node: &pg.Node_NullTest{NullTest: &pg.NullTest{Arg: f.Args[0], Nulltesttype: pg.NullTestType_IS_NOT_NULL}}}
		w.put(node, &pg.Node{Node: &pg.Node_CaseExpr{CaseExpr: &pg.CaseExpr{
			Args: []*pg.Node{{Node: &pg.Node_CaseWhen{CaseWhen: &pg.CaseWhen{Expr: seen, Result: castNode(value, typ)}}}},
		}}})
		return nil
	}
}

// noText is null: nothing is told of where files lie, or of how functions are
// written.
func noText(w *walker, node *pg.Node, _ *pg.FuncCall) error {
	w.put(node, casted(nullNode(), "text"))
	return nil
}

// noCount is null in the place of a number of rows or of readings.
func noCount(w *walker, node *pg.Node, _ *pg.FuncCall) error {
	w.put(node, casted(nullNode(), "int8"))
	return nil
}

// noObject is null in the place of an OID.
func noObject(w *walker, node *pg.Node, _ *pg.FuncCall) error {
	w.put(node, casted(nullNode(), "oid"))
	return nil
}
