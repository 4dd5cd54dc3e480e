package verify

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// checkAttributes asks of each generalized column whether it is true of every
// member of its class, and no more exact than its hierarchy allows. NULL is always
// true: it says that a value is missing or hidden.
func (t *table) checkAttributes() error {
	for _, c := range t.publication.Columns {
		if !c.Generalized() {
			continue
		}
		var err error
		spec := t.publication.Attributes[c.Attribute].Spec
		switch {
		case c.Part == catalog.Range:
			err = t.checkRange(c, spec)
		case c.Part == catalog.Representative:
			err = t.checkRepresentative(c, spec)
		case spec.Kind == hierarchy.Prefix:
			err = t.checkPrefix(c, spec)
		case spec.Kind == hierarchy.Ordered:
			err = t.checkOrdered(c, spec)
		default:
			err = t.checkLabel(c, spec)
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
// record r of the class that is published as it is. A NULL among the records makes any claim false.
func (t *table) members(c catalog.PublishedColumn, check, condition string, arguments ...any) error {
	class := t.partOf(c.Attribute).class
	query := fmt.Sprintf("SELECT 'class ' || g.class || ': ' || count(*) || ' records'"+
		" FROM (SELECT DISTINCT l.%s AS class, %s AS shown FROM %s l) g JOIN %s r ON r.%s = g.class"+
		" WHERE %s AND CASE WHEN g.shown IS NULL THEN false WHEN %s IS NULL THEN true ELSE NOT coalesce(%s, false) END GROUP BY g.class",
		class, quoted("l", c.Name), t.release, t.records, class, t.asPublished("r"), quoted("r", c.Source), condition)
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

// checkPrefix wants a label to be the value itself or a masked beginning of it,
// of no more characters than may be kept.
func (t *table) checkPrefix(c catalog.PublishedColumn, spec hierarchy.Spec) error {
	raw := text(t.source(c), quoted("r", c.Source))
	if len(spec.Keep) == 0 {
		return t.members(c, isTrue(c), fmt.Sprintf(
			`g.shown COLLATE "C" IN ('*', %[1]s) OR right(g.shown, 1) = '*' AND starts_with(%[1]s, rtrim(g.shown, '*'))`, raw))
	}
	return t.members(c, isTrue(c), fmt.Sprintf(
		`g.shown = '*' OR g.shown COLLATE "C" = %[1]s AND char_length(g.shown) <= %[2]d`+
			` OR EXISTS (SELECT FROM unnest($1::int[]) AS k WHERE left(g.shown, k) COLLATE "C" = left(%[1]s, k) AND char_length(%[1]s) >= k AND substr(g.shown, k + 1) ~ '^[*]+$')`,
		raw, spec.Keep[0]), spec.Keep)
}

// checkOrdered wants a label to be the value itself, or a range of the policy's
// order, "low..high", that it lies in.
func (t *table) checkOrdered(c catalog.PublishedColumn, spec hierarchy.Spec) error {
	raw := text(t.source(c), quoted("r", c.Source))
	rank := func(label string) string { return "array_position($1::text[], " + label + ")" }
	return t.members(c, isTrue(c), fmt.Sprintf(`g.shown = '*' OR %s BETWEEN %s AND %s`,
		rank(raw), rank("split_part(g.shown, '..', 1)"),
		rank("CASE WHEN strpos(g.shown, '..') > 0 THEN split_part(g.shown, '..', 2) ELSE g.shown END")), spec.Order)
}

// checkLabel wants a label to be the value itself, an ancestor of it in the
// policy's taxonomy, if there is one, or the root.
func (t *table) checkLabel(c catalog.PublishedColumn, spec hierarchy.Spec) error {
	raw := text(t.source(c), quoted("r", c.Source))
	ancestors, members := ancestry(spec.Taxonomy)
	return t.members(c, isTrue(c), fmt.Sprintf(
		`g.shown COLLATE "C" IN ('*', %[1]s) OR (g.shown, %[1]s) IN (SELECT a COLLATE "C", m COLLATE "C" FROM unnest($1::text[], $2::text[]) AS t(a, m))`, raw),
		ancestors, members)
}

func isTrue(c catalog.PublishedColumn) string { return c.Name + " is true of every value" }

// text is a value in its type's output form, which is the one that arrives by
// replication. Casts of boolean and of char(n) give another.
func text(source catalog.Column, expression string) string {
	if source.BaseType == "text" || source.BaseType == "varchar" {
		return expression + `::text COLLATE "C"`
	}
	return "format('%s', " + expression + `) COLLATE "C"`
}

// ancestry lists every label above another one in a taxonomy, beside that other
// one.
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
