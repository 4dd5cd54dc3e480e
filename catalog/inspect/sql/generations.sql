-- The generation that is published for each table.
SELECT table_schema, table_name, generation FROM kproxy_store.generation
