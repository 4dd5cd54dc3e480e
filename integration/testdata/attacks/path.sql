-- The search path and other settings that change what names and texts mean.

-- refuse
SET search_path = kproxy_store, public

-- refuse
SET LOCAL search_path = other

-- refuse
SET SESSION search_path TO other, public

-- refuse
SELECT set_config('search_path', 'other', false)

-- refuse
SELECT pg_catalog.set_config('search_path', 'other', true)

-- refuse
SET SCHEMA 'other'

-- refuse
SET search_path = other; SELECT name FROM people

-- refuse
ALTER ROLE CURRENT_USER SET search_path = other

-- refuse
ALTER DATABASE clinic SET search_path = other

-- refuse
SET standard_conforming_strings = off

-- refuse
SET standard_conforming_strings = off; SELECT '\'' || ' FROM people; SELECT name FROM people --'

-- refuse
SET backslash_quote = on

-- refuse
SET client_encoding = 'SJIS'

-- refuse
SET NAMES 'GBK'

-- refuse
SET ROLE postgres

-- refuse
SET SESSION AUTHORIZATION postgres

-- refuse
SET SESSION AUTHORIZATION DEFAULT

-- refuse
RESET ROLE

-- refuse
SET session_replication_role = replica

-- refuse
SET default_transaction_read_only = off

-- refuse
SET transaction_read_only = off

-- refuse
BEGIN; SET TRANSACTION READ WRITE

-- refuse
SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE

-- refuse
SET client_min_messages = debug5

-- refuse
SET log_min_messages = debug5

-- refuse
SET debug_print_parse = on

-- refuse
SET row_security = off

-- refuse
SET lo_compat_privileges = on

-- refuse
SET allow_system_table_mods = on

-- refuse
SET session_preload_libraries = 'auto_explain'

-- refuse
SET "auto_explain.log_min_duration" = 0

-- refuse
SET default_tablespace = ''

-- refuse
SET TRANSACTION SNAPSHOT '00000003-0000001B-1'

-- refuse
SET plpgsql.extra_warnings = 'all'

-- refuse
SHOW data_directory

-- refuse
SHOW ALL

-- refuse
SELECT current_setting('hba_file')

RESET ALL

DISCARD ALL

SET application_name = 'x'

SET search_path = public
