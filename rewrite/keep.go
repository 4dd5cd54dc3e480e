package rewrite

import (
	_ "embed" // the allowlist
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// An answer may be kept, as long as what it was read from does not change, if everything in the
// statement is on a list of nodes that compute their value only from rows, constants, parameters
// and the settings of keyedSettings. docs/answers.md has the argument.

//go:embed keptfunctions.txt
var keptFunctionsText string

var (
	// keptFunctions are immutable, or depend on keyedSettings besides their arguments.
	keptFunctions = words(keptFunctionsText)
	// keptNodes are the node types whose fields are walked. The others that pass have a case in
	// keeping.visit.
	keptNodes = words(`A_ArrayExpr A_Const A_Indices A_Star Alias BoolExpr BooleanTest CaseExpr CaseWhen CoalesceExpr
		CommonTableExpr Float GroupingFunc GroupingSet Integer JoinExpr List MinMaxExpr NamedArgExpr NullTest RangeSubselect
		ResTarget RowExpr SelectStmt String WindowDef WithClause`)
	// keptOperators are those of PostgreSQL by their names, which are immutable or depend on
	// keyedSettings, whatever they are applied to. BETWEEN and the like are operators to the parser.
	keptOperators = words(`+ - * / % ^ = <> != < > <= >= || ~ ~* !~ !~* ~~ ~~* !~~ !~~* && @> <@ -> ->> & |
		<< >> |/ ||/ @ ? ?| ?& -|- &< &> BETWEEN`)
	// keptTypes may be cast to.
	keptTypes = words(`bool bpchar bytea float4 float8 int2 int4 int8 int4range int8range interval json jsonb name numeric numrange text uuid varchar`)
	// momentTypes are those whose input reads words such as "today"; see namesTime in package
	// proxy. Texts that are not in the statement itself are not inspected, so they must not be
	// converted to one of these types.
	momentTypes = words(`date timestamp timestamptz daterange tsrange tstzrange`)
)

// Settings that a session may change, and what they mean for answers.
var (
	// keyedSettings are part of what an answer is of.
	keyedSettings = []string{
		"array_nulls", "bytea_output", "client_encoding", "client_min_messages", "datestyle", "escape_string_warning", "extra_float_digits",
		"intervalstyle", "lc_monetary", "lc_numeric", "lc_time", "quote_all_identifiers", "timezone", "xmlbinary", "xmloption",
	}
)

// cacheSetting turns kept answers off for a session. To the server it is a setting of an extension that
// it does not have, which it keeps as any other.
const cacheSetting = "kproxy.cache"

// look is the query that proxy.Statement.Look describes, for a statement that reads some tables, each by
// its target.
func look(tables []catalog.Name, target func(catalog.Name) catalog.Name) string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, name := range tables {
		if i > 0 {
			b.WriteString(" || ' ' || ")
		}
		b.WriteString("(SELECT m.mark::pg_catalog.text FROM " + catalog.CatalogSchema + ".mark m WHERE m.table_schema = " + catalog.QuoteLiteral(name.Schema) +
			" AND m.table_name = " + catalog.QuoteLiteral(name.Relation) +
			" AND pg_catalog.has_table_privilege(" + catalog.QuoteLiteral(target(name).SQL()) + ", 'SELECT'))")
	}
	b.WriteString(", pg_catalog.concat_ws('|', current_user")
	for _, setting := range keyedSettings {
		b.WriteString(", pg_catalog.current_setting('" + setting + "')")
	}
	b.WriteString("), CASE WHEN pg_catalog.lower(pg_catalog.current_setting('" + cacheSetting + "', true)) IN ('off', 'false', 'no', '0') THEN 'off' END" +
		", pg_catalog.current_setting('statement_timeout')")
	return b.String()
}

// keeping finds out whether the answers to a statement may be kept. It looks at the tree that is sent,
// and at no value of a constant.
type keeping struct {
	refuses bool
	tables  map[catalog.Name]bool // published ones that may be read
	zoned   bool                  // a time zone is applied to something
	bound   bool                  // there are parameters
}

// lookAt is the look for the checked tree of a text; "" where its answers are not kept.
func (c *statements) lookAt(tree *pg.ParseResult) string {
	names, result := c.w.names, c.w.result
	if len(tree.GetStmts()) != 1 || len(names.reads) == 0 || names.unmarked || len(names.calls) > 0 ||
		result.Effects != nil || result.Plans || result.Uses != nil || result.Makes != nil {
		return ""
	}
	n := tree.GetStmts()[0].GetStmt().GetSelectStmt()
	if n == nil {
		return ""
	}
	target := func(name catalog.Name) catalog.Name { return names.snapshot.Resolve(name.Schema, name.Relation).Target }
	k := keeping{tables: make(map[catalog.Name]bool)}
	for _, name := range names.reads {
		k.tables[target(name)] = true
	}
	k.visit(n.ProtoReflect())
	// A parameter may be a time of day, whose zone depends on the day.
	if k.refuses || k.zoned && k.bound {
		return ""
	}
	return look(names.reads, target)
}

// visit looks at a message of the tree and at all that it holds.
func (k *keeping) visit(m protoreflect.Message) {
	if k.refuses {
		return
	}
	switch n := m.Interface().(type) {
	case *pg.Node: // what is inside follows
	case *pg.ColumnRef:
		return // a column, or a row as an argument of a function, none of which has a memory
	case *pg.FuncCall:
		k.call(n)
	case *pg.A_Expr:
		k.operator(n.GetName())
	case *pg.SubLink:
		k.operator(n.GetOperName())
	case *pg.SortBy:
		k.operator(n.GetUseOp())
	case *pg.TypeCast:
		k.cast(n)
		if !k.refuses && n.GetArg() != nil {
			k.visit(n.GetArg().ProtoReflect())
		}
		return
	case *pg.CollateClause:
	case *pg.ParamRef:
		k.bound = true
	case *pg.RangeVar:
		// What has no schema is a common table expression.
		read := catalog.Name{Schema: n.GetSchemaname(), Relation: n.GetRelname()}
		k.refuses = k.refuses || read.Schema != "" && !k.tables[read]
	case *pg.A_Indirection:
		k.indirection(n)
	default:
		k.refuses = k.refuses || !keptNodes[string(m.Descriptor().Name())]
	}
	_ = each(m, func(inner protoreflect.Message) error { k.visit(inner); return nil })
}

// call allows functions of the list.
func (k *keeping) call(n *pg.FuncCall) {
	parts := names(n.GetFuncname())
	if len(parts) != 2 || parts[0] != "pg_catalog" || !keptFunctions[parts[1]] {
		k.refuses = true
		return
	}
	k.zoned = k.zoned || parts[1] == "timezone"
}

// operator allows operators of the list, which are PostgreSQL's own.
func (k *keeping) operator(name []*pg.Node) {
	if len(name) == 0 {
		return
	}
	last := lastName(name)
	k.refuses = k.refuses || !keptOperators[last] && !strings.Contains(last, "BETWEEN")
}

// cast allows types of the list, and those of moments for what stands in the statement.
func (k *keeping) cast(n *pg.TypeCast) {
	parts := names(n.GetTypeName().GetNames())
	if len(parts) != 2 || parts[0] != "pg_catalog" || n.GetTypeName().GetSetof() || n.GetTypeName().GetPctType() {
		k.refuses = true
		return
	}
	constant := isConstant(n.GetArg()) || n.GetArg().GetParamRef() != nil
	k.refuses = k.refuses || !keptTypes[parts[1]] && (!momentTypes[parts[1]] || !constant)
}

// indirection allows elements of arrays. A name behind a dot may be a function.
func (k *keeping) indirection(n *pg.A_Indirection) {
	for _, of := range n.GetIndirection() {
		k.refuses = k.refuses || of.GetAIndices() == nil
	}
}
