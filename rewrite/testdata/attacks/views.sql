-- Views: those that the operator lists, those that he does not, and what they are
-- made of.

-- allowed
SELECT * FROM codes_short

-- refused 42
SELECT * FROM qvzrel_view

-- refused 42
SELECT * FROM public.qvzrel_copy

-- refused 42
SELECT qvzcol_code FROM codes_short

-- refused 42
SELECT c.* FROM codes_short c, qvzrel_view

-- refused 42
SELECT (c).qvzcol_code FROM codes_short c

-- refused 42
TABLE people_barrier

-- refused 42
SELECT count(*) FROM people_view v JOIN people p ON true

-- refused 42
SELECT 1 FROM people_view LIMIT 0

-- refused 42
SELECT EXISTS (TABLE people_copy)

-- refused 42
REFRESH MATERIALIZED VIEW CONCURRENTLY qvzrel_copy

-- refused 42
REFRESH MATERIALIZED VIEW people_copy WITH NO DATA

-- refused 42
CREATE OR REPLACE VIEW codes_short AS SELECT name AS code, name AS meaning FROM people

-- refused 42
CREATE RECURSIVE VIEW r (n) AS SELECT name FROM people

-- refused 42
ALTER VIEW codes_short RENAME TO x

-- refused 42
UPDATE codes_short SET meaning = 'x' RETURNING *

-- allowed
SELECT pg_get_viewdef('codes_short'::regclass), pg_get_viewdef('codes_short'), pg_get_viewdef('codes_short'::regclass, 80)

-- harmless
SELECT view_definition FROM information_schema.views WHERE table_name = 'codes_short'

-- harmless
SELECT * FROM information_schema.view_column_usage

-- harmless
SELECT * FROM information_schema.view_table_usage

-- harmless
SELECT * FROM information_schema.view_routine_usage

-- harmless
SELECT * FROM information_schema.column_privileges

-- harmless
SELECT * FROM information_schema.table_privileges

-- harmless
SELECT * FROM information_schema.role_table_grants

-- harmless
SELECT * FROM information_schema.constraint_column_usage

-- harmless
SELECT * FROM information_schema.sequences

-- harmless
SELECT * FROM information_schema.triggers

-- harmless
SELECT * FROM information_schema.domain_constraints

-- harmless
SELECT * FROM information_schema.element_types

-- harmless
SELECT * FROM information_schema.parameters

-- harmless
SELECT * FROM information_schema.user_mapping_options

-- harmless
SELECT * FROM information_schema.column_column_usage

-- refused 42
SELECT * FROM information_schema._pg_foreign_tables

-- refused 42
SELECT information_schema._pg_index_position(16400, 1::smallint)

-- refused 42
SELECT information_schema._pg_truetypid(a, t) FROM pg_attribute a, pg_type t

-- refused 42
SELECT 1::information_schema.sql_identifier::information_schema.no_such

-- refused 42
SELECT * FROM information_schema.pg_class

-- Views over protected tables that the operator lists: what is served is their
-- definition over the published tables, or nothing.

-- allowed
SELECT * FROM towns

-- allowed
SELECT t.town, w.residents FROM towns_large t JOIN towns w USING (town)

-- allowed
SELECT towns, (t).*, to_jsonb(t) FROM towns t, towns

-- refused 42
SELECT name FROM towns

-- refused 42
SELECT ctid, tableoid FROM towns

-- refused 55 42
SELECT * FROM talking

-- refused 55 42
SELECT * FROM operated

-- refused 55 42
SELECT letters FROM computed

-- refused 55 42
SELECT * FROM filtered

-- refused 55 42
SELECT * FROM ranked

-- refused 55 42
SELECT qvzcol_code FROM beside

-- harmless
SELECT * FROM beside

-- harmless
SELECT * FROM renamed

-- refused 55 42
SELECT illness FROM renamed

-- harmless
SELECT person, person::text, (person).illness FROM whole

-- refused 55 42
SELECT (person).qvzcol_ssn FROM whole

-- harmless
SELECT * FROM systemic

-- refused 55 42
SELECT xmin FROM systemic

-- allowed
SELECT pg_get_viewdef('towns'::regclass), pg_get_viewdef('towns_large'::regclass, true)

-- allowed
SELECT relname, relkind, reltuples FROM pg_class WHERE relname IN ('towns', 'towns_large', 'talking', 'beside')

-- allowed
SELECT column_name, data_type FROM information_schema.columns WHERE table_name IN ('towns', 'computed', 'beside', 'renamed')

-- allowed
EXPLAIN (ANALYZE) SELECT * FROM towns WHERE residents > 3

-- allowed
EXPLAIN SELECT * FROM towns_large

-- A listed view with a column of a protected table's row type does not let that type
-- be named: its fields are the hidden columns.
-- harmless
SELECT (NULL::chart).*

-- harmless
SELECT * FROM json_populate_record(NULL::chart, '{}')

-- harmless
SELECT to_jsonb(r) FROM jsonb_populate_record(NULL::public.chart, '{}') r

-- harmless
SELECT * FROM json_to_record('{}') AS r (a chart)

-- harmless
SELECT (x).* FROM (SELECT '(,,,)'::chart AS x) s
