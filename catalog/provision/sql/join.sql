-- An administrator who is not a superuser can create objects for the owner only
-- as its member. The membership ends with this script.
DO $kproxy$
DECLARE
  privilege text := CASE WHEN pg_catalog.current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
  IF NOT pg_catalog.pg_has_role(current_user, {{literal .Owner}}, privilege) THEN
    GRANT {{identifier .Owner}} TO CURRENT_USER;
    PERFORM pg_catalog.set_config('kproxy.joined', 'yes', false);
  END IF;
END
$kproxy$;
