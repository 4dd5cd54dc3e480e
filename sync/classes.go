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
// its class shows, and how many records it has. The proxy asks it what its answers are the same to
// (rewrite/classes.go); clients cannot name it.

// classesView is the definition of the view that sums the release up.
func (t *table) classesView() string {
	var columns []string
	for _, c := range t.parts[0].generalized {
		columns = append(columns, "p."+catalog.QuoteIdentifier(c.Name))
	}
	columns = append(columns, fmt.Sprintf("pg_catalog.cardinality(p.%s) AS %s", catalog.MembersColumn, catalog.CountColumn))
	return fmt.Sprintf("SELECT %s FROM %s AS p", strings.Join(columns, ", "), t.release.packedTable())
}

// grant grants what is published of the table to the reader.
func (t *table) grant(ctx context.Context, on executor, reader string) error {
	if err := t.layout.view().grant(ctx, on, reader); err != nil {
		return err
	}
	name := catalog.Classes(t.layout.name())
	if !t.isPacked() {
		if _, err := on.Exec(ctx, "DROP VIEW IF EXISTS "+name.SQL()); err != nil {
			return fmt.Errorf("dropping the summary of %s: %w", t.layout.name(), err)
		}
		return nil
	}
	// What it is stands in its comment: replacing it would wait for its readers.
	sum := sha256.Sum256([]byte(t.classesView())) // comments are for all to read
	is := fmt.Sprintf("of %s: %s", t.layout.name(), hex.EncodeToString(sum[:8]))
	made, err := on.Exec(ctx, "SELECT FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1) AND pg_catalog.obj_description(oid, 'pg_class') = $2", name.SQL(), is)
	if err != nil {
		return fmt.Errorf("looking for the summary of %s: %w", t.layout.name(), err)
	}
	// REFERENCES hides it from clients, as it does the stand-ins.
	sql := fmt.Sprintf("GRANT SELECT, REFERENCES ON %s TO %s", name.SQL(), catalog.QuoteIdentifier(reader))
	if made.RowsAffected() == 0 {
		sql = fmt.Sprintf("DROP VIEW IF EXISTS %[1]s; CREATE VIEW %[1]s AS %[2]s; COMMENT ON VIEW %[1]s IS %[3]s; %[4]s", name.SQL(), t.classesView(), catalog.QuoteLiteral(is), sql)
	}
	if _, err := on.Exec(ctx, sql); err != nil {
		return fmt.Errorf("making the summary of %s: %w", t.layout.name(), err)
	}
	return nil
}
