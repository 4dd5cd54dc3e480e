-- What follows belongs to the owner.
SET ROLE {{identifier .Owner}};
{{range .OwnSchemas}}
REVOKE ALL PRIVILEGES ON SCHEMA {{identifier .}} FROM PUBLIC, {{identifier $.Reader}};
{{- end}}
{{- range .ReaderSchemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{identifier $.Reader}};
{{- end}}

-- The replication position that the published state stands for.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.position (
  slot              text PRIMARY KEY,
  epoch             bigint NOT NULL,
  lsn               pg_lsn NOT NULL,
  system_identifier text NOT NULL,
  updated_at        timestamptz NOT NULL DEFAULT now()
);

-- Which tables records_<generation> and release_<generation> a protected table has.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.generation (
  table_schema  text,
  table_name    text,
  generation    bigint NOT NULL,
  policy_digest text NOT NULL,
  next_class    bigint NOT NULL,
  next_record   bigint NOT NULL,
  withheld      bigint NOT NULL DEFAULT 0,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (table_schema, table_name)
);

-- How fresh a release is: the records that wait to be published, those published as
-- they were, the rows that stand for nobody, and the records that are withheld for good.
-- A store that an earlier version made gets the columns, too.
ALTER TABLE {{.StoreSchema}}.generation
  ADD COLUMN IF NOT EXISTS updates        text,
  ADD COLUMN IF NOT EXISTS waiting        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS stale          bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS ghosts         bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS expired        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS oldest_waiting timestamptz,
  ADD COLUMN IF NOT EXISTS oldest_stale   timestamptz;

REVOKE ALL PRIVILEGES ON ALL TABLES IN SCHEMA {{.StoreSchema}} FROM PUBLIC, {{identifier .Reader}};
