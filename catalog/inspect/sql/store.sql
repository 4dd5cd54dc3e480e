-- The columns $2 that the table of generations in the private store $1 does not have.
SELECT w.name FROM unnest($2::text[]) WITH ORDINALITY AS w(name, n)
WHERE NOT EXISTS (
  SELECT FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace s ON s.oid = c.relnamespace
  WHERE s.nspname = $1 AND c.relname = 'generation' AND a.attname = w.name AND NOT a.attisdropped)
ORDER BY w.n
