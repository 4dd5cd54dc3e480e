package sync

import (
	"context"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// comment says on the published view and each of its columns how it was generalized,
// for tools that show comments.
func (t *layout) comment(ctx context.Context, on executor) error {
	view := catalog.Published(t.name()).SQL()
	relation, columns := t.publication.Comments()
	statements := make([]string, 1, len(columns)+1)
	statements[0] = "COMMENT ON VIEW " + view + " IS " + catalog.QuoteLiteral(relation)
	for i, column := range columns {
		statements = append(statements, "COMMENT ON COLUMN "+view+"."+catalog.QuoteIdentifier(t.publication.Columns[i].Name)+
			" IS "+catalog.QuoteLiteral(column))
	}
	// One round trip: without arguments, pgx sends all of them in one message.
	if _, err := on.Exec(ctx, strings.Join(statements, ";\n")); err != nil {
		return fmt.Errorf("commenting on the published view of %s: %w", t.name(), err)
	}
	return nil
}
