-- Prepares a database for kproxy. It can be run again at any time.
--
--   psql -X -1 -v ON_ERROR_STOP=1 -f setup.sql DATABASE
--
-- Run it as a superuser, or as a role with CREATEROLE that owns the tables below
-- and may create schemas and publications in this database.
--
-- Passwords are not part of it. Afterwards, in psql, once:
--
--   \password {{identifier .Owner}}
--   \password {{identifier .Reader}}

SET standard_conforming_strings = on;
