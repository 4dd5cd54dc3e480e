package catalog

// part restricts a stand-in by what its rows are made of: an index of operator classes, a
// default of functions, a trigger of the function that it calls. A row whose definition
// would name what the session must not know of is left out; a column that is only one of
// many is 0 there.
type part struct {
	filter  string
	replace map[string]string
}

// withParts restricts the stand-ins by the parts of what they show.
func withParts(standIns []StandIn) []StandIn {
	parts := objectParts()
	for schema, of := range map[string]map[string]part{"pg_catalog": parts, informationSchema: informationParts()} {
		for i, s := range standIns {
			p, restricted := of[s.Of.Relation]
			if s.Of.Schema != schema || !restricted {
				continue
			}
			switch {
			case p.filter != "" && s.Filter != "":
				s.Filter = "(" + s.Filter + ") AND (" + p.filter + ")"
			case p.filter != "":
				s.Filter = p.filter
			}
			replace := make(map[string]string, len(s.Replace)+len(p.replace))
			for column, expression := range s.Replace {
				replace[column] = expression
			}
			for column, expression := range p.replace {
				replace[column] = expression
			}
			s.Replace = replace
			standIns[i] = s
		}
	}
	return standIns
}

// namesHidden asks whether the definition of an object names what the session must not know
// of. initdb's does not.
func namesHidden(catalog, oid string) string {
	return "CASE WHEN " + oid + " < " + firstUserOID + " THEN false ELSE " +
		CatalogSchema + ".names_hidden('pg_catalog." + catalog + "'::pg_catalog.regclass::pg_catalog.oid, " + oid + ") END"
}

// namesUnserved asks whether an object refers to a column of a readable relation that is not
// served.
func namesUnserved(catalog, oid string) string {
	return CatalogSchema + ".names_unserved('pg_catalog." + catalog + "'::pg_catalog.regclass::pg_catalog.oid, " + oid + ")"
}

// builtinElements are the numbers of an oidvector, 0 for those that are not PostgreSQL's own.
func builtinElements(column string) string {
	return "CASE WHEN " + firstUserOID + " > ALL (" + column + "::pg_catalog.oid[]) THEN " + column +
		" ELSE (SELECT pg_catalog.string_agg(CASE WHEN e.oid < " + firstUserOID + " THEN e.oid::text ELSE '0' END, ' ' ORDER BY e.place)" +
		" FROM pg_catalog.unnest(" + column + "::pg_catalog.oid[]) WITH ORDINALITY AS e(oid, place))::pg_catalog.oidvector END"
}

// builtinOrNull is an array of numbers, NULL if not all are PostgreSQL's own.
func builtinOrNull(column string) string {
	return "CASE WHEN " + firstUserOID + " > ALL (" + column + ") THEN " + column + " END"
}

// shownCollations are those of users that a visible column has.
const shownCollations = "(SELECT a.attcollation FROM " + CatalogSchema + ".pg_attribute a WHERE a.attcollation >= " + firstUserOID + ")"

func builtinOrNone(column string) string { return orNone(column, "false") }

func objectParts() map[string]part {
	collation := func(column string) string { return orNone(column, column+" IN "+shownCollations) }
	return map[string]part{
		"pg_class": {replace: map[string]string{
			"relam": builtinOrNone("c.relam"), "reloftype": orNone("c.reloftype", shownType("c.reloftype")),
		}},
		"pg_index":   {filter: "NOT " + namesHidden("pg_class", "c.indexrelid"), replace: map[string]string{"indclass": builtinElements("c.indclass")}},
		"pg_attrdef": {filter: "NOT " + namesHidden("pg_attrdef", "c.oid")},
		"pg_constraint": {
			filter: "NOT " + namesHidden("pg_constraint", "c.oid") + " AND (c.conindid < " + firstUserOID + " OR NOT " + namesHidden("pg_class", "c.conindid") + ")",
			replace: map[string]string{
				"conpfeqop": builtinOrNull("c.conpfeqop"), "conppeqop": builtinOrNull("c.conppeqop"),
				"conffeqop": builtinOrNull("c.conffeqop"), "conexclop": builtinOrNull("c.conexclop"),
				"conparentid": orNone("c.conparentid", "EXISTS (SELECT FROM pg_catalog.pg_constraint parent WHERE parent.oid = c.conparentid AND "+
					readable("parent.conrelid")+")"),
			},
		},
		"pg_trigger": {
			filter: "c.tgfoid < " + firstUserOID + " AND NOT " + namesHidden("pg_trigger", "c.oid"),
			replace: map[string]string{
				"tgparentid": orNone("c.tgparentid", "EXISTS (SELECT FROM pg_catalog.pg_trigger parent WHERE parent.oid = c.tgparentid AND "+
					readable("parent.tgrelid")+")"),
			},
		},
		"pg_statistic_ext":     {filter: shownIn("pg_namespace", "c.stxnamespace") + " AND NOT " + namesHidden("pg_statistic_ext", "c.oid"), replace: map[string]string{"stxowner": builtinOwner("c.oid", "c.stxowner")}},
		"pg_partitioned_table": {filter: "NOT " + namesHidden("pg_class", "c.partrelid"), replace: map[string]string{"partclass": builtinElements("c.partclass")}},
		"pg_description":       {filter: "c.classoid <> 'pg_catalog.pg_largeobject'::pg_catalog.regclass"},
		"pg_proc":              {filter: "c.oid < " + firstUserOID + " OR c.pronamespace = " + helperNamespace},
		"pg_type": {replace: map[string]string{
			"typarray":      orNone("c.typarray", shownType("c.typarray")),
			"typcollation":  collation("c.typcollation"),
			"typdefault":    "CASE WHEN NOT " + namesHidden("pg_type", "c.oid") + " THEN c.typdefault END",
			"typdefaultbin": "CASE WHEN NOT " + namesHidden("pg_type", "c.oid") + " THEN c.typdefaultbin END",
		}},
		"pg_range": {replace: rangeParts(collation)},
		"pg_collation": {
			filter: "c.oid < " + firstUserOID + " OR c.oid IN " + shownCollations,
			replace: map[string]string{
				"collowner": builtinOwner("c.oid", "c.collowner"), "collnamespace": orNone("c.collnamespace", shownIn("pg_namespace", "c.collnamespace")),
			},
		},
		// An extension is known by a type of its that a visible column has.
		"pg_extension": {
			filter: "c.oid < " + firstUserOID + " OR EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass" +
				" AND d.refobjid = c.oid AND d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.deptype = 'e' AND d.objid IN (SELECT " + CatalogSchema + ".shown_types()))",
			replace: map[string]string{
				"extowner": builtinOwner("c.oid", "c.extowner"), "extnamespace": orNone("c.extnamespace", shownIn("pg_namespace", "c.extnamespace")),
			},
		},
		"pg_auth_members": {replace: map[string]string{"grantor": "CASE WHEN " + shownIn("pg_roles", "c.grantor") + " THEN c.grantor ELSE 10::pg_catalog.oid END"}},
		"pg_foreign_data_wrapper": {replace: map[string]string{
			"fdwowner": builtinOwner("c.oid", "c.fdwowner"), "fdwhandler": builtinOrNone("c.fdwhandler"), "fdwvalidator": builtinOrNone("c.fdwvalidator"),
		}},
		"pg_foreign_server": {replace: map[string]string{"srvowner": builtinOwner("c.oid", "c.srvowner")}},
		"pg_database":       {replace: map[string]string{"dattablespace": builtinOrNone("c.dattablespace")}},
	}
}

func rangeParts(collation func(string) string) map[string]string {
	return map[string]string{
		"rngmultitypid": orNone("c.rngmultitypid", shownType("c.rngmultitypid")),
		"rngsubopc":     orNone("c.rngsubopc", "EXISTS (SELECT FROM pg_catalog.pg_opclass o WHERE o.oid = c.rngsubopc AND "+ofShownType("o")+")"),
		"rngcollation":  collation("c.rngcollation"),
	}
}

// informationParts are the same for the views of information_schema, which name objects: in
// a schema of PostgreSQL's own, not all are.
func informationParts() map[string]part {
	routine := part{filter: "pg_catalog.substring(c.specific_name::text, '[0-9]+$')::bigint < " + firstUserOID}
	named := func(catalog, prefix, namespace, name string) string {
		return "(" + namespace + "::text, " + name + "::text) IN (SELECT n.nspname::text, o." + prefix + "name::text FROM pg_catalog." + catalog +
			" o JOIN pg_catalog.pg_namespace n ON n.oid = o." + prefix + "namespace WHERE o.oid < " + firstUserOID + ")"
	}
	typed := func(schema, name string) part {
		return part{filter: "NOT " + builtIn(schema) + " OR " + named("pg_type", "typ", schema, name)}
	}
	collation := part{filter: named("pg_collation", "coll", "c.collation_schema", "c.collation_name")}
	usage := part{filter: named("pg_collation", "coll", "c.object_schema", "c.object_name") + " OR " + named("pg_type", "typ", "c.object_schema", "c.object_name")}
	// A column's type is known by its number.
	element := func(number string) part {
		return part{filter: "CASE c.object_type::text WHEN 'TABLE' THEN (c.object_schema::text, c.object_name::text, c." + number + "::text) NOT IN" +
			" (SELECT u.table_schema, u.table_name, u.number::text FROM " + CatalogSchema + ".unserved_columns() u)" +
			" ELSE NOT " + builtIn("c.object_schema") + " OR CASE c.object_type::text WHEN 'ROUTINE' THEN pg_catalog.substring(c.object_name::text, '[0-9]+$')::bigint < " + firstUserOID +
			" ELSE " + named("pg_type", "typ", "c.object_schema", "c.object_name") + " END END"}
	}
	// Defaults are shown where pg_attrdef and pg_type show them.
	shown := func(column string) string {
		return "CASE WHEN c." + column + " IS NOT NULL AND EXISTS (SELECT FROM " + CatalogSchema + ".pg_attrdef d" +
			" JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum JOIN pg_catalog.pg_class t ON t.oid = d.adrelid" +
			" JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname::text = c.table_schema::text" +
			" AND t.relname::text = c.table_name::text AND a.attname::text = c.column_name::text) THEN c." + column + " END"
	}
	constraint := part{filter: "NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace" +
		" WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND (" +
		namesHidden("pg_constraint", "k.oid") + " OR " + namesHidden("pg_class", "k.conindid") + "))" +
		// information_schema makes constraints of columns that are not null.
		" AND c.constraint_name::text NOT IN (SELECT pg_catalog.concat_ws('_', u.namespace, u.relation, u.number, 'not_null') FROM " +
		CatalogSchema + ".unserved_columns() u)"}
	// One of a column is shown where the column is. The set does not depend on the row.
	ofColumn := func(schema, table, column string) part {
		return part{filter: "(c." + schema + "::text, c." + table + "::text, c." + column + "::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM " +
			CatalogSchema + ".unserved_columns() u)"}
	}
	column := ofColumn("table_schema", "table_name", "column_name")
	both := func(one, other part) part { return part{filter: "(" + one.filter + ") AND (" + other.filter + ")"} }
	trigger := part{filter: "EXISTS (SELECT FROM " + CatalogSchema + ".pg_trigger t JOIN pg_catalog.pg_class r ON r.oid = t.tgrelid" +
		" JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace WHERE t.tgname::text = c.trigger_name::text" +
		" AND r.relname::text = c.event_object_table::text AND n.nspname::text = c.event_object_schema::text)"}
	domain, udt := typed("c.domain_schema", "c.domain_name"), typed("c.udt_schema", "c.udt_name")
	return map[string]part{
		"routines": routine, "parameters": routine, "routine_privileges": routine, "role_routine_grants": routine,
		"columns": {filter: column.filter, replace: map[string]string{"column_default": shown("column_default"), "generation_expression": shown("generation_expression")}},
		"domains": {filter: domain.filter, replace: map[string]string{
			"domain_default": "(SELECT t.typdefault FROM " + CatalogSchema + ".pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace" +
				" WHERE n.nspname::text = c.domain_schema::text AND t.typname::text = c.domain_name::text)",
		}},
		"column_privileges": column, "role_column_grants": column, "column_udt_usage": column, "column_domain_usage": column,
		"column_column_usage": both(column, ofColumn("table_schema", "table_name", "dependent_column")),
		"table_constraints":   constraint, "referential_constraints": constraint, "constraint_table_usage": constraint, "check_constraints": constraint,
		"key_column_usage": both(constraint, column), "constraint_column_usage": both(constraint, column),
		"triggers": trigger, "triggered_update_columns": both(trigger, ofColumn("event_object_schema", "event_object_table", "event_object_column")),
		"sequences": {filter: "(c.sequence_schema::text, c.sequence_name::text) IN (SELECT n.nspname::text, s.relname::text FROM " + CatalogSchema +
			".pg_class s JOIN " + CatalogSchema + ".pg_namespace n ON n.oid = s.relnamespace WHERE s.relkind = 'S')"},
		"domain_constraints": domain, "domain_udt_usage": domain,
		"user_defined_types": typed("c.user_defined_type_schema", "c.user_defined_type_name"),
		"attributes":         udt, "udt_privileges": udt, "role_udt_grants": udt,
		"data_type_privileges": element("dtd_identifier"), "element_types": element("collection_type_identifier"),
		"collations": collation, "collation_character_set_applicability": collation,
		"usage_privileges": usage, "role_usage_grants": usage,
	}
}
