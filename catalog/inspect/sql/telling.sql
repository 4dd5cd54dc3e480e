-- For columns i and j of a table, how often any two records agree in column j, how often records
-- with the same value of i do, and how often those do whose value of i is not the most frequent
-- one, which often stands for none; with how many comparisons of these do not follow from others.
-- Placeholders: the table, the drawn columns as (i, hash, bound), the others as (j, hash).
WITH drawn AS (
    SELECT v.i, v.h, q.j, q.g
    FROM %s s, LATERAL (VALUES %s) v(i, h, bound), LATERAL (VALUES %s) q(j, g)
    WHERE v.h <= v.bound
), cells AS (
    SELECT i, j, h, g, count(*) AS m FROM drawn GROUP BY i, j, h, g
), chances AS (
    SELECT i, j, sum(m * (m - 1)) / nullif(sum(m) * (sum(m) - 1), 0) AS chance
    FROM (SELECT i, j, sum(m) AS m FROM cells GROUP BY i, j, g) c GROUP BY i, j
), groups AS (
    SELECT i, j, sum(m) AS n, sum(m * (m - 1)) AS same,
           row_number() OVER (PARTITION BY i, j ORDER BY sum(m) DESC, h) > 1 AS rest
    FROM cells GROUP BY i, j, h
)
SELECT i, j, chance::float8,
       (sum(same / (n - 1)) / sum(n))::float8, sum(n - 1)::float8,
       coalesce(sum(same / (n - 1)) FILTER (WHERE rest) / sum(n) FILTER (WHERE rest), 0)::float8,
       coalesce(sum(n - 1) FILTER (WHERE rest), 0)::float8
FROM groups JOIN chances USING (i, j)
WHERE n > 1
GROUP BY i, j, chance
ORDER BY i, j
