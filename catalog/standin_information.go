package catalog

import "strings"

// The views of information_schema show by themselves only what the session has a
// privilege on. Their stand-ins read them; the set-up script puts the source
// schema's name in the place of a release schema's, and the client's name of the
// database in the place of the server's, in every column that holds one, and
// leaves out rows that name kproxy's other schemas.

// builtIn asks whether a column names a schema of PostgreSQL's own.
func builtIn(column string) string {
	return column + "::text IN ('pg_catalog', '" + informationSchema + "')"
}

// shownTypeName is shownType for a type given by its names.
func shownTypeName(schema, name string) string {
	return "(" + builtIn(schema) + " OR (" + schema + "::text, " + name + "::text) IN (" +
		"SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace" +
		" WHERE t.oid IN (SELECT " + CatalogSchema + ".shown_types())))"
}

// shownElement asks of the object that a type descriptor belongs to.
var shownElement = "CASE c.object_type::text WHEN 'TABLE' THEN true WHEN 'ROUTINE' THEN " + builtIn("c.object_schema") +
	" ELSE " + shownTypeName("c.object_schema", "c.object_name") + " END"

// schemaOwner is whom a privilege seems to come from: see shownOwner.
func schemaOwner(schema string) string {
	return "(SELECT pg_catalog.pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname::text = " +
		"CASE WHEN pg_catalog.starts_with(" + schema + "::text, " + ownPrefix + ") THEN " + withoutPrefix(schema) +
		" ELSE " + schema + "::text END)::information_schema.sql_identifier"
}

const (
	noCharacters = "NULL::information_schema.character_data"
	noName       = "NULL::information_schema.sql_identifier"
	no           = "'NO'::information_schema.yes_or_no"
)

func informationStandIns() []StandIn {
	info := func(relation, filter string, replace map[string]string) StandIn {
		return StandIn{Of: Name{informationSchema, relation}, Filter: filter, Replace: replace}
	}
	granted := func(relation, schema string, filter string) StandIn {
		replace := map[string]string{"grantor": schemaOwner("c." + schema)}
		if schema == "table_schema" { // what the session reads by a stand-in, it seems to read itself
			replace["privilege_type"] = "CASE c.privilege_type::text WHEN 'REFERENCES' THEN 'SELECT' ELSE c.privilege_type::text END"
			if strings.Contains(relation, "table") { // others do not have the column
				replace["with_hierarchy"] = "CASE WHEN c.privilege_type::text IN ('SELECT', 'REFERENCES') THEN 'YES' ELSE 'NO' END"
			}
		}
		return info(relation, filter, replace)
	}
	// The foreign keys among the constraints are named by those alone.
	hiddenKey := "NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace" +
		" WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text" +
		" AND NOT " + noneOrReadable("k.confrelid") + ")"
	standIns := []StandIn{
		{
			Of: Name{informationSchema, "schemata"}, From: CatalogSchema + ".pg_namespace AS c",
			Filter: "c.nspname <> 'pg_toast'", // which no reader may use
			Replace: map[string]string{
				"catalog_name": CatalogSchema + ".database_name()", "schema_name": "c.nspname", "schema_owner": userName("c.nspowner"),
			},
		},
		info("tables", "", map[string]string{"is_insertable_into": no}),
		info("columns", "", map[string]string{"is_updatable": no}),
		info("views", "", map[string]string{
			"view_definition": noCharacters, "is_updatable": no, "is_insertable_into": no,
			"is_trigger_updatable": no, "is_trigger_deletable": no, "is_trigger_insertable_into": no,
		}),
		info("sequences", "", nil),
		info("table_constraints", hiddenKey, nil),
		info("key_column_usage", hiddenKey, nil),
		info("referential_constraints", hiddenKey, nil),
		info("constraint_column_usage", hiddenKey, nil),
		info("constraint_table_usage", hiddenKey, nil),
		info("check_constraints", "", nil),
		info("triggers", "", map[string]string{
			"action_statement": noCharacters, "action_condition": noCharacters,
			// Among those that are shown.
			"action_order": "pg_catalog.rank() OVER (PARTITION BY c.event_object_schema, c.event_object_table, c.event_manipulation, c.action_timing, c.action_orientation" +
				" ORDER BY c.trigger_name)",
		}),
		info("triggered_update_columns", "", nil),
		info("column_column_usage", "", nil),
		granted("table_privileges", "table_schema", ""),
		granted("role_table_grants", "table_schema", ""),
		granted("column_privileges", "table_schema", ""),
		granted("role_column_grants", "table_schema", ""),
		info("routines", builtIn("c.specific_schema"), map[string]string{"routine_definition": noCharacters}),
		info("parameters", builtIn("c.specific_schema"), nil),
		info("routine_privileges", builtIn("c.specific_schema"), nil),
		info("role_routine_grants", builtIn("c.specific_schema"), nil),
		info("domains", shownTypeName("c.domain_schema", "c.domain_name"), nil),
		info("domain_constraints", shownTypeName("c.domain_schema", "c.domain_name"), nil),
		info("domain_udt_usage", shownTypeName("c.domain_schema", "c.domain_name"), nil),
		info("column_domain_usage", "", nil),
		info("column_udt_usage", "", nil),
		info("user_defined_types", shownTypeName("c.user_defined_type_schema", "c.user_defined_type_name"), nil),
		info("attributes", shownTypeName("c.udt_schema", "c.udt_name"), nil),
		granted("udt_privileges", "udt_schema", shownTypeName("c.udt_schema", "c.udt_name")),
		granted("role_udt_grants", "udt_schema", shownTypeName("c.udt_schema", "c.udt_name")),
		info("data_type_privileges", shownElement, nil),
		info("element_types", shownElement, nil),
		info("usage_privileges", builtIn("c.object_schema"), nil),
		info("role_usage_grants", builtIn("c.object_schema"), nil),
		info("collations", builtIn("c.collation_schema"), nil),
		info("collation_character_set_applicability", builtIn("c.collation_schema"), nil),
		info("character_sets", "", map[string]string{ // one that fits, be it of whatever schema
			"default_collate_catalog": noName, "default_collate_schema": noName, "default_collate_name": noName,
		}),
		info("information_schema_catalog_name", "", nil),
	}
	return append(standIns, empty(informationSchema, `view_table_usage view_column_usage view_routine_usage
		check_constraint_routine_usage routine_column_usage routine_routine_usage routine_sequence_usage routine_table_usage
		transforms column_options foreign_data_wrapper_options foreign_data_wrappers foreign_server_options foreign_servers
		foreign_table_options foreign_tables user_mapping_options user_mappings`)...)
}
