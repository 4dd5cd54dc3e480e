-- The keys of published tables that are released together, as the stand-ins show them. The
-- release has an index on each, which stands for the key: its number is no other
-- relation's. A key without one is not shown.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.described_keys()
  RETURNS TABLE (name name, table_schema text, table_name text, column_names text[], foreign_schema text, foreign_table text,
    relation oid, namespace oid, numbers smallint[], index oid)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10 AS $kproxy$
  SELECT k.constraint_name::pg_catalog.name, k.table_schema, k.table_name, k.columns, k.foreign_schema, k.foreign_table, v.oid, n.oid,
    ARRAY(SELECT a.attnum FROM pg_catalog.unnest(k.columns) WITH ORDINALITY AS c(name, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = v.oid AND a.attname = c.name::pg_catalog.name ORDER BY c.place), i.oid
  FROM {{.CatalogSchema}}.described_key k
  JOIN pg_catalog.pg_namespace n ON n.nspname = k.table_schema::pg_catalog.name
  JOIN pg_catalog.pg_namespace r ON r.nspname = ({{.CatalogSchema}}.release_prefix() || k.table_schema)::pg_catalog.name
  JOIN pg_catalog.pg_class v ON v.relnamespace = r.oid AND v.relname = k.table_name::pg_catalog.name
  JOIN pg_catalog.pg_namespace s ON s.nspname = '{{.StoreSchema}}'
  JOIN pg_catalog.pg_class i ON i.relnamespace = s.oid AND i.relname = k.release_index::pg_catalog.name AND i.relkind = 'i'
  WHERE pg_catalog.has_table_privilege(v.oid, 'SELECT')
$kproxy$;

-- The same, each foreign key with the primary key that it leads to, and the source's foreign
-- keys from columns that are published as they are to readable relations. It is in PL/pgSQL, which
-- plans it once a session: put in line, it took each look into a catalog thirty times as long.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.shown_keys()
  RETURNS TABLE (oid oid, name name, is_primary boolean, table_schema text, table_name text, column_names text[],
    relation oid, namespace oid, numbers smallint[], foreign_name name, foreign_schema text, foreign_table text, foreign_column_names text[],
    foreign_relation oid, foreign_numbers smallint[], foreign_index oid)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10 AS $kproxy$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT k.index, k.name, k.foreign_table IS NULL, k.table_schema, k.table_name, k.column_names, k.relation, k.namespace, k.numbers,
    f.name, f.table_schema, f.table_name, f.column_names, f.relation, f.numbers, f.index
  FROM {{.CatalogSchema}}.described_keys() k
  LEFT JOIN {{.CatalogSchema}}.described_keys() f
    ON f.foreign_table IS NULL AND f.table_schema = k.foreign_schema AND f.table_name = k.foreign_table
  WHERE k.foreign_table IS NULL OR f.index IS NOT NULL
  UNION ALL
  SELECT c.oid, c.conname, false, d.table_schema, d.table_name, own.names, v.oid, n.oid, own.numbers,
    (SELECT u.conname FROM pg_catalog.pg_constraint u WHERE u.conindid = c.conindid AND u.conrelid = c.confrelid AND u.contype IN ('p', 'u')),
    fn.nspname::pg_catalog.text, f.relname::pg_catalog.text,
    ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.unnest(c.confkey) WITH ORDINALITY AS key(number, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = f.oid AND a.attnum = key.number ORDER BY key.place),
    f.oid, c.confkey, c.conindid
  FROM {{.CatalogSchema}}.described d
  JOIN pg_catalog.pg_namespace n ON n.nspname = d.table_schema::pg_catalog.name
  JOIN pg_catalog.pg_class t ON t.relnamespace = n.oid AND t.relname = d.table_name::pg_catalog.name
  JOIN pg_catalog.pg_namespace r ON r.nspname = ({{.CatalogSchema}}.release_prefix() || d.table_schema)::pg_catalog.name
  JOIN pg_catalog.pg_class v ON v.relnamespace = r.oid AND v.relname = t.relname
  JOIN pg_catalog.pg_constraint c ON c.conrelid = t.oid AND c.contype = 'f' AND c.conparentid = 0
  JOIN pg_catalog.pg_class f ON f.oid = c.confrelid
  JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(shown.attnum ORDER BY key.place) AS numbers, pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY key.place) AS names
    FROM pg_catalog.unnest(c.conkey) WITH ORDINALITY AS key(number, place)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = key.number
    JOIN pg_catalog.pg_attribute shown ON shown.attrelid = v.oid AND shown.attname = a.attname AND shown.atttypid = a.atttypid
    JOIN {{.CatalogSchema}}.described_column m ON m.table_schema = d.table_schema AND m.table_name = d.table_name
      AND m.column_name = a.attname::pg_catalog.text AND m.role IS NOT NULL AND m.hierarchy IS NULL) AS own
  WHERE pg_catalog.cardinality(own.numbers) = pg_catalog.cardinality(c.conkey)
    AND pg_catalog.has_table_privilege(v.oid, 'SELECT') AND f.relkind IN ('r', 'p') AND pg_catalog.has_table_privilege(f.oid, 'REFERENCES')
    AND NOT EXISTS (SELECT FROM pg_catalog.unnest(c.confkey) AS key(number) WHERE NOT {{.CatalogSchema}}.is_served(f.oid, key.number));
END
$kproxy$;

CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.column_list(names text[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT pg_catalog.string_agg(pg_catalog.quote_ident(c.name), ', ' ORDER BY c.place) FROM pg_catalog.unnest($1) WITH ORDINALITY AS c(name, place)
$kproxy$;

-- What pg_get_constraintdef says of such a key to a client with the given search path; NULL
-- for all other constraints.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.key_definition(key oid, path name[]) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN k.is_primary THEN 'PRIMARY KEY (' || {{.CatalogSchema}}.column_list(k.column_names) || ')'
    ELSE 'FOREIGN KEY (' || {{.CatalogSchema}}.column_list(k.column_names) || ') REFERENCES '
      || {{.CatalogSchema}}.class_name(k.foreign_relation, $2) || '(' || {{.CatalogSchema}}.column_list(k.foreign_column_names) || ')' END
  FROM {{.CatalogSchema}}.shown_keys() k WHERE k.oid = $1
$kproxy$;

-- The same for pg_get_indexdef: of the whole index, not of a column, which has its own name.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.key_index_definition(index oid, number integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT 'CREATE UNIQUE INDEX ' || pg_catalog.quote_ident(k.name) || ' ON ' || pg_catalog.quote_ident(k.table_schema) || '.'
    || pg_catalog.quote_ident(k.table_name) || ' USING btree (' || {{.CatalogSchema}}.column_list(k.column_names) || ')'
  FROM {{.CatalogSchema}}.shown_keys() k WHERE k.oid = $1 AND k.is_primary AND coalesce($2, 0) = 0
$kproxy$;
