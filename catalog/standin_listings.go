package catalog

// The parts of listings, which are views that PostgreSQL makes of its catalogs:
// their stand-ins are made of the stand-ins for these.
const (
	listedRelations = CatalogSchema + ".pg_class AS c JOIN " + CatalogSchema + ".pg_namespace AS n ON n.oid = c.relnamespace"
	// noText is what definitions are: what a published view reads is nobody's
	// business, and what an unprotected one reads may be.
	noText = "''::text"
)

// userName is the name of the role that a column holds.
func userName(column string) string { return "pg_catalog.pg_get_userbyid(" + column + ")" }

// listingStandIns are PostgreSQL's views that list relations, roles and the like.
func listingStandIns() []StandIn {
	list := func(relation, from, filter string, columns map[string]string) StandIn {
		return StandIn{Of: Name{"pg_catalog", relation}, From: from, Filter: filter, Replace: columns}
	}
	role := map[string]string{
		"usename": "c.rolname", "usesysid": "c.oid", "usecreatedb": "c.rolcreatedb", "usesuper": "c.rolsuper",
		"userepl": "c.rolreplication", "usebypassrls": "c.rolbypassrls", "passwd": "'********'::text",
	}
	return append([]StandIn{
		list("pg_tables", listedRelations, "c.relkind IN ('r', 'p')", map[string]string{
			"schemaname": "n.nspname", "tablename": "c.relname", "tableowner": userName("c.relowner"), "hasindexes": "c.relhasindex",
			"hasrules": "c.relhasrules", "hastriggers": "c.relhastriggers", "rowsecurity": "c.relrowsecurity",
		}),
		list("pg_views", listedRelations, "c.relkind = 'v'", map[string]string{
			"schemaname": "n.nspname", "viewname": "c.relname", "viewowner": userName("c.relowner"), "definition": noText,
		}),
		list("pg_matviews", listedRelations, "c.relkind = 'm'", map[string]string{
			"schemaname": "n.nspname", "matviewname": "c.relname", "matviewowner": userName("c.relowner"),
			"hasindexes": "c.relhasindex", "ispopulated": "c.relispopulated", "definition": noText,
		}),
		list("pg_indexes", CatalogSchema+".pg_index AS x JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid JOIN "+
			CatalogSchema+".pg_class AS c ON c.oid = x.indrelid JOIN "+CatalogSchema+".pg_namespace AS n ON n.oid = c.relnamespace",
			"c.relkind IN ('r', 'm', 'p')", map[string]string{
				"schemaname": "n.nspname", "tablename": "c.relname", "indexname": "i.relname",
				"indexdef": "pg_catalog.pg_get_indexdef(i.oid)",
			}),
		list("pg_sequences", listedRelations+" JOIN "+CatalogSchema+".pg_sequence AS s ON s.seqrelid = c.oid", "", map[string]string{
			"schemaname": "n.nspname", "sequencename": "c.relname", "sequenceowner": userName("c.relowner"),
			"data_type": "pg_catalog.format_type(s.seqtypid, NULL)", "start_value": "s.seqstart", "min_value": "s.seqmin",
			"max_value": "s.seqmax", "increment_by": "s.seqincrement", "cycle": "s.seqcycle", "cache_size": "s.seqcache",
		}),
		list("pg_policies", CatalogSchema+".pg_policy AS p JOIN "+CatalogSchema+".pg_class AS c ON c.oid = p.polrelid JOIN "+
			CatalogSchema+".pg_namespace AS n ON n.oid = c.relnamespace", "", map[string]string{
			"schemaname": "n.nspname", "tablename": "c.relname", "policyname": "p.polname",
			"permissive": "CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END",
			"cmd":        "CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END",
		}),
		list("pg_user", CatalogSchema+".pg_roles AS c", "c.rolcanlogin", role),
		list("pg_group", CatalogSchema+".pg_roles AS c", "NOT c.rolcanlogin", map[string]string{
			"groname": "c.rolname", "grosysid": "c.oid",
			"grolist": "ARRAY(SELECT m.member FROM " + CatalogSchema + ".pg_auth_members m WHERE m.roleid = c.oid)",
		}),
		// The texts are kproxy's, not the client's.
		system("pg_cursors", "", map[string]string{"statement": noText}),
		system("pg_prepared_statements", "", map[string]string{"statement": noText}),
	}, empty("pg_catalog", `pg_rules pg_seclabel pg_seclabels pg_shseclabel pg_shdepend pg_db_role_setting pg_default_acl
		pg_init_privs pg_parameter_acl pg_event_trigger pg_user_mappings pg_prepared_xacts pg_locks
		pg_publication pg_publication_rel pg_publication_namespace pg_publication_tables
		pg_subscription pg_subscription_rel`)...)
}
