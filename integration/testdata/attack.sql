-- More of the same database, as a careless administrator leaves it behind. What
-- would let the reader role read raw rows is revoked, since kproxy refuses to
-- serve otherwise; all else is open. Hidden columns begin with qvzcol, hidden
-- relations with qvzrel. Hidden tables have numbers of rows that nothing else has.

-- A protected table whose hidden columns have names of their own.
CREATE TABLE chart (qvzcol_ssn text PRIMARY KEY, qvzcol_insurer text, age integer NOT NULL, ward text NOT NULL);
INSERT INTO chart
SELECT 'qvzcanary ssn ' || i, 'qvzcanary insurer ' || i, 20 + i * 7 % 60, 'ward ' || i % 5 FROM generate_series(1, 90) i;
CREATE INDEX chart_insurer ON chart (lower(qvzcol_insurer));
COMMENT ON COLUMN chart.qvzcol_ssn IS 'qvzmeta comment';

-- A protected table that no release can satisfy: what is published is empty, so that
-- the number of its rows is known from the table alone.
CREATE TABLE rare (id bigint PRIMARY KEY, holder text, amount integer NOT NULL, kind text);
INSERT INTO rare SELECT i, 'qvzcanary rare ' || i, i % 90, 'kind' FROM generate_series(1, 30011) i;

-- A protected table in partitions.
CREATE TABLE visits (id bigint, holder text, day integer NOT NULL, reason text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE qvzrel_visits_early PARTITION OF visits FOR VALUES FROM (0) TO (50);
CREATE TABLE qvzrel_visits_late PARTITION OF visits FOR VALUES FROM (50) TO (100);
INSERT INTO visits SELECT i, 'qvzcanary visitor ' || i, i % 100, 'reason ' || i % 3 FROM generate_series(1, 100) i;

-- Secret tables that nobody protects and nobody lists.
CREATE TYPE qvzrel_card AS (qvzcol_digits text);
COMMENT ON COLUMN qvzrel_card.qvzcol_digits IS 'qvzmeta comment';
CREATE TABLE qvzrel_vault (id bigint PRIMARY KEY, qvzcol_code text, qvzcol_card qvzrel_card);
INSERT INTO qvzrel_vault SELECT i, 'qvzcanary code ' || i FROM generate_series(1, 48611) i;
CREATE TABLE qvzrel_annex (remark text) INHERITS (qvzrel_vault);
INSERT INTO qvzrel_annex VALUES (1, 'qvzcanary annex', NULL, 'qvzcanary remark');
CREATE TABLE qvzrel_queries (sql text);
INSERT INTO qvzrel_queries VALUES ('SELECT string_agg(name, '','') FROM public.people');
CREATE VIEW qvzrel_view AS SELECT qvzcol_code FROM qvzrel_vault WHERE qvzcol_code <> 'qvzmeta view';
CREATE MATERIALIZED VIEW qvzrel_copy AS SELECT qvzcol_code FROM qvzrel_vault;

-- Functions that run a text, that tell what they see, and that stand beside
-- built-in ones under the same names.
CREATE FUNCTION as_owner(query text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN QUERY EXECUTE query; END $$;
REVOKE EXECUTE ON FUNCTION as_owner(text) FROM PUBLIC;
CREATE FUNCTION tells(a text, b text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'tells % %', a, b; RETURN true; END $$;
CREATE FUNCTION lower(value bigint) RETURNS text LANGUAGE sql AS $$ SELECT name FROM public.people LIMIT 1 $$;
CREATE FUNCTION length(value integer) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(name, ',') FROM public.people $$;
CREATE FUNCTION abs(value text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT string_agg(name, ',') FROM public.people); END $$;
CREATE FUNCTION holder(value ledger) RETURNS text LANGUAGE sql AS $$ SELECT ($1).holder $$;
CREATE FUNCTION gather(state text, value text) RETURNS text LANGUAGE sql AS $$ SELECT coalesce(state, '') || value $$;
CREATE AGGREGATE collected(text) (SFUNC = gather, STYPE = text);
CREATE FUNCTION padded(value text, query text DEFAULT 'SELECT name FROM people') RETURNS text LANGUAGE plpgsql AS $$ DECLARE r text; BEGIN EXECUTE query INTO r; RETURN r; END $$;
CREATE FUNCTION many(VARIADIC queries text[]) RETURNS text LANGUAGE plpgsql AS $$ DECLARE r text; BEGIN EXECUTE queries[1] INTO r; RETURN r; END $$;

-- Operators, casts, types, domains and collations with such functions behind them.
CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = tells);
CREATE OPERATOR other.= (LEFTARG = text, RIGHTARG = text, FUNCTION = tells);
CREATE OPERATOR @#@ (RIGHTARG = text, FUNCTION = abs);
CREATE TYPE probe AS (value text);
CREATE FUNCTION to_probe(value text) RETURNS probe LANGUAGE plpgsql AS $$ BEGIN RETURN ROW((SELECT string_agg(name, ',') FROM public.people))::probe; END $$;
CREATE CAST (text AS probe) WITH FUNCTION to_probe(text) AS ASSIGNMENT;
CREATE DOMAIN chatty AS text CHECK (tells(VALUE, 'domain'));
CREATE TYPE span AS RANGE (SUBTYPE = text);
CREATE COLLATION numbered (provider = icu, locale = 'und-u-kn-true');
CREATE TEXT SEARCH CONFIGURATION ours (COPY = simple);

-- Extensions that read tables by name, as far as the server has them.
DO $$
DECLARE wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['dblink', 'tablefunc', 'xml2', 'hstore', 'pgstattuple', 'pageinspect', 'pg_stat_statements',
    'pg_freespacemap', 'pgrowlocks', 'adminpack', 'lo', 'intagg', 'tsm_system_rows', 'amcheck', 'pg_walinspect', 'citext', 'pg_buffercache']
  LOOP
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = wanted) THEN
      EXECUTE format('CREATE EXTENSION %I', wanted);
    END IF;
  END LOOP;
  FOR wanted IN
    SELECT f.oid::regprocedure::text FROM pg_proc f JOIN pg_depend d ON d.objid = f.oid AND d.classid = 'pg_proc'::regclass
    JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass WHERE e.extname = 'dblink'
  LOOP
    EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || wanted || ' FROM PUBLIC';
  END LOOP;
END $$;

-- What analysts may read: tables, a view of one, and views over protected tables, of
-- which only the first two can be served whole.
CREATE VIEW codes_short AS SELECT code, meaning FROM codes WHERE code <> 'qvzmeta view';
CREATE VIEW towns AS SELECT town, count(*) AS residents FROM people WHERE town <> 'nowhere' GROUP BY town;
CREATE VIEW towns_large AS SELECT t.town FROM towns t JOIN codes c ON true WHERE t.residents > 1;
CREATE VIEW talking AS SELECT illness FROM people WHERE tells(name, illness);
CREATE VIEW operated AS SELECT illness FROM people WHERE illness === town;
CREATE VIEW renamed AS SELECT illness AS name, name AS illness FROM people;
CREATE VIEW whole AS SELECT c AS person, c.ward AS illness FROM chart c;
CREATE VIEW computed AS SELECT length(name) AS letters, illness FROM people;
CREATE VIEW filtered AS SELECT illness FROM people WHERE name < 'qvzmeta view';
CREATE VIEW ranked AS SELECT illness, rank() OVER (ORDER BY name) AS place FROM people;
CREATE VIEW beside AS SELECT v.qvzcol_code, p.illness FROM qvzrel_vault v JOIN people p ON p.cost = v.id;
CREATE VIEW systemic AS SELECT p.xmin, p.ctid, p.illness FROM people p;
CREATE SEQUENCE qvzrel_counter START 777000888000;
CREATE TYPE badge AS (letter text, number integer);
COMMENT ON COLUMN badge.letter IS 'qvzmeta comment';
CREATE TABLE staff (id integer PRIMARY KEY, title text, boss integer REFERENCES staff, badge badge);
INSERT INTO staff VALUES (1, 'head', NULL), (2, 'nurse', 1);
ANALYZE;
