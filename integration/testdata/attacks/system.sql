-- System columns, statistics, catalogs and definitions.

-- refuse
SELECT ctid FROM people

-- refuse
SELECT xmin, xmax FROM people

-- refuse
SELECT tableoid::regclass FROM people

-- refuse
SELECT people.cmin FROM people

-- refuse
SELECT * FROM pg_stats

-- refuse
SELECT most_common_vals, histogram_bounds FROM pg_catalog.pg_stats WHERE tablename = 'people'

-- refuse
SELECT stavalues1 FROM pg_statistic

-- refuse
SELECT * FROM pg_stats_ext

-- refuse
SELECT * FROM pg_statistic_ext_data

-- refuse
SELECT pg_mcv_list_items(stxdmcv) FROM pg_statistic_ext_data

-- refuse
SELECT * FROM pg_stat_activity

-- refuse
SELECT query FROM pg_stat_get_activity(NULL)

-- refuse
SELECT * FROM pg_stat_user_tables

-- refuse
SELECT * FROM pg_stat_statements

-- refuse
SELECT * FROM pg_locks

-- refuse
SELECT pg_relation_size('people')

-- refuse
SELECT pg_total_relation_size('people'), pg_table_size('people')

-- refuse
SELECT pg_database_size('clinic')

-- refuse
SELECT pg_get_viewdef('people_view'::regclass)

-- refuse
SELECT (16384::oid).pg_get_viewdef

-- refuse
SELECT definition FROM pg_views

-- refuse
SELECT * FROM pg_matviews

-- refuse
SELECT * FROM pg_rules

-- refuse
SELECT * FROM pg_indexes

-- refuse
SELECT view_definition FROM information_schema.views

-- refuse
SELECT routine_definition FROM information_schema.routines

-- refuse
SELECT check_clause FROM information_schema.check_constraints

-- refuse
SELECT * FROM pg_authid

-- refuse
SELECT * FROM pg_shadow

-- refuse
SELECT * FROM pg_user_mappings

-- refuse
SELECT * FROM pg_sequences

-- refuse
SELECT * FROM people_seq

-- refuse
SELECT currval('people_seq'), nextval('people_seq')

-- refuse
SELECT pg_sequence_last_value('people_seq')

-- refuse
SELECT txid_current()

-- refuse
SELECT pg_current_wal_lsn()

-- refuse
SELECT * FROM pg_logical_slot_peek_changes('slot', NULL, NULL)

-- refuse
SELECT pg_get_functiondef('people_names'::regproc)

-- refuse
SELECT * FROM pg_prepared_statements

-- refuse
SELECT * FROM pg_cursors

-- refuse
SELECT * FROM pg_hba_file_rules

-- refuse
SELECT * FROM pg_file_settings

SELECT * FROM pg_class

SELECT * FROM pg_attribute

SELECT attmissingval FROM pg_attribute WHERE atthasmissing

SELECT relname, relpages, reltuples FROM pg_catalog.pg_class

SELECT prosrc, proname FROM pg_proc WHERE pronamespace <> 11

SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef

SELECT pg_get_constraintdef(oid) FROM pg_constraint

SELECT conbin FROM pg_constraint

SELECT description FROM pg_description WHERE objoid > 16000

SELECT obj_description(oid, 'pg_class') FROM pg_class

SELECT obj_description(o::oid, 'pg_class') FROM generate_series(16000, 18000) o

SELECT col_description(o::oid, 2) FROM generate_series(16000, 18000) o

SELECT pg_get_indexdef(indexrelid) FROM pg_index

SELECT pg_get_indexdef(o::oid) FROM generate_series(16000, 18000) o

SELECT pg_get_constraintdef(o::oid) FROM generate_series(16000, 18000) o

SELECT pg_get_triggerdef(o::oid) FROM generate_series(16000, 18000) o

SELECT indpred FROM pg_index

SELECT ev_action FROM pg_rewrite

SELECT typname, typdefault FROM pg_type

SELECT enumlabel FROM pg_enum

SELECT * FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema')

SELECT * FROM information_schema.tables

SELECT stxname, stxexprs FROM pg_statistic_ext

SELECT * FROM pg_settings

SELECT o::oid::regclass::text FROM generate_series(16384, 16600) o

SELECT has_table_privilege('people', 'SELECT')

SELECT pg_describe_object(1259, o::oid, 2) FROM generate_series(16384, 16600) o

SELECT format_type(o::oid, NULL) FROM generate_series(16384, 16600) o

SELECT pg_size_pretty(1::bigint), pg_column_size(people) FROM people
