package verify

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// masses are the sums of the n of a group, which differ from its size where
// persons have several values, and of all rows.
const masses = `, mass AS (SELECT id, size, sum(n)::float8 AS mass FROM counted GROUP BY id, size),
overall AS (SELECT sum(n)::float8 AS mass FROM whole),
`

// distant are the groups whose Earth Mover's Distance from all rows exceeds t: the distance
// of the distributions, plus the difference between the numbers of values for each person.
const distant = `SELECT 'a group of ' || size || ' %[1]s is at a distance of ' || round(d::numeric, 4) FROM (
  SELECT m.size, m.mass / m.size * moved.moved + abs(m.mass / m.size - o.mass / t.n) AS d
  FROM mass m JOIN moved USING (id), overall o, total t) g WHERE d > %[2]s + %[3]s`

// movedEqually is half the sum of the differences, which is the excess of a group.
const movedEqually = `moved AS (SELECT id, sum(greatest(c.n / m.mass - w.n / o.mass, 0)) AS moved
  FROM counted c JOIN mass m USING (id) JOIN whole w USING (v), overall o GROUP BY id)
`

// movedAlong sums, over all steps from one place of the order to the next, what
// has to pass: the difference of the shares up to there. Between two places where
// a group has values its own share is constant and that of all rows ascends, so
// the differences change their sign once, after the places up to turn. What
// has no place lies a whole range beyond the last one.
const movedAlong = `places AS (SELECT v, n, CASE WHEN x IS NOT NULL THEN dense_rank() OVER (ORDER BY x) END AS place FROM whole),
axis AS (SELECT place, sum(sum(n)) OVER (ORDER BY place) / (SELECT mass FROM overall) AS upto FROM places WHERE place IS NOT NULL GROUP BY place),
sums AS (SELECT place, upto, sum(upto) OVER (ORDER BY place) AS sum FROM axis),
scale AS (SELECT count(*)::int AS m, coalesce(array_agg(upto ORDER BY place), '{}')::float8[] AS upto, array_agg(sum ORDER BY place)::float8[] AS sums FROM sums),
held AS (SELECT id, p.place, sum(c.n / m.mass) AS share FROM counted c JOIN places p USING (v) JOIN mass m USING (id) WHERE p.place IS NOT NULL GROUP BY id, p.place
  UNION ALL SELECT id, 0, 0 FROM mass),
steps AS (SELECT id, greatest(place, 1)::int AS first, coalesce(lead(place) OVER o, (SELECT m FROM scale))::int - 1 AS last,
  lead(place) OVER o IS NULL AS ends, sum(share) OVER o AS have FROM held WINDOW o AS (PARTITION BY id ORDER BY place)),
turns AS (SELECT *, least(greatest(width_bucket(have, (SELECT upto FROM scale)), first - 1), last) AS turn FROM steps),
moved AS (SELECT id, sum(CASE WHEN first > last THEN 0 ELSE
    have * (2 * turn - first + 1 - last) + coalesce((SELECT sums FROM scale)[first - 1], 0) + (SELECT sums FROM scale)[last]
    - 2 * coalesce((SELECT sums FROM scale)[turn], 0) END / greatest(1, (SELECT m FROM scale) - 1)
  + CASE WHEN ends THEN abs(have - coalesce((SELECT upto[m] FROM scale), have)) ELSE 0 END) AS moved FROM turns GROUP BY id)
`

// movedWithin is the mean, over the depths of a taxonomy below its root, of what a
// group has too much of in the nodes at that depth: two values are as far apart as
// there are depths at which they lie in different nodes. Below its own depth, and
// outside of the taxonomy, a value is a node by itself.
const movedWithin = `nodes AS (SELECT v, depth, coalesce(t.node, v) AS node
  FROM whole CROSS JOIN generate_series(1, %[1]d) depth LEFT JOIN unnest($1::text[], $2::int[], $3::text[]) AS t(label, at, node) ON label = v AND at = depth),
due AS (SELECT depth, node, sum(n) / (SELECT mass FROM overall) AS share FROM whole JOIN nodes USING (v) GROUP BY depth, node),
held AS (SELECT id, depth, node, sum(c.n / m.mass) AS share FROM counted c JOIN nodes USING (v) JOIN mass m USING (id) GROUP BY id, depth, node),
moved AS (SELECT id, sum(greatest(h.share - d.share, 0)) / %[1]d AS moved FROM held h JOIN due d USING (depth, node) GROUP BY id)
`

// closenessQuery is sensitiveQuery for t-closeness.
func (g groups) closenessQuery(c privacy.Spec, column catalog.Column) (query string, arguments []any) {
	arrangement := g.arrangement(c.Of)
	x, moved := "NULL::text", movedEqually
	switch c.Distance {
	case privacy.OrderedDistance:
		moved = movedAlong
		x, arguments = place(column, quoted("s", column.Name), arrangement)
	case privacy.HierarchicalDistance:
		l := lineageOf(arrangement.Taxonomy)
		moved, arguments = fmt.Sprintf(movedWithin, l.height), []any{l.labels, l.depths, l.nodes}
	}
	return g.tally(column, x) + masses + moved + fmt.Sprintf(distant, g.unit(), decimal(c.T), tolerance), arguments
}

// arrangement is the order or the taxonomy of a sensitive column's values.
func (g groups) arrangement(name string) hierarchy.Spec {
	for _, s := range g.relations.publication.Sensitive {
		if s.Column == name && s.Spec != nil {
			return *s.Spec
		}
	}
	return hierarchy.Spec{}
}

// place is the expression that orders a column's values: their rank in the policy's order,
// or the value itself; NULL for values without a place.
func place(column catalog.Column, expression string, spec hierarchy.Spec) (x string, arguments []any) {
	switch {
	case spec.Kind == hierarchy.Ordered:
		return fmt.Sprintf("array_position($1::text[], %s)", canonical(column, expression)), []any{spec.Order}
	case spec.Kind == hierarchy.Date:
		return fmt.Sprintf("CASE WHEN isfinite(%[1]s) THEN %[1]s END", expression), nil
	case column.BaseType == "numeric" || column.BaseType == "float4" || column.BaseType == "float8":
		return fmt.Sprintf("CASE WHEN %[1]s::text NOT IN ('NaN', 'Infinity', '-Infinity') THEN %[1]s END", expression), nil
	}
	return expression, nil
}

// lineage has, for every label of a taxonomy and every depth from below the root
// down to its own, the node that the label lies in.
type lineage struct {
	height int // of the taxonomy: the depth of its deepest leaf, at least 1
	labels []string
	depths []int32
	nodes  []string
}

func lineageOf(taxonomy []hierarchy.Node) lineage {
	l := lineage{height: 1}
	var descend func(nodes []hierarchy.Node, above []string)
	descend = func(nodes []hierarchy.Node, above []string) {
		for _, n := range nodes {
			path := append(slices.Clone(above), "in "+n.Label)
			l.height = max(l.height, len(path))
			for i, node := range path {
				l.labels, l.depths, l.nodes = append(l.labels, "="+n.Label), append(l.depths, int32(i+1)), append(l.nodes, node)
			}
			descend(n.Children, path)
		}
	}
	descend(taxonomy, nil)
	return l
}
