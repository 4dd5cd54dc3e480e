package verify

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// checkAttributes checks that each generalized column is true of every member of its class,
// and no more exact than its hierarchy allows. NULL is always true: the value is missing or
// hidden.
func (t *table) checkAttributes() error {
	for _, c := range t.relations.publication.Columns {
		if !c.Generalized() {
			continue
		}
		check := attributeCheck{
			table: t, relations: &t.relations, column: c, source: t.relations.source(c),
			spec: t.relations.publication.Attributes[c.Attribute].Spec, depth: t.relations.publication.Attributes[c.Attribute].Depth, class: t.relations.partOf(c.Attribute).class,
		}
		if err := check.run(); err != nil {
			return err
		}
	}
	return nil
}

// attributeCheck checks one generalized column.
type attributeCheck struct {
	table     *table
	relations *relations
	column    catalog.PublishedColumn
	source    catalog.Column
	spec      hierarchy.Spec
	depth     int    // levels of the taxonomy that may be shown; 0 for all
	class     string // the quoted column with the number of the class
}

func (a attributeCheck) run() error {
	switch {
	case a.column.Part == catalog.Range:
		return a.checkRange()
	case a.column.Part == catalog.Representative:
		return a.checkRepresentative()
	case a.spec.Kind == hierarchy.Prefix:
		return a.checkPrefix()
	case a.spec.Kind == hierarchy.Ordered:
		return a.checkOrdered()
	default:
		return a.checkLabel()
	}
}

// members adds a check of a condition on g.shown, the published value, for every record r
// of the class that is published as it is now. A NULL in a record violates every condition.
func (a attributeCheck) members(check, condition string, arguments ...any) error {
	query := fmt.Sprintf("SELECT 'class ' || g.class || ': ' || count(*) || ' records'"+
		" FROM (SELECT DISTINCT l.%s AS class, %s AS shown FROM %s l) g JOIN %s r ON r.%s = g.class"+
		" WHERE %s AND CASE WHEN g.shown IS NULL THEN false WHEN %s IS NULL THEN true ELSE NOT coalesce(%s, false) END GROUP BY g.class",
		a.class, quoted("l", a.column.Name), a.relations.release, a.relations.records, a.class, a.relations.asPublished("r"), quoted("r", a.column.Source), condition)
	return a.table.violations(check, query, arguments...)
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

// checkPrefix checks that a label is the value itself, or a masked prefix of it with no
// more characters than the policy keeps.
func (a attributeCheck) checkPrefix() error {
	raw := text(a.source, quoted("r", a.column.Source))
	if len(a.spec.Keep) == 0 {
		return a.members(a.isTrue(), fmt.Sprintf(
			`g.shown COLLATE "C" IN ('*', %[1]s) OR right(g.shown, 1) = '*' AND starts_with(%[1]s, rtrim(g.shown, '*'))`, raw))
	}
	return a.members(a.isTrue(), fmt.Sprintf(
		`g.shown = '*' OR g.shown COLLATE "C" = %[1]s AND char_length(g.shown) <= %[2]d`+
			` OR EXISTS (SELECT FROM unnest($1::int[]) AS k WHERE left(g.shown, k) COLLATE "C" = left(%[1]s, k) AND char_length(%[1]s) >= k AND substr(g.shown, k + 1) ~ '^[*]+$')`,
		raw, a.spec.Keep[0]), a.spec.Keep)
}

// checkOrdered checks that a label is the value itself, or a range "low..high" of the
// policy's order that contains it.
func (a attributeCheck) checkOrdered() error {
	raw := text(a.source, quoted("r", a.column.Source))
	rank := func(label string) string { return "array_position($1::text[], " + label + ")" }
	return a.members(a.isTrue(), fmt.Sprintf(`g.shown = '*' OR %s BETWEEN %s AND %s`,
		rank(raw), rank("split_part(g.shown, '..', 1)"),
		rank("CASE WHEN strpos(g.shown, '..') > 0 THEN split_part(g.shown, '..', 2) ELSE g.shown END")), a.spec.Order)
}

// checkLabel checks that a label is the value itself, an ancestor of it in the policy's
// taxonomy, if there is one, or the root.
func (a attributeCheck) checkLabel() error {
	raw := text(a.source, quoted("r", a.column.Source))
	ancestors, members := ancestry(a.spec.Taxonomy)
	if a.depth > 0 {
		return a.members(a.isTrue(), fmt.Sprintf(
			`g.shown = '*' OR g.shown COLLATE "C" = ANY ($3::text[]) AND (g.shown COLLATE "C" = %[1]s OR (g.shown, %[1]s) IN (SELECT a COLLATE "C", m COLLATE "C" FROM unnest($1::text[], $2::text[]) AS t(a, m)))`, raw),
			ancestors, members, topLabels(a.spec.Taxonomy, a.depth))
	}
	return a.members(a.isTrue(), fmt.Sprintf(
		`g.shown COLLATE "C" IN ('*', %[1]s) OR (g.shown, %[1]s) IN (SELECT a COLLATE "C", m COLLATE "C" FROM unnest($1::text[], $2::text[]) AS t(a, m))`, raw),
		ancestors, members)
}

// topLabels are the labels of a taxonomy's upper levels.
func topLabels(nodes []hierarchy.Node, levels int) (labels []string) {
	for _, n := range nodes {
		labels = append(labels, n.Label)
		if levels > 1 {
			labels = append(labels, topLabels(n.Children, levels-1)...)
		}
	}
	return labels
}

func (a attributeCheck) isTrue() string { return trueOf(a.column) }

func trueOf(c catalog.PublishedColumn) string { return c.Name + " is true of every value" }

// text is a value in the output form of its type, as replication sends it. A cast of a
// boolean or char(n) to text gives another form.
func text(source catalog.Column, expression string) string {
	if source.BaseType == "text" || source.BaseType == "varchar" {
		return expression + `::text COLLATE "C"`
	}
	return "format('%s', " + expression + `) COLLATE "C"`
}

// ancestry lists all pairs of an ancestor and a descendant in a taxonomy.
func ancestry(taxonomy []hierarchy.Node) (ancestors, members []string) {
	pending := slices.Clone(taxonomy)
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
