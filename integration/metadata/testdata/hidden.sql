-- What stands beside: extensions, and objects of every kind that no client may know of, in
-- schemas of users and in pg_catalog. No client shows anything else for them.
DO $$
DECLARE wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['hstore', 'pg_trgm', 'btree_gist', 'citext', 'unaccent'] LOOP
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = wanted) THEN
      EXECUTE 'CREATE EXTENSION ' || wanted;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION pg_catalog.canary_builtin(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION canary_number(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION information_schema.canary_information(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
CREATE PROCEDURE canary_procedure() LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE canary_aggregate(text) (sfunc = textcat, stype = text, initcond = 'canary');
CREATE AGGREGATE pg_catalog.canary_builtin_aggregate(text) (sfunc = textcat, stype = text);

CREATE TYPE pg_catalog.canary_builtin_mood AS ENUM ('canary');
CREATE DOMAIN pg_catalog.canary_builtin_domain AS text CONSTRAINT canary_builtin_check CHECK (VALUE <> 'canary');
CREATE DOMAIN information_schema.canary_information_domain AS text;
CREATE TYPE canary_range AS RANGE (subtype = numeric);

CREATE OPERATOR public.#%%# (leftarg = text, rightarg = text, function = textcat);
CREATE OPERATOR pg_catalog.#%%# (leftarg = text, rightarg = text, function = textcat);
CREATE FUNCTION canary_rank(canary_mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE CAST (canary_mood AS int) WITH FUNCTION canary_rank(canary_mood);
CREATE CAST (varchar AS int) WITH INOUT AS IMPLICIT;
CREATE OPERATOR FAMILY canary_family USING btree;
CREATE OPERATOR FAMILY pg_catalog.canary_builtin_family USING btree;
CREATE OPERATOR CLASS canary_class FOR TYPE int USING btree FAMILY canary_family AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
CREATE OPERATOR CLASS pg_catalog.canary_builtin_class FOR TYPE int USING btree FAMILY pg_catalog.canary_builtin_family AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
CREATE COLLATION pg_catalog.canary_builtin_collation (locale = 'C');
CREATE CONVERSION canary_conversion FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;
CREATE CONVERSION pg_catalog.canary_builtin_conversion FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;
CREATE LANGUAGE canary_language HANDLER plpgsql_call_handler;
CREATE ACCESS METHOD canary_method TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE canary_heap (canary_a int) USING canary_method;
CREATE TRANSFORM FOR int LANGUAGE sql (FROM SQL WITH FUNCTION prsd_lextype(internal), TO SQL WITH FUNCTION int4recv(internal));

CREATE TEXT SEARCH PARSER canary_parser (start = prsd_start, gettoken = prsd_nexttoken, end = prsd_end, lextypes = prsd_lextype);
CREATE TEXT SEARCH TEMPLATE canary_template (lexize = dsimple_lexize);
CREATE TEXT SEARCH DICTIONARY canary_dictionary (template = simple);
CREATE TEXT SEARCH CONFIGURATION canary_configuration (copy = english);
CREATE TEXT SEARCH PARSER pg_catalog.canary_builtin_parser (start = prsd_start, gettoken = prsd_nexttoken, end = prsd_end, lextypes = prsd_lextype);
CREATE TEXT SEARCH TEMPLATE pg_catalog.canary_builtin_template (lexize = dsimple_lexize);
CREATE TEXT SEARCH DICTIONARY pg_catalog.canary_builtin_dictionary (template = simple);
CREATE TEXT SEARCH CONFIGURATION pg_catalog.canary_builtin_configuration (copy = english);
ALTER TEXT SEARCH CONFIGURATION pg_catalog.simple ALTER MAPPING FOR word WITH canary_dictionary;

CREATE FOREIGN DATA WRAPPER canary_wrapper;
CREATE SERVER canary_server FOREIGN DATA WRAPPER canary_wrapper OPTIONS (canary_option 'canary');
CREATE USER MAPPING FOR PUBLIC SERVER canary_server OPTIONS (canary_option 'canary');
CREATE FOREIGN TABLE canary_foreign (canary_a int) SERVER canary_server OPTIONS (canary_option 'canary');
CREATE FUNCTION canary_event() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE EVENT TRIGGER canary_event_trigger ON sql_drop EXECUTE FUNCTION canary_event();
CREATE PUBLICATION canary_publication FOR TABLE canary_schema.canary_table;
ALTER DEFAULT PRIVILEGES IN SCHEMA canary_schema GRANT SELECT ON TABLES TO canary_person;
SELECT lo_create(77);

COMMENT ON LARGE OBJECT 77 IS 'canary';
COMMENT ON FUNCTION pg_catalog.canary_builtin(text) IS 'canary';
COMMENT ON OPERATOR public.#%%# (text, text) IS 'canary';
COMMENT ON CAST (canary_mood AS int) IS 'canary';
COMMENT ON LANGUAGE canary_language IS 'canary';
COMMENT ON TEXT SEARCH DICTIONARY pg_catalog.canary_builtin_dictionary IS 'canary';
COMMENT ON COLLATION pg_catalog.canary_builtin_collation IS 'canary';

-- What readable tables are made of and must not name.
CREATE SEQUENCE canary_counter;
ALTER TABLE wards ALTER beds SET DEFAULT canary_number(nextval('canary_counter')::int);
ALTER TABLE wards ADD CONSTRAINT canary_checked CHECK (canary_number(beds) > 0);
CREATE INDEX canary_computed ON wards (canary_number(beds));
CREATE INDEX canary_classed ON wards (beds canary_class);
CREATE INDEX canary_collated ON wards (building COLLATE canary_collation);
CREATE TRIGGER canary_called BEFORE UPDATE ON wards FOR EACH ROW EXECUTE FUNCTION canary_trigger();
CREATE STATISTICS canary_measured ON canary_number(beds), building FROM wards;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    CREATE INDEX canary_trigrams ON wards USING gist (building gist_trgm_ops);
  END IF;
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'btree_gist') THEN
    ALTER TABLE wards ADD CONSTRAINT canary_excluded EXCLUDE USING gist (ward WITH =, beds WITH <>);
  END IF;
END $$;
