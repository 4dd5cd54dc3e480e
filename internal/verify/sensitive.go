package verify

import (
	"fmt"
	"strconv"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// tallied counts the values v of a sensitive column in each group of rows, and in
// all rows:
//
//	counted: id of the group, v, n, size of the group, left and rank
//	whole:   v, x, n; total: n of all rows
//
// If persons are counted, n is the number of persons who have the value at all, so the n of a
// group can add up to more than its size. Left is the rest of n after the more frequent
// values have taken their persons. No choice of one value for each person is less diverse,
// so groups that are diverse by left are diverse; choices.go examines the others.
const tallied = `rows AS MATERIALIZED (%[1]s),
tally AS (SELECT %[2]s, v, grouping(v) AS total, %[3]s AS n FROM rows GROUP BY GROUPING SETS ((%[2]s, v), (%[2]s))),
numbered AS (SELECT dense_rank() OVER (ORDER BY %[2]s) AS id, v, total, n FROM tally),
sized AS (SELECT g.id, g.v, g.n, s.n AS size,
  coalesce(sum(g.n) OVER (PARTITION BY g.id ORDER BY g.n DESC, g.v ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS taken,
  row_number() OVER (PARTITION BY g.id ORDER BY g.n DESC, g.v) AS rank
  FROM numbered g JOIN numbered s ON s.id = g.id AND s.total = 1 WHERE g.total = 0),
counted AS (SELECT id, v, n, size, greatest(0, least(n, size - taken)) AS "left", rank FROM sized),
whole AS (SELECT v, min(x) AS x, %[3]s AS n FROM rows GROUP BY v),
total AS (SELECT %[3]s AS n FROM rows)
`

// tolerance is the rounding error that comparisons in floating point allow. Bounds that
// are fractions of counts are compared exactly.
const tolerance = "1e-9"

// sensitiveQuery is a query for the groups of the part's columns that violate a
// constraint on a sensitive column.
func (g groups) sensitiveQuery(c privacy.Spec) (query string, arguments []any) {
	column, _ := g.relations.publication.Relation.Column(c.Of)
	if g.relations.hasSubject() && (c.Model == privacy.DistinctL || c.Model == privacy.EntropyL || c.Model == privacy.RecursiveCL) {
		return "WITH RECURSIVE " + g.tallies(column, "NULL::text") + choiceQuery(c, g.names(), g.describe()), nil
	}
	verdict := ""
	switch c.Model {
	case privacy.DistinctL:
		verdict = fmt.Sprintf(`' has ' || count(*) || ' distinct values' FROM counted WHERE "left" > 0 GROUP BY id, size HAVING count(*) < %s`, decimal(c.L))
	case privacy.EntropyL:
		verdict = fmt.Sprintf(`' has too little entropy' FROM counted WHERE "left" > 0 GROUP BY id, size`+
			` HAVING -sum("left"::float8 / size * ln("left"::float8 / size)) < ln(%s::float8) - %s`, decimal(c.L), tolerance)
	case privacy.RecursiveCL:
		verdict = fmt.Sprintf(`' has a value in ' || max("left") || ' of them' FROM counted GROUP BY id, size`+
			` HAVING max("left") >= %s * coalesce(sum("left") FILTER (WHERE rank >= %s), 0)`, decimal(c.C), decimal(c.L))
	case privacy.AlphaK:
		verdict, arguments = alphaVerdict(c, column)
	case privacy.BetaLike:
		verdict = betaVerdict(c)
	case privacy.DeltaDisclosure:
		verdict = fmt.Sprintf("' has a value much more or less often than all rows, or lacks it' FROM counted JOIN whole w USING (v), total t"+
			" GROUP BY id, size HAVING count(*) <> (SELECT count(*) FROM whole)"+
			" OR max(abs(ln(counted.n::float8 * t.n / (size::float8 * w.n)))) >= %s + %s", decimal(c.Delta), tolerance)
	case privacy.TClose:
		return g.closenessQuery(c, column)
	}
	return g.tally(column, "NULL::text") + g.describe() + verdict, arguments
}

func alphaVerdict(c privacy.Spec, column catalog.Column) (verdict string, arguments []any) {
	bound := ""
	if len(c.Values) > 0 {
		bound = "v = ANY ($1::text[]) AND "
		arguments = []any{known(column, c.Values)}
	}
	return fmt.Sprintf("' has a value in ' || max(n) || ' of them' FROM counted WHERE %sn > %s * size GROUP BY id, size", bound, decimal(c.Alpha)), arguments
}

// betaVerdict compares the gain with beta exactly, and with -ln of the value's
// share of all where that bounds it, too.
func betaVerdict(c privacy.Spec) string {
	gain := "(counted.n * t.n - w.n * size)"
	violates := fmt.Sprintf("%s > %s * w.n * size", gain, decimal(c.Beta))
	if c.Enhanced {
		violates += fmt.Sprintf(" OR %s::float8 / (w.n::float8 * size) > -ln(w.n::float8 / t.n) + %s", gain, tolerance)
	}
	return "' has a value much more often than all rows' FROM counted JOIN whole w USING (v), total t WHERE " + violates + " GROUP BY id, size"
}

// key is a text that two values share exactly if they are equal; NULL, a value of
// its own, has the empty one.
func key(column catalog.Column, expression string) string {
	return fmt.Sprintf("coalesce('=' || %s, '')", canonical(column, expression))
}

// canonical is the one text of all equal values.
func canonical(column catalog.Column, expression string) string {
	switch column.BaseType {
	case "numeric":
		return "trim_scale(" + expression + ")::text"
	case "float4", "float8":
		return "(" + expression + " + 0::" + column.BaseType + ")::text"
	case "bpchar":
		return "rtrim(format('%s', " + expression + "), ' ')"
	}
	return text(column, expression)
}

// known are the keys of values that a policy names.
func known(column catalog.Column, values []string) []string {
	keys := make([]string, len(values))
	for i, value := range values {
		keys[i] = "=" + catalog.Canonical(column.BaseType, value)
	}
	return keys
}

// decimal is a number as an exact SQL literal.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) + "::numeric" }
