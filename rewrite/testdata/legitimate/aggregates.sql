SELECT ward, count(*) FILTER (WHERE sex = 'F') AS women, avg(cost) FILTER (WHERE mood >= 'fair') FROM patients GROUP BY ward

SELECT ward, string_agg(DISTINCT diagnosis, ', ' ORDER BY diagnosis) FROM patients GROUP BY ward

SELECT diagnosis, array_agg(cost ORDER BY cost DESC NULLS LAST, share), array_agg(DISTINCT sex) FROM patients GROUP BY diagnosis

SELECT ward, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY cost), mode() WITHIN GROUP (ORDER BY diagnosis) FROM patients GROUP BY ward

SELECT sex, rank(500) WITHIN GROUP (ORDER BY cost), dense_rank(500) WITHIN GROUP (ORDER BY cost), percent_rank(500) WITHIN GROUP (ORDER BY cost), cume_dist(500) WITHIN GROUP (ORDER BY cost) FROM patients GROUP BY sex

SELECT corr(cost, share), covar_pop(cost, share), regr_slope(cost, share), regr_intercept(cost, share), regr_r2(cost, share), regr_count(cost, share) FROM patients

SELECT stddev_pop(cost), stddev_samp(cost), var_pop(cost), variance(cost), every(cost > 0), bool_or(share = 100), bit_and(share), bit_or(share) FROM patients

SELECT ward, sex, count(*), grouping(ward), grouping(ward, sex) FROM patients GROUP BY ROLLUP (ward, sex)

SELECT ward, sex, mood, sum(cost) FROM patients GROUP BY CUBE (ward, sex), mood

SELECT ward, sex, count(*) FROM patients GROUP BY GROUPING SETS ((ward, sex), (ward), ()) HAVING grouping(ward) = 1 OR count(*) > 3

SELECT ward, sex, mood, count(*) FROM patients GROUP BY GROUPING SETS (ROLLUP (ward, sex), CUBE (mood)), share HAVING count(*) > 2

SELECT ward, sex, count(*) FROM patients GROUP BY DISTINCT ROLLUP (ward, sex), ROLLUP (ward)

SELECT count(*), count(weight), count(DISTINCT weight), count(DISTINCT (ward, sex)) FROM patients

SELECT ward, jsonb_agg(diagnosis ORDER BY diagnosis, cost) -> 0 AS first, jsonb_object_agg(diagnosis, cost ORDER BY cost), json_agg(cost ORDER BY cost) FROM patients GROUP BY ward

SELECT range_agg(birth_date_range), range_intersect_agg(weight_range) FROM patients WHERE sex = 'F'

SELECT extract(decade FROM birth_date) * 10 AS decade, count(*) FROM patients GROUP BY 1 HAVING count(*) > 5

SELECT ward, max(admitted) - min(admitted) AS span, justify_interval(avg(los)), sum(los) FROM patients GROUP BY ward

SELECT w.building, sum(p.cost) / nullif(sum(w.beds), 0) FROM patients p NATURAL JOIN wards w GROUP BY w.building

SELECT ward || '/' || sex AS k, count(*) FROM patients GROUP BY k

SELECT max(tags), min(mood), max(ward COLLATE "C") FROM patients

-- straight: SELECT w.*, count(p.cost) FROM public.wards w LEFT JOIN patients p USING (ward) GROUP BY w.ward
SELECT w.*, count(p.cost) FROM wards w LEFT JOIN patients p USING (ward) GROUP BY w.ward

SELECT approved, insurer, sum(amount) AS amount, count(*) FROM claims GROUP BY approved, insurer

SELECT insurer, sum(amount * kproxy_weight), sum(kproxy_weight) FROM claims GROUP BY insurer

SELECT count(DISTINCT kproxy_class) > 10 AS many, min(n) >= 3 AS crowds FROM (SELECT kproxy_class, count(*) OVER (PARTITION BY kproxy_class) AS n FROM claims) c

SELECT xmlagg(xmlelement(NAME w, ward) ORDER BY ward)::text FROM wards

SELECT sum(x), avg(x), sum(DISTINCT x) FROM (VALUES (1.5), (2), (2), (NULL)) v(x)

SELECT GROUPING(age), age, count(*) FROM hospital.visits GROUP BY ROLLUP (age) HAVING GROUPING(age) = 1

SELECT (SELECT count(*) FROM patients) - (SELECT sum(n) FROM (SELECT count(*) n FROM patients GROUP BY ward) g) AS zero

SELECT sex, (array_agg(ward ORDER BY cost DESC))[1:2] AS dearest FROM patients GROUP BY sex

SELECT count(*) FILTER (WHERE cost > (SELECT avg(cost) FROM patients)) FROM patients
