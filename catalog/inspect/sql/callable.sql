-- What a name behind a dot can call: functions, and types by a cast. Nothing else than
-- pg_catalog is on the path of clients' sessions but releases, which have row types alone.
SELECT coalesce(array_agg(DISTINCT name), '{}') AS names
FROM (SELECT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
      UNION ALL
      SELECT typname::text FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace) AS callable(name)
