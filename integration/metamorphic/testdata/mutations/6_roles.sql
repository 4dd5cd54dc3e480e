-- a role
CREATE ROLE hidden_role LOGIN;

-- a membership among others
GRANT metamorphic_clerk TO hidden_role;

-- a grant to others
GRANT SELECT, UPDATE ON patients TO metamorphic_clerk;

-- a grant of a column to others
GRANT SELECT (name) ON people TO metamorphic_clerk;

-- a grant of a readable table to others
GRANT INSERT ON icd10 TO metamorphic_clerk;

-- a grant on the schema to others
GRANT CREATE ON SCHEMA public TO metamorphic_clerk;

-- a grant on the database to others
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO metamorphic_clerk', current_database()); END $$;

-- a grant of a built-in function to others
GRANT EXECUTE ON FUNCTION pg_read_file(text) TO metamorphic_clerk;

-- default privileges of others
ALTER DEFAULT PRIVILEGES FOR ROLE metamorphic_clerk GRANT SELECT ON TABLES TO hidden_role;

-- a setting of another role
ALTER ROLE metamorphic_clerk SET work_mem = '7MB';

-- the password and the expiry of another role
ALTER ROLE metamorphic_clerk PASSWORD 'hidden' VALID UNTIL '2040-01-01' CONNECTION LIMIT 3;

-- a new owner of a hidden table
ALTER TABLE journal OWNER TO metamorphic_clerk;

-- a database
CREATE DATABASE hidden_database;
