-- The columns $3 that the table $2 in the private store $1 does not have.
SELECT w.name FROM unnest($3::text[]) WITH ORDINALITY AS w(name, n)
WHERE NOT EXISTS (
  SELECT FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace s ON s.oid = c.relnamespace
  WHERE s.nspname = $1 AND c.relname = $2 AND a.attname = w.name AND NOT a.attisdropped)
ORDER BY w.n
