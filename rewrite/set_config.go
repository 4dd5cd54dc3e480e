package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// setConfig handles SELECT set_config(name, value, local), the whole of a statement, in
// the forms that clients send: with constants, and FROM pg_settings WHERE name = the
// same, as pgAdmin does for settings that an old server may not have. Of search_path the
// value may be $1, or the statement shows it before it is set, as Atlas does. Anywhere else
// the function may run once, often or never, so that what it did is not known.
func (s *settings) setConfig(n *pg.SelectStmt) (handled bool, effect Effect, err error) {
	f := lastCall(n)
	parts := names(f.GetFuncname())
	if len(parts) == 0 || len(parts) > 2 || parts[len(parts)-1] != "set_config" || len(parts) == 2 && parts[0] != "pg_catalog" {
		return false, nil, nil
	}
	refused := refuse(NotSupported, "Write SELECT set_config(...) with constants as a statement of its own, or SET.",
		"kproxy supports set_config with constants only, as the whole statement").at(f.GetLocation())
	if len(f.GetArgs()) != 3 || !plainCall(f) {
		return true, nil, refused
	}
	name, isName := textConstant(f.Args[0])
	to, isText := textConstant(f.Args[1])
	local, isBool := f.Args[2].GetAConst().GetVal().(*pg.A_Const_Boolval)
	isNull := f.Args[1].GetAConst().GetIsnull()
	conditional := len(n.GetFromClause()) > 0
	ofPath := strings.EqualFold(name, PathParameter) && !conditional
	bound := ofPath && isBool && f.Args[1].GetParamRef().GetNumber() == 1
	if bound && len(n.TargetList) == 1 {
		return true, s.bindPathConfig(n, local.Boolval.GetBoolval()), nil
	}
	if !isName || !isBool || !isText && !isNull || conditional && !ofSetting(n, name) || !ofPath && len(n.TargetList) > 1 {
		return true, nil, refused
	}
	if ofPath {
		effect, err := s.setPathConfig(n, to, isNull, local.Boolval.GetBoolval())
		return true, effect, err
	}
	refusal := s.allowValue(name, to, true)
	if isNull {
		refusal = allowReset(name)
	}
	// pg_settings has the name only in lower case.
	if refusal == nil && strings.EqualFold(name, EncodingParameter) && (!conditional || name == EncodingParameter) {
		effect, refusal = encodingConfig(to, isNull, local.Boolval.GetBoolval())
	}
	if refusal != nil {
		return true, nil, refusal.at(f.GetLocation())
	}
	if conditional {
		n.FromClause = []*pg.Node{readNode(catalog.Name{Schema: "pg_catalog", Relation: "pg_settings"}, "")}
	}
	f.Funcname = nameNodes("pg_catalog", "set_config")
	call := n.TargetList[0].GetResTarget().Val
	n.TargetList[0].GetResTarget().Val = pg.MakeAConstIntNode(0, 0)
	err = s.w.selectStmt(n, nil)
	n.TargetList[0].GetResTarget().Val = call
	return true, effect, err
}

// lastCall is the function that is the only thing that a query asks for, behind the value of
// search_path if it is to be set; nil where there is more.
func lastCall(n *pg.SelectStmt) *pg.FuncCall {
	last := len(n.GetTargetList()) - 1
	if last < 0 || last > 0 && len(n.GetFromClause()) > 0 || n.GetIntoClause() != nil || n.GetWithClause() != nil || len(n.GetDistinctClause()) > 0 ||
		len(n.GetGroupClause()) > 0 || n.GetHavingClause() != nil || len(n.GetSortClause()) > 0 || n.GetLimitCount() != nil ||
		n.GetLimitOffset() != nil || len(n.GetLockingClause()) > 0 || len(n.GetWindowClause()) > 0 || len(n.GetFromClause()) == 0 && n.GetWhereClause() != nil {
		return nil
	}
	for _, before := range n.GetTargetList()[:last] {
		if !showsPath(before.GetResTarget().GetVal().GetFuncCall()) {
			return nil
		}
	}
	return n.GetTargetList()[last].GetResTarget().GetVal().GetFuncCall()
}

// plainCall says of a call that it has a name and arguments, and nothing else.
func plainCall(f *pg.FuncCall) bool {
	return !f.GetAggStar() && f.GetOver() == nil && f.GetAggFilter() == nil && len(f.GetAggOrder()) == 0 &&
		!f.GetAggDistinct() && !f.GetAggWithinGroup() && !f.GetFuncVariadic()
}

// showsPath says of a call that it is current_setting('search_path') and nothing more.
func showsPath(f *pg.FuncCall) bool {
	parts := names(f.GetFuncname())
	if len(parts) == 0 || len(parts) > 2 || parts[len(parts)-1] != "current_setting" || len(parts) == 2 && parts[0] != "pg_catalog" ||
		len(f.GetArgs()) != 1 || !plainCall(f) {
		return false
	}
	name, constant := textConstant(f.Args[0])
	return constant && strings.EqualFold(name, PathParameter)
}

// ofSetting says whether a query's source is the one row that describes the setting.
func ofSetting(n *pg.SelectStmt, name string) bool {
	condition := n.GetWhereClause().GetAExpr()
	column := condition.GetLexpr().GetColumnRef().GetFields()
	of, constant := textConstant(condition.GetRexpr())
	if len(n.GetFromClause()) != 1 || condition.GetKind() != pg.A_Expr_Kind_AEXPR_OP || dotted(condition.GetName()) != "=" ||
		len(column) != 1 || lastName(column) != "name" || !constant || of != name {
		return false
	}
	from := n.GetFromClause()[0]
	if table := from.GetRangeVar(); table != nil {
		return table.GetRelname() == "pg_settings" && (table.GetSchemaname() == "" || table.GetSchemaname() == "pg_catalog") &&
			table.GetCatalogname() == "" && table.GetAlias() == nil
	}
	functions := from.GetRangeFunction().GetFunctions()
	if len(functions) != 1 || from.GetRangeFunction().GetAlias() != nil || len(functions[0].GetList().GetItems()) == 0 {
		return false
	}
	source := functions[0].GetList().GetItems()[0].GetFuncCall()
	return lastName(source.GetFuncname()) == "pg_show_all_settings" && len(source.GetArgs()) == 0
}

// setPathConfig answers as set_config does, with the new value, and sets nothing on
// the server.
func (s *settings) setPathConfig(n *pg.SelectStmt, to string, isNull, local bool) (Effect, error) {
	effect := setPath{assignment{text: to, local: local}}
	if isNull {
		to, effect = s.w.names.session.path.reset, setPath{assignment{reset: true, local: local}}
	}
	if _, err := splitPath(to); err != nil {
		return nil, err
	}
	last := len(n.TargetList) - 1
	putPathConfig(n, castNode(to, "text"))
	if last == 0 {
		return effect, nil
	}
	return effect, s.w.selectStmt(n, nil) // what it shows before
}

// putPathConfig puts what set_config returns in its place, the last.
func putPathConfig(n *pg.SelectStmt, value *pg.Node) {
	target := n.TargetList[len(n.TargetList)-1].GetResTarget()
	if target.GetName() == "" {
		target.Name = "set_config"
	}
	target.Val = value
}

// bindPathConfig is setPathConfig with a value that is not known before Bind. The server takes it
// as a text, as set_config does.
func (s *settings) bindPathConfig(n *pg.SelectStmt, local bool) Effect {
	value := callNode("textcat", n.TargetList[0].GetResTarget().GetVal().GetFuncCall().Args[1], textNode(""))
	reset := castNode(s.w.names.session.orUntouched().path.reset, "text")
	putPathConfig(n, &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{Args: []*pg.Node{value, reset}}}})
	return openPath{local: local}
}

func encodingConfig(to string, isNull, local bool) (Effect, *Refusal) {
	if isNull {
		return setEncoding{assignment{reset: true, local: local}}, nil
	}
	name, refusal := encodingOf(to)
	return setEncoding{assignment{text: name, local: local}}, refusal
}
