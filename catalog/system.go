package catalog

import (
	"slices"
	"strings"
)

// StandIn replaces a system relation that would show more than the published
// schema: the same columns, with a filter on what the session may read. The
// expressions are evaluated with the reader's privileges.
type StandIn struct {
	Of     Name
	Filter string
	// Replace gives other expressions for some columns.
	Replace map[string]string
}

// Name is the stand-in's own name inside CatalogSchema.
func (s StandIn) Name() Name { return Name{Schema: CatalogSchema, Relation: standInRelation(s.Of)} }

func standInRelation(of Name) string {
	if of.Schema == "information_schema" {
		return "information_schema_" + of.Relation
	}
	return of.Relation
}

// sourceSchema shows a release schema's name as that of the source schema.
func sourceSchema(column string) string {
	return "regexp_replace(" + column + "::text, '^" + releasePrefix + "', '')::information_schema.sql_identifier"
}

// firstUserOID is the first identifier of an object that initdb did not make
// (FirstNormalObjectId of PostgreSQL's access/transam.h).
const firstUserOID = "16384"

// shownType asks whether the session may know of the type: PostgreSQL's own, or
// one of a visible column. The sub-query does not depend on the row, so that the
// server runs it once a query at most.
func shownType(column string) string {
	return "(c." + column + " < " + firstUserOID + " OR c." + column + " IN (SELECT " + CatalogSchema + ".shown_types()))"
}

// noneOrVisible asks of a column that may name a relation.
func noneOrVisible(column string) string {
	return "(c." + column + " = 0 OR " + CatalogSchema + ".visible(c." + column + "))"
}

// StandIns are the system relations that clients read through a filter. The
// alias c is the system relation's row; kproxy_catalog.visible(oid) tells
// whether the session may read the relation or the relation of the index.
func StandIns() []StandIn {
	on := func(relation, column string) StandIn {
		return StandIn{Of: Name{"pg_catalog", relation}, Filter: CatalogSchema + ".visible(c." + column + ")"}
	}
	class := on("pg_class", "oid")
	class.Replace = map[string]string{
		"relnamespace": CatalogSchema + ".source_namespace(c.relnamespace)",
		"relpages":     "0",
		"reltuples":    "(-1)::real",
		// The age of a transaction counter tells of commits that are not shown.
		"relfrozenxid": "'0'::pg_catalog.xid",
		"relminmxid":   "'0'::pg_catalog.xid",
	}
	database := StandIn{Of: Name{"pg_catalog", "pg_database"}, Filter: "true", Replace: map[string]string{
		"datfrozenxid": "'0'::pg_catalog.xid",
		"datminmxid":   "'0'::pg_catalog.xid",
	}}
	rewrite := on("pg_rewrite", "ev_class")
	rewrite.Replace = map[string]string{"ev_qual": "NULL::pg_catalog.pg_node_tree", "ev_action": "NULL::pg_catalog.pg_node_tree"}
	trigger := on("pg_trigger", "tgrelid")
	trigger.Filter += " AND " + noneOrVisible("tgconstrrelid")
	inherits := on("pg_inherits", "inhrelid")
	inherits.Filter += " AND " + CatalogSchema + ".visible(c.inhparent)"
	notOwn := func(column string) string {
		return "c." + column + " NOT IN ('" + StoreSchema + "', '" + CatalogSchema + "') AND c." + column + " NOT LIKE '" +
			strings.ReplaceAll(releasePrefix, "_", `\_`) + "%'"
	}
	schemas := func(relation string) StandIn {
		return StandIn{
			Of:      Name{"information_schema", relation},
			Filter:  "c.table_schema <> '" + CatalogSchema + "'",
			Replace: map[string]string{"table_schema": sourceSchema("c.table_schema")},
		}
	}
	infoColumns := schemas("columns")
	infoColumns.Replace["udt_schema"] = sourceSchema("c.udt_schema")
	return []StandIn{
		class,
		database,
		on("pg_attribute", "attrelid"),
		on("pg_attrdef", "adrelid"),
		on("pg_index", "indrelid"),
		inherits,
		on("pg_policy", "polrelid"),
		on("pg_publication_rel", "prrelid"),
		trigger,
		on("pg_statistic_ext", "stxrelid"),
		rewrite,
		on("pg_foreign_table", "ftrelid"),
		on("pg_partitioned_table", "partrelid"),
		{
			Of: Name{"pg_catalog", "pg_constraint"},
			Filter: "CASE WHEN c.conrelid = 0 THEN " + shownType("contypid") + " ELSE " + CatalogSchema + ".visible(c.conrelid) END" +
				" AND " + noneOrVisible("confrelid"),
		},
		{
			Of: Name{"pg_catalog", "pg_description"},
			Filter: "c.objoid < " + firstUserOID +
				" OR (c.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND " + CatalogSchema + ".visible(c.objoid))",
		},
		{Of: Name{"pg_catalog", "pg_enum"}, Filter: shownType("enumtypid")},
		{
			Of:      Name{"pg_catalog", "pg_type"},
			Filter:  shownType("oid"),
			Replace: map[string]string{"typnamespace": CatalogSchema + ".source_namespace(c.typnamespace)"},
		},
		{
			Of:      Name{"pg_catalog", "pg_proc"},
			Filter:  "c.pronamespace = 'pg_catalog'::pg_catalog.regnamespace",
			Replace: map[string]string{"prosrc": "''::text", "probin": "NULL::text"},
		},
		{Of: Name{"pg_catalog", "pg_namespace"}, Filter: notOwn("nspname")},
		{Of: Name{"pg_catalog", "pg_settings"}, Filter: "c.name <> 'search_path'"},
		schemas("tables"),
		infoColumns,
		{
			// What psql asks of triggers on servers before PostgreSQL 15.
			Of: Name{"pg_catalog", "pg_depend"},
			Filter: "c.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass AND c.refclassid = c.classid" +
				" AND EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.oid = c.objid AND " + CatalogSchema + ".visible(t.tgrelid))" +
				" AND EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.oid = c.refobjid AND " + CatalogSchema + ".visible(t.tgrelid))",
		},
	}
}

// passedThrough are the system relations that say nothing about protected
// tables: types, operators, settings and the like.
var passedThrough = []string{
	"pg_aggregate", "pg_am", "pg_amop", "pg_amproc", "pg_auth_members", "pg_cast", "pg_collation", "pg_conversion",
	"pg_extension", "pg_language", "pg_opclass", "pg_operator", "pg_opfamily",
	"pg_publication", "pg_publication_namespace", "pg_range", "pg_roles",
	"pg_tablespace", "pg_timezone_abbrevs", "pg_timezone_names", "pg_ts_config", "pg_ts_dict",
	"pg_ts_parser", "pg_ts_template",
}

var systemTargets = func() map[Name]Name {
	targets := make(map[Name]Name)
	for _, relation := range passedThrough {
		name := Name{"pg_catalog", relation}
		targets[name] = name
	}
	for _, s := range StandIns() {
		targets[s.Of] = s.Name()
	}
	return targets
}()

func isSystem(schema string) bool {
	return slices.Contains([]string{"pg_catalog", "information_schema", "pg_toast"}, schema) ||
		strings.HasPrefix(schema, "pg_temp") || strings.HasPrefix(schema, "pg_toast_temp")
}

// resolveSystem resolves a name in a system schema. A relation that is neither
// passed through nor stood in for is Forbidden where its name is one of the
// system's, so that the refusal can say so.
func resolveSystem(name Name) Resolution {
	if target, ok := systemTargets[name]; ok {
		return Resolution{Disposition: SystemCatalog, Source: name, Target: target}
	}
	if name.Schema != "pg_catalog" || strings.HasPrefix(name.Relation, "pg_") {
		return Resolution{Disposition: Forbidden, Source: name}
	}
	return Resolution{Disposition: Missing, Source: name}
}
