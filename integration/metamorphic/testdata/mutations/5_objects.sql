-- a table
CREATE TABLE hidden_table (id serial PRIMARY KEY, hidden_column text, body blood); INSERT INTO hidden_table (hidden_column) VALUES ('x');

-- a table in a schema of its own
CREATE SCHEMA hidden_schema CREATE TABLE hidden_inside (id integer);

-- a partition of a hidden table
CREATE TABLE hidden_parted (id integer) PARTITION BY LIST (id); CREATE TABLE hidden_part PARTITION OF hidden_parted DEFAULT;

-- a function
CREATE FUNCTION hidden_function(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1 + 1';

-- a function of a readable table
CREATE FUNCTION hidden_attribute(icd10) RETURNS text LANGUAGE sql AS 'SELECT $1.title';

-- a procedure
CREATE PROCEDURE hidden_procedure() LANGUAGE plpgsql AS 'BEGIN NULL; END';

-- a function under the name of a built-in one
CREATE FUNCTION abs(boolean) RETURNS boolean LANGUAGE sql AS 'SELECT $1';

-- an aggregate
CREATE AGGREGATE hidden_aggregate (integer) (SFUNC = int4pl, STYPE = integer);

-- an operator
CREATE OPERATOR <#%> (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4pl);

-- an operator class
CREATE OPERATOR CLASS hidden_class FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 3 =, FUNCTION 1 btint4cmp(integer, integer);

-- an enum
CREATE TYPE hidden_enum AS ENUM ('hidden_label');

-- a label of an unpublished enum
ALTER TYPE mood ADD VALUE 'hidden_label';

-- a composite type
CREATE TYPE hidden_composite AS (hidden_field integer);

-- a domain
CREATE DOMAIN hidden_domain AS text CHECK (VALUE <> 'hidden');

-- a range
CREATE TYPE hidden_range AS RANGE (SUBTYPE = float8);

-- a cast
CREATE CAST (mood AS bytea) WITH INOUT;

-- a collation
CREATE COLLATION hidden_collation FROM "C";

-- a text search configuration
CREATE TEXT SEARCH CONFIGURATION hidden_search (COPY = simple);

-- a text search dictionary
CREATE TEXT SEARCH DICTIONARY hidden_dictionary (TEMPLATE = simple);

-- a conversion
CREATE CONVERSION hidden_conversion FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;

-- an access method
CREATE ACCESS METHOD hidden_method TYPE TABLE HANDLER heap_tableam_handler;

-- a view
CREATE VIEW hidden_view AS SELECT name FROM patients;

-- a materialized view
CREATE MATERIALIZED VIEW hidden_copy AS SELECT name FROM patients;

-- a foreign server
CREATE FOREIGN DATA WRAPPER hidden_wrapper; CREATE SERVER hidden_server FOREIGN DATA WRAPPER hidden_wrapper;

-- a publication
CREATE PUBLICATION hidden_publication FOR TABLE journal;

-- an event trigger
CREATE FUNCTION hidden_event() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN NULL; END'; CREATE EVENT TRIGGER hidden_event ON ddl_command_end EXECUTE FUNCTION hidden_event();

-- a language
CREATE LANGUAGE hidden_language HANDLER plpgsql_call_handler;

-- a transform
CREATE TRANSFORM FOR hidden_enum LANGUAGE sql (FROM SQL WITH FUNCTION prsd_lextype(internal));

-- an extension
CREATE EXTENSION fuzzystrmatch;

-- an extension in a schema of its own
CREATE EXTENSION isn SCHEMA other;

-- statistics of a readable table, in a hidden schema
CREATE SCHEMA hidden_statistics; CREATE STATISTICS hidden_statistics.hidden_statistics ON code, title FROM icd10;

-- a limit of the database
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 77', current_database()); END $$;
