package main

import (
	"math/rand/v2"
	"strconv"

	"github.com/kproxy/kproxy/internal/hospital"
)

// Cube asks a cube with joins for its table with numbered rows, as docs/guides/cube.md
// has it, and one without joins for the table itself. The count of a guarded table is the
// sum of its weights.
const (
	numbered = `(SELECT *, row_number() OVER () AS row FROM public.patients) AS "patients"`
	plain    = `public.patients AS "patients"`
	counted  = `sum("patients".kproxy_weight)`
	chapters = ` LEFT JOIN public.icd10 AS "icd10" ON "patients".diagnosis = "icd10".code`
	houses   = ` LEFT JOIN public.wards AS "wards" ON "patients".ward = "wards".ward`
)

// query is one of a dashboard, with the values of its filters.
type query struct {
	sql       string
	arguments []any
}

// dashboard has the twelve queries of a dashboard. Each is about a ward of its own, and
// about women or men.
func dashboard(rng *rand.Rand) []query {
	wards := hospital.Wards()
	ward := wards[rng.IntN(len(wards))]
	sex := []string{"F", "M"}[rng.IntN(2)]
	from := 2021 + rng.IntN(3)
	begin, end := strconv.Itoa(from)+"-01-01T00:00:00.000Z", strconv.Itoa(from)+"-12-31T23:59:59.999Z"
	return []query{
		{`SELECT ` + counted + ` "patients__count", sum("patients".cost) "patients__cost", avg("patients".cost) "patients__average_cost", max("patients".cost) "patients__highest_cost"
FROM ` + plain + ` WHERE ("patients".ward = $1) LIMIT 10000`, []any{ward.Ward}},
		{`SELECT "patients".diagnosis "patients__diagnosis", ` + counted + ` "patients__count"
FROM ` + plain + ` WHERE ("patients".ward = $1) GROUP BY 1 ORDER BY 2 DESC, 1 ASC LIMIT 10`, []any{ward.Ward}},
		{`SELECT "patients".sex "patients__sex", "patients".marital_status "patients__marital_status", ` + counted + ` "patients__count"
FROM ` + plain + ` WHERE ("patients".ward = $1) GROUP BY 1, 2 ORDER BY 1 ASC, 2 ASC LIMIT 10000`, []any{ward.Ward}},
		{`SELECT "icd10".chapter "icd10__chapter", ` + counted + ` "patients__count", avg("patients".cost) "patients__average_cost"
FROM ` + numbered + chapters + ` WHERE ("patients".ward = $1) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000`, []any{ward.Ward}},
		{`SELECT "wards".building "wards__building", "icd10".chapter "icd10__chapter", ` + counted + ` "patients__count"
FROM ` + numbered + houses + chapters + ` WHERE ("patients".sex = $1) GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 100`, []any{sex}},
		{`SELECT "patients".occupation "patients__occupation", ` + counted + ` "patients__count"
FROM ` + plain + ` WHERE ("patients".ward = $1) AND ("patients".sex = $2 OR "patients".sex = '*') GROUP BY 1 ORDER BY 2 DESC LIMIT 10000`, []any{ward.Ward, sex}},
		{`SELECT "patients".diagnosis "patients__diagnosis", ` + counted + ` "patients__count"
FROM ` + plain + ` WHERE ("patients".sex = $1) GROUP BY 1 HAVING (` + counted + ` > $2::numeric) ORDER BY 2 DESC LIMIT 10000`, []any{sex, "25"}},
		{`SELECT date_trunc('year', ("patients".birth_date::timestamptz AT TIME ZONE 'UTC')) "patients__birth_date_year", ` + counted + ` "patients__count"
FROM ` + plain + ` WHERE ("patients".ward = $1) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000`, []any{ward.Ward}},
		{`SELECT date_trunc('month', ("patients".admission_date::timestamptz AT TIME ZONE 'UTC')) "patients__admission_date_month", ` + counted + ` "patients__count"
FROM ` + plain + ` WHERE ("patients".admission_date >= $1::timestamptz AND "patients".admission_date <= $2::timestamptz) AND ("patients".ward = $3) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000`, []any{begin, end, ward.Ward}},
		{`SELECT q_0."patients__admission_date_quarter", sum("patients__cost_so_far") "patients__cost_so_far"
FROM (SELECT "q"."date_from" AS "patients__admission_date_quarter", "p"."cost" AS "patients__cost_so_far"
FROM (SELECT "from" AS "date_from" FROM generate_series($1::timestamp, $2::timestamp, '3 months') AS "s"("from")) AS "q"
LEFT JOIN (SELECT date_trunc('quarter', ("patients".admission_date::timestamptz AT TIME ZONE 'UTC')) AS "quarter", sum("patients".cost) AS "cost"
FROM ` + plain + ` WHERE ("patients".ward = $3) GROUP BY 1) AS "p" ON "p"."quarter" <= "q"."date_from") AS q_0 GROUP BY 1 ORDER BY 1 ASC LIMIT 10000`, []any{begin, end, ward.Ward}},
		{`SELECT CASE WHEN "patients".cost < 1000 THEN 'below 1000' WHEN "patients".cost < 5000 THEN '1000 to 5000' ELSE '5000 and more' END "patients__cost_band",
` + counted + ` "patients__count", 100.0 * sum(CASE WHEN ("patients".sex = 'F') THEN "patients".kproxy_weight END) / NULLIF(` + counted + `, 0) "patients__share_of_women"
FROM ` + plain + ` WHERE ("patients".ward = $1) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000`, []any{ward.Ward}},
		{`SELECT "patients".postcode "patients__postcode"
FROM ` + plain + ` WHERE ("patients".ward = $1) AND ("patients".cost >= 5000) GROUP BY 1 ORDER BY 1 ASC LIMIT 100`, []any{ward.Ward}},
	}
}
