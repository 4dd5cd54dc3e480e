package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// relations are those of one table: what is published, what the private store has, and what
// the policy says of both.
type relations struct {
	publication catalog.Publication
	parts       []part
	// published, records and release are quoted.
	published, records, release string
	// packed holds the rows of a packed release, which then is a view that unpacks them;
	// copied is the type of their members. Other releases are tables without these.
	packed, copied string
	isPacked       bool
	weights        string // of cells, where they lie apart from rows
	// kept are the columns that rows of a guarded table have, whether their readers see them or not.
	kept []catalog.PublishedColumn
	// Of an audience of a guarded table: what is noted of classes and rows of the finer release that are not shown as they are.
	followed, parted string
	// store is what the tables of an audience are called by, and removed says that nobody sees them any more.
	store   string
	removed bool
}

// isGuarded says whether the table is published in classes that never change: a row may
// then show earlier values of its record, or outlive it.
func (r *relations) isGuarded() bool { return r.publication.Policy.Updates.Mode == catalog.Guarded }

// columnsOfRows are the columns of the source that rows of the release show.
func (r *relations) columnsOfRows() []catalog.PublishedColumn {
	if r.isGuarded() && r.kept != nil {
		return r.kept
	}
	return r.publication.Columns
}

func (r *relations) hasSubject() bool { return r.publication.Policy.Subject != "" }

// isCopied says whether the source column is published without generalization.
func (r *relations) isCopied(source string) bool {
	return slices.ContainsFunc(r.publication.Columns, func(c catalog.PublishedColumn) bool {
		return c.Part == catalog.Copy && c.Source == source && c.Name == source
	})
}

func (r *relations) source(c catalog.PublishedColumn) catalog.Column {
	column, _ := r.publication.Relation.Column(c.Source)
	return column
}

// partOf is the part of these attributes, of which a constraint makes one part.
func (r *relations) partOf(attributes ...int) part {
	for _, p := range r.parts {
		if slices.ContainsFunc(p.attributes, func(a int) bool { return slices.Contains(attributes, a) }) {
			return p
		}
	}
	return r.parts[0]
}

// named adds the part to the name of a check, if there are several parts.
func (r *relations) named(check string, p part) string {
	if len(r.parts) == 1 {
		return check
	}
	var over []string
	for _, a := range p.attributes {
		over = append(over, r.publication.Attributes[a].Column)
	}
	return check + ", over " + strings.Join(over, ", ")
}

// inClasses is the condition that a record of the store, or a row of the release,
// has a class in every part.
func (r *relations) inClasses(alias string) string {
	conditions := make([]string, len(r.parts))
	for i, p := range r.parts {
		conditions[i] = alias + "." + p.class + " IS NOT NULL"
	}
	return strings.Join(conditions, " AND ")
}

// asPublished is the condition that a record is published with its present values.
func (r *relations) asPublished(alias string) string {
	if !r.isGuarded() || r.publication.Membership != nil { // see byClass
		return r.inClasses(alias)
	}
	return fmt.Sprintf("%s AND %s.%s IS NULL", r.inClasses(alias), alias, catalog.SinceColumn)
}

// marks are the columns of the release before those with values of the source; places are
// the columns of the store that say where a record is published.
func (r *relations) marks() (marks, places []column) {
	for i := range r.parts {
		marks = append(marks, column{catalog.ClassColumn(i), "bigint"})
	}
	row := column{catalog.RowColumn, "bigint"}
	if r.publication.Membership != nil && r.isGuarded() {
		return append(marks[:1:1], row, column{catalog.PersonsColumn, "bigint"}, column{catalog.PersonColumn, "integer"}, column{catalog.WindowColumn, "integer"},
				column{catalog.ParentColumn, "bigint"}, column{catalog.OwnColumn, "bigint"}, column{catalog.AliasColumn, "bigint"}),
			append(marks[:0:0], row, column{catalog.SinceColumn, "timestamp with time zone"}, column{catalog.ExpiredColumn, "boolean"}, column{catalog.PoolingColumn, "boolean"}, column{catalog.StaleColumn, "boolean"})
	}
	if r.publication.Membership != nil {
		return append(marks[:1:1], row), marks
	}
	if !r.isGuarded() {
		return marks, marks
	}
	return append(marks[:1:1], row, column{catalog.PersonColumn, "bigint"}, column{catalog.SealedColumn, "boolean"}),
		append(marks[:1:1], row, column{catalog.ChangedColumn, "text"}, column{catalog.SinceColumn, "timestamp with time zone"}, column{catalog.ExpiredColumn, "boolean"})
}

// copiesQuery compares the values that are published without generalization together with
// the classes of all parts, since it matters which of them are in one row.
func (r *relations) copiesQuery() string {
	var stored, released []string
	for _, p := range r.parts {
		stored, released = append(stored, "r."+p.class), append(released, "l."+p.class)
	}
	for _, c := range r.publication.Columns {
		if c.Part == catalog.Copy {
			stored = append(stored, quoted("r", c.Source))
			released = append(released, quoted("l", c.Name))
		}
	}
	// Another check finds rows without a class.
	return difference(r.records+" r WHERE "+r.inClasses("r"), r.release+" l WHERE "+r.inClasses("l"),
		stored, released, "'class ' || v0 || ' differs in ' || sum(abs(n)) || ' values or combinations'")
}

// membersQuery compares the record numbers in packed rows. No reader sees them; by these
// kproxy knows which member to write anew.
func (r *relations) membersQuery() string {
	class, record := r.parts[0].class, catalog.RecordColumn
	return difference(r.records+" r WHERE "+r.inClasses("r"), r.packed+" p, unnest(p."+catalog.MembersColumn+") m",
		[]string{"r." + class, "r." + record}, []string{"p." + class, "m." + record}, "'class ' || v0 || ' differs in ' || count(*) || ' records'")
}

// repeatedQuery finds records that are members twice, since only packed rows tell the
// classes of records.
func (r *relations) repeatedQuery() string {
	return fmt.Sprintf("SELECT 'a record lies among the members of ' || string_agg('class ' || p.%[1]s, ', ') FROM %[2]s p, unnest(p.%[3]s) m GROUP BY m.%[4]s HAVING count(*) > 1",
		r.parts[0].class, r.packed, catalog.MembersColumn, catalog.RecordColumn)
}

// weighed is the release with a weight in each row.
func (r *relations) weighed() string { return r.weighedBy("coalesce(w.kproxy_weight, 1)") }

// rated is the release with the weight in each row that readers get: the table's changes those of classes.
func (r *relations) rated() string {
	return r.weighedBy("(CASE WHEN a.whole > 1 THEN 1 - (2 - a.whole) * (1 - coalesce(w.kproxy_weight, 1)) ELSE coalesce(w.kproxy_weight, 1) * coalesce(a.whole, 1) END)::real")
}

func (r *relations) weighedBy(weight string) string {
	if !r.publication.WeighsApart() {
		return r.release
	}
	return fmt.Sprintf("(SELECT s.*, %s AS kproxy_weight, coalesce(w.kproxy_discounted, 0) AS kproxy_discounted, coalesce(w.kproxy_leavers, 0) AS kproxy_leavers"+
		" FROM %s s LEFT JOIN %[3]s w ON w.kproxy_class = s.kproxy_class LEFT JOIN (SELECT kproxy_weight AS whole FROM %[3]s WHERE kproxy_class = 0) a ON true)", weight, r.release, r.weights)
}

// everyWeightQuery finds weights of nothing. Those of groups and of the table have numbers up to 0.
func (r *relations) everyWeightQuery() string {
	return fmt.Sprintf("SELECT count(*) || ' weights' FROM %s w WHERE w.kproxy_class > 0 AND NOT EXISTS (SELECT FROM %s l WHERE l.kproxy_class = w.kproxy_class) HAVING count(*) > 0", r.weights, r.release)
}

func (r *relations) sameRowsQuery() string {
	var published, released []string
	for _, c := range r.publication.Columns {
		published = append(published, quoted("p", c.Name))
		released = append(released, quoted("l", c.Name))
	}
	constant := []string{"0"}
	return difference(r.published+" p", r.rated()+" l", append(constant, published...), append(constant, released...),
		"sum(abs(n)) || ' rows differ'")
}

// difference is a query for the classes whose rows differ, as multisets, between two
// relations: rows of one side count up, rows of the other down. Values are compared as
// text, byte by byte.
func difference(left, right string, leftColumns, rightColumns []string, described string) string {
	names := make([]string, len(leftColumns))
	for i := range names {
		names[i] = fmt.Sprintf("v%d", i)
	}
	side := func(relation string, columns []string, count string) string {
		selected := make([]string, len(columns))
		for i, c := range columns {
			selected[i] = fmt.Sprintf(`%s::text COLLATE "C" AS v%d`, c, i)
		}
		return fmt.Sprintf("SELECT %s, %s AS n FROM %s", strings.Join(selected, ", "), count, relation)
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT v0, sum(n) AS n FROM (%s UNION ALL %s) u GROUP BY %s HAVING sum(n) <> 0) d GROUP BY %s",
		described, side(left, leftColumns, "1"), side(right, rightColumns, "-1"), strings.Join(names, ", "), "v0")
}
