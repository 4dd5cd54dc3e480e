-- What set-up notes of the reader roles $1: the audience of each, and whether it is the first of one.
SELECT r.name, coalesce(to_jsonb(r) ->> 'audience', '') AS audience, coalesce((to_jsonb(r) ->> 'is_first')::boolean, false) AS first
FROM kproxy_store.reader r WHERE r.name = ANY ($1::text[])
