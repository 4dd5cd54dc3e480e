-- The tables of the canary test. Every raw value that must not reach a client
-- holds qvzcanary, or is a random number or date that nothing published equals.
-- What only the catalogs know of holds qvzmeta.
SELECT setseed(0.5);

CREATE TABLE people (
  id bigint PRIMARY KEY,
  name text NOT NULL UNIQUE CONSTRAINT named CHECK (name <> 'qvzmeta check'),
  account bigint NOT NULL,
  born date NOT NULL,
  town text NOT NULL,
  postcode text NOT NULL,
  remark text DEFAULT 'qvzmeta default',
  illness text NOT NULL,
  cost integer NOT NULL
);
INSERT INTO people
SELECT 100000000000 + floor(random() * 899999999999)::bigint, 'qvzcanary name ' || i,
       100000000 + floor(random() * 899999999)::bigint, date '3000-01-01' + floor(random() * 2000000)::integer,
       'qvzcanary town ' || i, substr(md5(random()::text), 1, 12) || 'qvzcanary' || i, 'qvzcanary remark ' || i,
       'illness ' || i % 4, i
FROM generate_series(1, 120) i;
ALTER TABLE people ADD COLUMN added text DEFAULT 'qvzmeta added';
COMMENT ON TABLE people IS 'qvzmeta comment';
COMMENT ON COLUMN people.name IS 'qvzmeta comment';
CREATE INDEX people_partial ON people (cost) WHERE name <> 'qvzmeta index';
CREATE STATISTICS people_together (mcv) ON town, postcode FROM people;

-- A second protected table, and hidden tables with its rows.
CREATE TABLE ledger (id bigint, part integer, holder text, amount bigint, kind text, PRIMARY KEY (id, part));
INSERT INTO ledger
SELECT 100000000000 + floor(random() * 899999999999)::bigint, i % 2, 'qvzcanary holder ' || i,
       100000000 + floor(random() * 899999999)::bigint, 'kind ' || i % 3
FROM generate_series(1, 60) i;
CREATE TABLE ledger_a AS SELECT * FROM ledger WHERE part = 0;
CREATE TABLE ledger_b AS SELECT * FROM ledger WHERE part = 1;

-- Other ways to the same rows, none of which the reader may go.
CREATE VIEW people_view AS SELECT * FROM people WHERE name <> 'qvzmeta view';
CREATE VIEW people_barrier WITH (security_barrier) AS SELECT * FROM people;
CREATE MATERIALIZED VIEW people_copy AS SELECT * FROM people;
CREATE SCHEMA other;
CREATE TABLE other.people AS SELECT * FROM people;
CREATE TABLE "People" AS SELECT * FROM people;
CREATE TABLE unlisted (secret text);
INSERT INTO unlisted VALUES ('qvzcanary unlisted');
CREATE FUNCTION people_names() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS $$ SELECT name || 'qvzmeta'::text FROM people $$;
REVOKE EXECUTE ON FUNCTION people_names() FROM PUBLIC;
CREATE FUNCTION peek(query text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE found text; BEGIN EXECUTE query INTO found; RETURN found; END $$;
CREATE FUNCTION reveal(value text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'value %', value; RETURN true; END $$;
CREATE PROCEDURE reveal_all() LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM people LOOP RAISE NOTICE '%', r; END LOOP; END $$;
CREATE DOMAIN small AS bigint CHECK (VALUE < 10);
-- Labels of types are no rows: drivers read them.
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE SEQUENCE people_seq START 777000777000;
SELECT lo_from_bytea(424242, 'qvzcanary large object');
CREATE RULE people_rule AS ON DELETE TO other.people DO INSTEAD NOTHING;

-- Analysts may read this one.
CREATE TABLE codes (code text PRIMARY KEY, meaning text);
INSERT INTO codes SELECT 'illness ' || i, 'meaning ' || i FROM generate_series(0, 3) i;
ANALYZE;
