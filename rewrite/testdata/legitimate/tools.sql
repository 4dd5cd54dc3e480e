-- ordered
SELECT "public"."patients"."ward" AS "ward", COUNT(*) AS "count", SUM("public"."patients"."cost") AS "sum"
FROM "public"."patients" WHERE ("public"."patients"."sex" = 'F') OR ("public"."patients"."sex" IS NULL)
GROUP BY "public"."patients"."ward" ORDER BY "public"."patients"."ward" ASC LIMIT 2000

-- Metabase: userID: 1 queryType: MBQL queryHash: 0a1b2c
SELECT "source"."birth_date" AS "birth_date", "source"."count" AS "count" FROM (
  SELECT CAST(DATE_TRUNC('month', CAST("public"."patients"."birth_date" AS timestamp)) AS date) AS "birth_date", COUNT(*) AS "count"
  FROM "public"."patients" GROUP BY CAST(DATE_TRUNC('month', CAST("public"."patients"."birth_date" AS timestamp)) AS date)
  ORDER BY CAST(DATE_TRUNC('month', CAST("public"."patients"."birth_date" AS timestamp)) AS date) ASC) "source"
WHERE "source"."count" > 1 LIMIT 1048575

SELECT ((FLOOR((("public"."patients"."cost" - 0.0) / 500.0)) * 500.0) + 0.0) AS "cost", COUNT(*) AS "count" FROM "public"."patients"
GROUP BY ((FLOOR((("public"."patients"."cost" - 0.0) / 500.0)) * 500.0) + 0.0)

SELECT "public"."patients"."diagnosis" AS "diagnosis", "Icd10"."description" AS "Icd10__description", AVG(CAST("public"."patients"."cost" AS DOUBLE PRECISION)) AS "avg"
FROM "public"."patients" LEFT JOIN "public"."icd10" AS "Icd10" ON "public"."patients"."diagnosis" = "Icd10"."code"
GROUP BY "public"."patients"."diagnosis", "Icd10"."description"

-- volatile
SELECT COUNT(*) AS "count" FROM "public"."patients"
WHERE ("public"."patients"."admitted" >= CAST((NOW() + INTERVAL '-30 day') AS date)) AND ("public"."patients"."admitted" < CAST(NOW() AS date))

SELECT SUBSTRING("public"."patients"."remarks" FROM 1 FOR 1234) AS "substring10" FROM "public"."patients" WHERE LOWER("public"."patients"."remarks") LIKE '%stable%' LIMIT 10000

-- ordered
SELECT DATE_TRUNC('week', ordered) AS __timestamp, sum(total) AS "SUM(total)" FROM public.orders
WHERE ordered >= TO_TIMESTAMP('2022-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND ordered < TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY DATE_TRUNC('week', ordered) ORDER BY __timestamp, "SUM(total)" DESC LIMIT 50000

-- ordered
SELECT ward AS ward, diagnosis AS diagnosis, AVG(cost) AS "AVG(cost)", COUNT(DISTINCT sex) AS "COUNT_DISTINCT(sex)" FROM
  (SELECT * FROM public.patients) AS virtual_table WHERE sex IN ('F', 'M') AND ((cost > 100) AND (ward IS NOT NULL))
GROUP BY ward, diagnosis HAVING ((COUNT(*) > 1)) ORDER BY "AVG(cost)" DESC, ward, diagnosis LIMIT 1000 OFFSET 0

SELECT ward AS ward, sum(cost) AS mme_inner__ FROM public.patients WHERE admitted >= '2024-01-01 00:00:00.000000' GROUP BY ward
  HAVING count(*) > 0 ORDER BY mme_inner__ DESC LIMIT 5

SELECT DATE_TRUNC('month', public.patients.admitted) AS m, public.patients.ward, count(public.patients.cost) FROM public.patients
JOIN (SELECT ward AS ward__, sum(cost) AS mme_inner__ FROM public.patients GROUP BY ward ORDER BY mme_inner__ DESC LIMIT 3) AS series_limit ON ward = ward__
GROUP BY DATE_TRUNC('month', public.patients.admitted), public.patients.ward

SELECT CAST("patients"."ward" AS TEXT) AS "ward", SUM("patients"."cost") AS "sum:cost:ok" FROM "public"."patients" "patients" GROUP BY 1

SELECT "patients"."sex" AS "sex", DATE_TRUNC( 'MONTH', CAST("patients"."admitted" AS TIMESTAMP WITHOUT TIME ZONE)) AS "tmn:admitted:ok",
  SUM(1) AS "sum:Number of Records:ok", ((MIN("patients"."cost")) + (MAX("patients"."cost"))) / 2 AS "mid"
FROM "public"."patients" "patients" INNER JOIN "public"."wards" "wards" ON ("patients"."ward" = "wards"."ward")
WHERE ((NOT ("patients"."sex" IN ('*'))) OR ("patients"."sex" IS NULL)) AND (CAST(EXTRACT(YEAR FROM "patients"."birth_date") AS INTEGER) BETWEEN 1940 AND 1990)
GROUP BY 1, 2 HAVING ((COUNT(1) > 0))

SELECT "t0"."ward" AS "ward", "t0"."__measure__1" / NULLIF("t1"."total", 0) AS "percent" FROM (
  SELECT "patients"."ward" AS "ward", SUM("patients"."cost") AS "__measure__1" FROM "public"."patients" "patients" GROUP BY 1) "t0"
CROSS JOIN (SELECT SUM("patients"."cost") AS "total" FROM "public"."patients" "patients") "t1"

-- parameters: surgery|100
SELECT "$Table"."sex" AS "sex", "$Table"."cost" AS "cost" FROM "public"."patients" "$Table" WHERE "$Table"."ward" = $1 AND "$Table"."cost" > $2

select "_"."ward", "_"."a0" as "a0", "_"."a1" as "a1" from (
    select "rows"."ward" as "ward", sum("rows"."cost") as "a0", count(distinct "rows"."diagnosis") + max(case when "rows"."diagnosis" is null then 1 else 0 end) as "a1"
    from (
        select "_"."sex", "_"."ward", "_"."diagnosis", "_"."cost" from "public"."patients" "_" where "_"."sex" = 'F' and "_"."sex" is not null
    ) "rows" group by "ward"
) "_" where not "_"."a0" is null limit 1000001

select "$Outer"."ward", "$Inner"."building" from "public"."patients" as "$Outer" left outer join "public"."wards" as "$Inner" on ("$Outer"."ward" = "$Inner"."ward" or "$Outer"."ward" is null and "$Inner"."ward" is null)

SELECT
  floor(extract(epoch from "admitted")/3600)*3600 AS "time", ward AS metric, avg("cost") AS "value"
FROM patients WHERE "admitted" BETWEEN '2024-01-01T00:00:00Z' AND '2024-03-01T23:59:59.999Z' GROUP BY 1, 2

-- ordered
SELECT to_timestamp(floor((extract(epoch from admitted)/86400))*86400) AS "time", count(*) FROM patients
WHERE admitted BETWEEN '2024-01-01T00:00:00Z' AND '2024-06-01T00:00:00Z' GROUP BY 1 ORDER BY 1

-- ordered
SELECT time_bucket AS "time", COALESCE(n, 0) AS value FROM generate_series('2024-01-01T00:00:00Z'::timestamptz, '2024-01-20T00:00:00Z'::timestamptz, '24h') AS time_bucket
LEFT JOIN (SELECT date_trunc('day', admitted) AS d, count(*) AS n FROM patients GROUP BY 1) x ON x.d = time_bucket ORDER BY 1

SELECT admitted AS "time", cost FROM patients WHERE extract(epoch from admitted) >= 1704067200 AND extract(epoch from admitted) <= 1706745600

SELECT DISTINCT ward AS __text, ward AS __value FROM patients WHERE ward IN ('surgery','urology')

SELECT t.* FROM public.patients t LIMIT 200

SELECT t.*, 'x' AS "marker" FROM public.claims t WHERE t.insurer = 'Alpha' ORDER BY t.amount DESC LIMIT 200 OFFSET 20

SELECT count(*) FROM public.patients t

SELECT x.ward, x.total FROM (SELECT t.ward, sum(t.cost) AS total FROM public.patients t GROUP BY t.ward) x WHERE x.total > 0 ORDER BY x.total DESC LIMIT 200

SELECT t."Größe", t."select", t."Age" FROM public."Lab Results" t WHERE t."Result ""A""" > 10 LIMIT 200

SELECT DISTINCT dict."ward", count(*) over () FROM (SELECT DISTINCT ward FROM public.patients) dict

SELECT q.* FROM (SELECT ward, cost FROM patients) AS q WHERE q.cost::text LIKE '%5%'

-- ordered
SELECT "patients".ward "patients__ward", date_trunc('day', ("patients".admitted::timestamptz AT TIME ZONE 'UTC')) "patients__admitted_day", count(*) "patients__count"
FROM public.patients AS "patients" WHERE ("patients".admitted >= '2024-01-01T00:00:00.000Z'::timestamptz AND "patients".admitted <= '2024-02-01T23:59:59.999Z'::timestamptz)
GROUP BY 1, 2 ORDER BY 2 ASC, 1 LIMIT 10000

SELECT q_0."patients__ward", "patients__count" "patients__count", "visits__cost" FROM (
  SELECT "patients".ward "patients__ward", count(*) "patients__count" FROM public.patients AS "patients" GROUP BY 1) AS q_0
INNER JOIN (SELECT "visits".ward "visits__ward", sum("visits".cost) "visits__cost" FROM hospital.visits AS "visits" GROUP BY 1) AS q_1
ON (q_0."patients__ward" = q_1."visits__ward" OR (q_0."patients__ward" IS NULL AND q_1."visits__ward" IS NULL)) LIMIT 10000

-- parameters: 2024-01-10|2024-03-10|surgery
SELECT "patients".sex, count(CASE WHEN (("patients".cost > 100)) THEN 1 END) FROM public.patients AS "patients"
WHERE "patients".admitted >= $1::timestamptz AND "patients".admitted <= $2::timestamptz AND "patients".ward = $3 GROUP BY 1

-- ordered
SELECT
    (DATE(patients.admitted )) AS "patients.admitted_date",
        (CASE WHEN patients.sex = 'F' THEN 'Yes' ELSE 'No' END) AS "patients.female",
    COALESCE(SUM(patients.cost ), 0) AS "patients.total_cost",
    COUNT(*) AS "patients.count"
FROM public.patients  AS patients
LEFT JOIN public.wards  AS wards ON patients.ward = wards.ward
WHERE ((( patients.admitted  ) >= ((SELECT (TIMESTAMP '2024-01-01' + (-6 || ' day')::INTERVAL))) AND ( patients.admitted  ) < (TIMESTAMP '2024-01-20'))) AND wards.beds  > 5
GROUP BY
    1,
    2
ORDER BY
    1 DESC, 2
FETCH NEXT 500 ROWS ONLY

WITH patient_facts AS (SELECT ward, COUNT(*) AS lifetime, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, ward) AS rnk FROM public.patients GROUP BY 1)
SELECT patient_facts.ward AS "patient_facts.ward", (patient_facts.lifetime)/NULLIF(SUM(patient_facts.lifetime) OVER (), 0) * 1.0 AS "share" FROM patient_facts WHERE rnk <= 5

SELECT "ward","sex","cost" FROM "public"."patients" WHERE "admitted" > '2024-01-05 00:00:00'

SELECT "diagnosis" , COUNT("cost") FROM "clinic"."public"."patients" GROUP BY "diagnosis"

SELECT * FROM public.patients
	ORDER BY birth_date ASC, cost ASC LIMIT 100

SELECT count(*) FROM (SELECT * FROM hospital.visits) AS count_query

SELECT patients.ward AS patients_ward, anon_1.n AS anon_1_n FROM patients LEFT OUTER JOIN (SELECT hospital.visits.ward AS ward, count(*) AS n FROM hospital.visits GROUP BY hospital.visits.ward) AS anon_1 ON patients.ward = anon_1.ward

-- parameters: {surgery,urology}
SELECT ward, count(*) FROM patients WHERE ward = ANY($1) GROUP BY ward

-- parameters: surgery|5|0
-- types: varchar|int8|int8
select p1_0.ward,p1_0.cost,p1_0.sex from public.patients p1_0 where p1_0.ward=$1 order by p1_0.cost offset $3 rows fetch first $2 rows only

with source as (
    select * from "clinic"."public"."patients"
),
renamed as (
    select ward as ward_name, cost::numeric(16,2) as cost_usd, admitted::date as admitted_on, sex from source
),
final as (
    select ward_name, admitted_on, sum(cost_usd) as total, count(*) filter (where sex = 'F') as women,
        row_number() over (partition by ward_name order by admitted_on desc) = 1 as is_latest
    from renamed
    left join "clinic"."public"."wards" on wards.ward = renamed.ward_name
    group by 1, 2
)
select * from final where is_latest

select count(*) as failures, count(*) != 0 as should_warn, count(*) != 0 as should_error from (
  select ward from "clinic"."public"."patients" where ward is null
) dbt_internal_test

with child as (select ward as from_field from "clinic"."public"."patients" where ward is not null), parent as (select ward as to_field from "clinic"."public"."wards")
select from_field from child left join parent on child.from_field = parent.to_field where parent.to_field is null

with all_values as (select sex as value_field, count(*) as n_records from "clinic"."public"."patients" group by sex)
select * from all_values where value_field not in ('F','M','*')

select * from (with orders as (select * from public.orders), per_ward as (select ward, sum(total) t from orders group by ward) select p.ward, t from patients p join per_ward using (ward)) as __preview_sbq__ limit 500

SELECT "ward" AS "c0", COALESCE(SUM("cost"), 0) AS "m0" FROM "public"."patients" AS "patients" WHERE ("mood" = 'good') GROUP BY "ward" ORDER BY CASE WHEN "ward" IS NULL THEN 1 ELSE 0 END, "ward" ASC

SELECT width_bucket(cost::float8, 0, 5000, 10) AS bucket, count(*), min(cost), max(cost) FROM patients GROUP BY bucket

SELECT * FROM (
SELECT *, DENSE_RANK() OVER (ORDER BY z___min_rank) as z___pivot_row_rank, RANK() OVER (PARTITION BY z__pivot_col_rank ORDER BY z___min_rank) as z__pivot_col_ordering,
CASE WHEN z___min_rank = z___rank THEN 1 ELSE 0 END AS z__is_highest_ranked_cell FROM (
SELECT *, MIN(z___rank) OVER (PARTITION BY "patients.ward") as z___min_rank FROM (
SELECT *, RANK() OVER (ORDER BY "patients.count" DESC, z__pivot_col_rank, "patients.ward") AS z___rank FROM (
SELECT *, DENSE_RANK() OVER (ORDER BY CASE WHEN "patients.sex" IS NULL THEN 1 ELSE 0 END, "patients.sex") AS z__pivot_col_rank FROM (
SELECT patients.sex AS "patients.sex", patients.ward AS "patients.ward", COUNT(*) AS "patients.count" FROM public.patients AS patients GROUP BY 1, 2) ww
) bb WHERE z__pivot_col_rank <= 16384
) aa
) xx
) zz
WHERE (z__pivot_col_rank <= 50 OR z__is_highest_ranked_cell = 1) AND (z___pivot_row_rank <= 500 OR z__pivot_col_ordering = 1)

SELECT min("cost"), max("cost"), avg("cost"), stddev("cost"), percentile_cont(array[0.25,0.5,0.75]) WITHIN GROUP (ORDER BY "cost"), count(distinct "cost"), sum(case when "cost" is null then 1 else 0 end) FROM "public"."patients"
