package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

// splitUnnest writes unnest(a, b) as ROWS FROM (unnest(a), unnest(b)), which is
// what PostgreSQL makes of it, but only while the name is not qualified
// (transformRangeFunction).
func splitUnnest(n *pg.RangeFunction) {
	if len(n.GetFunctions()) != 1 {
		return
	}
	items := n.GetFunctions()[0].GetList().GetItems()
	if len(items) == 0 {
		return
	}
	call := items[0].GetFuncCall()
	if call == nil || lastName(call.GetFuncname()) != "unnest" || len(call.GetArgs()) < 2 {
		return
	}
	n.IsRowsfrom, n.Functions = true, nil
	for _, argument := range call.GetArgs() {
		one := callNode("unnest", argument)
		one.GetFuncCall().Funcformat = call.GetFuncformat()
		n.Functions = append(n.Functions, &pg.Node{Node: &pg.Node_List{List: &pg.List{
			Items: append([]*pg.Node{one}, items[1:]...),
		}}})
	}
}

// rangeFunction walks a function in FROM. One that is replaced keeps its name as alias. What is no function
// may not stand there, but for COALESCE, whose value is that of its argument.
func (w *walker) rangeFunction(n *pg.RangeFunction, s *scope) error {
	before, name := w.replaced, ""
	if list := n.GetFunctions(); len(list) == 1 && len(list[0].GetList().GetItems()) > 0 {
		name = impliedName(list[0].GetList().GetItems()[0])
	}
	if err := w.children(n.ProtoReflect(), s); err != nil {
		return err
	}
	splitUnnest(n)
	if w.replaced == before {
		return nil
	}
	for _, function := range n.GetFunctions() {
		for _, item := range function.GetList().GetItems() {
			switch item.GetNode().(type) {
			case *pg.Node_TypeCast, *pg.Node_SubLink, *pg.Node_CaseExpr:
				if len(n.GetFunctions()) > 1 {
					return refuse(NotSupported, "Call it by itself in FROM, or in the SELECT list.", "this function is not supported in ROWS FROM beside others")
				}
				value := &pg.Node{Node: item.GetNode()}
				item.Node = &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{Args: []*pg.Node{value}}}
				keepColumn(n, name)
			}
			if call := item.GetFuncCall(); call != nil && name != lastName(call.GetFuncname()) {
				keepColumn(n, name)
			}
		}
	}
	return nil
}

// keepColumn names a replaced function's columns as the function itself would.
func keepColumn(n *pg.RangeFunction, function string) {
	if n.GetAlias() == nil {
		n.Alias = &pg.Alias{Aliasname: function}
	}
	if function == "pg_partition_ancestors" && len(n.GetAlias().GetColnames()) == 0 {
		n.Alias.Colnames = nameNodes("relid")
	}
}
