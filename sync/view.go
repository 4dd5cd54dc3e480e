package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// publishedView writes the SQL of the view that readers see of a table.
type publishedView struct{ publication *catalog.Publication }

func (t *layout) view() publishedView { return publishedView{&t.publication} }

// sql is the quoted name of the view.
func (v publishedView) sql() string { return catalog.Published(v.publication.Policy.Table).SQL() }

// shows are the published columns as expressions over a release.
func (v publishedView) shows() string {
	return sqlList(v.publication.Columns, func(_ int, c catalog.PublishedColumn) string {
		if c.Part == catalog.Weight && v.publication.WeighsApart() {
			return weightSQL + " AS " + catalog.WeightColumn
		}
		return catalog.QuoteIdentifier(c.Name)
	})
}

// weightSQL is lineage.Rated of the weight of a row's class and that of the table.
const weightSQL = "(CASE WHEN whole > 1 THEN 1 - (2 - whole) * (1 - coalesce(" + catalog.WeightColumn + ", 1)) ELSE coalesce(" + catalog.WeightColumn + ", 1) * coalesce(whole, 1) END)::real"

// shownList quotes and joins the published columns that come from the source.
func (v publishedView) shownList() string {
	var names []string
	for _, c := range v.publication.Columns {
		if c.Part != catalog.ClassNumber && c.Part != catalog.Weight {
			names = append(names, catalog.QuoteIdentifier(c.Name))
		}
	}
	return strings.Join(names, ", ")
}

// copiedList are the number of a record and its columns that are published without
// generalization.
func (v publishedView) copiedList(prefix string) string {
	names := []string{prefix + recordColumn}
	for _, c := range v.publication.Columns {
		if c.Part == catalog.Copy {
			names = append(names, prefix+catalog.QuoteIdentifier(c.Source))
		}
	}
	return strings.Join(names, ", ")
}

// unpackedList are the columns of shownList as expressions over p, a packed row, and m,
// one of its members.
func (v publishedView) unpackedList() string {
	var list []string
	for _, c := range v.publication.Columns {
		name := catalog.QuoteIdentifier(c.Name)
		switch {
		case c.Generalized():
			list = append(list, "p."+name)
		case c.Part == catalog.Copy:
			list = append(list, fmt.Sprintf("m.%s AS %s", catalog.QuoteIdentifier(c.Source), name))
		}
	}
	return strings.Join(list, ", ")
}

// invalidTableDefinition is the SQLSTATE of a view that is to be replaced by one whose
// columns do not begin with its own.
const invalidTableDefinition = "42P16"

// put makes the view over what has the release. If its columns stay, the view is
// replaced, so that dependent views and grants stay.
func (v publishedView) put(ctx context.Context, tx pgx.Tx, release string) error {
	if err := moveMark(ctx, tx, v.publication.Policy.Table); err != nil {
		return err
	}
	view := fmt.Sprintf("VIEW %s AS SELECT %s FROM %s", v.sql(), v.shows(), release)
	part, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err = part.Exec(ctx, "CREATE OR REPLACE "+view); err == nil {
		return part.Commit(ctx)
	}
	if failed := part.Rollback(ctx); failed != nil {
		return errors.Join(err, failed)
	}
	if !hasState(err, invalidTableDefinition) {
		return err
	}
	if err := hide(ctx, tx, v.publication.Policy.Table); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "CREATE "+view)
	return err
}

// grant grants the view to the reader, and sets its comments.
func (v publishedView) grant(ctx context.Context, on executor, reader string) error {
	if err := moveMark(ctx, on, v.publication.Policy.Table); err != nil {
		return err
	}
	sql := fmt.Sprintf("GRANT SELECT ON %s TO %s", v.sql(), catalog.QuoteIdentifier(reader))
	if _, err := on.Exec(ctx, sql); err != nil {
		return fmt.Errorf("granting the published view of %s: %w", v.publication.Policy.Table, err)
	}
	return v.comment(ctx, on)
}

// comment sets comments on the view and its columns that say how they were generalized, for
// tools that show comments.
func (v publishedView) comment(ctx context.Context, on executor) error {
	view := v.sql()
	relation, columns := v.publication.Comments()
	statements := make([]string, 1, len(columns)+1)
	statements[0] = "COMMENT ON VIEW " + view + " IS " + catalog.QuoteLiteral(relation)
	for i, column := range columns {
		statements = append(statements, "COMMENT ON COLUMN "+view+"."+catalog.QuoteIdentifier(v.publication.Columns[i].Name)+
			" IS "+catalog.QuoteLiteral(column))
	}
	// One round trip: without arguments, pgx sends all of them in one message.
	if _, err := on.Exec(ctx, strings.Join(statements, ";\n")); err != nil {
		return fmt.Errorf("commenting on the published view of %s: %w", v.publication.Policy.Table, err)
	}
	return nil
}

// hide drops the published view of a table, and the views over it. The processes that serve
// kproxy's own views make these again.
func hide(ctx context.Context, on executor, name catalog.Name) error {
	if err := moveMark(ctx, on, name); err != nil {
		return err
	}
	if _, err := on.Exec(ctx, "DROP VIEW IF EXISTS "+catalog.Published(name).SQL()+", "+catalog.Classes(name).SQL()+" CASCADE"); err != nil {
		return fmt.Errorf("dropping the published view of %s: %w", name, err)
	}
	return nil
}

// revoke revokes the published view of a table from the reader until it is granted again, so
// that the role cannot read what kproxy refuses.
func (s *store) revoke(ctx context.Context, on executor, name catalog.Name) error {
	if err := moveMark(ctx, on, name); err != nil {
		return err
	}
	for _, view := range []string{catalog.Published(name).SQL(), catalog.Classes(name).SQL()} {
		there, err := on.Exec(ctx, "SELECT FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)", view)
		if there.RowsAffected() > 0 { // none after an error
			_, err = on.Exec(ctx, "REVOKE SELECT, REFERENCES ON "+view+" FROM "+catalog.QuoteIdentifier(s.reader))
		}
		if err != nil {
			return fmt.Errorf("revoking the published view of %s: %w", name, err)
		}
	}
	return nil
}
