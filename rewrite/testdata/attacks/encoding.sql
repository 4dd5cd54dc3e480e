-- Texts that two readers could read differently, and names that look alike.

-- A homoglyph (Cyrillic е, о) is another name, and so is a full-width letter.
-- refused 42
SELECT name FROM реople

-- refused 42
SELECT * FROM pеople

-- refused 42
SELECT ｎａｍｅ FROM people

-- refused 42
SELECT "ｎame" FROM people

-- The combining acute accent is not normalized away.
-- refused 42
SELECT * FROM "peóple"

-- PostgreSQL folds only ASCII: the Turkish dotted capital İ and the Kelvin sign K are
-- no i and no k.
-- refused 42
SELECT İd FROM people

-- refused 42
SELECT * FROM Kproxy_store.records_1

-- A zero-width space, a soft hyphen and a byte order mark are letters of a name.
-- refused 42
SELECT na​me FROM people

-- refused 42
SELECT na­me FROM people

-- refused 42
﻿SELECT name FROM people

-- No-break and em spaces are no spaces.
-- refused 42
SELECT name FROM people

-- refused 42
SELECT name FROM people

-- refused 42
SELECT name FROM　people

-- Right-to-left override and isolates change what a person reads, not what is parsed.
-- refused 42
SELECT illness /* ‮ eman ⁦ */ , name FROM people

-- Names longer than 63 bytes are cut by the server.
-- refused 42
SELECT * FROM people_________________________________________________________________________people

-- refused 42
SELECT p.qvzcol_ssnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn FROM chart p

-- Comments: nested, unfinished, with line ends of all kinds, and with what looks like
-- the end of a text.
-- refused 42
SELECT illness -- '
, name FROM people --'

-- refused 42
SELECT /* ' */ name /* ' */ FROM people

-- refused 42
SELECT /*/**/*/ name FROM people

-- refused 42
SELECT name FROM people /* unfinished

-- refused 42
SELECT illness /**/FROM/**/people/**/UNION/**/SELECT/**/name/**/FROM/**/people

-- refused 42
SELECT --/*
name FROM people --*/

-- refused 42
SELECT illness FROM people WHERE illness = '--' OR name = '--'

-- Quotes.
-- refused 42
SELECT 'a' 'b' || name FROM people

-- refused 42
SELECT 'a'
  'b' || name FROM people

-- refused 42
SELECT '\\' || name || '\\' FROM people

-- refused 42
SELECT E'\\' || name || E'\\'' ' FROM people

-- refused 42
SELECT E'\x27' || name || E'\047' FROM people

-- refused 42
SELECT U&'\0027' || name || U&'\+000027' FROM people

-- refused 42
SELECT U&"n!0061me" UESCAPE '!' FROM U&"pe*006Fple" UESCAPE '*'

-- refused 42
SELECT "na""me" FROM people

-- refused 42
SELECT N'x' || name FROM people

-- refused 42
SELECT B'1' || name, X'1F' FROM people

-- refused 42
SELECT $$;$$ || name FROM people

-- refused 42
SELECT $q$ $$ $q$ || name || $Q$ $q$ $Q$ FROM people

-- refused 42
SELECT $é$'$é$ || name FROM people

-- allowed
SELECT $$ '; SELECT name FROM people; -- $$

-- allowed
SELECT $tag$ SELECT name FROM people $notag$ $tag$

-- allowed
SELECT 'SELECT name FROM people', E'\'; SELECT name FROM people; --'

-- refused 42
SELECT $1$x$1$ || name FROM people

-- Whitespace that the scanner knows (vertical tab only since PostgreSQL 16).
-- refused 42
SELECT	name
	FROM
people

-- refused 42
select	NAME	from	PEOPLE

-- refused 42
SELECT"name"FROM"people"

-- refused 42
SELECT(name)FROM(people)p

-- refused 42
SELECT name,1e1FROM people

-- refused 42
SELECT 1name FROM people

-- refused 42
SELECT 0x1Fname FROM people

-- refused 42
SELECT+name::text FROM people

-- refused 42
SELECT*,name FROM people

-- refused 42
SELECT:name

-- refused 42
\d people

-- refused 42
SELECT 1 \gset

-- refused 42
SELECT name FROM people \g /tmp/people

-- Conversions between encodings.
-- refused 42
SELECT convert_to(name, 'LATIN1') FROM people

-- refused 22
SELECT convert_from('\xff', 'UTF8')

-- refused 42
SELECT convert(name::bytea, 'UTF8', 'SJIS') FROM people

-- refused 54
SELECT chr(0)

-- refused 42
SELECT E'\xff'

-- refused 42
SELECT U&'\D800'

-- refused 42
COPY (SELECT name FROM people) TO STDOUT (ENCODING 'SQL_ASCII')

-- allowed
COPY (SELECT illness FROM people) TO STDOUT (ENCODING 'UTF8')

-- refused 22
COPY (SELECT illness FROM people) TO STDOUT (ENCODING 'no such')

-- refused 42
SELECT normalize(name, NFKD), unistr('\006eame') FROM people

-- allowed
SELECT normalize(illness, NFKD), unistr('\006eame') FROM people

-- refused 42
SET client_encoding TO DEFAULT; SELECT name FROM people

-- allowed
SET NAMES 'SQL_ASCII'

-- refused 42
SET client_encoding = sql_ascii; SELECT name FROM people

-- refused 42
SELECT set_config('client_encoding', 'SQL-ASCII', false); SELECT U&"n\0061me" FROM people

-- refused 22
SET NAMES 'EUC_TW'

-- allowed
SET escape_string_warning = off

-- refused 22 42
SET client_encoding = 'utf8; SET ROLE postgres'

-- refused 42
SET "search_path;x" = 1

-- refused 42
SET SESSION "role" = 'postgres'
