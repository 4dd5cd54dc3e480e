package sync

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// Beside the published view of a packed table stands one that sums it up: of each packed row, what
// its class shows, and how many records it has. Of a stored summary (summary.go) it shows the rows. The proxy asks it what its answers are the same to
// (rewrite/classes.go); clients cannot name it. Each audience has one of its own release, with the columns that
// it sees of that.

// classesView is the definition of the view that sums up what is published for an audience; nil are the
// table's own readers.
func (t *table) classesView(a *audience) string {
	if summary := t.summary(); summary != nil && a == nil {
		return fmt.Sprintf("SELECT %s FROM %s AS p", summary.shown("p."), summary.table())
	}
	generalized, packed := t.parts[0].generalized, t.release.packedTable()
	if a != nil {
		generalized, packed = newPart(0, t.parts[0].attributes, a.constraints, a.publication).generalized, a.relation("packed", t.release.generation)
	}
	var columns []string
	for _, c := range generalized {
		columns = append(columns, "p."+catalog.QuoteIdentifier(c.Name))
	}
	columns = append(columns, fmt.Sprintf("pg_catalog.cardinality(p.%s) AS %s", catalog.MembersColumn, catalog.CountColumn))
	return fmt.Sprintf("SELECT %s FROM %s AS p", strings.Join(columns, ", "), packed)
}

// classesName is the name of that view.
func (t *table) classesName(a *audience) catalog.Name {
	if a == nil {
		return catalog.Classes(t.layout.name())
	}
	return catalog.ClassesFor(a.name, t.layout.name())
}

// grant grants what is published of the table to the reader.
func (t *table) grant(ctx context.Context, on executor, reader string, shown bool) error {
	if err := t.layout.view().grant(ctx, on, reader); err != nil {
		return err
	}
	return t.grantClasses(ctx, on, nil, reader, shown)
}

// grantClasses makes the summary of what is published for an audience, or for the table's own readers, and grants it
// to the reader. One that was made for a release of another layout is dropped. As long as readers are not shown the
// table's release, the summary stays that of the one before.
func (t *table) grantClasses(ctx context.Context, on executor, a *audience, reader string, shown bool) error {
	name := t.classesName(a)
	// REFERENCES hides it from clients, as it does the stand-ins.
	sql := fmt.Sprintf("GRANT SELECT, REFERENCES ON %s TO %s", name.SQL(), catalog.QuoteIdentifier(reader))
	if !shown {
		there, err := isThere(ctx, on, name.SQL())
		if there {
			_, err = on.Exec(ctx, sql)
		}
		if err != nil {
			return fmt.Errorf("granting the summary of %s: %w", t.layout.name(), err)
		}
		return nil
	}
	if !t.isPacked() {
		if _, err := on.Exec(ctx, "DROP VIEW IF EXISTS "+name.SQL()); err != nil {
			return fmt.Errorf("dropping the summary of %s: %w", t.layout.name(), err)
		}
		return nil
	}
	// What it is stands in its comment: replacing it would wait for its readers.
	made, err := t.isSummedUp(ctx, on, a)
	if err != nil {
		return err
	}
	if !made {
		sql = fmt.Sprintf("DROP VIEW IF EXISTS %[1]s; CREATE VIEW %[1]s AS %[2]s; COMMENT ON VIEW %[1]s IS %[3]s; %[4]s", name.SQL(), t.classesView(a), catalog.QuoteLiteral(t.summaryMark(a)), sql)
		if t.summary() == nil && a == nil {
			sql += "; DROP TABLE IF EXISTS " + t.release.summaryTable()
		}
	}
	if _, err := on.Exec(ctx, sql); err != nil {
		return fmt.Errorf("making the summary of %s: %w", t.layout.name(), err)
	}
	return nil
}

// summaryMark tells what the summary for an audience is, or that for the table's own readers, in the comment of its view. Comments are for all to read.
func (t *table) summaryMark(a *audience) string {
	sum := sha256.Sum256([]byte(t.classesView(a)))
	return fmt.Sprintf("of %s: %s", t.layout.name(), hex.EncodeToString(sum[:8]))
}

// isSummedUp tells whether readers have the summary that the table is to have. A stored one was then maintained with the packed rows.
func (t *table) isSummedUp(ctx context.Context, on executor, a *audience) (bool, error) {
	made, err := on.Exec(ctx, "SELECT FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1) AND pg_catalog.obj_description(oid, 'pg_class') = $2", t.classesName(a).SQL(), t.summaryMark(a))
	if err != nil {
		return false, fmt.Errorf("looking for the summary of %s: %w", t.layout.name(), err)
	}
	return made.RowsAffected() > 0, nil
}
