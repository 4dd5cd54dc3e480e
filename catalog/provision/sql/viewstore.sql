-- The readable relations and the views over protected tables that kproxy has published, or
-- could not: made is the view that clients read, digest stands for what it was made of, and
-- problem says to the operator why there is none. omitted is how many columns it lacks.
-- accepted is what the relation was when it was published first: whatever else bears its
-- name later is not served. An earlier version published views over protected tables only.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.view (
  view_schema text,
  view_name   text,
  made        oid,
  digest      text NOT NULL,
  problem     text,
  omitted     integer NOT NULL DEFAULT 0,
  PRIMARY KEY (view_schema, view_name)
);
ALTER TABLE {{.StoreSchema}}.view ADD COLUMN IF NOT EXISTS accepted text DEFAULT '{"over_protected":true}';
ALTER TABLE {{.StoreSchema}}.view ALTER COLUMN accepted DROP DEFAULT;
REVOKE ALL PRIVILEGES ON TABLE {{.StoreSchema}}.view FROM PUBLIC, {{.Heads}};

-- What was made of views over protected tables for audiences, likewise: each is over what the
-- audience sees of the tables. What was accepted is in the table above.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.audience_view (
  audience    text,
  view_schema text,
  view_name   text,
  made        oid,
  digest      text NOT NULL,
  problem     text,
  omitted     integer NOT NULL DEFAULT 0,
  PRIMARY KEY (audience, view_schema, view_name)
);
REVOKE ALL PRIVILEGES ON TABLE {{.StoreSchema}}.audience_view FROM PUBLIC, {{.Heads}};

-- What the listed views are that are at a source in a database of its own: their columns, and what they
-- read. Processes that do not ask the source go by that, and all while it is away.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.source_view (
  view_schema text,
  view_name   text,
  described   text NOT NULL,
  PRIMARY KEY (view_schema, view_name)
);
REVOKE ALL PRIVILEGES ON TABLE {{.StoreSchema}}.source_view FROM PUBLIC, {{.Heads}};
