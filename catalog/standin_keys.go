package catalog

import "maps"

// Addition is rows of a stand-in besides those of the system relation.
type Addition struct {
	From, Filter string
	// Rows says that From has rows of the system relation under the alias c, of which Replace
	// changes some columns. Otherwise a column that Replace does not name is NULL.
	Rows bool
	// Replace gives expressions for columns.
	Replace map[string]string
}

// shownKeys are the keys of published tables that are released together, which no view has. A
// client finds them in the catalogs as those of the source are found there: by them, tools tell
// which tables can be joined. An index of the private store stands for each.
const shownKeys = CatalogSchema + ".shown_keys() AS k"

// withKeys adds the keys to the stand-ins that show keys.
func withKeys(standIns []StandIn) []StandIn {
	added := keyAdditions()
	for i, s := range standIns {
		for _, a := range added[s.Of] {
			if a.Rows {
				replace := maps.Clone(s.Replace)
				maps.Copy(replace, a.Replace)
				a.Replace = replace
			}
			standIns[i].Added = append(standIns[i].Added, a)
		}
	}
	return standIns
}

func keyAdditions() map[Name][]Addition {
	rows := func(catalog, number string, replace map[string]string) Addition {
		return Addition{From: "pg_catalog." + catalog + " AS c JOIN " + shownKeys + " ON k.oid = c." + number, Filter: "k.is_primary", Rows: true, Replace: replace}
	}
	system := func(relation string) Name { return Name{"pg_catalog", relation} }
	added := map[Name][]Addition{
		system("pg_class"):      {rows("pg_class", "oid", map[string]string{"relname": "k.name", "relnamespace": "k.namespace", "relowner": schemasOwner})},
		system("pg_attribute"):  {rows("pg_attribute", "attrelid", map[string]string{"attacl": "NULL::pg_catalog.aclitem[]"})},
		system("pg_index"):      {rows("pg_index", "indexrelid", map[string]string{"indrelid": "k.relation", "indkey": "pg_catalog.array_to_string(k.numbers, ' ')", "indisunique": "true", "indisprimary": "true"})},
		system("pg_constraint"): {{From: shownKeys, Replace: keyConstraint}},
		system("pg_depend"):     keyDependencies(),
	}
	for relation, a := range keyInformation() {
		added[Name{informationSchema, relation}] = []Addition{a}
	}
	return added
}

// schemasOwner owns what stands in a key's schema, as far as clients learn.
const schemasOwner = "(SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = k.namespace)"

// keyConstraint is a key in pg_constraint.
var keyConstraint = map[string]string{
	"oid": "k.oid", "conname": "k.name", "connamespace": "k.namespace", "conrelid": "k.relation", "conkey": "k.numbers",
	"contype":   "CASE WHEN k.is_primary THEN 'p' ELSE 'f' END",
	"conindid":  "coalesce(k.foreign_index, k.oid)",
	"confrelid": "coalesce(k.foreign_relation, 0::pg_catalog.oid)",
	"confkey":   "k.foreign_numbers",
	"contypid":  "0", "conparentid": "0", "coninhcount": "0",
	"conislocal": "true", "convalidated": "true", "conenforced": "true",
	"connoinherit": "true", "condeferrable": "false", "condeferred": "false", "conperiod": "false",
	"confupdtype": foreignOnly("a"), "confdeltype": foreignOnly("a"), "confmatchtype": foreignOnly("s"),
}

func foreignOnly(code string) string {
	return "CASE WHEN k.is_primary THEN ' ' ELSE '" + code + "' END"
}

// keyDependencies are those of a foreign key on the index that it leads to, of a primary key's
// index on the key, and of both on their columns.
func keyDependencies() []Addition {
	const class, constraint = "'pg_catalog.pg_class'::pg_catalog.regclass", "'pg_catalog.pg_constraint'::pg_catalog.regclass"
	depends := func(from, filter, of, on, reference, column, kind string) Addition {
		return Addition{From: from, Filter: filter, Replace: map[string]string{
			"classid": of, "objid": "k.oid", "objsubid": "0", "refclassid": on, "refobjid": reference, "refobjsubid": column, "deptype": "'" + kind + "'",
		}}
	}
	of := func(numbers string) string {
		return shownKeys + " CROSS JOIN pg_catalog.unnest(" + numbers + ") AS n(number)"
	}
	return []Addition{
		depends(shownKeys, "NOT k.is_primary", constraint, class, "k.foreign_index", "0", "n"),
		depends(shownKeys, "k.is_primary", class, constraint, "k.oid", "0", "i"),
		depends(of("k.numbers"), "true", constraint, class, "k.relation", "n.number", "a"),
		depends(of("k.foreign_numbers"), "true", constraint, class, "k.foreign_relation", "n.number", "n"),
	}
}

// keyInformation are the keys in the views of information_schema.
func keyInformation() map[string]Addition {
	const database = CatalogSchema + ".database_name()"
	columns := func(some ...map[string]string) map[string]string {
		all := map[string]string{"constraint_catalog": database, "constraint_schema": "k.table_schema", "constraint_name": "k.name"}
		for _, more := range some {
			maps.Copy(all, more)
		}
		return all
	}
	own := map[string]string{"table_catalog": database, "table_schema": "k.table_schema", "table_name": "k.table_name"}
	used := map[string]string{
		"table_catalog": database, "table_schema": "coalesce(k.foreign_schema, k.table_schema)", "table_name": "coalesce(k.foreign_table, k.table_name)",
	}
	return map[string]Addition{
		"table_constraints": {From: shownKeys, Replace: columns(own, map[string]string{
			"constraint_type": "CASE WHEN k.is_primary THEN 'PRIMARY KEY' ELSE 'FOREIGN KEY' END",
			"is_deferrable":   "'NO'", "initially_deferred": "'NO'", "enforced": "'YES'",
		})},
		"key_column_usage": {
			From: shownKeys + " CROSS JOIN pg_catalog.unnest(k.column_names) WITH ORDINALITY AS n(name, place)",
			Replace: columns(own, map[string]string{
				"column_name": "n.name", "ordinal_position": "n.place",
				"position_in_unique_constraint": "CASE WHEN NOT k.is_primary THEN n.place END",
			}),
		},
		"referential_constraints": {From: shownKeys, Filter: "NOT k.is_primary", Replace: columns(map[string]string{
			"unique_constraint_catalog": database, "unique_constraint_schema": "k.foreign_schema", "unique_constraint_name": "k.foreign_name",
			"match_option": "'NONE'", "update_rule": "'NO ACTION'", "delete_rule": "'NO ACTION'",
		})},
		"constraint_column_usage": {
			From:    shownKeys + " CROSS JOIN pg_catalog.unnest(coalesce(k.foreign_column_names, k.column_names)) AS n(name)",
			Replace: columns(used, map[string]string{"column_name": "n.name"}),
		},
		"constraint_table_usage": {From: shownKeys, Replace: columns(used)},
	}
}
