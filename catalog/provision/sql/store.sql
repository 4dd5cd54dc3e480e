-- What follows belongs to the owner.
SET ROLE {{identifier .Owner}};
{{range .OwnSchemas}}
REVOKE ALL PRIVILEGES ON SCHEMA {{identifier .}} FROM PUBLIC, {{$.Heads}};
{{- end}}
{{- range .CommonSchemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{$.Heads}};
{{- end}}
{{- range .ReaderSchemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{identifier $.Reader}};
{{- end}}
{{- range $a := .Audiences}}{{range .Schemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{identifier $a.Head}};
{{- end}}{{end}}

-- The replication position that the published state stands for.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.position (
  slot              text PRIMARY KEY,
  epoch             bigint NOT NULL,
  lsn               pg_lsn NOT NULL,
  system_identifier text NOT NULL,
  updated_at        timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE {{.StoreSchema}}.position ADD COLUMN IF NOT EXISTS timeline bigint NOT NULL DEFAULT 0;
-- The server that the store itself is on, where that is not the source's: its system identifier and
-- its timeline.
ALTER TABLE {{.StoreSchema}}.position
  ADD COLUMN IF NOT EXISTS store_system   text,
  ADD COLUMN IF NOT EXISTS store_timeline bigint;

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
-- they were, the rows that stand for nobody, how many of these weights still count, and the records that are withheld for good.
-- A store that an earlier version made gets the columns, too.
ALTER TABLE {{.StoreSchema}}.generation
  ADD COLUMN IF NOT EXISTS updates        text,
  ADD COLUMN IF NOT EXISTS waiting        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS stale          bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS ghosts         bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS untold         bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS expired        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS oldest_waiting timestamptz,
  ADD COLUMN IF NOT EXISTS oldest_stale   timestamptz;

-- Where each table stands: changes whose commit lies before lsn are in its store. A
-- generation that still has to catch up is shown from the position shows on; readers see
-- the generation previous until then. A halted table waits for the operator, and for an
-- explicit wish where needs_consent. asked is such a wish: rebuild or resync; noted is
-- kproxy's own.
-- definition is a digest of what the table was when it was compared with its source.
-- A table that heals was halted for what it is, and goes on by itself when it is again what
-- was accepted. promise is what the release that readers see keeps: under another policy it
-- stands until that one's is ready, if it promises as much.
ALTER TABLE {{.StoreSchema}}.generation
  ADD COLUMN IF NOT EXISTS lsn           pg_lsn,
  ADD COLUMN IF NOT EXISTS shows         pg_lsn,
  ADD COLUMN IF NOT EXISTS previous      bigint,
  ADD COLUMN IF NOT EXISTS halted        text,
  ADD COLUMN IF NOT EXISTS halted_fix    text,
  ADD COLUMN IF NOT EXISTS needs_consent boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS asked         text,
  ADD COLUMN IF NOT EXISTS noted         text,
  ADD COLUMN IF NOT EXISTS definition    text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS promise       text,
  ADD COLUMN IF NOT EXISTS audiences     text, -- what is published for audiences, as JSON
  ADD COLUMN IF NOT EXISTS lineage       text, -- by which policy the classes of a guarded table are made, as JSON
  ADD COLUMN IF NOT EXISTS heals         boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS returned      bigint NOT NULL DEFAULT 0, -- records that came back to their rows
  ADD COLUMN IF NOT EXISTS hash_key      bytea;                     -- of the hashes below

-- What a table's release is made of, as JSON, and the fingerprint of the whole policy that this follows
-- from: by these a process serves the release while the source, in a database of its own, is away.
ALTER TABLE {{.StoreSchema}}.generation
  ADD COLUMN IF NOT EXISTS publication text,
  ADD COLUMN IF NOT EXISTS followed    text;

-- The published rows whose records have left a guarded table, by a hash of the record's key,
-- by the hash_key of its generation. Who comes back gets the row back; with the row the hash goes.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.departed (
  generation bigint NOT NULL,
  hash       bytea NOT NULL,
  class      bigint NOT NULL,
  row        bigint NOT NULL,
  changed    text NOT NULL, -- what the row did not show of the record
  PRIMARY KEY (generation, hash)
);

-- A row of tables that are released together is found by its number as well.
CREATE INDEX IF NOT EXISTS departed_row ON {{.StoreSchema}}.departed (generation, row);

-- Rows of guarded tables that are released together which are not published any more, and whose
-- sensitive values count until the class of their persons goes.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.vanished (
  generation bigint NOT NULL,
  row        bigint NOT NULL,
  cell       bigint NOT NULL,
  persons    bigint NOT NULL,
  person     integer NOT NULL,
  win        integer NOT NULL,
  parent     bigint NOT NULL,
  sensitive  text[] NOT NULL,
  PRIMARY KEY (generation, row)
);
CREATE INDEX IF NOT EXISTS vanished_persons ON {{.StoreSchema}}.vanished (generation, persons);

-- What the names of the configuration were the names of when the operator accepted them:
-- for each name its identity, such as the numbers, names and types of a table's columns.
-- What differs from it is not published until it is accepted or taken back.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.accepted (
  kind            text NOT NULL, -- table
  accepted_schema text NOT NULL,
  accepted_name   text NOT NULL,
  identity        jsonb NOT NULL,
  accepted_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kind, accepted_schema, accepted_name)
);

-- The policies that the operator has accepted; the one with the greatest number is in
-- force. A process that has another one does not apply.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.policy (
  number      bigint PRIMARY KEY,
  fingerprint text NOT NULL,
  policy      jsonb NOT NULL,
  place       text NOT NULL, -- the machine and the file that it was accepted from
  accepted_at timestamptz NOT NULL DEFAULT now()
);

-- Why nothing of a table can be published, for the operator; NULL where something is, or
-- where an immediate table has no records.
ALTER TABLE {{.StoreSchema}}.generation
  ADD COLUMN IF NOT EXISTS withheld_why text;

-- Requests to make the classes of a table anew, and what became of them.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.renewal (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_schema text NOT NULL,
  table_name   text NOT NULL,
  asked_at     timestamptz NOT NULL DEFAULT now(),
  done         bigint,           -- records that have found their class; NULL before it begins
  ended_at     timestamptz,      -- NULL until then
  loss_before  double precision, -- of the maintained release
  loss_afresh  double precision, -- of the one made afresh
  adopted      boolean,          -- false where no part of that loses less
  problem      text              -- why nothing was made anew; NULL for success
);

-- What salts of users who do not exist are made of, the same at every start and for every
-- process, so that nobody can tell them from those of users who do.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.login (salt bytea NOT NULL);
INSERT INTO {{.StoreSchema}}.login
  SELECT pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
  WHERE NOT EXISTS (SELECT FROM {{.StoreSchema}}.login);

-- The configuration that was set up last, and the machine and the file that it was set up from.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.installation (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  place       text NOT NULL,
  slot        text NOT NULL,
  publication text NOT NULL,
  tables      text[] NOT NULL,
  readers     text[] NOT NULL
);
INSERT INTO {{.StoreSchema}}.installation (place, slot, publication, tables, readers)
  VALUES ({{literal .Place}}, {{literal .Slot}}, {{literal .Publication}}, {{template "tables" .}}, {{template "readers" .}})
  ON CONFLICT ON CONSTRAINT installation_pkey DO UPDATE
  SET place = excluded.place, slot = excluded.slot, publication = excluded.publication, tables = excluded.tables, readers = excluded.readers;

-- The further reader roles, and those of audiences, so that one that is no more configured, or
-- has another part now, is known.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.reader (name text PRIMARY KEY);
-- Whether it is the first one of an audience, which has rights of its own.
ALTER TABLE {{.StoreSchema}}.reader ADD COLUMN IF NOT EXISTS is_first boolean NOT NULL DEFAULT false;
-- The audience that it belongs to; empty where it reads what tables says.
ALTER TABLE {{.StoreSchema}}.reader ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';

REVOKE ALL PRIVILEGES ON ALL TABLES IN SCHEMA {{.StoreSchema}} FROM PUBLIC, {{.Heads}};
