-- psql 15: \d+ patients, \d+, \dt+, \d icd10 (the OIDs are those of a test database)
SELECT c.oid,
   n.nspname,
   c.relname
 FROM pg_catalog.pg_class c
      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog.default
   AND pg_catalog.pg_table_is_visible(c.oid)
 ORDER BY 2, 3;
--> SELECT c.oid, n.nspname, c.relname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog."default" AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 2, 3

SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x from pg_catalog.unnest(tc.reloptions) x), ', ')
 , c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
 FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
 LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
 WHERE c.oid = '16394';
--> SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, pg_catalog.array_to_string(c.reloptions || ARRAY(SELECT 'toast.' || x FROM pg_catalog.unnest(tc.reloptions) x), ', '), c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT c.reloftype::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text END AS reloftype, c.relpersistence, c.relreplident, am.amname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_class tc ON c.reltoastrelid = tc.oid LEFT JOIN kproxy_catalog.pg_am am ON c.relam = am.oid WHERE c.oid = '16394'

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
 WHERE a.attrelid = '16394' AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attnum;
--> SELECT a.attname, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, kproxy_argument.a1) ELSE kproxy_catalog.type_name(kproxy_guard.oid, kproxy_argument.a1, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT a.atttypid::pg_catalog.oid AS a0, a.atttypmod AS a1) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS format_type, (SELECT (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid, true) FROM (SELECT d.adrelid::pg_catalog.oid AS a0, d.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT c.collname FROM kproxy_catalog.pg_collation c, kproxy_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated, a.attstorage, a.attcompression AS attcompression, CASE WHEN a.attstattarget = -1 THEN NULL ELSE a.attstattarget END AS attstattarget, (SELECT kproxy_guard.description FROM (SELECT a.attrelid::pg_catalog.oid AS a0, a.attnum AS a1) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = kproxy_argument.a1) AS col_description FROM kproxy_catalog.pg_attribute a WHERE a.attrelid = '16394' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

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
 WHERE pol.polrelid = '16394' ORDER BY 1;
--> SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(ARRAY(SELECT rolname FROM kproxy_catalog.pg_roles pg_roles WHERE oid = ANY(pol.polroles) ORDER BY 1), ',') END, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polwithcheck AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE pol.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END AS cmd FROM kproxy_catalog.pg_policy pol WHERE pol.polrelid = '16394' ORDER BY 1

SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
 pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,
   'd' = any(stxkind) AS ndist_enabled,
   'f' = any(stxkind) AS deps_enabled,
   'm' = any(stxkind) AS mcv_enabled,
 stxstattarget
 FROM pg_catalog.pg_statistic_ext
 WHERE stxrelid = '16394'
 ORDER BY nsp, stxname;
--> SELECT oid, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT stxrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS stxrelid, (SELECT kproxy_guard.oid::pg_catalog.regnamespace::pg_catalog.text FROM (SELECT stxnamespace::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_namespace kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text AS nsp, stxname, (SELECT pg_catalog.pg_get_statisticsobjdef_columns(kproxy_guard.oid) FROM (SELECT oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_statistic_ext kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS columns, 'd' = ANY(stxkind) AS ndist_enabled, 'f' = ANY(stxkind) AS deps_enabled, 'm' = ANY(stxkind) AS mcv_enabled, stxstattarget FROM kproxy_catalog.pg_statistic_ext pg_statistic_ext WHERE stxrelid = '16394' ORDER BY nsp, stxname

SELECT pubname
      , NULL
      , NULL
 FROM pg_catalog.pg_publication p
      JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
      JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
 WHERE pc.oid ='16394' and pg_catalog.pg_relation_is_publishable('16394')
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
 WHERE pr.prrelid = '16394'
 UNION
 SELECT pubname
      , NULL
      , NULL
 FROM pg_catalog.pg_publication p
 WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('16394')
 ORDER BY 1;
--> (SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid JOIN kproxy_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid WHERE pc.oid = '16394' AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '16394'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) UNION SELECT pubname, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, pr.prqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE WHEN pr.prattrs IS NOT NULL THEN (SELECT pg_catalog.string_agg(attname, ', ') FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::smallint[], 1)) s, kproxy_catalog.pg_attribute pg_attribute WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_rel pr ON p.oid = pr.prpubid JOIN kproxy_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '16394') UNION SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '16394'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) ORDER BY 1

SELECT c.oid::pg_catalog.regclass
 FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
 WHERE c.oid = i.inhparent AND i.inhrelid = '16394'
   AND c.relkind != 'p' AND c.relkind != 'I'
 ORDER BY inhseqno;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = '16394' AND c.relkind <> 'p' AND c.relkind <> 'I' ORDER BY inhseqno

SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid)
 FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
 WHERE c.oid = i.inhrelid AND i.inhparent = '16394'
 ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid, c.relkind, inhdetachpending, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '16394' ORDER BY (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) = 'DEFAULT', (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text

SELECT n.nspname as "Schema",
   c.relname as "Name",
   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
   pg_catalog.pg_get_userbyid(c.relowner) as "Owner",
   CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u' THEN 'unlogged' END as "Persistence",
   am.amname as "Access method",
   pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
   pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
 FROM pg_catalog.pg_class c
      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
 WHERE c.relkind IN ('r','p','v','m','S','f','')
       AND n.nspname <> 'pg_catalog'
       AND n.nspname !~ '^pg_toast'
       AND n.nspname <> 'information_schema'
   AND pg_catalog.pg_table_is_visible(c.oid)
 ORDER BY 1,2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END AS "Type", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT c.relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u' THEN 'unlogged' END AS "Persistence", am.amname AS "Access method", pg_catalog.pg_size_pretty(NULL::bigint) AS "Size", (SELECT kproxy_guard.description FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = 0) AS "Description" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN kproxy_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', '') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

SELECT n.nspname as "Schema",
   c.relname as "Name",
   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
   pg_catalog.pg_get_userbyid(c.relowner) as "Owner",
   CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u' THEN 'unlogged' END as "Persistence",
   am.amname as "Access method",
   pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
   pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
 FROM pg_catalog.pg_class c
      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
 WHERE c.relkind IN ('r','p','')
       AND n.nspname <> 'pg_catalog'
       AND n.nspname !~ '^pg_toast'
       AND n.nspname <> 'information_schema'
   AND pg_catalog.pg_table_is_visible(c.oid)
 ORDER BY 1,2;
--> SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END AS "Type", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT c.relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u' THEN 'unlogged' END AS "Persistence", am.amname AS "Access method", pg_catalog.pg_size_pretty(NULL::bigint) AS "Size", (SELECT kproxy_guard.description FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = 0) AS "Description" FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN kproxy_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r', 'p', '') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 1, 2

SELECT c.oid,
   n.nspname,
   c.relname
 FROM pg_catalog.pg_class c
      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname OPERATOR(pg_catalog.~) '^(icd10)$' COLLATE pg_catalog.default
   AND pg_catalog.pg_table_is_visible(c.oid)
 ORDER BY 2, 3;
--> SELECT c.oid, n.nspname, c.relname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(icd10)$' COLLATE pg_catalog."default" AND kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) ORDER BY 2, 3

SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
 FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
 LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
 WHERE c.oid = '16385';
--> SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT c.reloftype::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text END AS reloftype, c.relpersistence, c.relreplident, am.amname FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_class tc ON c.reltoastrelid = tc.oid LEFT JOIN kproxy_catalog.pg_am am ON c.relam = am.oid WHERE c.oid = '16385'

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
 WHERE a.attrelid = '16385' AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attnum;
--> SELECT a.attname, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, kproxy_argument.a1) ELSE kproxy_catalog.type_name(kproxy_guard.oid, kproxy_argument.a1, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT a.atttypid::pg_catalog.oid AS a0, a.atttypmod AS a1) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS format_type, (SELECT (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid, true) FROM (SELECT d.adrelid::pg_catalog.oid AS a0, d.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT c.collname FROM kproxy_catalog.pg_collation c, kproxy_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated FROM kproxy_catalog.pg_attribute a WHERE a.attrelid = '16385' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true),
   pg_catalog.pg_get_constraintdef(con.oid, true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
 FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
   LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
 WHERE c.oid = '16385' AND c.oid = i.indrelid AND i.indexrelid = c2.oid
 ORDER BY i.indisprimary DESC, c2.relname;
--> SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, (SELECT COALESCE(kproxy_catalog.key_index_definition(kproxy_guard.indexrelid, 0), pg_catalog.pg_get_indexdef(kproxy_guard.indexrelid, 0, true)) FROM (SELECT i.indexrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_index kproxy_guard WHERE kproxy_guard.indexrelid = kproxy_argument.a0) AS pg_get_indexdef, (SELECT COALESCE(kproxy_catalog.key_definition(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]), pg_catalog.pg_get_constraintdef(kproxy_guard.oid, true)) FROM (SELECT con.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_constraint kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND (kproxy_guard.confrelid = 0 OR kproxy_guard.confrelid IN (SELECT oid FROM kproxy_catalog.pg_class))) AS pg_get_constraintdef, contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_class c2, kproxy_catalog.pg_index i LEFT JOIN kproxy_catalog.pg_constraint con ON conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p', 'u', 'x') WHERE c.oid = '16385' AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname

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
 WHERE pol.polrelid = '16385' ORDER BY 1;
--> SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(ARRAY(SELECT rolname FROM kproxy_catalog.pg_roles pg_roles WHERE oid = ANY(pol.polroles) ORDER BY 1), ',') END, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT pol.polrelid::pg_catalog.oid AS a0, pol.polwithcheck AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE pol.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END AS cmd FROM kproxy_catalog.pg_policy pol WHERE pol.polrelid = '16385' ORDER BY 1

SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
 pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,
   'd' = any(stxkind) AS ndist_enabled,
   'f' = any(stxkind) AS deps_enabled,
   'm' = any(stxkind) AS mcv_enabled,
 stxstattarget
 FROM pg_catalog.pg_statistic_ext
 WHERE stxrelid = '16385'
 ORDER BY nsp, stxname;
--> SELECT oid, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT stxrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS stxrelid, (SELECT kproxy_guard.oid::pg_catalog.regnamespace::pg_catalog.text FROM (SELECT stxnamespace::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_namespace kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text AS nsp, stxname, (SELECT pg_catalog.pg_get_statisticsobjdef_columns(kproxy_guard.oid) FROM (SELECT oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_statistic_ext kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS columns, 'd' = ANY(stxkind) AS ndist_enabled, 'f' = ANY(stxkind) AS deps_enabled, 'm' = ANY(stxkind) AS mcv_enabled, stxstattarget FROM kproxy_catalog.pg_statistic_ext pg_statistic_ext WHERE stxrelid = '16385' ORDER BY nsp, stxname

SELECT pubname
      , NULL
      , NULL
 FROM pg_catalog.pg_publication p
      JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
      JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
 WHERE pc.oid ='16385' and pg_catalog.pg_relation_is_publishable('16385')
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
 WHERE pr.prrelid = '16385'
 UNION
 SELECT pubname
      , NULL
      , NULL
 FROM pg_catalog.pg_publication p
 WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('16385')
 ORDER BY 1;
--> (SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid JOIN kproxy_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid WHERE pc.oid = '16385' AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '16385'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) UNION SELECT pubname, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, pr.prqual AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, CASE WHEN pr.prattrs IS NOT NULL THEN (SELECT pg_catalog.string_agg(attname, ', ') FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::smallint[], 1)) s, kproxy_catalog.pg_attribute pg_attribute WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END FROM kproxy_catalog.pg_publication p JOIN kproxy_catalog.pg_publication_rel pr ON p.oid = pr.prpubid JOIN kproxy_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '16385') UNION SELECT pubname, NULL, NULL FROM kproxy_catalog.pg_publication p WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '16385'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) ORDER BY 1

SELECT c.oid::pg_catalog.regclass
 FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
 WHERE c.oid = i.inhparent AND i.inhrelid = '16385'
   AND c.relkind != 'p' AND c.relkind != 'I'
 ORDER BY inhseqno;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = '16385' AND c.relkind <> 'p' AND c.relkind <> 'I' ORDER BY inhseqno

SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid)
 FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
 WHERE c.oid = i.inhrelid AND i.inhparent = '16385'
 ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text;
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid, c.relkind, inhdetachpending, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '16385' ORDER BY (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) = 'DEFAULT', (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text
