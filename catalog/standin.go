package catalog

import (
	"slices"
	"strings"
)

// StandIn replaces a system relation that would show more than the published
// schema: the same columns in the same order, each as in the system relation
// itself but for those that Replace names. Its expressions are evaluated with the
// reader's privileges. On servers without the system relation there is none.
type StandIn struct {
	Of Name
	// From is the FROM clause. Empty means the system relation under the alias c.
	// With another one, a column that Replace does not name is NULL.
	From string
	// Filter tells which rows there are. Empty means all.
	Filter string
	// Replace gives other expressions for some columns.
	Replace map[string]string
	// Added are further rows.
	Added []Addition
}

// Name is the stand-in's own name inside CatalogSchema.
func (s StandIn) Name() Name { return Name{Schema: CatalogSchema, Relation: standInRelation(s.Of)} }

func standInRelation(of Name) string {
	if of.Schema == informationSchema {
		return informationSchema + "_" + of.Relation
	}
	return of.Relation
}

const informationSchema = "information_schema"

// StandIns are the system relations that clients read through a filter, those
// before others that are made from them.
func StandIns() []StandIn {
	return withKeys(withParts(slices.Concat(objectStandIns(), builtinStandIns(), listingStandIns(), activityStandIns(), informationStandIns())))
}

// system makes the stand-in for a relation of pg_catalog that shows some rows.
func system(relation, filter string, replace map[string]string) StandIn {
	return StandIn{Of: Name{"pg_catalog", relation}, Filter: filter, Replace: replace}
}

// empty makes stand-ins without rows for what clients may ask about and never
// learn.
func empty(schema, relations string) []StandIn {
	var standIns []StandIn
	for relation := range strings.FieldsSeq(relations) {
		standIns = append(standIns, StandIn{Of: Name{schema, relation}, From: "(SELECT) AS c", Filter: "false"})
	}
	return standIns
}

// firstUserOID is the first identifier of an object that initdb did not make
// (FirstNormalObjectId of PostgreSQL's access/transam.h).
const firstUserOID = "16384"

// readable asks whether the session may read the relation that a column names,
// and so may know of it. Of the relation behind a stand-in for a readable one it has
// REFERENCES alone, and is shown that, not the stand-in. Stand-ins carry REFERENCES, too,
// which does nothing on a view, so that the look-up behind is_stand_in is spared for all
// others.
func readable(column string) string {
	return "CASE WHEN pg_catalog.has_table_privilege(" + column + ", 'SELECT') THEN " + column + " < " + firstUserOID +
		" OR NOT pg_catalog.has_table_privilege(" + column + ", 'REFERENCES') OR NOT " + CatalogSchema + ".is_stand_in(" + column + ")" +
		" ELSE pg_catalog.has_table_privilege(" + column + ", 'REFERENCES') END"
}

// visible is readable for columns that may also name an index, which has no
// privileges of its own: it is visible with its table.
func visible(column string) string {
	return "CASE WHEN pg_catalog.has_table_privilege(" + column + ", 'SELECT, REFERENCES') THEN " + readable(column) +
		" ELSE EXISTS (SELECT FROM pg_catalog.pg_index own WHERE own.indexrelid = " + column + " AND " + readable("own.indrelid") +
		" AND NOT " + namesHidden("pg_class", "own.indexrelid") + ") END"
}

// ofShownComposite asks whether a column names what a composite type that the session
// may know of is in pg_class: its attributes are columns of that. The row types of
// tables are no such types, whatever column has one. CASE keeps the look-up for when
// there is a composite type at all; like shownType, it does not depend on the row.
func ofShownComposite(column string) string {
	return column + " IN (SELECT composite.oid FROM pg_catalog.pg_class composite WHERE CASE composite.relkind WHEN 'c' THEN " +
		shownType("composite.reltype") + " ELSE false END)"
}

// noneOrReadable asks of a column that may name a relation.
func noneOrReadable(column string) string {
	return "(" + column + " = 0 OR " + readable(column) + ")"
}

// shownType asks whether the session may know of the type: PostgreSQL's own, or
// one of a visible column. The sub-query does not depend on the row, so that the
// server runs it once a query at most.
func shownType(column string) string {
	return "(" + column + " < " + firstUserOID + " OR " + column + " IN (SELECT " + CatalogSchema + ".shown_types()))"
}

// releasedBy finds the schema whose release schema a column names, as a sub-query
// for one of its columns that is NULL where there is none.
func releasedBy(namespace, column string) string {
	return "(SELECT source." + column + " FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source" +
		" ON source.nspname = " + withoutPrefix("released.nspname") + "::pg_catalog.name" +
		" WHERE released.oid = " + namespace + " AND pg_catalog.starts_with(released.nspname::text, " + ownPrefix + "))"
}

// ownPrefix is how the names of the release schemas begin that are the session's own: those of its
// audience.
const ownPrefix = CatalogSchema + ".release_prefix()"

func withoutPrefix(schema string) string {
	return "pg_catalog.substr(" + schema + "::text, pg_catalog.length(" + ownPrefix + ") + 1)"
}

// sourceNamespace is the schema that clients know an object's under.
func sourceNamespace(column string) string {
	return "CASE WHEN " + column + " < " + firstUserOID + " THEN " + column +
		" ELSE coalesce(" + releasedBy(column, "oid") + ", " + column + ") END"
}

// shownOwner is who owns an object as far as clients learn: the owner of its
// schema. kproxy's own role is no part of the published schema, and whoever else
// made a table is nobody's business.
func shownOwner(oid, namespace, owner string) string {
	return "CASE WHEN " + oid + " < " + firstUserOID + " THEN " + owner + " ELSE coalesce(" + releasedBy(namespace, "nspowner") +
		", (SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = " + namespace + ")) END"
}

// ownRole is the session's role.
const ownRole = "(SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)"

// ownPrivileges are those of an access control list that the session has itself:
// the others' names and rights are theirs. What it reads by a stand-in, it seems to read
// itself.
func ownPrivileges(acl, owner string) string {
	return "(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, " + owner + "," +
		" CASE item.privilege_type WHEN 'REFERENCES' THEN 'SELECT' ELSE item.privilege_type END, item.is_grantable))" +
		" FROM pg_catalog.aclexplode(" + acl + ") AS item WHERE item.grantee IN (0, " + ownRole + "))"
}
