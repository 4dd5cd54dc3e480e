-- Roles are made on the workers, too. All else is made on this server, the coordinator, alone, until rows are distributed.
SET LOCAL citus.enable_ddl_propagation = off;

-- The owner has the workers end what the coordinator has decided.
GRANT EXECUTE ON FUNCTION pg_catalog.recover_prepared_transactions() TO {{identifier .Owner}};

-- Sessions of clients reach a worker by what they read, never by a statement of their own. Citus's operators, which
-- compare clocks, have the names of PostgreSQL's: who may not call them means PostgreSQL's.
DO $kproxy$
DECLARE
  way pg_catalog.regprocedure;
BEGIN
  FOR way IN SELECT p.oid FROM pg_catalog.pg_proc p
             JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
             JOIN pg_catalog.pg_extension e ON d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND e.oid = d.refobjid AND e.extname = 'citus'
             WHERE p.proname ~ '^(run_command_on_|master_run_on_worker$)'
                OR p.oid IN (SELECT oprcode FROM pg_catalog.pg_operator WHERE oprnamespace = 'pg_catalog'::pg_catalog.regnamespace) LOOP
    EXECUTE pg_catalog.format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', way);
  END LOOP;
END
$kproxy$;
