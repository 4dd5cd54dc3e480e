package verify

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// checkAttributes asks of each generalized column whether it is true of every
// member of its class. NULL is always true: it says that a value is missing or
// hidden.
func (t *table) checkAttributes() error {
	for _, c := range t.publication.Columns {
		var err error
		switch c.Part {
		case catalog.Range:
			err = t.members(c, "every value lies within "+c.Name, fmt.Sprintf("g.shown @> %s", element(t.source(c), c.Type, quoted("r", c.Source))))
		case catalog.Representative:
			err = t.checkRepresentative(c)
		case catalog.Label:
			err = t.checkLabel(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *table) source(c catalog.PublishedColumn) catalog.Column {
	column, _ := t.publication.Relation.Column(c.Source)
	return column
}

// members adds a check of a condition on g.shown, the published value, for every
// record r of the class. A NULL among the records makes any claim false.
func (t *table) members(c catalog.PublishedColumn, check, condition string, arguments ...any) error {
	query := fmt.Sprintf("SELECT 'class ' || g.kproxy_class || ': ' || count(*) || ' records'"+
		" FROM (SELECT DISTINCT kproxy_class, %s AS shown FROM %s l) g JOIN %s r ON r.kproxy_class = g.kproxy_class"+
		" WHERE CASE WHEN g.shown IS NULL THEN false WHEN %s IS NULL THEN true ELSE NOT (%s) END GROUP BY g.kproxy_class",
		quoted("l", c.Name), t.release, t.records, quoted("r", c.Source), condition)
	return t.violations(check, query, arguments...)
}

// element converts a value of the source column to the element type of a range.
// A float goes through its shortest exact text, since its cast to numeric keeps
// 15 digits only.
func element(source catalog.Column, rangeType, expression string) string {
	if source.BaseType == "float4" || source.BaseType == "float8" {
		expression += "::text"
	}
	return expression + "::" + map[string]string{
		"int4range": "int4", "int8range": "int8", "numrange": "numeric",
		"daterange": "date", "tsrange": "timestamp", "tstzrange": "timestamptz",
	}[rangeType]
}

// checkRepresentative wants the representative inside of the published range,
// or, where none is published, between the least and the greatest value of the
// class. Numbers are compared as float8 there: the midpoint of whole numbers
// beyond 2^53 is no better.
func (t *table) checkRepresentative(c catalog.PublishedColumn) error {
	check := c.Name + " lies among the values of its class"
	for _, bounds := range t.publication.Columns {
		if bounds.Part == catalog.Range && bounds.Source == c.Source {
			return t.violations(check, fmt.Sprintf("SELECT 'class ' || kproxy_class || ': ' || count(*) || ' rows' FROM %s l"+
				" WHERE kproxy_class IS NOT NULL AND ((%s IS NULL) <> (%s IS NULL) OR NOT %s @> %s) GROUP BY kproxy_class",
				t.release, quoted("l", c.Name), quoted("l", bounds.Name), quoted("l", bounds.Name),
				element(t.source(c), bounds.Type, quoted("l", c.Name))))
		}
	}
	cast := "::float8"
	if slices.Contains([]string{"date", "timestamp", "timestamptz"}, t.source(c).BaseType) {
		cast = ""
	}
	shown, raw := quoted("l", c.Name)+cast, quoted("r", c.Source)+cast
	return t.violations(check, fmt.Sprintf("SELECT 'class ' || g.kproxy_class || ' of ' || e.n || ' records'"+
		" FROM (SELECT DISTINCT kproxy_class, %s AS shown FROM %s l) g"+
		" JOIN (SELECT kproxy_class, min(%s) AS least, max(%s) AS greatest, count(*) AS n, count(%s) AS known FROM %s r GROUP BY kproxy_class) e"+
		" ON e.kproxy_class = g.kproxy_class WHERE g.shown IS NOT NULL"+
		" AND (e.known < e.n OR g.shown < e.least OR g.shown > e.greatest)",
		shown, t.release, raw, raw, raw, t.records))
}

// checkLabel wants a label to be the value itself, an ancestor of it in the
// policy's taxonomy, a masked beginning of it, or the root.
func (t *table) checkLabel(c catalog.PublishedColumn) error {
	check := c.Name + " is true of every value"
	raw := text(t.source(c), quoted("r", c.Source))
	equal := fmt.Sprintf(`g.shown COLLATE "C" IN ('*', %s)`, raw)
	attribute := t.publication.Attributes[c.Attribute]
	if attribute.Spec.Kind.String() == "prefix" {
		return t.members(c, check, fmt.Sprintf(
			`%s OR right(g.shown, 1) = '*' AND starts_with(%s, rtrim(g.shown, '*'))`, equal, raw))
	}
	ancestors, members := ancestry(attribute)
	return t.members(c, check, fmt.Sprintf(
		`%s OR (g.shown, %s) IN (SELECT a COLLATE "C", m COLLATE "C" FROM unnest($1::text[], $2::text[]) AS t(a, m))`, equal, raw), ancestors, members)
}

// text is a value in its type's output form, which is the one that arrives by
// replication. Casts of boolean and of char(n) give another.
func text(source catalog.Column, expression string) string {
	if source.BaseType == "text" || source.BaseType == "varchar" {
		return expression + `::text COLLATE "C"`
	}
	return "format('%s', " + expression + `) COLLATE "C"`
}

// ancestry lists every label above another one in the attribute's taxonomy,
// beside that other one.
func ancestry(attribute catalog.Attribute) (ancestors, members []string) {
	pending := slices.Clone(attribute.Spec.Taxonomy)
	above := make([][]string, len(pending))
	for len(pending) > 0 {
		last := len(pending) - 1
		node, path := pending[last], above[last]
		pending, above = pending[:last], above[:last]
		for _, label := range path {
			ancestors, members = append(ancestors, label), append(members, node.Label)
		}
		for _, child := range node.Children {
			pending, above = append(pending, child), append(above, append(slices.Clone(path), node.Label))
		}
	}
	return ancestors, members
}
