package catalog

import "strings"

// builtinStandIns are the system catalogs of what no published or readable relation shows:
// operators, casts, access methods, text search and the like. They list what initdb has
// made. What else there is, such as what extensions have brought, clients could not use.
func builtinStandIns() []StandIn {
	var standIns []StandIn
	for relation := range strings.FieldsSeq(`pg_am pg_amop pg_amproc pg_cast pg_conversion
		pg_transform pg_ts_config pg_ts_dict pg_ts_parser pg_ts_template`) {
		standIns = append(standIns, system(relation, "c.oid < "+firstUserOID, nil))
	}
	return append(standIns,
		system("pg_language", "c.oid < "+firstUserOID, map[string]string{"lanacl": ownPrivileges("c.lanacl", "c.lanowner")}),
		// One may be named the commutator or the negator of a user's.
		system("pg_operator", "c.oid < "+firstUserOID, map[string]string{"oprcom": builtinOrNone("c.oprcom"), "oprnegate": builtinOrNone("c.oprnegate")}),
		system("pg_ts_config_map", "c.mapcfg < "+firstUserOID+" AND c.mapdict < "+firstUserOID, nil),
		// Of a type that a visible column has, the default classes: what they belong to tells
		// of a key how it is compared.
		system("pg_opclass", "c.oid < "+firstUserOID+" OR "+ofShownType("c"), map[string]string{
			"opcnamespace": orNone("c.opcnamespace", shownIn("pg_namespace", "c.opcnamespace")),
			"opcowner":     builtinOwner("c.oid", "c.opcowner"), "opckeytype": orNone("c.opckeytype", shownType("c.opckeytype")),
		}),
		system("pg_opfamily", "c.oid < "+firstUserOID+" OR c.oid IN (SELECT o.opcfamily FROM pg_catalog.pg_opclass o WHERE "+ofShownType("o")+")",
			map[string]string{
				"opfnamespace": orNone("c.opfnamespace", shownIn("pg_namespace", "c.opfnamespace")), "opfowner": builtinOwner("c.oid", "c.opfowner"),
			}),
		// Files on the server's disk, of which most servers have the same.
		system("pg_available_extensions", "", map[string]string{
			"installed_version": "(SELECT e.extversion FROM " + CatalogSchema + ".pg_extension e WHERE e.extname = c.name)",
		}),
		system("pg_available_extension_versions", "", map[string]string{
			"installed": "EXISTS (SELECT FROM " + CatalogSchema + ".pg_extension e WHERE e.extname = c.name AND e.extversion = c.version)",
		}),
	)
}

// ofShownType asks of an operator class whether it is the default one of a user's type that
// the session may know of.
func ofShownType(class string) string {
	return class + ".opcdefault AND " + class + ".opcintype >= " + firstUserOID + " AND " + shownType(class+".opcintype")
}

// shownIn asks whether a stand-in has the object that a column names.
func shownIn(relation, column string) string {
	return column + " IN (SELECT shown.oid FROM " + CatalogSchema + "." + relation + " shown)"
}

// orNone is a column that names an object, 0 where that is not PostgreSQL's own and the
// session may not know of it.
func orNone(column, shown string) string {
	return "CASE WHEN " + column + " < " + firstUserOID + " THEN " + column + " WHEN " + shown + " THEN " + column + " ELSE 0::pg_catalog.oid END"
}

// builtinOwner is who an object seems to belong to: of one that initdb did not make, the
// bootstrap superuser (BOOTSTRAP_SUPERUSERID of PostgreSQL's catalog/pg_authid.dat).
func builtinOwner(oid, owner string) string {
	return "CASE WHEN " + oid + " < " + firstUserOID + " THEN " + owner + " ELSE 10::pg_catalog.oid END"
}
