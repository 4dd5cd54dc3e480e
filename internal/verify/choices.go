package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Where persons have several values, every choice of one value a person must be diverse.
// Suspects are the groups that would not be diverse if each person had only the most frequent
// of their values. For these, the query searches for a choice that violates the constraint. It
// suffices to try a few values, in the order of their frequencies.
//
//	values: suspect id, size, rank, n, and which n persons have the value, by number
const held = `, numbering AS (SELECT dense_rank() OVER (ORDER BY %[1]s) AS id, v, who FROM rows),
suspects AS (%[2]s),
persons AS (SELECT id, v, dense_rank() OVER (PARTITION BY id ORDER BY who) AS person FROM numbering WHERE id IN (SELECT id FROM suspects)),
holders AS (SELECT id, v, array_agg(DISTINCT person) AS persons FROM persons GROUP BY id, v),
values AS MATERIALIZED (SELECT id, size, rank, n, persons FROM counted JOIN holders USING (id, v)),
`

// taken are the sets of less than l values, in the order of their frequencies, as far as
// they and the most frequent ones that may follow could have so many persons between them
// as are needed: all of the group, or all but a c-th of those of the most frequent of them.
const taken = `taken AS (SELECT id, size, rank AS last, 1 AS number, n AS most, persons FROM values WHERE %[1]d > 0
  UNION ALL SELECT s.id, s.size, v.rank, s.number + 1, most, s.persons || more.persons
  FROM taken s JOIN values v ON v.id = s.id AND v.rank > s.last CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(p), '{}') AS persons FROM unnest(v.persons) p WHERE p <> ALL (s.persons)) more
  WHERE s.number < %[1]d AND cardinality(s.persons) + v.n * (%[1]d - s.number) >= s.size - %[2]s)
`

// descents are choices that fill places from the largest to the smallest, each with all
// persons who have its value and no place yet. Entropy is that of the places so far; the
// rest adds more the smaller the next place is. Equal places are filled in the order of the
// values. After a place of one person, all further places have one.
const descents = `descents AS (SELECT DISTINCT id, size, ARRAY[]::bigint[] AS persons, 0::bigint AS rank, size AS last, size AS free, 0::float8 AS entropy FROM values
  UNION ALL SELECT s.id, s.size, s.persons || place.persons, v.rank, place.n, CASE WHEN place.n = 1 THEN 0 ELSE s.free - place.n END,
    s.entropy + CASE WHEN place.n = 1 THEN s.free ELSE place.n END::float8 / s.size * ln(s.size::float8 / place.n)
  FROM descents s JOIN values v ON v.id = s.id CROSS JOIN LATERAL (
    SELECT count(*) AS n, array_agg(p) AS persons FROM unnest(v.persons) p WHERE p <> ALL (s.persons)) place
  WHERE s.free > 0 AND place.n > 0 AND (place.n < s.last OR place.n = s.last AND v.rank > s.rank)
    AND s.entropy + s.free::float8 / s.size * ln(s.size::float8 / place.n) < ln(%[1]s::float8) - %[2]s)
`

// choiceQuery follows a tally of groups by some columns and selects those that violate a
// diversity; describe begins the description of one.
func choiceQuery(c privacy.Spec, groupedBy []string, describe string) string {
	suspects, search, verdict := "", "", ""
	switch c.Model {
	case privacy.DistinctL:
		suspects = fmt.Sprintf(`SELECT id FROM counted WHERE "left" > 0 GROUP BY id HAVING count(*) < %s`, decimal(c.L))
		search = fmt.Sprintf(taken, int(c.L)-1, "0")
		verdict = "' have one of fewer values' FROM taken WHERE cardinality(persons) = size GROUP BY id, size"
	case privacy.RecursiveCL:
		suspects = fmt.Sprintf(`SELECT id FROM counted GROUP BY id HAVING max("left") >= %s * coalesce(sum("left") FILTER (WHERE rank >= %s), 0)`, decimal(c.C), decimal(c.L))
		search = fmt.Sprintf(taken, max(1, int(c.L)-1), "most / "+decimal(c.C))
		verdict = fmt.Sprintf("' have too often one of a few values' FROM taken WHERE most >= %s * (size - cardinality(persons)) GROUP BY id, size", decimal(c.C))
		if c.L <= 1 {
			verdict = fmt.Sprintf("' have one value too often' FROM taken WHERE most >= %s * size GROUP BY id, size", decimal(c.C))
		}
	default:
		suspects = fmt.Sprintf(`SELECT id FROM counted WHERE "left" > 0 GROUP BY id, size HAVING -sum("left"::float8 / size * ln("left"::float8 / size)) < ln(%s::float8) - %s`, decimal(c.L), tolerance)
		search = fmt.Sprintf(descents, decimal(c.L), tolerance)
		verdict = fmt.Sprintf("' have values of too little entropy' FROM descents WHERE free = 0 AND entropy < ln(%s::float8) - %s GROUP BY id, size", decimal(c.L), tolerance)
	}
	return fmt.Sprintf(held, strings.Join(groupedBy, ", "), suspects) + search + describe + verdict
}
