-- The end of the administrator's membership.
DO $kproxy$
BEGIN
  IF pg_catalog.current_setting('kproxy.joined', true) = 'yes' THEN
    REVOKE {{identifier .Owner}} FROM CURRENT_USER;
    PERFORM pg_catalog.set_config('kproxy.joined', '', false);
  END IF;
END
$kproxy$;
