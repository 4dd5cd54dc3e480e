package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// What may be done with a session's own temporary tables, where the operator allows
// them. Every statement names them as pg_temp.name, so that none can reach another
// table.

// maxTemporaryTables bounds the temporary tables of a session.
const maxTemporaryTables = 200

const temporaryHint = "Only temporary tables can be made and changed: CREATE TEMPORARY TABLE."

// temporaryStatements checks the statements about the session's temporary tables.
type temporaryStatements struct{ w *walker }

// statement checks a statement if it is about temporary tables.
func (t *temporaryStatements) statement(n *pg.Node) (handled bool, effect Effect, err error) {
	switch s := n.GetNode().(type) {
	case *pg.Node_CreateStmt:
		effect, err = t.createTable(s.CreateStmt)
	case *pg.Node_CreateTableAsStmt:
		effect, err = t.createTableAs(s.CreateTableAsStmt)
	case *pg.Node_SelectStmt:
		into := intoClause(s.SelectStmt)
		if into == nil || *into == nil {
			return false, nil, nil
		}
		effect, err = t.selectInto(s.SelectStmt, into)
	case *pg.Node_InsertStmt:
		err = t.insert(s.InsertStmt)
	case *pg.Node_UpdateStmt:
		err = t.update(s.UpdateStmt)
	case *pg.Node_DeleteStmt:
		err = t.deleteFrom(s.DeleteStmt)
	case *pg.Node_TruncateStmt:
		err = t.truncate(s.TruncateStmt)
	case *pg.Node_DropStmt:
		effect, err = t.dropTable(s.DropStmt)
	case *pg.Node_IndexStmt:
		err = t.createIndex(s.IndexStmt)
	case *pg.Node_VacuumStmt:
		err = t.analyze(s.VacuumStmt)
	default:
		return false, nil, nil
	}
	return true, effect, err
}

// allowFields refuses a node that has anything but these fields, by their names in
// pg_query.proto: the deparser may not expect it, or nobody has thought of it.
func allowFields(m protoreflect.Message, allowed string) error {
	known := words(allowed)
	for i := range m.Descriptor().Fields().Len() { // in order: Range has none
		field := m.Descriptor().Fields().Get(i)
		if m.Has(field) && !known[string(field.Name())] && field.Name() != "location" {
			return refuse(NotSupported, "Temporary tables have columns, NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE.",
				"kproxy does not support %s here", strings.ReplaceAll(string(field.Name()), "_", " "))
		}
	}
	return nil
}

// create qualifies the name of a temporary table that is to be made.
func (t *temporaryStatements) create(n *pg.RangeVar, onCommit pg.OnCommitAction) (Effect, error) {
	if err := t.w.names.allowDatabase(n.GetCatalogname(), n.GetLocation()); err != nil {
		return nil, err
	}
	switch {
	case n.GetRelpersistence() != "t" && n.GetSchemaname() != temporarySchema:
		return nil, refuseVerb("CREATE TABLE", temporaryHint)
	case n.GetSchemaname() != "" && n.GetSchemaname() != temporarySchema:
		return nil, refuse(InvalidTable, "", "cannot create temporary relation in non-temporary schema").at(n.GetLocation())
	case n.GetRelname() == "bpchar":
		// Its row type would be found first where the deparser leaves the schema out.
		return nil, refuse(NotSupported, "Choose another name.", "kproxy does not support a temporary table of this name").at(n.GetLocation())
	case len(t.w.names.session.temporary) >= maxTemporaryTables:
		return nil, refuse(SessionLimit, "Drop some.", "more than %d temporary tables in one session", maxTemporaryTables)
	}
	n.Catalogname, n.Schemaname, n.Relpersistence = "", temporarySchema, "t"
	return makeTemporary{name: n.GetRelname(), dropped: onCommit == pg.OnCommitAction_ONCOMMIT_DROP}, nil
}

func (t *temporaryStatements) createTable(n *pg.CreateStmt) (Effect, error) {
	if err := allowFields(n.ProtoReflect(), "relation table_elts oncommit if_not_exists"); err != nil {
		return nil, err
	}
	effect, err := t.create(n.GetRelation(), n.GetOncommit())
	if err != nil {
		return nil, err
	}
	for _, element := range n.GetTableElts() {
		switch e := element.GetNode().(type) {
		case *pg.Node_ColumnDef:
			err = t.columnDefinition(e.ColumnDef)
		case *pg.Node_Constraint:
			err = t.constraint(e.Constraint)
		default:
			err = refuse(NotSupported, "Write CREATE TEMPORARY TABLE ... AS SELECT ... instead.",
				"kproxy supports columns and constraints in CREATE TABLE only")
		}
		if err != nil {
			return nil, err
		}
	}
	return effect, nil
}

// serialTypes are no types, but short for a sequence (transformColumnDefinition).
var serialTypes = words("serial bigserial smallserial serial2 serial4 serial8")

func (t *temporaryStatements) columnDefinition(n *pg.ColumnDef) error {
	if err := allowFields(n.ProtoReflect(), "colname type_name is_local coll_clause constraints"); err != nil {
		return err
	}
	if parts := names(n.GetTypeName().GetNames()); len(parts) == 1 && serialTypes[parts[0]] {
		return refuse(NotSupported, "Declare an integer, and number rows by row_number() OVER ().",
			"kproxy does not support columns of type %s: they draw on a sequence", parts[0]).at(n.GetTypeName().GetLocation())
	}
	if err := t.w.visit(n.GetTypeName().ProtoReflect(), nil); err != nil {
		return err
	}
	if builtinName(n.GetTypeName()) == "" {
		// A release is replaced together with its row type: a column of it would go, too.
		return refuse(NotSupported, "Use built-in types.", "kproxy supports built-in types in temporary tables only").
			at(n.GetTypeName().GetLocation())
	}
	if n.GetCollClause() != nil {
		if err := t.w.visit(n.GetCollClause().ProtoReflect(), nil); err != nil {
			return err
		}
	}
	for _, constraint := range n.GetConstraints() {
		if err := t.constraint(constraint.GetConstraint()); err != nil {
			return err
		}
	}
	return nil
}

// constraint allows those that look at one table. Foreign keys ask for rights on
// another, and exclusion constraints for operator classes.
func (t *temporaryStatements) constraint(n *pg.Constraint) error {
	switch n.GetContype() {
	case pg.ConstrType_CONSTR_NULL, pg.ConstrType_CONSTR_NOTNULL, pg.ConstrType_CONSTR_DEFAULT, pg.ConstrType_CONSTR_CHECK,
		pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE:
	default:
		return refuse(NotSupported, "NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE are allowed.",
			"kproxy does not support this constraint").at(n.GetLocation())
	}
	if err := allowFields(n.ProtoReflect(), "contype conname raw_expr keys initially_valid nulls_not_distinct"); err != nil {
		return err
	}
	t.w.shown = false
	return t.w.node(n.GetRawExpr(), nil)
}

func (t *temporaryStatements) createTableAs(n *pg.CreateTableAsStmt) (Effect, error) {
	if n.GetObjtype() != pg.ObjectType_OBJECT_TABLE {
		return nil, refuseVerb("CREATE MATERIALIZED VIEW", temporaryHint)
	}
	effect, err := t.into(n.GetInto())
	if err != nil {
		return nil, err
	}
	if execute := n.GetQuery().GetExecuteStmt(); execute != nil {
		return effect, t.w.execute(execute)
	}
	return effect, t.w.stored(n.GetQuery(), "CREATE TABLE AS")
}

func (t *temporaryStatements) into(n *pg.IntoClause) (Effect, error) {
	if err := allowFields(n.ProtoReflect(), "rel col_names on_commit skip_data"); err != nil {
		return nil, err
	}
	return t.create(n.GetRel(), n.GetOnCommit())
}

// intoClause is where a query's INTO stands: in the first arm of set operations.
func intoClause(n *pg.SelectStmt) **pg.IntoClause {
	for n.GetLarg() != nil {
		n = n.GetLarg()
	}
	if n == nil {
		return nil
	}
	return &n.IntoClause
}

func (t *temporaryStatements) selectInto(n *pg.SelectStmt, into **pg.IntoClause) (Effect, error) {
	clause := *into
	effect, err := t.into(clause)
	if err != nil {
		return nil, err
	}
	*into = nil
	defer func() { *into = clause }()
	return effect, t.w.selectStmt(n, nil)
}

// qualify gives the name of an existing temporary table its schema, or refuses what changes
// any other.
func (t *temporaryStatements) qualify(n *pg.RangeVar) error {
	if err := t.w.names.allowDatabase(n.GetCatalogname(), n.GetLocation()); err != nil {
		return err
	}
	if err := t.allowChange(n.GetSchemaname(), n.GetRelname()); err != nil {
		return err.at(n.GetLocation())
	}
	n.Catalogname, n.Schemaname = "", temporarySchema
	return nil
}

// allowChange refuses to change anything but a temporary table of the session.
func (t *temporaryStatements) allowChange(schema, relation string) *Refusal {
	r := t.w.names.relation(schema, relation)
	if r.Source.Schema == temporarySchema && r.Disposition == catalog.Readable {
		return nil
	}
	if r.Disposition == catalog.Missing {
		_, missing := t.w.names.read(schema, relation)
		return missing
	}
	return refuse(ReadOnly, temporaryHint, "permission denied for table %s", relation)
}

// scopeOf begins the scope of a statement that changes a table: its WITH clause, its
// target, and what it reads besides.
func (t *temporaryStatements) scopeOf(with *pg.WithClause, target *pg.RangeVar, from []*pg.Node) (*scope, error) {
	if err := t.qualify(target); err != nil {
		return nil, err
	}
	s := &scope{}
	if err := t.w.with(with, s); err != nil {
		return nil, err
	}
	t.w.collect(relationNode(target), s)
	for _, item := range from {
		t.w.collect(item, s)
	}
	return s, nil
}

// visitAll walks lists of nodes under the same names; what they give may be shown.
func (t *temporaryStatements) visitAll(s *scope, lists ...[]*pg.Node) error {
	for _, n := range slices.Concat(lists...) {
		t.w.shown = true
		if err := t.w.node(n, s); err != nil {
			return err
		}
	}
	return nil
}
