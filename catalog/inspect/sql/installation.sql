-- Whether there is the store $1, and what of it can tell which configuration it is of. $2 and $3 are the schemas and
-- names of the tables of this one, which are given as the store notes them.
SELECT (SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = $1), current_database()::text,
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'installation'),
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'policy'),
       ARRAY(SELECT format('%I.%I', own.schema, own.name) FROM unnest($2::text[], $3::text[]) AS own(schema, name))
