-- System columns, statistics, catalogs and definitions.

-- refused 42
SELECT ctid FROM people

-- refused 42
SELECT xmin, xmax FROM people

-- refused 42
SELECT tableoid::regclass FROM people

-- refused 42
SELECT people.cmin FROM people

-- harmless
SELECT * FROM pg_stats

-- harmless
SELECT most_common_vals, histogram_bounds FROM pg_catalog.pg_stats WHERE tablename = 'people'

-- refused 42
SELECT stavalues1 FROM pg_statistic

-- harmless
SELECT * FROM pg_stats_ext

-- refused 42
SELECT * FROM pg_statistic_ext_data

-- refused 42
SELECT pg_mcv_list_items(stxdmcv) FROM pg_statistic_ext_data

-- harmless
SELECT * FROM pg_stat_activity

-- refused 42
SELECT query FROM pg_stat_get_activity(NULL)

-- harmless
SELECT * FROM pg_stat_user_tables

-- refused 42
SELECT * FROM pg_stat_statements

-- harmless
SELECT * FROM pg_locks

-- harmless
SELECT pg_relation_size('people')

-- harmless
SELECT pg_total_relation_size('people'), pg_table_size('people')

-- harmless
SELECT pg_database_size('clinic')

-- refused 42
SELECT pg_get_viewdef('people_view'::regclass)

-- harmless
SELECT (16384::oid).pg_get_viewdef

-- harmless
SELECT definition FROM pg_views

-- harmless
SELECT * FROM pg_matviews

-- harmless
SELECT * FROM pg_rules

-- harmless
SELECT * FROM pg_indexes

-- harmless
SELECT view_definition FROM information_schema.views

-- harmless
SELECT routine_definition FROM information_schema.routines

-- harmless
SELECT check_clause FROM information_schema.check_constraints

-- refused 42
SELECT * FROM pg_authid

-- refused 42
SELECT * FROM pg_shadow

-- harmless
SELECT * FROM pg_user_mappings

-- harmless
SELECT * FROM pg_sequences

-- refused 42
SELECT currval('people_seq'), nextval('people_seq')

-- refused 42
SELECT pg_sequence_last_value('people_seq')

-- refused 42
SELECT txid_current()

-- refused 42
SELECT pg_current_wal_lsn()

-- refused 42
SELECT * FROM pg_logical_slot_peek_changes('slot', NULL, NULL)

-- allowed
SELECT pg_get_functiondef('people_names'::regproc)

-- harmless
SELECT * FROM pg_prepared_statements

-- harmless
SELECT * FROM pg_cursors

-- refused 42
SELECT * FROM pg_hba_file_rules

-- refused 42
SELECT * FROM pg_file_settings

-- allowed
SELECT * FROM pg_class

-- allowed
SELECT * FROM pg_attribute

-- allowed
SELECT attmissingval FROM pg_attribute WHERE atthasmissing

-- allowed
SELECT relname, relpages, reltuples FROM pg_catalog.pg_class

-- allowed
SELECT prosrc, proname FROM pg_proc WHERE pronamespace <> 11

-- allowed
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef

-- allowed
SELECT pg_get_constraintdef(oid) FROM pg_constraint

-- allowed
SELECT conbin FROM pg_constraint

-- allowed
SELECT description FROM pg_description WHERE objoid > 16000

-- allowed
SELECT obj_description(oid, 'pg_class') FROM pg_class

-- allowed
SELECT obj_description(o::oid, 'pg_class') FROM generate_series(16384, 18500) o

-- allowed
SELECT col_description(o::oid, 2) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_indexdef(indexrelid) FROM pg_index

-- allowed
SELECT pg_get_indexdef(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_constraintdef(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_triggerdef(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT indpred FROM pg_index

-- allowed
SELECT ev_action FROM pg_rewrite

-- allowed
SELECT typname, typdefault FROM pg_type

-- allowed
SELECT enumlabel FROM pg_enum

-- allowed
SELECT * FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema')

-- allowed
SELECT * FROM information_schema.tables

-- allowed
SELECT stxname, stxexprs FROM pg_statistic_ext

-- allowed
SELECT * FROM pg_settings

-- allowed
SELECT o::oid::regclass::text FROM generate_series(16384, 18500) o

-- allowed
SELECT has_table_privilege('people', 'SELECT')

-- refused 42
SELECT pg_describe_object(1259, o::oid, 2) FROM generate_series(16384, 18500) o

-- allowed
SELECT format_type(o::oid, NULL) FROM generate_series(16384, 18500) o

-- harmless
SELECT pg_size_pretty(1::bigint), pg_column_size(people) FROM people

-- harmless
SELECT most_common_elems, null_frac FROM pg_stats WHERE schemaname = 'kproxy_store'

-- refused 42
SELECT stxkind, stxddist, stxdexpr FROM pg_statistic_ext_data

-- harmless
SELECT * FROM pg_stats_ext_exprs

-- harmless
SELECT n_live_tup, n_tup_ins, last_autovacuum FROM pg_stat_all_tables

-- harmless
SELECT seq_tup_read FROM pg_stat_xact_all_tables

-- harmless
SELECT idx_scan FROM pg_stat_user_indexes

-- harmless
SELECT heap_blks_read FROM pg_statio_user_tables

-- harmless
SELECT * FROM pg_statio_all_sequences

-- harmless
SELECT calls FROM pg_stat_user_functions

-- harmless
SELECT xact_commit, tup_returned FROM pg_stat_database

-- harmless
SELECT * FROM pg_stat_database_conflicts

-- refused 42
SELECT pg_stat_get_live_tuples(16400), pg_stat_get_tuples_inserted(16400)

-- harmless
SELECT pg_stat_get_live_tuples(o::oid) FROM generate_series(16384, 18500) o

-- refused 42
SELECT pg_stat_get_db_tuples_inserted(1), pg_stat_get_numscans(16400)

-- refused 42
SELECT pg_stat_get_last_analyze_time('people'::regclass)

-- refused 42
SELECT pg_stat_file('base')

-- harmless
SELECT * FROM pg_stat_wal

-- harmless
SELECT * FROM pg_stat_bgwriter

-- harmless
SELECT * FROM pg_stat_ssl

-- harmless
SELECT * FROM pg_stat_slru

-- harmless
SELECT * FROM pg_stat_subscription

-- harmless
SELECT pg_relation_size(o::oid) FROM generate_series(16384, 18500) o

-- harmless
SELECT pg_relation_size('people', 'vm'), pg_indexes_size('people')

-- harmless
SELECT sum(pg_tablespace_size(oid)), pg_database_size(current_database()) FROM pg_tablespace

-- allowed
SELECT pg_table_size(c.oid), c.relname FROM pg_class c WHERE c.relname = 'rare'

-- allowed
SELECT relname, reltuples, relpages, relallvisible FROM pg_class WHERE relkind IN ('r', 'v', 'm', 'p')

-- allowed
SELECT max(oid::int), count(*) FROM pg_class

-- allowed
SELECT relfrozenxid, relminmxid, reltoastrelid, relfilenode FROM pg_class

-- allowed
SELECT attname, attnum, attisdropped, atthasmissing FROM pg_attribute WHERE attrelid = 'people'::regclass

-- allowed
SELECT column_name, ordinal_position, column_default FROM information_schema.columns WHERE table_name IN ('people', 'rare', 'chart')

-- allowed
SELECT proname, prosrc, probin, proargnames FROM pg_proc WHERE proname ~ 'peek|owner|names'

-- allowed
SELECT datname, datfrozenxid, datacl FROM pg_database

-- allowed
SELECT rolname, rolpassword, rolconfig FROM pg_roles

-- harmless
SELECT usename, passwd, useconfig FROM pg_user

-- harmless
SELECT * FROM pg_group

-- harmless
SELECT * FROM pg_foreign_server

-- harmless
SELECT umoptions FROM pg_user_mapping

-- harmless
SELECT * FROM pg_prepared_xacts

-- refused 42
SELECT * FROM pg_shmem_allocations

-- refused 42
SELECT * FROM pg_backend_memory_contexts

-- refused 42
SELECT name, sourcefile FROM pg_file_settings

-- allowed
SELECT name, setting, sourcefile, sourceline FROM pg_settings WHERE sourcefile IS NOT NULL

-- allowed
SELECT name, setting FROM pg_settings WHERE name ~ 'directory|file|slot|preload|conninfo'

-- refused 42
SELECT ctid, xmin FROM codes

-- refused 42
SELECT p.ctid FROM people p WHERE p.ctid = '(0,1)'

-- refused 42
SELECT tableoid FROM visits

-- refused 42
SELECT (p).tableoid, (p).oid FROM people p

-- refused 42
SELECT oid FROM people

-- refused 42
SELECT cmax, cmin FROM ledger GROUP BY 1, 2

-- refused 42
SELECT * FROM people_seq

-- refused 42
SELECT last_value, is_called FROM qvzrel_counter

-- refused 42
SELECT setval('qvzrel_counter', 1), lastval()

-- refused 42
SELECT currval('public.qvzrel_counter')

-- harmless
SELECT last_value FROM pg_sequences WHERE sequencename = 'qvzrel_counter'

-- harmless
SELECT seqstart FROM pg_sequence

-- refused 42
SELECT sequence_parameters FROM pg_sequence_parameters(16400)

-- allowed
SELECT setseed(0.5), random()

-- A foreign key has the server write the number of a transaction into the row referred to.

-- refused 42
SELECT p.town, i.code FROM people p JOIN codes i ON p.xmax = i.xmax

-- refused 42
SELECT code FROM codes ORDER BY xmax::text::bigint DESC

-- refused 42
SELECT (i.xmax), (i).xmax, (i.*).xmin FROM codes i

-- refused 42
SELECT i.xmin, i.cmin, i.cmax, i.ctid, i.tableoid FROM codes i

-- refused 42
SELECT public.codes.xmax FROM codes

-- refused 42
SELECT clinic.public.codes.xmax FROM public.codes

-- refused 42
SELECT U&"xm\0061x" FROM codes

-- refused 42
SELECT "xmax" FROM ONLY codes

-- refused 42
SELECT xmax(i) FROM codes i

-- refused 42
SELECT code FROM codes a JOIN codes b USING (xmax)

-- refused 42
SELECT s.xmax FROM (SELECT xmax FROM codes) s

-- refused 42
SELECT s.x FROM (SELECT i FROM codes i) AS t(r), LATERAL (SELECT (t.r).xmax AS x) s

-- refused 42
WITH c AS (SELECT xmax AS x, code FROM codes) SELECT * FROM c

-- refused 42
SELECT code FROM codes WHERE ctid = '(0,1)'

-- refused 42
SELECT count(*) FROM codes GROUP BY xmax

-- refused 42
SELECT rank() OVER (ORDER BY xmin::text) FROM codes

-- refused 42
SELECT (SELECT max(xmax::text) FROM codes)

-- refused 42
SELECT (TABLE codes LIMIT 1).xmax

-- refused 42
COPY codes (code, xmax) TO STDOUT

-- refused 42
SELECT i.xmax FROM codes_short i

-- refused 42
SELECT i.tableoid::regclass FROM staff i

-- refused 42
SELECT xmin, xmax, ctid FROM pg_am

-- refused 42
SELECT a.ctid, a.cmax FROM pg_cast a
