-- What a table is: its columns by their numbers, the types of users that their values are
-- of, and the partitions that hold its rows, as the transaction sees them.
-- $1 table, $2 whether its partitions are told, $3 transactions.
WITH RECURSIVE types(oid) AS (
	SELECT a.atttypid FROM pg_catalog.pg_attribute a
	WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384
	UNION
	SELECT u.oid FROM types y JOIN pg_catalog.pg_type t ON t.oid = y.oid CROSS JOIN LATERAL (
		SELECT t.typbasetype UNION ALL SELECT t.typelem
		UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE t.typtype IN ('r', 'm') -- PostgreSQL 13 has no multiranges
			AND t.oid IN (r.rngtypid, (pg_catalog.to_jsonb(r) ->> 'rngmultitypid')::oid)
		UNION ALL SELECT f.atttypid FROM pg_catalog.pg_attribute f
			WHERE t.typtype = 'c' AND f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped
	) AS u(oid) WHERE u.oid >= 16384
), tree(oid) AS (
	SELECT $1::oid WHERE $2
	UNION ALL
	SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid
	JOIN pg_catalog.pg_class c ON c.oid = i.inhparent AND c.relkind = 'p'
), columns AS (
	-- LATERAL: of each relation by the index, however many columns the database has.
	SELECT r.attrelid, l.list
	FROM (SELECT $1::oid UNION ALL SELECT t.typrelid FROM types y JOIN pg_catalog.pg_type t ON t.oid = y.oid WHERE t.typtype = 'c') AS r(attrelid)
	CROSS JOIN LATERAL (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
			'number', a.attnum, 'name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod), 'type_oid', a.atttypid::bigint,
			'modifier', a.atttypmod, 'collation', a.attcollation::bigint, 'generated', a.attgenerated <> '') ORDER BY a.attnum) AS list
		FROM pg_catalog.pg_attribute a WHERE a.attrelid = r.attrelid AND a.attnum > 0 AND NOT a.attisdropped) AS l
)
SELECT n.nspname::text, c.relname::text, pg_catalog.jsonb_build_object('oid', c.oid::bigint,
	'columns', coalesce((SELECT l.list FROM columns l WHERE l.attrelid = c.oid), '[]'),
	'types', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('oid', t.oid::bigint, 'name', pg_catalog.format_type(t.oid, NULL),
			'labels', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('oid', e.oid::bigint, 'label', e.enumlabel) ORDER BY e.enumsortorder)
				FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid),
			'fields', (SELECT l.list FROM columns l WHERE l.attrelid = t.typrelid AND t.typtype = 'c')) ORDER BY t.oid)
		FROM types y JOIN pg_catalog.pg_type t ON t.oid = y.oid),
	'leaves', CASE WHEN $2 AND c.relkind = 'p' THEN (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('oid', l.oid::bigint, 'columns',
			(SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(a.attnum, a.attname) ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
				WHERE a.attrelid = l.oid AND a.attnum > 0 AND NOT a.attisdropped)) ORDER BY l.oid)
		FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r') END)::text,
	-- Whether the transactions $3, of whose numbers the log has the low half, have ended for
	-- this snapshot: a commit can be in the log before anybody sees it.
	coalesce((SELECT pg_catalog.bool_and(pg_catalog.pg_visible_in_snapshot((CASE
			WHEN x.full > x.top + 2147483648 THEN x.full - 4294967296 WHEN x.full < x.top - 2147483648 THEN x.full + 4294967296 ELSE x.full END)::text::xid8, x.snapshot))
		FROM (SELECT s.snapshot, s.top, s.top - s.top % 4294967296 + low AS full
			FROM pg_catalog.unnest($3::bigint[]) low CROSS JOIN (SELECT p.snapshot, pg_catalog.pg_snapshot_xmax(p.snapshot)::text::bigint AS top
				FROM (SELECT pg_catalog.pg_current_snapshot() AS snapshot) p) s) x), true)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1
