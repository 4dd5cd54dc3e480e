package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// checkSummary compares a stored summary of the packed rows, where there is one, with what they are summed up to.
func (t *table) checkSummary() error {
	r := &t.relations
	if r.publication.Policy.Audience != "" {
		return nil
	}
	summary := catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("summary_%d", t.report.Generation)}.SQL()
	var stored bool
	if err := t.tx.QueryRow(t.ctx, "SELECT to_regclass($1) IS NOT NULL", summary).Scan(&stored); err != nil {
		return fmt.Errorf("looking for %s: %w", summary, err)
	}
	if !stored {
		return nil
	}
	columns, err := t.columns(summary)
	if err != nil {
		return err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c column) bool { return c.name == name })
	}
	kept, made, summed := r.summarized(has)
	packed := fmt.Sprintf("(SELECT p.*, a.* FROM %s p, LATERAL (SELECT %s FROM unnest(p.%s) m) a) l", r.packed, strings.Join(summed, ", "), catalog.MembersColumn)
	return t.violations("the stored summary is what the release is summed up to", difference(summary+" s", packed, kept, made, "'class ' || v0 || ' differs in ' || sum(abs(n)) || ' rows'"))
}

// summarized are the columns of a summary s, what they should be of packed rows l, and what of this is summed up of their members m.
func (r *relations) summarized(has func(string) bool) (kept, made, summed []string) {
	figure := func(name, of string) {
		kept, made = append(kept, quoted("s", name)), append(made, fmt.Sprintf("l.f%d", len(summed)))
		summed = append(summed, fmt.Sprintf("%s AS f%d", of, len(summed)))
	}
	for _, name := range []string{catalog.ClassColumn(0), catalog.SectionColumn} {
		kept, made = append(kept, quoted("s", name)), append(made, quoted("l", name))
	}
	figure(catalog.CountColumn, "count(*)")
	for _, c := range r.publication.Columns {
		if c.Generalized() {
			kept, made = append(kept, quoted("s", c.Name)), append(made, quoted("l", c.Name))
			continue
		}
		for _, of := range [][2]string{{catalog.KnownColumn(c.Name), "count"}, {catalog.SumColumn(c.Name), "sum"}, {catalog.LeastColumn(c.Name), "min"}, {catalog.GreatestColumn(c.Name), "max"}} {
			if has(of[0]) {
				figure(of[0], of[1]+"("+quoted("m", c.Source)+")")
			}
		}
	}
	return kept, made, summed
}
