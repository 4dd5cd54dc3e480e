-- By these rows the servers that readers are sent to show whose log they replay, and how far:
-- every kproxy process writes one again and again where such a server is not the one that it
-- publishes on. They say nothing but that a process runs. REFERENCES is as above.
CREATE TABLE IF NOT EXISTS {{.CatalogSchema}}.heartbeat (
  process    text PRIMARY KEY,
  number     bigint NOT NULL,
  written_at timestamptz NOT NULL
);
GRANT SELECT, REFERENCES ON TABLE {{.CatalogSchema}}.heartbeat TO {{.Heads}};

-- Up to where the releases show the source, of which the process that applies tells the
-- others where upstream.reader.max_staleness is set.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.applied (
  slot  text PRIMARY KEY,
  epoch bigint NOT NULL,
  lsn   pg_lsn NOT NULL
);
REVOKE ALL PRIVILEGES ON TABLE {{.StoreSchema}}.applied FROM PUBLIC, {{.Heads}};
