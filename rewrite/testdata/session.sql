BEGIN
--> BEGIN

START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE
--> START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE

BEGIN READ WRITE
--! 25006 kproxy publishes read-only views: READ WRITE is not allowed
--! position: 7
--! hint: Leave READ WRITE out.

BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY NOT DEFERRABLE
--> BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, NOT DEFERRABLE

COMMIT AND CHAIN
--> COMMIT AND CHAIN

END
--> COMMIT

ABORT
--> ROLLBACK

ROLLBACK TO SAVEPOINT a
--> ROLLBACK TO SAVEPOINT a

SAVEPOINT "A b"; RELEASE "A b"
--> SAVEPOINT "A b"; RELEASE "A b"

SHOW server_version
--> SHOW server_version

SHOW search_path
--> SELECT '"$user", public'::pg_catalog.text AS search_path

SHOW "Search_Path"
--> SELECT '"$user", public'::pg_catalog.text AS search_path

SHOW TIME ZONE
--> SHOW TIME ZONE

SHOW TRANSACTION ISOLATION LEVEL
--> SHOW TRANSACTION ISOLATION LEVEL

SHOW SESSION AUTHORIZATION
--> SHOW SESSION AUTHORIZATION

SHOW DateStyle; SHOW standard_conforming_strings
--> SHOW datestyle; SHOW standard_conforming_strings

SHOW ALL
--! 42501 permission denied to examine parameter "all"
--! hint: Only settings of the client's own formats and time limits are open.

SHOW data_directory
--! 42501 permission denied to examine parameter "data_directory"
--! hint: Only settings of the client's own formats and time limits are open.

SHOW config_file
--! 42501 permission denied to examine parameter "config_file"
--! hint: Only settings of the client's own formats and time limits are open.

SET application_name = 'psql'
--> SET application_name TO psql

SET LOCAL extra_float_digits TO 3
--> SET LOCAL extra_float_digits TO 3

SET SESSION datestyle TO ISO, DMY
--> SET datestyle TO iso, dmy

SET intervalstyle = postgres
--> SET intervalstyle TO postgres

SET TIME ZONE 'Europe/Berlin'
--> SET timezone TO "Europe/Berlin"

SET TIME ZONE LOCAL
--> SET timezone TO DEFAULT

SET TIME ZONE INTERVAL '+01:00' HOUR TO MINUTE
--> SET TIME ZONE interval '+01:00' hour to minute

SET timezone TO DEFAULT
--> SET timezone TO DEFAULT

SET "TimeZone" = 'UTC'
--> SET "TimeZone" TO "UTC"

SET statement_timeout = '30s'
--> SET statement_timeout TO "30s"

SET client_min_messages = warning
--> SET client_min_messages TO warning

SET client_min_messages = debug5
--! 22023 parameter "client_min_messages" cannot be set to this value
--! hint: Use notice, warning or error.

SET client_min_messages = log
--! 22023 parameter "client_min_messages" cannot be set to this value
--! hint: Use notice, warning or error.

SET client_encoding = 'UTF8'
--> SET client_encoding TO "UTF8"

SET NAMES 'utf-8'
--> SET client_encoding TO "utf-8"

SET NAMES 'LATIN1'
--! 22023 parameter "client_encoding" cannot be set to this value
--! hint: kproxy speaks UTF8.

SET standard_conforming_strings = on
--> SET standard_conforming_strings TO ON

SET standard_conforming_strings = off
--! 22023 parameter "standard_conforming_strings" cannot be set to this value
--! hint: It is always on; write E'...' for escapes.

SET backslash_quote = on
--! 42501 permission denied to set parameter "backslash_quote"
--! hint: Only settings of the client's own formats and time limits are open.

SET search_path = public
--> SET search_path TO DEFAULT

SET search_path TO "$user", public, pg_catalog
--> SET search_path TO DEFAULT

SET LOCAL search_path = 'public'
--> SET LOCAL search_path TO DEFAULT

SET search_path = hospital
--> SET search_path TO DEFAULT

SET search_path = kproxy_store, public
--> SET search_path TO DEFAULT

SET SCHEMA 'hospital'
--> SET search_path TO DEFAULT

RESET search_path
--> RESET search_path

SET ROLE postgres
--! 42501 permission denied to set parameter "role"
--! hint: Only settings of the client's own formats and time limits are open.

SET SESSION AUTHORIZATION postgres
--! 42501 permission denied to set parameter "session_authorization"
--! hint: Only settings of the client's own formats and time limits are open.

RESET ROLE
--! 42501 permission denied to set parameter "role"
--! hint: Only settings of the client's own formats and time limits are open.

SET row_security = off
--! 42501 permission denied to set parameter "row_security"
--! hint: Only settings of the client's own formats and time limits are open.

SET enable_seqscan = off
--! 42501 permission denied to set parameter "enable_seqscan"
--! hint: Only settings of the client's own formats and time limits are open.

SET work_mem = '1GB'
--! 42501 permission denied to set parameter "work_mem"
--! hint: Only settings of the client's own formats and time limits are open.

SET session_replication_role = replica
--! 42501 permission denied to set parameter "session_replication_role"
--! hint: Only settings of the client's own formats and time limits are open.

SET plpgsql.check_asserts = off
--! 42501 permission denied to set parameter "plpgsql.check_asserts"
--! hint: Only settings of the client's own formats and time limits are open.

SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
--> SET TRANSACTION ISOLATION LEVEL SERIALIZABLE

SET TRANSACTION READ ONLY
--> SET TRANSACTION READ ONLY

SET TRANSACTION READ WRITE
--! 25006 kproxy publishes read-only views: READ WRITE is not allowed
--! position: 17
--! hint: Leave READ WRITE out.

SET TRANSACTION SNAPSHOT '00000003-0000001B-1'
--! 0A000 SET TRANSACTION SNAPSHOT is not supported

SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY
--> SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY

SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
--! 25006 kproxy publishes read-only views: READ WRITE is not allowed
--! position: 44
--! hint: Leave READ WRITE out.

SET transaction_read_only = off
--! 22023 parameter "transaction_read_only" cannot be set to this value
--! hint: kproxy publishes read-only views.

SET transaction_read_only TO DEFAULT
--! 42501 permission denied to set parameter "transaction_read_only"
--! hint: Only settings of the client's own formats and time limits are open.

RESET transaction_read_only
--! 42501 permission denied to set parameter "transaction_read_only"
--! hint: Only settings of the client's own formats and time limits are open.

SET default_transaction_read_only = off
--! 22023 parameter "default_transaction_read_only" cannot be set to this value
--! hint: kproxy publishes read-only views.

SET default_transaction_read_only = on
--> SET default_transaction_read_only TO ON

SET CONSTRAINTS ALL DEFERRED
--! 42501 kproxy publishes read-only views: CONSTRAINTS SET is not allowed
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

RESET timezone
--> RESET timezone

RESET ALL
--> RESET ALL

DISCARD ALL
--> DISCARD ALL

DISCARD PLANS
--> DISCARD PLANS

DISCARD TEMP
--> DISCARD TEMP

SELECT current_schema, current_schema(), current_schemas(true), current_setting('search_path'), current_setting('TimeZone', true), version()
--> SELECT 'public'::pg_catalog.name AS "current_schema", 'public'::pg_catalog.name AS "current_schema", '{pg_catalog,public}'::pg_catalog.name[] AS current_schemas, '"$user", public'::pg_catalog.text AS current_setting, pg_catalog.current_setting('TimeZone', true), pg_catalog.version()

-- only a comment
-->

;
-->

SET SESSION TIMEZONE TO 'UTC'
--> SET timezone TO "UTC"

BEGIN; SET TRANSACTION READ ONLY; SELECT 1; COMMIT
--> BEGIN; SET TRANSACTION READ ONLY; SELECT 1; COMMIT

SET application_name = ''
--> SET application_name TO ''

COPY wards TO STDOUT (FORMAT csv, HEADER on, FORCE_QUOTE (a, "B"))
--> COPY (SELECT * FROM public.wards wards) TO STDOUT WITH (FORMAT CSV, HEADER, FORCE_QUOTE (a, "B"))

COPY wards TO STDOUT (HEADER 0, FORMAT text, DELIMITER '|', NULL '\N', ENCODING 'UTF8')
--> COPY (SELECT * FROM public.wards wards) TO STDOUT WITH (HEADER false, FORMAT TEXT, DELIMITER '|', NULL E'\\N', ENCODING 'UTF8')

COPY wards TO STDOUT WITH CSV HEADER FORCE QUOTE *
--> COPY (SELECT * FROM public.wards wards) TO STDOUT WITH (FORMAT CSV, HEADER, FORCE_QUOTE *)

COPY wards TO STDOUT WITH (FORMAT csv, HEADER TRUE, QUOTE '''', ESCAPE '\', FORCE_QUOTE *)
--> COPY (SELECT * FROM public.wards wards) TO STDOUT WITH (FORMAT CSV, HEADER, QUOTE '''', ESCAPE E'\\', FORCE_QUOTE *)

EXPLAIN (ANALYZE, BUFFERS off, COSTS 0, FORMAT json) SELECT 1
--> EXPLAIN (ANALYZE, BUFFERS OFF, COSTS 0, FORMAT json) SELECT 1

SET TIME ZONE -1.5
--> SET timezone TO -1.5

SET transaction_timeout = 1000
--> SET transaction_timeout TO 1000
