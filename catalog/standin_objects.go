package catalog

// noTransaction stands for the age of a transaction counter, which tells of
// commits that are not shown.
const noTransaction = "'0'::pg_catalog.xid"

// objectStandIns are the system catalogs of relations and of what belongs to them.
func objectStandIns() []StandIn {
	on := func(relation, column string) StandIn { return system(relation, readable("c."+column), nil) }
	return []StandIn{
		namespaces(),
		classes(),
		attributes(),
		on("pg_attrdef", "adrelid"),
		on("pg_index", "indrelid"),
		system("pg_inherits", readable("c.inhrelid")+" AND "+readable("c.inhparent"), nil),
		// Who a policy is for, and which rows it hides, may name hidden tables.
		system("pg_policy", readable("c.polrelid")+" AND NOT "+namesUnserved("pg_policy", "c.oid"), map[string]string{
			"polroles": "'{}'::pg_catalog.oid[]",
			"polqual":  "NULL::pg_catalog.pg_node_tree", "polwithcheck": "NULL::pg_catalog.pg_node_tree",
		}),
		system("pg_trigger", readable("c.tgrelid")+" AND "+noneOrReadable("c.tgconstrrelid"), nil),
		on("pg_statistic_ext", "stxrelid"),
		system("pg_rewrite", readable("c.ev_class")+" AND (c.ev_type = '1' OR NOT "+namesUnserved("pg_rewrite", "c.oid")+")", map[string]string{
			"ev_qual": "NULL::pg_catalog.pg_node_tree", "ev_action": "NULL::pg_catalog.pg_node_tree",
		}),
		on("pg_partitioned_table", "partrelid"),
		system("pg_sequence", readable("c.seqrelid")+" AND NOT "+namesUnserved("pg_class", "c.seqrelid"), nil),
		system("pg_constraint", "CASE WHEN c.conrelid = 0 THEN "+shownType("c.contypid")+" ELSE "+readable("c.conrelid")+" END"+
			" AND "+noneOrReadable("c.confrelid"), nil),
		system("pg_description", "c.objoid < "+firstUserOID+
			" OR (c.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND "+visible("c.objoid")+" AND "+served("c.objoid", "c.objsubid")+")"+
			" OR (c.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND c.objoid IN"+
			" (SELECT f.oid FROM pg_catalog.pg_proc f WHERE f.pronamespace = "+helperNamespace+"))", nil),
		system("pg_shdescription", "c.objoid < "+firstUserOID, nil),
		types(),
		system("pg_enum", shownType("c.enumtypid"), nil),
		system("pg_range", shownType("c.rngtypid"), nil),
		procedures(),
		system("pg_aggregate", "c.aggfnoid::pg_catalog.oid < "+firstUserOID, nil),
		system("pg_extension", "", map[string]string{
			// Which rows of which of the extension's tables are dumped.
			"extconfig": "NULL::pg_catalog.oid[]", "extcondition": "NULL::text[]",
		}),
		system("pg_tablespace", "c.oid < "+firstUserOID, map[string]string{
			"spcoptions": "NULL::text[]", "spcacl": ownPrivileges("c.spcacl", "c.spcowner"),
		}),
		system("pg_collation", "c.collnamespace = 'pg_catalog'::pg_catalog.regnamespace OR c.oid IN ("+
			"SELECT a.attcollation FROM "+CatalogSchema+".pg_attribute a WHERE a.attcollation >= "+firstUserOID+")", nil),
		system("pg_settings", "c.name <> 'search_path'", nil),
		databases(),
		roles(),
		system("pg_auth_members", "c.roleid IN (SELECT r.oid FROM "+CatalogSchema+".pg_roles r)"+
			" AND c.member IN (SELECT r.oid FROM "+CatalogSchema+".pg_roles r)", nil),
		foreignTables(),
		system("pg_foreign_server", "c.oid IN (SELECT t.ftserver FROM "+CatalogSchema+".pg_foreign_table t)", map[string]string{
			"srvoptions": "NULL::text[]", "srvacl": "NULL::pg_catalog.aclitem[]",
		}),
		system("pg_foreign_data_wrapper", "c.oid IN (SELECT s.srvfdw FROM "+CatalogSchema+".pg_foreign_server s)", map[string]string{
			"fdwoptions": "NULL::text[]", "fdwacl": "NULL::pg_catalog.aclitem[]",
		}),
		dependencies(),
	}
}

// namespaces are the schemas that the client may use, and those that hold
// published relations; not kproxy's own, nor the temporary ones of other sessions.
func namespaces() StandIn {
	const name = "c.nspname::text"
	return system("pg_namespace",
		"c.oid = pg_catalog.pg_my_temp_schema() OR "+
			name+" !~ '^("+StoreSchema+"$|"+CatalogSchema+"$|"+ReleaseSchemaPattern+"|pg_(toast_)?temp_)' AND (c.oid < "+firstUserOID+
			" OR pg_catalog.has_schema_privilege(c.oid, 'USAGE') OR EXISTS (SELECT FROM pg_catalog.pg_namespace r"+
			" WHERE r.nspname = ("+ownPrefix+" || "+name+")::pg_catalog.name AND pg_catalog.has_schema_privilege(r.oid, 'USAGE')))",
		map[string]string{"nspowner": ownerOf("c.oid", "c.nspowner"), "nspacl": ownPrivileges("c.nspacl", ownerOf("c.oid", "c.nspowner"))})
}

// helperNamespace is the schema of the helpers, NULL where there is none. It does not depend
// on the row.
const helperNamespace = "(SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = '" + HelperSchema + "')"

// ownerOf is who the helpers, or other objects of a schema, seem to belong to: kproxy's own
// role is no part of what is published, and what comes with the server is the bootstrap
// superuser's (BOOTSTRAP_SUPERUSERID of PostgreSQL's catalog/pg_authid.dat).
func ownerOf(namespace, owner string) string {
	return "CASE WHEN " + namespace + " = " + helperNamespace + " THEN 10::pg_catalog.oid ELSE " + owner + " END"
}

// procedures are PostgreSQL's own and the helpers. Others, which the operator lists, are
// not shown.
func procedures() StandIn {
	owner := ownerOf("c.pronamespace", "c.proowner")
	return system("pg_proc", "c.pronamespace = 'pg_catalog'::pg_catalog.regnamespace OR c.pronamespace = "+helperNamespace,
		map[string]string{"prosrc": "''::text", "probin": "NULL::text", "proowner": owner, "proacl": ownPrivileges("c.proacl", owner)})
}

// classes leaves out sizes, positions on disk and estimates of rows.
func classes() StandIn {
	known := "CASE WHEN c.relkind = 'c' THEN " + shownType("c.reltype") + " ELSE " + visible("c.oid") +
		" AND (c.relkind <> 'S' OR NOT " + namesUnserved("pg_class", "c.oid") + ") END"
	return system("pg_class", known, map[string]string{
		"relnamespace": sourceNamespace("c.relnamespace"),
		"relowner":     shownOwner("c.oid", "c.relnamespace", "c.relowner"),
		// A row of a readable relation is one of its stand-in.
		"reltype": "CASE WHEN " + marked("c.oid") + " THEN (SELECT s.reltype FROM pg_catalog.pg_class s WHERE s.oid = " +
			CatalogSchema + ".stand_in_oid(c.oid)) ELSE c.reltype END",
		// Of views, how kproxy makes those that it publishes.
		"reloptions":   "CASE WHEN c.relkind = 'v' AND " + releasedBy("c.relnamespace", "oid") + " IS NOT NULL THEN NULL::text[] ELSE c.reloptions END",
		"relpartbound": "CASE WHEN c.relpartbound IS NOT NULL AND " + CatalogSchema + ".shows_bound(c.oid) THEN c.relpartbound END",
		"relnatts": "CASE WHEN " + marked("c.oid") + " AND c.relnamespace <> pg_catalog.pg_my_temp_schema() THEN coalesce((SELECT max(served.number) FROM " +
			CatalogSchema + ".served_columns() served WHERE served.relation = c.oid), 0) ELSE c.relnatts END",
		"relchecks": "CASE WHEN c.relchecks > 0 AND " + marked("c.oid") + " THEN (SELECT pg_catalog.count(*) FROM pg_catalog.pg_constraint k" +
			" WHERE k.conrelid = c.oid AND k.contype = 'c' AND NOT " + namesHidden("pg_constraint", "k.oid") + ") ELSE c.relchecks END",
		"relhasindex": has("relhasindex", "pg_index x", "x.indrelid = c.oid AND NOT "+namesHidden("pg_class", "x.indexrelid")),
		"relhasrules": has("relhasrules", "pg_rewrite r", "r.ev_class = c.oid AND (r.ev_type = '1' OR NOT "+namesUnserved("pg_rewrite", "r.oid")+")"),
		// The keys that are shown of published tables have triggers as well.
		"relhastriggers": "CASE WHEN c.relhastriggers AND " + marked("c.oid") + " THEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid" +
			" AND t.tgfoid < " + firstUserOID + " AND " + noneOrReadable("t.tgconstrrelid") + " AND NOT " + namesHidden("pg_trigger", "t.oid") + ")" +
			" OR EXISTS (SELECT FROM " + shownKeys + " WHERE k.foreign_relation = c.oid) ELSE c.relhastriggers END",
		"relhassubclass": has("relhassubclass", "pg_inherits i", "i.inhparent = c.oid AND "+readable("i.inhrelid")),
		// Without the index that is named, the key is what there is.
		"relreplident": "CASE WHEN c.relreplident = 'i' AND " + marked("c.oid") + " AND NOT EXISTS (SELECT FROM pg_catalog.pg_index x" +
			" WHERE x.indrelid = c.oid AND x.indisreplident AND NOT " + namesHidden("pg_class", "x.indexrelid") + ") THEN 'd'::\"char\" ELSE c.relreplident END",
		"relacl":        ownPrivileges("c.relacl", shownOwner("c.oid", "c.relnamespace", "c.relowner")),
		"relfilenode":   "0::pg_catalog.oid",
		"reltablespace": "0::pg_catalog.oid",
		"reltoastrelid": "0::pg_catalog.oid",
		"relpages":      "0",
		"relallvisible": "0",
		"relallfrozen":  "0",
		"reltuples":     "(-1)::real",
		"relfrozenxid":  noTransaction,
		"relminmxid":    noTransaction,
	})
}

// has says of a relation whether it has objects of a kind, if it is readable: whether one of
// those is shown.
func has(column, catalog, of string) string {
	return "CASE WHEN c." + column + " AND " + marked("c.oid") + " THEN EXISTS (SELECT FROM pg_catalog." + catalog + " WHERE " + of + ") ELSE c." + column + " END"
}

func attributes() StandIn {
	return system("pg_attribute", "("+visible("c.attrelid")+" OR "+ofShownComposite("c.attrelid")+") AND "+served("c.attrelid", "c.attnum"), map[string]string{
		"attacl": ownPrivileges("c.attacl", ownRole), "attfdwoptions": "NULL::text[]",
		// Some servers keep there where in the log the column was made.
		"attoptions": "NULL::text[]",
	})
}

// served asks whether a column, which may be one of a readable relation, is served: what was
// added since the relation was accepted is not.
func served(relation, number string) string {
	return "CASE WHEN " + number + " > 0 AND " + marked(relation) + " THEN " + CatalogSchema + ".is_served(" + relation + ", " + number + ") ELSE true END"
}

// marked asks whether a column names a readable relation, which is read by a stand-in.
func marked(column string) string {
	return column + " >= " + firstUserOID + " AND pg_catalog.has_table_privilege(" + column + ", 'REFERENCES')"
}

func types() StandIn {
	owner := shownOwner("c.oid", "c.typnamespace", "c.typowner")
	return system("pg_type", shownType("c.oid"), map[string]string{
		"typnamespace": sourceNamespace("c.typnamespace"),
		"typowner":     owner,
		"typrelid": "CASE WHEN c.typtype = 'c' AND " + marked("c.typrelid") + " THEN " +
			CatalogSchema + ".stood_in_oid(c.typrelid) ELSE c.typrelid END",
		"typacl": ownPrivileges("c.typacl", owner),
	})
}

// databases is the one that the client is connected to, under the name that it
// knows.
func databases() StandIn {
	return system("pg_database", "c.datname = pg_catalog.current_database()", map[string]string{
		"datname": CatalogSchema + ".database_name()", "datacl": ownPrivileges("c.datacl", "c.datdba"),
		"datfrozenxid": noTransaction, "datminmxid": noTransaction, "datconnlimit": "-1",
	})
}

// roles are PostgreSQL's own, that of the session, and those that own the database
// and the schemas that clients see. Other names may be people's; kproxy's owner is
// no part of the published schema.
func roles() StandIn {
	return system("pg_roles", "c.oid < "+firstUserOID+" OR c.rolname = current_user"+
		" OR c.oid IN (SELECT n.nspowner FROM "+CatalogSchema+".pg_namespace n UNION ALL SELECT d.datdba FROM "+CatalogSchema+".pg_database d)",
		map[string]string{"rolconfig": "NULL::text[]", "rolvaliduntil": "NULL::pg_catalog.timestamptz", "rolconnlimit": "-1"})
}

func foreignTables() StandIn {
	return system("pg_foreign_table", readable("c.ftrelid"), map[string]string{"ftoptions": "NULL::text[]"})
}

// dependencies are those among what is visible: of a constraint on its index, of a
// sequence on its column, of a default on its column, and what psql asks of
// triggers on servers before PostgreSQL 15.
func dependencies() StandIn {
	const (
		of       = "c.classid = 'pg_catalog."
		on       = "c.refclassid = 'pg_catalog."
		catalog  = "'::pg_catalog.regclass"
		relation = on + "pg_class" + catalog
	)
	shown := func(relation, column string) string {
		return " AND EXISTS (SELECT FROM " + CatalogSchema + "." + relation + " s WHERE s.oid = c." + column + ")"
	}
	return system("pg_depend", "("+
		of+"pg_class"+catalog+" AND "+relation+" AND "+visible("c.objid")+
		" OR "+of+"pg_constraint"+catalog+" AND "+relation+shown("pg_constraint", "objid")+
		" OR "+of+"pg_attrdef"+catalog+" AND "+relation+shown("pg_attrdef", "objid")+
		") AND "+visible("c.refobjid")+" AND "+served("c.refobjid", "c.refobjsubid")+
		" AND CASE WHEN "+of+"pg_class"+catalog+" THEN "+served("c.objid", "c.objsubid")+" ELSE true END"+
		" OR "+of+"pg_trigger"+catalog+" AND "+on+"pg_trigger"+catalog+shown("pg_trigger", "objid")+shown("pg_trigger", "refobjid"), nil)
}
