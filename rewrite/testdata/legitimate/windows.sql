SELECT ward, cost, row_number() OVER (PARTITION BY ward ORDER BY cost, admitted), rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, ntile(4) OVER (ORDER BY cost, admitted) FROM patients WINDOW w AS (PARTITION BY ward ORDER BY diagnosis)

SELECT cost, sum(cost) OVER (ORDER BY admitted ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), avg(cost) OVER (ORDER BY admitted ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM patients

SELECT admitted, count(*) OVER (ORDER BY admitted RANGE BETWEEN interval '1 day' PRECEDING AND interval '1 day' FOLLOWING) FROM patients

SELECT share, count(*) OVER (ORDER BY share GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), count(*) OVER (ORDER BY share GROUPS 2 PRECEDING EXCLUDE TIES), count(*) OVER (ORDER BY share RANGE 3 PRECEDING EXCLUDE GROUP), count(*) OVER (ORDER BY share ROWS 3 PRECEDING EXCLUDE NO OTHERS) FROM patients

SELECT ward, cost, lag(cost) OVER w, lead(cost, 2, 0) OVER w, first_value(cost) OVER w, last_value(cost) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), nth_value(cost, 2) OVER w FROM patients WINDOW w AS (PARTITION BY ward ORDER BY cost, admitted)

SELECT ward, sum(count(*)) OVER (ORDER BY ward), count(*) FROM patients GROUP BY ward

SELECT ward, cost FROM (SELECT ward, cost, row_number() OVER (PARTITION BY ward ORDER BY cost DESC, admitted) r FROM patients) x WHERE r <= 3

SELECT sex, count(*) FILTER (WHERE cost > 1000) OVER (PARTITION BY sex), sum(cost) OVER () FROM patients

SELECT ward, sex, avg(cost) OVER w1, max(cost) OVER w2 FROM patients WINDOW w1 AS (PARTITION BY ward), w2 AS (w1 ORDER BY sex)

SELECT o.ordered, sum(o.total) OVER (ORDER BY o.ordered, o.order_id) AS running, p.n FROM orders o JOIN (SELECT ward, count(*) n FROM patients GROUP BY ward) p USING (ward)

SELECT birth_date, first_value(ward) OVER (ORDER BY birth_date, cost, admitted) FROM patients

SELECT DISTINCT ward, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM patients GROUP BY ward

SELECT v.ward, v.cost - avg(v.cost) OVER (PARTITION BY v.ward) AS deviation FROM hospital.visits v

SELECT ward, cost, cost = max(cost) OVER (PARTITION BY ward) AS top FROM patients ORDER BY rank() OVER (PARTITION BY ward ORDER BY cost DESC), ward LIMIT 6

-- parameters: 1
SELECT cost, sum(cost) OVER (ORDER BY cost DESC ROWS BETWEEN $1 PRECEDING AND 0 FOLLOWING) FROM (VALUES (1), (2), (3)) v(cost)

SELECT sum(sum(cost)) OVER (PARTITION BY sex ORDER BY date_trunc('month', admitted)) FROM patients GROUP BY sex, date_trunc('month', admitted)
