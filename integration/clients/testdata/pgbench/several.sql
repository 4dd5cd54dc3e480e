SELECT 1 AS a \; SELECT count(*) AS b FROM patients \; SELECT 'ß' AS c;
