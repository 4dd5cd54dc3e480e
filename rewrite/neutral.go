package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

// Functions that tools call for every object they list, and whose true answers would
// tell of rows, of files, or of what the server does with published relations. They
// answer the same for every object that the session may see, or NULL for all.

// neutral answers with a value of a type wherever the first argument, found by find,
// is an object that the session may see.
func neutral(value, typ string, find special) special {
	return func(e expression, f *pg.FuncCall) error {
		if len(f.GetArgs()) == 0 {
			return nil // the database knows no such function
		}
		if err := find(e, f); err != nil {
			return err
		}
		seen := &pg.Node{Node: &pg.Node_NullTest{NullTest: &pg.NullTest{Arg: f.Args[0], Nulltesttype: pg.NullTestType_IS_NOT_NULL}}}
		e.put(caseNode(seen, castNode(value, typ), nil))
		return nil
	}
}

// unknown answers with NULL of a type, once find knows the first argument. A size of 0 would be
// taken for one that was measured.
func unknown(typ string, find special) special {
	return func(e expression, f *pg.FuncCall) error {
		if len(f.GetArgs()) == 0 {
			return nil // the database knows no such function
		}
		if err := find(e, f); err != nil {
			return err
		}
		return null(typ)(e, f)
	}
}

// null answers with NULL of a type: nothing is shown of where files lie, how functions are
// written, or how many rows and readings there are.
func null(typ string) special {
	return func(e expression, _ *pg.FuncCall) error {
		e.put(casted(nullNode(), typ))
		return nil
	}
}
