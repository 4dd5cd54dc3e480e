package verify

import (
	"fmt"

	"github.com/kproxy/kproxy/catalog"
)

// verifyMirrored verifies a table that is not protected: readers see each row of the private store
// once, with the values of the listed columns. The store is not compared with the source, which
// changes meanwhile; 'kproxy resync' compares them row by row, at one position.
func (t *table) verifyMirrored() error {
	return t.take([]step{{"counts", t.countMirrored}, {"rows", t.checkMirrored}})
}

// isMirrored says whether rows are published as they are.
func (r *relations) isMirrored() bool { return r.publication.Policy.IsMirrored() }

// countMirrored fills in the figures of the report.
func (t *table) countMirrored() error {
	t.report.Mirrored = true
	totals := fmt.Sprintf("SELECT (SELECT count(*) FROM %s), (SELECT count(*) FROM %s)", t.relations.records, t.relations.published)
	if err := t.tx.QueryRow(t.ctx, totals).Scan(&t.report.Records, &t.report.Rows); err != nil {
		return fmt.Errorf("counting rows: %w", err)
	}
	return nil
}

// checkMirrored compares the rows by the texts of their values, as some types have no equality. It
// names no value.
func (t *table) checkMirrored() error {
	columns := ""
	for i, c := range t.relations.publication.Columns {
		if i > 0 {
			columns += ", "
		}
		columns += catalog.QuoteIdentifier(c.Name)
	}
	// A name can contain a percent sign, so no name becomes part of a format.
	rows := func(of string) string {
		return "(SELECT ROW(" + columns + ")::text AS shown, count(*) AS n FROM " + of + " GROUP BY 1)"
	}
	return t.violations("every row of the private store is shown as it is", `SELECT format('a row is shown %s times instead of %s', coalesce(p.n, 0), coalesce(r.n, 0))
		FROM `+rows(t.relations.published)+` p FULL JOIN `+rows(t.relations.records)+` r USING (shown) WHERE p.n IS DISTINCT FROM r.n`)
}
