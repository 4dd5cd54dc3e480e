-- What a relation is: its present name, the relations that hold its rows with their
-- states, the digest of all else that values and their way into the stream depend on,
-- whether it is published, and its columns. Partitions, at any depth, belong to it.
-- $1 relation, $2 stored columns, $3 publication, $4 quasi-identifying columns.
WITH RECURSIVE tree(oid) AS (
	SELECT $1::oid
	UNION ALL
	SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid
	JOIN pg_catalog.pg_class c ON c.oid = i.inhparent AND c.relkind = 'p'
), types(oid, generalized) AS (
	SELECT a.atttypid, a.attname::text = ANY ($4::text[]) FROM pg_catalog.pg_attribute a
	WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND a.attname::text = ANY ($2::text[])
	UNION
	SELECT u.oid, y.generalized FROM types y JOIN pg_catalog.pg_type t ON t.oid = y.oid CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) AS u(oid) WHERE u.oid <> 0
)
SELECT n.nspname::text, c.relname::text,
	coalesce((SELECT pg_catalog.array_agg(l.oid ORDER BY l.oid) FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	-- A partition that was detached and attached again has another row in pg_inherits.
	coalesce((SELECT pg_catalog.array_agg(pg_catalog.concat_ws(' ', l.relfilenode, l.relreplident,
			(SELECT pg_catalog.string_agg(i.xmin::text, ',' ORDER BY i.inhparent) FROM pg_catalog.pg_inherits i WHERE i.inhrelid = l.oid),
			(SELECT pg_catalog.string_agg(a.attnum || ':' || a.attname, ',' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
				WHERE a.attrelid = l.oid AND a.attname::text = ANY ($2::text[]) AND NOT a.attisdropped)) ORDER BY l.oid)
		FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	coalesce((SELECT pg_catalog.array_agg(l.xmin::text::bigint ORDER BY l.oid) FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	coalesce((SELECT pg_catalog.array_agg(CASE l.relreplident WHEN 'f' THEN '"*"' ELSE coalesce((
			SELECT pg_catalog.to_jsonb(pg_catalog.array_agg(a.attname::text))::text
			FROM pg_catalog.pg_index i CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, position)
			JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
			WHERE i.indrelid = l.oid AND i.indisvalid AND k.position <= i.indnkeyatts
			AND CASE l.relreplident WHEN 'i' THEN i.indisreplident WHEN 'd' THEN i.indisprimary AND i.indimmediate ELSE false END), '[]') END ORDER BY l.oid)
		FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	-- Labels of enumerations, those that are generalized apart.
	coalesce((SELECT pg_catalog.array_agg(pg_catalog.concat_ws(' ', e.oid, e.enumlabel) ORDER BY e.oid)
		FROM types y JOIN pg_catalog.pg_enum e ON e.enumtypid = y.oid WHERE y.generalized), '{}'),
	pg_catalog.md5(
		coalesce((SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', l.oid, i.xmin), ',' ORDER BY l.oid)
			FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid AND l.relkind = 'p' JOIN pg_catalog.pg_inherits i ON i.inhrelid = l.oid), '') || '/' ||
		coalesce((SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', e.oid, e.enumlabel), ',' ORDER BY e.oid)
			FROM types y JOIN pg_catalog.pg_enum e ON e.enumtypid = y.oid WHERE NOT y.generalized), '') || '/' ||
		coalesce((SELECT pg_catalog.concat_ws(' ', p.oid, p.xmin, p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate, p.pubviaroot,
				(SELECT pg_catalog.string_agg(r.xmin || ' ' || pg_catalog.to_jsonb(r)::text, ',' ORDER BY r.oid) FROM pg_catalog.pg_publication_rel r
					WHERE r.prpubid = p.oid AND r.prrelid IN (SELECT oid FROM tree)))
			FROM pg_catalog.pg_publication p WHERE p.pubname = $3), '')),
	-- Whether all is published, and whole.
	coalesce((SELECT p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate AND NOT EXISTS (SELECT FROM pg_catalog.pg_publication_rel r
			WHERE r.prpubid = p.oid AND r.prrelid IN (SELECT oid FROM tree)
			AND (pg_catalog.to_jsonb(r) ->> 'prqual' IS NOT NULL OR r.prrelid <> $1 AND pg_catalog.to_jsonb(r) ->> 'prattrs' IS NOT NULL OR EXISTS (SELECT FROM pg_catalog.pg_attribute a
				WHERE a.attrelid = r.prrelid AND a.attname::text = ANY ($2::text[]) AND NOT a.attisdropped
				AND NOT a.attnum::text = ANY (pg_catalog.string_to_array(pg_catalog.translate(pg_catalog.to_jsonb(r) ->> 'prattrs', '[],', ''), ' ')))))
		FROM pg_catalog.pg_publication p WHERE p.pubname = $3), false),
	NOT EXISTS (SELECT FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid JOIN pg_catalog.pg_namespace s ON s.oid = l.relnamespace
		WHERE l.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_catalog.pg_publication_tables p WHERE p.pubname = $3
			AND (p.schemaname, p.tablename) IN ((s.nspname, l.relname), (n.nspname, c.relname)))),
	coalesce((SELECT pg_catalog.array_agg(a.attname::text ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '{}'),
	coalesce((SELECT pg_catalog.array_agg(a.atttypid ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '{}'),
	coalesce((SELECT pg_catalog.array_agg(a.atttypmod ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '{}'),
	-- The list of the columns that are sent; see sent_list.go.
	coalesce((SELECT pg_catalog.concat_ws(' ', r.oid, r.xmin, pg_catalog.translate(pg_catalog.to_jsonb(r) ->> 'prattrs', '[],', '')) FROM pg_catalog.pg_publication_rel r
		JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
		WHERE p.pubname = $3 AND r.prrelid = $1 AND pg_catalog.to_jsonb(r) ->> 'prattrs' IS NOT NULL), '')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1
