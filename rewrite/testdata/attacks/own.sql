-- What is kproxy's own: the private store, the release tables, the stand-ins, the
-- publication, the roles and the slot.

-- refused 42
SELECT * FROM kproxy_store.records_2

-- refused 42
SELECT * FROM kproxy_store.records_3 r JOIN people p ON true

-- refused 42
TABLE kproxy_store.release_2

-- refused 42
SELECT count(*) FROM kproxy_store.packed_1

-- refused 42
SELECT * FROM kproxy_store.packed_release_1

-- refused 42
SELECT * FROM kproxy_store.classes_1

-- refused 42
SELECT * FROM kproxy_store.members_1

-- refused 42
SELECT * FROM kproxy_store."position" p, people

-- refused 42
SELECT * FROM records_1

-- refused 42
SELECT * FROM release_1, people

-- refused 42
SELECT * FROM clinic.kproxy_store.records_1

-- refused 42, echoes kproxy_store
SELECT * FROM U&"kproxy!005fstore" UESCAPE '!' . records_1

-- refused 42, echoes kproxy_store records_1
SELECT * FROM U&"kproxy\005fstore".U&"records\005f1"

-- refused 42
SELECT * FROM KPROXY_STORE.RECORDS_1

-- refused 42
SELECT * FROM "Kproxy_Store".records_1

-- refused 42
SELECT * FROM kproxy_release_public.people AS people

-- refused 42
SELECT * FROM kproxy_release_public.chart

-- refused 42
SELECT * FROM kproxy_release_other.people

-- refused 42
SELECT * FROM kproxy_catalog.pg_attribute

-- refused 42
SELECT * FROM kproxy_catalog.information_schema_tables

-- refused 42
SELECT kproxy_catalog.table_is_visible(16400)

-- refused 42
SELECT kproxy_catalog.source_namespace(oid) FROM pg_namespace

-- refused 42
SELECT * FROM kproxy_catalog.shown_types()

-- refused 42
SELECT to_class('people'), kproxy_catalog.to_class('people', '{public}')

-- refused 42
SELECT kproxy_catalog.type_names('{16400,16401}', '{public}')

-- refused 42
SELECT kproxy_catalog.is_shown_composite(16400)

-- refused 42
SELECT visible(16400::oid)

-- refused 42
SELECT (16400::oid).visible

-- refused 42
SELECT p.kproxy_class, p.kproxy_weight FROM people p

-- refused 42
SELECT kproxy_guard.oid FROM people

-- refused 42
SELECT kproxy_argument.a0, format_type(23, NULL) FROM people

-- allowed
SELECT format_type(kproxy_argument.a0, NULL) FROM (SELECT 23 AS a0) kproxy_argument

-- allowed
SELECT pg_get_expr(NULL, kproxy_guard.oid) FROM (SELECT 16400 AS oid) kproxy_guard

-- allowed
WITH kproxy_guard AS (SELECT 23 AS oid) SELECT format_type(oid, NULL) FROM kproxy_guard

-- allowed
WITH pg_type AS (SELECT 16400 AS oid, 'x' AS typname) SELECT format_type(oid, NULL), oid::regtype FROM pg_type

-- allowed
WITH pg_class AS (SELECT 16400 AS oid) SELECT oid::regclass FROM pg_class

-- refused 42
WITH kproxy_store AS (SELECT 1) SELECT * FROM kproxy_store.records_1

-- allowed
SELECT nspname FROM pg_namespace

-- harmless
SELECT schema_name FROM information_schema.schemata

-- allowed
SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT LIKE 'pg%'

-- allowed
SELECT relname, relnamespace::regnamespace FROM pg_class WHERE relnamespace > 16000

-- allowed
SELECT pubname, puballtables FROM pg_publication

-- allowed
SELECT * FROM pg_publication_rel

-- allowed
SELECT * FROM pg_publication_namespace

-- allowed
SELECT current_schema, current_schemas(true), current_schemas(false)

-- allowed
SHOW search_path

-- allowed
SELECT current_setting('search_path'), current_setting('SEARCH_PATH', true)

-- allowed
SELECT setting, reset_val, boot_val FROM pg_settings WHERE name LIKE '%path%'

-- allowed
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'kproxy%'

-- allowed
SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relname IN ('people', 'chart', 'rare')

-- allowed
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid > 16000

-- allowed
SELECT indexrelid::regclass, indkey FROM pg_index WHERE indexrelid > 16000

-- allowed
SELECT inhrelid::regclass, inhparent::regclass FROM pg_inherits

-- allowed
SELECT tgname, tgfoid::regproc FROM pg_trigger

-- allowed
SELECT polname FROM pg_policy

-- allowed
SELECT rulename, ev_class::regclass FROM pg_rewrite

-- allowed
SELECT t.typname, t.typrelid::regclass FROM pg_type t WHERE t.typrelid > 16000

-- allowed
SELECT typname FROM pg_type WHERE typname LIKE '%qvz' || 'rel%' OR typname LIKE 'record%'

-- allowed
SELECT objid, refobjid FROM pg_depend

-- harmless
SELECT * FROM pg_shdepend

-- harmless
SELECT * FROM pg_stat_progress_copy

-- harmless
SELECT * FROM pg_stat_progress_create_index

-- harmless
SELECT * FROM pg_seclabels

-- harmless
SELECT * FROM pg_default_acl

-- refused 42
SELECT * FROM pg_replication_origin_status

-- refused 42
SELECT * FROM pg_toast.pg_toast_16400

-- refused 42
SELECT chunk_data FROM pg_toast.pg_toast_1255

-- refused 42
SELECT * FROM pg_temp_3.people

-- refused 42
SELECT * FROM pg_toast_temp_1.x

-- refused 42
SELECT * FROM pg_temp.people
