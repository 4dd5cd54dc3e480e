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

// temporaryStatement handles the statements about temporary tables.
func (w *walker) temporaryStatement(n *pg.Node) (handled bool, err error) {
	if !w.temporaryTables {
		return false, nil
	}
	switch s := n.GetNode().(type) {
	case *pg.Node_CreateStmt:
		return true, w.createTable(s.CreateStmt)
	case *pg.Node_CreateTableAsStmt:
		return true, w.createTableAs(s.CreateTableAsStmt)
	case *pg.Node_SelectStmt:
		if into := intoClause(s.SelectStmt); into != nil && *into != nil {
			return true, w.selectInto(s.SelectStmt, into)
		}
	case *pg.Node_InsertStmt:
		return true, w.insert(s.InsertStmt)
	case *pg.Node_UpdateStmt:
		return true, w.update(s.UpdateStmt)
	case *pg.Node_DeleteStmt:
		return true, w.deleteFrom(s.DeleteStmt)
	case *pg.Node_TruncateStmt:
		return true, w.truncate(s.TruncateStmt)
	case *pg.Node_DropStmt:
		return true, w.dropTable(s.DropStmt)
	case *pg.Node_IndexStmt:
		return true, w.createIndex(s.IndexStmt)
	case *pg.Node_VacuumStmt:
		return true, w.analyze(s.VacuumStmt)
	}
	return false, nil
}

// onlyFields refuses a node that has anything but these fields, by their names in
// pg_query.proto: the deparser may not expect it, or nobody has thought of it.
func onlyFields(m protoreflect.Message, allowed string) error {
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

// newTemporary makes a name that of a temporary table that is to be made.
func (w *walker) newTemporary(n *pg.RangeVar, onCommit pg.OnCommitAction) error {
	if err := w.sameDatabase(n.GetCatalogname(), n.GetLocation()); err != nil {
		return err
	}
	switch {
	case n.GetRelpersistence() != "t" && n.GetSchemaname() != temporarySchema:
		return refuseVerb("CREATE TABLE", temporaryHint)
	case n.GetSchemaname() != "" && n.GetSchemaname() != temporarySchema:
		return refuse(InvalidTable, "", "cannot create temporary relation in non-temporary schema").at(n.GetLocation())
	case n.GetRelname() == "bpchar":
		// Its row type would be found first where the deparser leaves the schema out.
		return refuse(NotSupported, "Choose another name.", "kproxy does not support a temporary table of this name").at(n.GetLocation())
	case len(w.session.temporary) >= maxTemporaryTables:
		return refuse(SessionLimit, "Drop some.", "more than %d temporary tables in one session", maxTemporaryTables)
	}
	n.Catalogname, n.Schemaname, n.Relpersistence = "", temporarySchema, "t"
	w.effect = makeTemporary{name: n.GetRelname(), dropped: onCommit == pg.OnCommitAction_ONCOMMIT_DROP}
	return nil
}

func (w *walker) createTable(n *pg.CreateStmt) error {
	if err := onlyFields(n.ProtoReflect(), "relation table_elts oncommit if_not_exists"); err != nil {
		return err
	}
	if err := w.newTemporary(n.GetRelation(), n.GetOncommit()); err != nil {
		return err
	}
	for _, element := range n.GetTableElts() {
		var err error
		switch e := element.GetNode().(type) {
		case *pg.Node_ColumnDef:
			err = w.columnDefinition(e.ColumnDef)
		case *pg.Node_Constraint:
			err = w.constraint(e.Constraint)
		default:
			err = refuse(NotSupported, "Write CREATE TEMPORARY TABLE ... AS SELECT ... instead.",
				"kproxy supports columns and constraints in CREATE TABLE only")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// serialTypes are no types, but short for a sequence (transformColumnDefinition).
var serialTypes = words("serial bigserial smallserial serial2 serial4 serial8")

func (w *walker) columnDefinition(n *pg.ColumnDef) error {
	if err := onlyFields(n.ProtoReflect(), "colname type_name is_local coll_clause constraints"); err != nil {
		return err
	}
	if parts := names(n.GetTypeName().GetNames()); len(parts) == 1 && serialTypes[parts[0]] {
		return refuse(NotSupported, "Declare an integer, and number rows by row_number() OVER ().",
			"kproxy does not support columns of type %s: they draw on a sequence", parts[0]).at(n.GetTypeName().GetLocation())
	}
	if err := w.visit(n.GetTypeName().ProtoReflect(), nil); err != nil {
		return err
	}
	if builtinName(n.GetTypeName()) == "" {
		// A release is replaced together with its row type: a column of it would go, too.
		return refuse(NotSupported, "Use built-in types.", "kproxy supports built-in types in temporary tables only").
			at(n.GetTypeName().GetLocation())
	}
	if n.GetCollClause() != nil {
		if err := w.visit(n.GetCollClause().ProtoReflect(), nil); err != nil {
			return err
		}
	}
	for _, constraint := range n.GetConstraints() {
		if err := w.constraint(constraint.GetConstraint()); err != nil {
			return err
		}
	}
	return nil
}

// constraint allows those that look at one table. Foreign keys ask for rights on
// another, and exclusion constraints for operator classes.
func (w *walker) constraint(n *pg.Constraint) error {
	switch n.GetContype() {
	case pg.ConstrType_CONSTR_NULL, pg.ConstrType_CONSTR_NOTNULL, pg.ConstrType_CONSTR_DEFAULT, pg.ConstrType_CONSTR_CHECK,
		pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE:
	default:
		return refuse(NotSupported, "NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE are allowed.",
			"kproxy does not support this constraint").at(n.GetLocation())
	}
	if err := onlyFields(n.ProtoReflect(), "contype conname raw_expr keys initially_valid nulls_not_distinct"); err != nil {
		return err
	}
	w.named = false
	return w.node(n.GetRawExpr(), nil)
}

func (w *walker) createTableAs(n *pg.CreateTableAsStmt) error {
	if n.GetObjtype() != pg.ObjectType_OBJECT_TABLE {
		return refuseVerb("CREATE MATERIALIZED VIEW", temporaryHint)
	}
	if err := w.into(n.GetInto()); err != nil {
		return err
	}
	if execute := n.GetQuery().GetExecuteStmt(); execute != nil {
		return w.execute(execute)
	}
	return w.query(n.GetQuery(), "CREATE TABLE AS")
}

func (w *walker) into(n *pg.IntoClause) error {
	if err := onlyFields(n.ProtoReflect(), "rel col_names on_commit skip_data"); err != nil {
		return err
	}
	return w.newTemporary(n.GetRel(), n.GetOnCommit())
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

func (w *walker) selectInto(n *pg.SelectStmt, into **pg.IntoClause) error {
	clause := *into
	if err := w.into(clause); err != nil {
		return err
	}
	*into = nil
	defer func() { *into = clause }()
	return w.selectStmt(n, nil)
}

// changed makes a name that of an existing temporary table, or refuses what changes
// any other.
func (w *walker) changed(n *pg.RangeVar) error {
	if err := w.sameDatabase(n.GetCatalogname(), n.GetLocation()); err != nil {
		return err
	}
	if err := w.changeable(n.GetSchemaname(), n.GetRelname()); err != nil {
		return err.at(n.GetLocation())
	}
	n.Catalogname, n.Schemaname = "", temporarySchema
	return nil
}

// changeable says that a name means a temporary table of the session.
func (w *walker) changeable(schema, relation string) *Refusal {
	r := w.lookup(schema, relation)
	if r.Source.Schema == temporarySchema && r.Disposition == catalog.Readable {
		return nil
	}
	if r.Disposition == catalog.Missing {
		_, missing := w.resolve(schema, relation)
		return missing
	}
	return refuse(ReadOnly, temporaryHint, "permission denied for table %s", relation)
}

// changing begins the scope of a statement that changes a table: its WITH clause, its
// target, and what it reads besides.
func (w *walker) changing(with *pg.WithClause, target *pg.RangeVar, from []*pg.Node) (*scope, error) {
	if err := w.changed(target); err != nil {
		return nil, err
	}
	s := &scope{}
	if err := w.with(with, s); err != nil {
		return nil, err
	}
	w.collect(&pg.Node{Node: &pg.Node_RangeVar{RangeVar: target}}, s)
	for _, item := range from {
		w.collect(item, s)
	}
	return s, nil
}

// each walks lists of nodes under the same names; what they give may be shown.
func (w *walker) each(s *scope, lists ...[]*pg.Node) error {
	for _, n := range slices.Concat(lists...) {
		w.named = true
		if err := w.node(n, s); err != nil {
			return err
		}
	}
	return nil
}
