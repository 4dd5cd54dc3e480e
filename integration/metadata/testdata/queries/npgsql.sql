-- Npgsql 8: version
SELECT version() ~ '^PostgreSQL '

-- Npgsql 8: types (of users here)
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
FROM (
    SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind,
        elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind,
        CASE WHEN elemproc.proname='array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype
    FROM (
        SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid,
            CASE WHEN proc.proname='array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
            CASE
                WHEN proc.proname='array_recv' THEN typ.typelem
                WHEN typ.typtype='r' THEN rngsubtype
                WHEN typ.typtype='d' THEN typ.typbasetype
            END AS elemtypoid
        FROM pg_type AS typ
        LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
        LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
        LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)
    ) AS typ
    LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid
    LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid)
    LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive
) AS t
JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
WHERE t.oid >= 16384 AND (typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind='c') OR
    (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR (elemtyptype = 'c' AND elemrelkind='c'))))
ORDER BY t.typname

-- Npgsql 8: how many types of PostgreSQL's own there are
SELECT count(*) > 100 FROM pg_type WHERE typtype IN ('b', 'r')

-- Npgsql 8: composite types
SELECT typ.oid, att.attname, att.atttypid
FROM pg_type AS typ
JOIN pg_namespace AS ns ON (ns.oid = typ.typnamespace)
JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
JOIN pg_attribute AS att ON (att.attrelid = typ.typrelid)
WHERE (typ.typtype = 'c' AND cls.relkind='c') AND attnum > 0 AND NOT attisdropped
ORDER BY typ.oid, att.attnum

-- Npgsql 8: labels of enumerations
SELECT pg_type.oid, enumlabel
FROM pg_enum
JOIN pg_type ON pg_type.oid=enumtypid
ORDER BY oid, enumsortorder

-- Npgsql 8, GetSchemaTable: columns by the numbers of a row description
--$ @patients
SELECT typ.oid AS typoid, nspname, relname, attname, attrelid, attnum, attnotnull, attidentity != '' AS isidentity,
    CASE WHEN typ.typtype = 'd' THEN typ.typtypmod ELSE atttypmod END AS typmod,
    CASE WHEN atthasdef THEN (SELECT pg_get_expr(adbin, cls.oid) FROM pg_attrdef WHERE adrelid = cls.oid AND adnum = attr.attnum) ELSE NULL END AS default,
    CASE WHEN (cls.relkind = ANY (ARRAY['r'::"char",'p'::"char"])) OR ((cls.relkind = ANY (ARRAY['v'::"char",'f'::"char"])) AND pg_column_is_updatable((cls.oid)::regclass, attr.attnum, false))
        THEN 'true'::boolean ELSE 'false'::boolean END AS is_updatable,
    EXISTS (SELECT * FROM pg_index WHERE pg_index.indrelid = cls.oid AND pg_index.indisprimary AND attnum = ANY (indkey)) AS isprimarykey,
    EXISTS (SELECT * FROM pg_index WHERE pg_index.indrelid = cls.oid AND pg_index.indisunique AND pg_index.indnkeyatts = 1 AND attnum = pg_index.indkey[0]) AS isunique
FROM pg_attribute AS attr
JOIN pg_type AS typ ON attr.atttypid = typ.oid
JOIN pg_class AS cls ON cls.oid = attr.attrelid
JOIN pg_namespace AS ns ON ns.oid = cls.relnamespace
WHERE atttypid <> 0 AND relkind IN ('r', 'v', 'm') AND NOT attisdropped AND nspname NOT IN ('pg_catalog', 'information_schema') AND attnum > 0 AND
    (attr.attrelid = $1 AND attr.attnum IN (1, 2, 3))
ORDER BY attnum

-- Npgsql 8, GetSchema("Tables")
--$ public
SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables WHERE table_type IN ('BASE TABLE', 'FOREIGN', 'FOREIGN TABLE') AND table_schema NOT IN ('pg_catalog', 'information_schema') AND table_schema = $1

-- Npgsql 8, GetSchema("Views")
--$ clinic
SELECT table_catalog, table_schema, table_name, check_option, is_updatable FROM information_schema.views WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_catalog = $1

-- Npgsql 8, GetSchema("Columns")
--$ clinic
--$ patients
SELECT table_catalog, table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, udt_name::regtype::text AS data_type,
    character_maximum_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision
FROM information_schema.columns WHERE table_catalog = $1 AND table_name = $2 ORDER BY ordinal_position

-- Npgsql 8, GetSchema("Indexes")
SELECT current_database() AS table_catalog, n.nspname AS table_schema, t.relname AS table_name, i.relname AS index_name, '' AS type_desc
FROM pg_index ix
JOIN pg_class i ON i.oid = ix.indexrelid JOIN pg_class t ON t.oid = ix.indrelid JOIN pg_namespace n ON i.relnamespace = n.oid
WHERE i.relkind = 'i' AND n.nspname NOT IN ('pg_catalog', 'pg_toast') AND t.relkind = 'r'

-- Npgsql 8, GetSchema("Users")
SELECT usename AS user_name, usesysid AS user_sysid FROM pg_catalog.pg_user ORDER BY usename

-- Npgsql 8, GetSchema("Databases")
SELECT datname AS database_name, usename AS owner, pg_encoding_to_char(encoding) AS encoding FROM pg_database d LEFT JOIN pg_user ON pg_user.usesysid = d.datdba
