-- Views over protected tables that kproxy has published, or could not: made is the
-- published view, digest stands for the definition that it was made of, and problem says
-- to the operator why there is none. omitted is how many of its columns are not published.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.view (
  view_schema text,
  view_name   text,
  made        oid,
  digest      text NOT NULL,
  problem     text,
  omitted     integer NOT NULL DEFAULT 0,
  PRIMARY KEY (view_schema, view_name)
);
REVOKE ALL PRIVILEGES ON TABLE {{.StoreSchema}}.view FROM PUBLIC, {{identifier .Reader}};
