package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// checkConstraints counts over the published relation, exactly as a client
// could: rows that agree in all published quasi-identifier columns are a group.
func (t *table) checkConstraints() error {
	grouping := t.grouping("p")
	for _, constraint := range t.publication.Policy.Constraints {
		counted, bound, unit := "count(*)", constraint.K, "rows"
		if constraint.L > 0 {
			of, published := t.copyOf(constraint.Of)
			if !published {
				t.add(constraint.String(), 1, []string{"column " + constraint.Of + " is not published as it is"})
				continue
			}
			// NULL counts as a value: a group of nothing but NULL has one.
			counted = fmt.Sprintf("count(DISTINCT %s) + max((%s IS NULL)::int)", of, of)
			bound, unit = constraint.L, "distinct values"
		}
		query := fmt.Sprintf("SELECT 'a group of ' || g.n || ' rows' || CASE WHEN '%s' = 'rows' THEN '' ELSE ' has ' || g.counted || ' %s' END"+
			" FROM (SELECT count(*) AS n, %s AS counted FROM %s p GROUP BY %s) g WHERE g.counted < %d",
			unit, unit, counted, t.published, grouping, bound)
		if err := t.violations(constraint.String(), query); err != nil {
			return err
		}
	}
	return nil
}

// grouping lists the published quasi-identifier columns; without any, all rows
// are alike.
func (t *table) grouping(alias string) string {
	var columns []string
	for _, c := range t.publication.Columns {
		if c.Generalized() {
			columns = append(columns, quoted(alias, c.Name))
		}
	}
	if len(columns) == 0 {
		return "NULL::text"
	}
	return strings.Join(columns, ", ")
}

// copyOf is the published column that shows the source column as it is, in a
// form that can be compared.
func (t *table) copyOf(source string) (string, bool) {
	for _, c := range t.publication.Columns {
		if c.Part == catalog.Copy && c.Source == source {
			expression := quoted("p", c.Name)
			if column, ok := t.publication.Relation.Column(source); ok && incomparable(column.BaseType) {
				expression += "::text"
			}
			return expression, true
		}
	}
	return "", false
}

// incomparable says whether the type, or that of the array's elements, has no
// equality to group by: json, xml and the geometric types.
func incomparable(baseType string) bool {
	return slices.Contains([]string{"json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle"},
		strings.TrimPrefix(baseType, "_"))
}
