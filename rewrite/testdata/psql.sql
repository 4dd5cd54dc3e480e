-- psql \d
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','v','m','S','f','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END AS "Type", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT c.relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN kproxy_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', '') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

-- psql \d patients
SELECT c.oid,
  n.nspname,
  c.relname
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog.default
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 2, 3;
--> SELECT c.oid, n.nspname, c.relname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog."default" AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 2, 3

-- psql \d patients
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
FROM pg_catalog.pg_class c
 LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
WHERE c.oid = '16390';
--> SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT c.reloftype::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text END AS reloftype, c.relpersistence, c.relreplident, am.amname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_class tc ON c.reltoastrelid = tc.oid LEFT JOIN kproxy_catalog.pg_am am ON c.relam = am.oid WHERE c.oid = '16390'

-- psql \d patients
SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
   FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
  a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity,
  a.attgenerated
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = '16390' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;
--> SELECT a.attname, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, kproxy_argument.a1) ELSE kproxy_catalog.type_name(kproxy_guard.oid, kproxy_argument.a1, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT a.atttypid::pg_catalog.oid AS a0, a.atttypmod AS a1) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS format_type, (SELECT (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid, true) FROM (SELECT d.adrelid::pg_catalog.oid AS a0, d.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT c.collname FROM kproxy_catalog.pg_collation c, kproxy_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated FROM kproxy_catalog.pg_attribute a WHERE a.attrelid = '16390' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- psql \d patients
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true),
  pg_catalog.pg_get_constraintdef(con.oid, true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
  LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
WHERE c.oid = '16390' AND c.oid = i.indrelid AND i.indexrelid = c2.oid
ORDER BY i.indisprimary DESC, c2.relname;
--> SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, (SELECT COALESCE(kproxy_catalog.key_index_definition(kproxy_guard.indexrelid, 0), pg_catalog.pg_get_indexdef(kproxy_guard.indexrelid, 0, true)) FROM (SELECT i.indexrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_index kproxy_guard WHERE kproxy_guard.indexrelid = kproxy_argument.a0) AS pg_get_indexdef, (SELECT COALESCE(kproxy_catalog.key_definition(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]), pg_catalog.pg_get_constraintdef(kproxy_guard.oid, true)) FROM (SELECT con.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_constraint kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND (kproxy_guard.confrelid = 0 OR kproxy_guard.confrelid IN (SELECT oid FROM kproxy_catalog.pg_class))) AS pg_get_constraintdef, contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_class c2, kproxy_catalog.pg_index i LEFT JOIN kproxy_catalog.pg_constraint con ON conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p', 'u', 'x') WHERE c.oid = '16390' AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname

-- psql \d patients
SELECT pol.polname, pol.polpermissive,
  CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles where oid = any (pol.polroles) order by 1),',') END,
  pg_catalog.pg_get_expr(pol.polqual, pol.polrelid),
  pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid),
  CASE pol.polcmd
    WHEN 'r' THEN 'SELECT'
    WHEN 'a' THEN 'INSERT'
    WHEN 'w' THEN 'UPDATE'
    WHEN 'd' THEN 'DELETE'
    END AS cmd
FROM pg_catalog.pg_policy pol
WHERE pol.polrelid = '16390' ORDER BY 1;
--> SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(ARRAY(SELECT rolname FROM kproxy_catalog.pg_roles pg_roles WHERE oid = ANY(pol.polroles) ORDER BY 1), ',') END, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polwithcheck AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE pol.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END AS cmd FROM kproxy_catalog.pg_policy pol WHERE pol.polrelid = '16390' ORDER BY 1

-- psql \d patients
SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,
  'd' = any(stxkind) AS ndist_enabled,
  'f' = any(stxkind) AS deps_enabled,
  'm' = any(stxkind) AS mcv_enabled,
stxstattarget
FROM pg_catalog.pg_statistic_ext
WHERE stxrelid = '16390'
ORDER BY nsp, stxname;
--> SELECT oid, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT stxrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS stxrelid, (SELECT kproxy_guard.oid::pg_catalog.regnamespace::pg_catalog.text FROM (SELECT stxnamespace::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_namespace kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text AS nsp, stxname, (SELECT pg_catalog.pg_get_statisticsobjdef_columns(kproxy_guard.oid) FROM (SELECT oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_statistic_ext kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS columns, 'd' = ANY(stxkind) AS ndist_enabled, 'f' = ANY(stxkind) AS deps_enabled, 'm' = ANY(stxkind) AS mcv_enabled, stxstattarget FROM kproxy_catalog.pg_statistic_ext pg_statistic_ext WHERE stxrelid = '16390' ORDER BY nsp, stxname

-- psql \d patients
SELECT pubname
     , NULL
     , NULL
FROM pg_catalog.pg_publication p
     JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
     JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
WHERE pc.oid ='16390' and pg_catalog.pg_relation_is_publishable('16390')
UNION
SELECT pubname
     , pg_get_expr(pr.prqual, c.oid)
     , (CASE WHEN pr.prattrs IS NOT NULL THEN
         (SELECT string_agg(attname, ', ')
           FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s,
                pg_catalog.pg_attribute
          WHERE attrelid = pr.prrelid AND attnum = prattrs[s])
        ELSE NULL END) FROM pg_catalog.pg_publication p
     JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid
     JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid
WHERE pr.prrelid = '16390'
UNION
SELECT pubname
     , NULL
     , NULL
FROM pg_catalog.pg_publication p
WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('16390')
ORDER BY 1;
--> (SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid JOIN kproxy_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid WHERE pc.oid = '16390' AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '16390'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) UNION SELECT pubname, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, pr.prqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE WHEN pr.prattrs IS NOT NULL THEN (SELECT pg_catalog.string_agg(attname, ', ') FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::smallint[], 1)) s, kproxy_catalog.pg_attribute pg_attribute WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_rel pr ON p.oid = pr.prpubid JOIN kproxy_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '16390') UNION SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '16390'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) ORDER BY 1

-- psql \d patients
SELECT c.oid::pg_catalog.regclass
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhparent AND i.inhrelid = '16390'
  AND c.relkind != 'p' AND c.relkind != 'I'
ORDER BY inhseqno;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = '16390' AND c.relkind <> 'p' AND c.relkind <> 'I' ORDER BY inhseqno

-- psql \d patients
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid)
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhrelid AND i.inhparent = '16390'
ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid, c.relkind, inhdetachpending, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '16390' ORDER BY (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) = 'DEFAULT', (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text

-- psql \d+ patients
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x from pg_catalog.unnest(tc.reloptions) x), ', ')
, c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
FROM pg_catalog.pg_class c
 LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
WHERE c.oid = '16390';
--> SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, pg_catalog.array_to_string(c.reloptions || ARRAY(SELECT 'toast.' || x FROM pg_catalog.unnest(tc.reloptions) x), ', '), c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT c.reloftype::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text END AS reloftype, c.relpersistence, c.relreplident, am.amname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_class tc ON c.reltoastrelid = tc.oid LEFT JOIN kproxy_catalog.pg_am am ON c.relam = am.oid WHERE c.oid = '16390'

-- psql \d+ patients
SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
   FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
  a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity,
  a.attgenerated,
  a.attstorage,
  a.attcompression AS attcompression,
  CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS attstattarget,
  pg_catalog.col_description(a.attrelid, a.attnum)
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = '16390' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;
--> SELECT a.attname, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, kproxy_argument.a1) ELSE kproxy_catalog.type_name(kproxy_guard.oid, kproxy_argument.a1, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT a.atttypid::pg_catalog.oid AS a0, a.atttypmod AS a1) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS format_type, (SELECT (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid, true) FROM (SELECT d.adrelid::pg_catalog.oid AS a0, d.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT c.collname FROM kproxy_catalog.pg_collation c, kproxy_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated, a.attstorage, a.attcompression AS attcompression, CASE WHEN a.attstattarget = -1 THEN NULL ELSE a.attstattarget END AS attstattarget, (SELECT kproxy_guard.description FROM (SELECT a.attrelid::pg_catalog.oid AS a0, a.attnum AS a1) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = kproxy_argument.a1) AS col_description FROM kproxy_catalog.pg_attribute a WHERE a.attrelid = '16390' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- psql \dt
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END AS "Type", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT c.relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN kproxy_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r', 'p', '') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

-- psql \dt public.*
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','t','s','')
  AND n.nspname OPERATOR(pg_catalog.~) '^(public)$' COLLATE pg_catalog.default
ORDER BY 1,2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END AS "Type", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT c.relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN kproxy_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r', 'p', 't', 's', '') AND n.nspname OPERATOR(pg_catalog.~) '^(public)$' COLLATE pg_catalog."default" ORDER BY 1, 2

-- psql \dv
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END AS "Type", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT c.relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', '') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

-- psql \dn
SELECT n.nspname AS "Name",
  pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner"
FROM pg_catalog.pg_namespace n
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
ORDER BY 1;
--> SELECT n.nspname AS "Name", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT n.nspowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner" FROM kproxy_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1

-- psql \l
SELECT d.datname as "Name",
       pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
       pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding",
       d.datcollate as "Collate",
       d.datctype as "Ctype",
       d.daticulocale as "ICU Locale",
       CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider",
       pg_catalog.array_to_string(d.datacl, E'\n') AS "Access privileges"
FROM pg_catalog.pg_database d
ORDER BY 1;
--> SELECT d.datname AS "Name", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT d.datdba::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner", pg_catalog.pg_encoding_to_char(d.encoding) AS "Encoding", d.datcollate AS "Collate", d.datctype AS "Ctype", d.daticulocale AS "ICU Locale", CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider", pg_catalog.array_to_string(d.datacl, '
--> ') AS "Access privileges" FROM kproxy_catalog.pg_database d ORDER BY 1

-- psql \df
SELECT n.nspname as "Schema",
  p.proname as "Name",
  pg_catalog.pg_get_function_result(p.oid) as "Result data type",
  pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
 CASE p.prokind
  WHEN 'a' THEN 'agg'
  WHEN 'w' THEN 'window'
  WHEN 'p' THEN 'proc'
  ELSE 'func'
 END as "Type"
FROM pg_catalog.pg_proc p
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE pg_catalog.pg_function_is_visible(p.oid)
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
ORDER BY 1, 2, 4;
--> SELECT n.nspname AS "Schema", p.proname AS "Name", (SELECT pg_catalog.pg_get_function_result(kproxy_guard.oid) FROM (SELECT p.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Result data type", (SELECT pg_catalog.pg_get_function_arguments(kproxy_guard.oid) FROM (SELECT p.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Argument data types", CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func' END AS "Type" FROM kproxy_catalog.pg_proc p LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE pg_catalog.pg_function_is_visible(p.oid) AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ORDER BY 1, 2, 4

-- psql \du
SELECT r.rolname, r.rolsuper, r.rolinherit,
  r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
  r.rolconnlimit, r.rolvaliduntil,
  ARRAY(SELECT b.rolname
        FROM pg_catalog.pg_auth_members m
        JOIN pg_catalog.pg_roles b ON (m.roleid = b.oid)
        WHERE m.member = r.oid) as memberof
, r.rolreplication
, r.rolbypassrls
FROM pg_catalog.pg_roles r
WHERE r.rolname !~ '^pg_'
ORDER BY 1;
--> SELECT r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin, r.rolconnlimit, r.rolvaliduntil, ARRAY(SELECT b.rolname FROM kproxy_catalog.pg_auth_members m JOIN kproxy_catalog.pg_roles b ON m.roleid = b.oid WHERE m.member = r.oid) AS memberof, r.rolreplication, r.rolbypassrls FROM kproxy_catalog.pg_roles r WHERE r.rolname !~ '^pg_' ORDER BY 1

-- psql \dT
SELECT n.nspname as "Schema",
  pg_catalog.format_type(t.oid, NULL) AS "Name",
  pg_catalog.obj_description(t.oid, 'pg_type') as "Description"
FROM pg_catalog.pg_type t
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))
  AND NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid)
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_type_is_visible(t.oid)
ORDER BY 1, 2;
--> SELECT n.nspname AS "Schema", (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, NULL) ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT t.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Name", (SELECT kproxy_guard.description FROM (SELECT t.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_type"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = 0) AS "Description" FROM kproxy_catalog.pg_type t LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM kproxy_catalog.pg_class c WHERE c.oid = t.typrelid)) AND NOT EXISTS (SELECT 1 FROM kproxy_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid) AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND kproxy_catalog.type_is_visible(t.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

-- psql \di
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner",
  c2.relname as "Table"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
     LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
     LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid
WHERE c.relkind IN ('i','I','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END AS "Type", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT c.relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner", c2.relname AS "Table" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN kproxy_catalog.pg_am am ON am.oid = c.relam LEFT JOIN kproxy_catalog.pg_index i ON i.indexrelid = c.oid LEFT JOIN kproxy_catalog.pg_class c2 ON i.indrelid = c2.oid WHERE c.relkind IN ('i', 'I', '') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

-- psql \dS pg_class
SELECT c.oid,
  n.nspname,
  c.relname
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname OPERATOR(pg_catalog.~) '^(pg_class)$' COLLATE pg_catalog.default
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 2, 3;
--> SELECT c.oid, n.nspname, c.relname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(pg_class)$' COLLATE pg_catalog."default" AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 2, 3

-- psql \dS pg_class
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
FROM pg_catalog.pg_class c
 LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
WHERE c.oid = '1259';
--> SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT c.reloftype::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text END AS reloftype, c.relpersistence, c.relreplident, am.amname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_class tc ON c.reltoastrelid = tc.oid LEFT JOIN kproxy_catalog.pg_am am ON c.relam = am.oid WHERE c.oid = '1259'

-- psql \dS pg_class
SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
   FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
  a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity,
  a.attgenerated
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = '1259' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;
--> SELECT a.attname, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, kproxy_argument.a1) ELSE kproxy_catalog.type_name(kproxy_guard.oid, kproxy_argument.a1, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT a.atttypid::pg_catalog.oid AS a0, a.atttypmod AS a1) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS format_type, (SELECT (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid, true) FROM (SELECT d.adrelid::pg_catalog.oid AS a0, d.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT c.collname FROM kproxy_catalog.pg_collation c, kproxy_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated FROM kproxy_catalog.pg_attribute a WHERE a.attrelid = '1259' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- psql \dS pg_class
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true),
  pg_catalog.pg_get_constraintdef(con.oid, true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
  LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
WHERE c.oid = '1259' AND c.oid = i.indrelid AND i.indexrelid = c2.oid
ORDER BY i.indisprimary DESC, c2.relname;
--> SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, (SELECT COALESCE(kproxy_catalog.key_index_definition(kproxy_guard.indexrelid, 0), pg_catalog.pg_get_indexdef(kproxy_guard.indexrelid, 0, true)) FROM (SELECT i.indexrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_index kproxy_guard WHERE kproxy_guard.indexrelid = kproxy_argument.a0) AS pg_get_indexdef, (SELECT COALESCE(kproxy_catalog.key_definition(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]), pg_catalog.pg_get_constraintdef(kproxy_guard.oid, true)) FROM (SELECT con.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_constraint kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND (kproxy_guard.confrelid = 0 OR kproxy_guard.confrelid IN (SELECT oid FROM kproxy_catalog.pg_class))) AS pg_get_constraintdef, contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_class c2, kproxy_catalog.pg_index i LEFT JOIN kproxy_catalog.pg_constraint con ON conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p', 'u', 'x') WHERE c.oid = '1259' AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname

-- psql \dS pg_class
SELECT pol.polname, pol.polpermissive,
  CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles where oid = any (pol.polroles) order by 1),',') END,
  pg_catalog.pg_get_expr(pol.polqual, pol.polrelid),
  pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid),
  CASE pol.polcmd
    WHEN 'r' THEN 'SELECT'
    WHEN 'a' THEN 'INSERT'
    WHEN 'w' THEN 'UPDATE'
    WHEN 'd' THEN 'DELETE'
    END AS cmd
FROM pg_catalog.pg_policy pol
WHERE pol.polrelid = '1259' ORDER BY 1;
--> SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(ARRAY(SELECT rolname FROM kproxy_catalog.pg_roles pg_roles WHERE oid = ANY(pol.polroles) ORDER BY 1), ',') END, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polwithcheck AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE pol.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END AS cmd FROM kproxy_catalog.pg_policy pol WHERE pol.polrelid = '1259' ORDER BY 1

-- psql \dS pg_class
SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,
  'd' = any(stxkind) AS ndist_enabled,
  'f' = any(stxkind) AS deps_enabled,
  'm' = any(stxkind) AS mcv_enabled,
stxstattarget
FROM pg_catalog.pg_statistic_ext
WHERE stxrelid = '1259'
ORDER BY nsp, stxname;
--> SELECT oid, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT stxrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS stxrelid, (SELECT kproxy_guard.oid::pg_catalog.regnamespace::pg_catalog.text FROM (SELECT stxnamespace::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_namespace kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text AS nsp, stxname, (SELECT pg_catalog.pg_get_statisticsobjdef_columns(kproxy_guard.oid) FROM (SELECT oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_statistic_ext kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS columns, 'd' = ANY(stxkind) AS ndist_enabled, 'f' = ANY(stxkind) AS deps_enabled, 'm' = ANY(stxkind) AS mcv_enabled, stxstattarget FROM kproxy_catalog.pg_statistic_ext pg_statistic_ext WHERE stxrelid = '1259' ORDER BY nsp, stxname

-- psql \dS pg_class
SELECT pubname
     , NULL
     , NULL
FROM pg_catalog.pg_publication p
     JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
     JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
WHERE pc.oid ='1259' and pg_catalog.pg_relation_is_publishable('1259')
UNION
SELECT pubname
     , pg_get_expr(pr.prqual, c.oid)
     , (CASE WHEN pr.prattrs IS NOT NULL THEN
         (SELECT string_agg(attname, ', ')
           FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s,
                pg_catalog.pg_attribute
          WHERE attrelid = pr.prrelid AND attnum = prattrs[s])
        ELSE NULL END) FROM pg_catalog.pg_publication p
     JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid
     JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid
WHERE pr.prrelid = '1259'
UNION
SELECT pubname
     , NULL
     , NULL
FROM pg_catalog.pg_publication p
WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('1259')
ORDER BY 1;
--> (SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid JOIN kproxy_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid WHERE pc.oid = '1259' AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '1259'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) UNION SELECT pubname, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, pr.prqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE WHEN pr.prattrs IS NOT NULL THEN (SELECT pg_catalog.string_agg(attname, ', ') FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::smallint[], 1)) s, kproxy_catalog.pg_attribute pg_attribute WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_rel pr ON p.oid = pr.prpubid JOIN kproxy_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '1259') UNION SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '1259'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) ORDER BY 1

-- psql \dS pg_class
SELECT c.oid::pg_catalog.regclass
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhparent AND i.inhrelid = '1259'
  AND c.relkind != 'p' AND c.relkind != 'I'
ORDER BY inhseqno;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = '1259' AND c.relkind <> 'p' AND c.relkind <> 'I' ORDER BY inhseqno

-- psql \dS pg_class
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid)
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhrelid AND i.inhparent = '1259'
ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid, c.relkind, inhdetachpending, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '1259' ORDER BY (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) = 'DEFAULT', (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text

-- psql \sv v
SELECT 'v'::pg_catalog.regclass::pg_catalog.oid
--! 42P01 relation "v" does not exist
--! position: 22

-- psql \sv v
SELECT nspname, relname, relkind, pg_catalog.pg_get_viewdef(c.oid, true), pg_catalog.array_remove(pg_catalog.array_remove(c.reloptions,'check_option=local'),'check_option=cascaded') AS reloptions, CASE WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL'::text WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'::text ELSE NULL END AS checkoption FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON c.relnamespace = n.oid WHERE c.oid = 16398
--> SELECT nspname, relname, relkind, ' -- not shown by kproxy'::pg_catalog.text AS pg_get_viewdef, pg_catalog.array_remove(pg_catalog.array_remove(c.reloptions, 'check_option=local'), 'check_option=cascaded') AS reloptions, CASE WHEN 'check_option=local' = ANY(c.reloptions) THEN 'LOCAL'::pg_catalog.text WHEN 'check_option=cascaded' = ANY(c.reloptions) THEN 'CASCADED'::pg_catalog.text ELSE NULL END AS checkoption FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON c.relnamespace = n.oid WHERE c.oid = 16398

-- psql \z
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type",
  pg_catalog.array_to_string(c.relacl, E'\n') AS "Access privileges",
  pg_catalog.array_to_string(ARRAY(
    SELECT attname || E':\n  ' || pg_catalog.array_to_string(attacl, E'\n  ')
    FROM pg_catalog.pg_attribute a
    WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL
  ), E'\n') AS "Column privileges",
  pg_catalog.array_to_string(ARRAY(
    SELECT polname
    || CASE WHEN NOT polpermissive THEN
       E' (RESTRICTIVE)'
       ELSE '' END
    || CASE WHEN polcmd != '*' THEN
           E' (' || polcmd::pg_catalog.text || E'):'
       ELSE E':'
       END
    || CASE WHEN polqual IS NOT NULL THEN
           E'\n  (u): ' || pg_catalog.pg_get_expr(polqual, polrelid)
       ELSE E''
       END
    || CASE WHEN polwithcheck IS NOT NULL THEN
           E'\n  (c): ' || pg_catalog.pg_get_expr(polwithcheck, polrelid)
       ELSE E''
       END    || CASE WHEN polroles <> '{0}' THEN
           E'\n  to: ' || pg_catalog.array_to_string(
               ARRAY(
                   SELECT rolname
                   FROM pg_catalog.pg_roles
                   WHERE oid = ANY (polroles)
                   ORDER BY 1
               ), E', ')
       ELSE E''
       END
    FROM pg_catalog.pg_policy pol
    WHERE polrelid = c.oid), E'\n')
    AS "Policies"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r','v','m','S','f','p')
  AND n.nspname !~ '^pg_' AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1, 2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' END AS "Type", pg_catalog.array_to_string(c.relacl, '
--> ') AS "Access privileges", pg_catalog.array_to_string(ARRAY(SELECT (attname || ':
-->   ') || pg_catalog.array_to_string(attacl, '
-->   ') FROM kproxy_catalog.pg_attribute a WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL), '
--> ') AS "Column privileges", pg_catalog.array_to_string(ARRAY(SELECT ((((polname || CASE WHEN NOT polpermissive THEN ' (RESTRICTIVE)' ELSE '' END) || CASE WHEN polcmd <> '*' THEN (' (' || polcmd::pg_catalog.text) || '):' ELSE ':' END) || CASE WHEN polqual IS NOT NULL THEN '
-->   (u): ' || (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT polrelid::pg_catalog.oid AS a0, polqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) ELSE '' END) || CASE WHEN polwithcheck IS NOT NULL THEN '
-->   (c): ' || (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT polrelid::pg_catalog.oid AS a0, polwithcheck AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) ELSE '' END) || CASE WHEN polroles <> '{0}' THEN '
-->   to: ' || pg_catalog.array_to_string(ARRAY(SELECT rolname FROM kproxy_catalog.pg_roles pg_roles WHERE oid = ANY(polroles) ORDER BY 1), ', ') ELSE '' END FROM kproxy_catalog.pg_policy pol WHERE polrelid = c.oid), '
--> ') AS "Policies" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'S', 'f', 'p') AND n.nspname !~ '^pg_' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

-- psql \dd
SELECT DISTINCT tt.nspname AS "Schema", tt.name AS "Name", tt.object AS "Object", d.description AS "Description"
FROM (
  SELECT pgc.oid as oid, pgc.tableoid AS tableoid,
  n.nspname as nspname,
  CAST(pgc.conname AS pg_catalog.text) as name,  CAST('table constraint' AS pg_catalog.text) as object
  FROM pg_catalog.pg_constraint pgc
    JOIN pg_catalog.pg_class c ON c.oid = pgc.conrelid
    LEFT JOIN pg_catalog.pg_namespace n     ON n.oid = c.relnamespace
WHERE n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
UNION ALL
  SELECT pgc.oid as oid, pgc.tableoid AS tableoid,
  n.nspname as nspname,
  CAST(pgc.conname AS pg_catalog.text) as name,  CAST('domain constraint' AS pg_catalog.text) as object
  FROM pg_catalog.pg_constraint pgc
    JOIN pg_catalog.pg_type t ON t.oid = pgc.contypid
    LEFT JOIN pg_catalog.pg_namespace n     ON n.oid = t.typnamespace
WHERE n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_type_is_visible(t.oid)
UNION ALL
  SELECT o.oid as oid, o.tableoid as tableoid,
  n.nspname as nspname,
  CAST(o.opcname AS pg_catalog.text) as name,
  CAST('operator class' AS pg_catalog.text) as object
  FROM pg_catalog.pg_opclass o
    JOIN pg_catalog.pg_am am ON o.opcmethod = am.oid
    JOIN pg_catalog.pg_namespace n ON n.oid = o.opcnamespace
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_opclass_is_visible(o.oid)
UNION ALL
  SELECT opf.oid as oid, opf.tableoid as tableoid,
  n.nspname as nspname,
  CAST(opf.opfname AS pg_catalog.text) AS name,
  CAST('operator family' AS pg_catalog.text) as object
  FROM pg_catalog.pg_opfamily opf
    JOIN pg_catalog.pg_am am ON opf.opfmethod = am.oid
    JOIN pg_catalog.pg_namespace n ON opf.opfnamespace = n.oid
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_opfamily_is_visible(opf.oid)
UNION ALL
  SELECT r.oid as oid, r.tableoid as tableoid,
  n.nspname as nspname,
  CAST(r.rulename AS pg_catalog.text) as name,  CAST('rule' AS pg_catalog.text) as object
  FROM pg_catalog.pg_rewrite r
       JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
       LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE r.rulename != '_RETURN'
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
UNION ALL
  SELECT t.oid as oid, t.tableoid as tableoid,
  n.nspname as nspname,
  CAST(t.tgname AS pg_catalog.text) as name,  CAST('trigger' AS pg_catalog.text) as object
  FROM pg_catalog.pg_trigger t
       JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
       LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
) AS tt
  JOIN pg_catalog.pg_description d ON (tt.oid = d.objoid AND tt.tableoid = d.classoid AND d.objsubid = 0)
ORDER BY 1, 2, 3;
--> SELECT DISTINCT tt.nspname AS "Schema", tt.name AS "Name", tt.object AS "Object", d.description AS "Description" FROM (((((SELECT pgc.oid AS oid, 'pg_catalog."pg_constraint"'::pg_catalog.regclass::pg_catalog.oid AS tableoid, n.nspname AS nspname, pgc.conname::pg_catalog.text AS name, 'table constraint'::pg_catalog.text AS object FROM kproxy_catalog.pg_constraint pgc JOIN kproxy_catalog.pg_class c ON c.oid = pgc.conrelid LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) UNION ALL SELECT pgc.oid AS oid, 'pg_catalog."pg_constraint"'::pg_catalog.regclass::pg_catalog.oid AS tableoid, n.nspname AS nspname, pgc.conname::pg_catalog.text AS name, 'domain constraint'::pg_catalog.text AS object FROM kproxy_catalog.pg_constraint pgc JOIN kproxy_catalog.pg_type t ON t.oid = pgc.contypid LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND kproxy_catalog.type_is_visible(t.oid, '{pg_catalog,public}'::pg_catalog.name[])) UNION ALL SELECT o.oid AS oid, 'pg_catalog."pg_opclass"'::pg_catalog.regclass::pg_catalog.oid AS tableoid, n.nspname AS nspname, o.opcname::pg_catalog.text AS name, 'operator class'::pg_catalog.text AS object FROM kproxy_catalog.pg_opclass o JOIN kproxy_catalog.pg_am am ON o.opcmethod = am.oid JOIN kproxy_catalog.pg_namespace n ON n.oid = o.opcnamespace AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND pg_catalog.pg_opclass_is_visible(o.oid)) UNION ALL SELECT opf.oid AS oid, 'pg_catalog."pg_opfamily"'::pg_catalog.regclass::pg_catalog.oid AS tableoid, n.nspname AS nspname, opf.opfname::pg_catalog.text AS name, 'operator family'::pg_catalog.text AS object FROM kproxy_catalog.pg_opfamily opf JOIN kproxy_catalog.pg_am am ON opf.opfmethod = am.oid JOIN kproxy_catalog.pg_namespace n ON opf.opfnamespace = n.oid AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND pg_catalog.pg_opfamily_is_visible(opf.oid)) UNION ALL SELECT r.oid AS oid, 'pg_catalog."pg_rewrite"'::pg_catalog.regclass::pg_catalog.oid AS tableoid, n.nspname AS nspname, r.rulename::pg_catalog.text AS name, 'rule'::pg_catalog.text AS object FROM kproxy_catalog.pg_rewrite r JOIN kproxy_catalog.pg_class c ON c.oid = r.ev_class LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE r.rulename <> '_RETURN' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[])) UNION ALL SELECT t.oid AS oid, 'pg_catalog."pg_trigger"'::pg_catalog.regclass::pg_catalog.oid AS tableoid, n.nspname AS nspname, t.tgname::pg_catalog.text AS name, 'trigger'::pg_catalog.text AS object FROM kproxy_catalog.pg_trigger t JOIN kproxy_catalog.pg_class c ON c.oid = t.tgrelid LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[])) tt JOIN kproxy_catalog.pg_description d ON tt.oid = d.objoid AND tt.tableoid = d.classoid AND d.objsubid = 0 ORDER BY 1, 2, 3

-- psql \dx
SELECT e.extname AS "Name", e.extversion AS "Version", n.nspname AS "Schema", c.description AS "Description"
FROM pg_catalog.pg_extension e LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace LEFT JOIN pg_catalog.pg_description c ON c.objoid = e.oid AND c.classoid = 'pg_catalog.pg_extension'::pg_catalog.regclass
ORDER BY 1;
--> SELECT e.extname AS "Name", e.extversion AS "Version", n.nspname AS "Schema", c.description AS "Description" FROM kproxy_catalog.pg_extension e LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = e.extnamespace LEFT JOIN kproxy_catalog.pg_description c ON c.objoid = e.oid AND c.classoid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid ORDER BY 1

-- psql \dp patients
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type",
  pg_catalog.array_to_string(c.relacl, E'\n') AS "Access privileges",
  pg_catalog.array_to_string(ARRAY(
    SELECT attname || E':\n  ' || pg_catalog.array_to_string(attacl, E'\n  ')
    FROM pg_catalog.pg_attribute a
    WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL
  ), E'\n') AS "Column privileges",
  pg_catalog.array_to_string(ARRAY(
    SELECT polname
    || CASE WHEN NOT polpermissive THEN
       E' (RESTRICTIVE)'
       ELSE '' END
    || CASE WHEN polcmd != '*' THEN
           E' (' || polcmd::pg_catalog.text || E'):'
       ELSE E':'
       END
    || CASE WHEN polqual IS NOT NULL THEN
           E'\n  (u): ' || pg_catalog.pg_get_expr(polqual, polrelid)
       ELSE E''
       END
    || CASE WHEN polwithcheck IS NOT NULL THEN
           E'\n  (c): ' || pg_catalog.pg_get_expr(polwithcheck, polrelid)
       ELSE E''
       END    || CASE WHEN polroles <> '{0}' THEN
           E'\n  to: ' || pg_catalog.array_to_string(
               ARRAY(
                   SELECT rolname
                   FROM pg_catalog.pg_roles
                   WHERE oid = ANY (polroles)
                   ORDER BY 1
               ), E', ')
       ELSE E''
       END
    FROM pg_catalog.pg_policy pol
    WHERE polrelid = c.oid), E'\n')
    AS "Policies"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r','v','m','S','f','p')
  AND c.relname OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog.default
  AND n.nspname !~ '^pg_' AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1, 2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' END AS "Type", pg_catalog.array_to_string(c.relacl, '
--> ') AS "Access privileges", pg_catalog.array_to_string(ARRAY(SELECT (attname || ':
-->   ') || pg_catalog.array_to_string(attacl, '
-->   ') FROM kproxy_catalog.pg_attribute a WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL), '
--> ') AS "Column privileges", pg_catalog.array_to_string(ARRAY(SELECT ((((polname || CASE WHEN NOT polpermissive THEN ' (RESTRICTIVE)' ELSE '' END) || CASE WHEN polcmd <> '*' THEN (' (' || polcmd::pg_catalog.text) || '):' ELSE ':' END) || CASE WHEN polqual IS NOT NULL THEN '
-->   (u): ' || (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT polrelid::pg_catalog.oid AS a0, polqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) ELSE '' END) || CASE WHEN polwithcheck IS NOT NULL THEN '
-->   (c): ' || (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT polrelid::pg_catalog.oid AS a0, polwithcheck AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) ELSE '' END) || CASE WHEN polroles <> '{0}' THEN '
-->   to: ' || pg_catalog.array_to_string(ARRAY(SELECT rolname FROM kproxy_catalog.pg_roles pg_roles WHERE oid = ANY(polroles) ORDER BY 1), ', ') ELSE '' END FROM kproxy_catalog.pg_policy pol WHERE polrelid = c.oid), '
--> ') AS "Policies" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'S', 'f', 'p') AND c.relname OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog."default" AND n.nspname !~ '^pg_' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2
