-- By these the proxy knows whether what readers see of a table is what it was when it kept an
-- answer: whoever changes it draws a new one in the same transaction. They are random, and tell
-- nothing but that. Each is written again and again, in its place. REFERENCES is as above.
CREATE TABLE IF NOT EXISTS {{.CatalogSchema}}.mark (
  table_schema text,
  table_name   text,
  mark         uuid NOT NULL,
  PRIMARY KEY (table_schema, table_name)
) WITH (fillfactor = 10);
GRANT SELECT, REFERENCES ON TABLE {{.CatalogSchema}}.mark TO {{.Heads}};
