-- The labels, in their order, of the enumeration that format_type calls $1.
SELECT e.enumlabel::text AS label
FROM pg_enum e
WHERE format_type(e.enumtypid, NULL) = $1
ORDER BY e.enumsortorder
