package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// groups are the published rows of a part that agree in some of its columns. They are counted
// by the rows, or by the persons behind them where the policy names a subject.
type groups struct {
	relations *relations
	part      part
	columns   []catalog.PublishedColumn
	// stored says that stored records are counted, by class, as the readers of the rows do not see the
	// column.
	stored bool
}

// groups groups the rows by all columns of a part.
func (r *relations) groups(p part) groups { return groups{relations: r, part: p, columns: p.columns} }

// unit is what is counted, for messages.
func (g groups) unit() string {
	if g.relations.hasSubject() {
		return "persons"
	}
	return "rows"
}

// counted counts the rows of rows, or the persons behind them.
func (g groups) counted() string {
	if g.relations.hasSubject() {
		return "(count(DISTINCT who) + max((who IS NULL)::int))"
	}
	return "count(*)"
}

// rows is a query for the published rows, with the alias s. It selects the columns that
// they are grouped by, as g0, g1 and so on, further expressions, and, where there is a
// subject, the person as who.
func (g groups) rows(further string) string {
	switch {
	case g.stored && g.relations.isGuarded(): // rows of audiences have all columns
		who := ""
		if g.relations.hasSubject() {
			who = ", s.kproxy_person AS who"
		}
		return fmt.Sprintf("SELECT s.%s AS g0%s%s FROM %s s", g.part.class, further, who, g.relations.release)
	case g.stored:
		who := ""
		if g.relations.hasSubject() {
			who = ", " + quoted("s", g.relations.publication.Policy.Subject) + " AS who"
		}
		return fmt.Sprintf("SELECT s.%s AS g0%s%s FROM %s s WHERE %s", g.part.class, further, who, g.relations.records, g.relations.inClasses("s"))
	case g.relations.isGuarded() && g.relations.hasSubject():
		return fmt.Sprintf("SELECT s.%s AS g0%s, s.kproxy_person AS who FROM %s s", g.part.class, further, g.relations.release)
	case g.relations.isGuarded():
		return fmt.Sprintf("SELECT s.%s AS g0%s FROM %s s", g.part.class, further, g.relations.published)
	case !g.relations.hasSubject():
		return fmt.Sprintf("SELECT %s%s FROM %s s", grouped(g.columns, "s"), further, g.relations.published)
	}
	return fmt.Sprintf("SELECT c.*%s, %s AS who FROM (SELECT DISTINCT l.%s AS class, %s FROM %s l) c JOIN %s s ON s.%s = c.class WHERE %s",
		further, quoted("s", g.relations.publication.Policy.Subject), g.part.class, grouped(g.columns, "l"), g.relations.release, g.relations.records, g.part.class, g.relations.inClasses("s"))
}

// names are the columns of rows by which they are grouped.
func (g groups) names() []string {
	if g.relations.isGuarded() || g.stored {
		return []string{"g0"}
	}
	names := make([]string, max(1, len(g.columns)))
	for i := range names {
		names[i] = fmt.Sprintf("g%d", i)
	}
	return names
}

// describe begins the description of a group, by its size.
func (g groups) describe() string { return "SELECT 'a group of ' || size || ' " + g.unit() + "' || " }

// tally begins a query with what tallied counts. It is recursive only where it must be: Citus refuses recursive queries
// over distributed rows.
func (g groups) tally(column catalog.Column, x string) string {
	return "WITH " + g.tallies(column, x)
}

func (g groups) tallies(column catalog.Column, x string) string {
	further := fmt.Sprintf(", %s AS v, %s AS x", key(column, quoted("s", column.Name)), x)
	return fmt.Sprintf(tallied, g.rows(further), strings.Join(g.names(), ", "), g.counted())
}

func grouped(columns []catalog.PublishedColumn, alias string) string {
	names := listed(columns, alias)
	for i := range names {
		names[i] += fmt.Sprintf(" AS g%d", i)
	}
	return strings.Join(names, ", ")
}
