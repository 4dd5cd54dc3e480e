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

// keptView is the same of all columns that rows have.
func (t *layout) keptView() publishedView { return publishedView{&t.kept} }

// sql is the quoted name of the view.
func (v publishedView) sql() string { return v.publication.Policy.Published().SQL() }

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
// generalization, those that audiences alone see among them.
func (v publishedView) copiedList(prefix string) string {
	names := []string{prefix + recordColumn}
	for _, c := range v.publication.Copied() {
		names = append(names, prefix+catalog.QuoteIdentifier(c.Source))
	}
	return strings.Join(names, ", ")
}

// unpackedList are the columns of shownList as expressions over p, a packed row with one of its members
// as a column.
func (v publishedView) unpackedList(member string) string {
	var list []string
	for _, c := range v.publication.Columns {
		name := catalog.QuoteIdentifier(c.Name)
		switch {
		case c.Generalized():
			list = append(list, "p."+name)
		case c.Part == catalog.Copy:
			list = append(list, fmt.Sprintf("(p.%s).%s AS %s", member, catalog.QuoteIdentifier(c.Source), name))
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
	if _, err := tx.Exec(ctx, "DROP VIEW "+v.sql()+" CASCADE"); err != nil {
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

// grant grants what is published of a table to those who read it. Readers are shown its release, or else, so far, what was
// before or nothing.
func (s *store) grant(ctx context.Context, on executor, t *table, shown bool) error {
	if err := t.grant(ctx, on, s.reader, shown); err != nil {
		return err
	}
	for i := range t.layout.audiences {
		a := &t.layout.audiences[i]
		if a.removed {
			continue
		}
		if err := revokeFrom(ctx, on, t.layout.name(), ofAudience(t.layout.name(), a.name), a.role); err != nil {
			return err
		}
		if a.role == "" || a.unseen {
			continue
		}
		if !shown {
			there, err := isThere(ctx, on, a.view().sql())
			if err != nil {
				return fmt.Errorf("looking for the published view of %s for %s: %w", t.layout.name(), a.name, err)
			}
			if !there {
				continue
			}
		}
		if err := a.view().grant(ctx, on, a.role); err != nil {
			return err
		}
		if err := t.grantClasses(ctx, on, a, a.role, shown); err != nil {
			return fmt.Errorf("for audience %s: %w", a.name, err)
		}
	}
	return nil
}

// isThere says whether a relation exists, by its quoted name.
func isThere(ctx context.Context, on executor, name string) (bool, error) {
	found, err := on.Exec(ctx, "SELECT FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)", name)
	return found.RowsAffected() > 0, err // none after an error
}

// ofAudience is the condition that a view, c in the schema n, is what is published of a table for an audience, or the
// summary of that.
func ofAudience(name catalog.Name, audience string) string {
	var either []string
	for _, view := range []catalog.Name{catalog.PublishedFor(audience, name), catalog.ClassesFor(audience, name)} {
		either = append(either, fmt.Sprintf("(n.nspname, c.relname) = (%s, %s)", catalog.QuoteLiteral(view.Schema), catalog.QuoteLiteral(view.Relation)))
	}
	return "(" + strings.Join(either, " OR ") + ")"
}

// ofAudiences is ofAudience for all audiences, also for those of earlier configurations.
func ofAudiences(name catalog.Name) string {
	return fmt.Sprintf("(c.relname = %s AND n.nspname ~ %s OR n.nspname = %s AND c.relname ~ %s)",
		catalog.QuoteLiteral(name.Relation), catalog.QuoteLiteral("^"+catalog.AudienceSchemaPattern(name.Schema)+"$"),
		catalog.QuoteLiteral(catalog.CatalogSchema), catalog.QuoteLiteral("^"+catalog.AudienceClassesPattern(name)+"$"))
}

// revokeFrom revokes the published views of a table for which a condition holds from all roles but one.
func revokeFrom(ctx context.Context, on executor, name catalog.Name, which, except string) error {
	_, err := on.Exec(ctx, fmt.Sprintf(`DO $kproxy$ DECLARE one text; BEGIN
	FOR one IN SELECT pg_catalog.format('REVOKE ALL ON %%I.%%I FROM %%s', n.nspname, c.relname, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END)
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
		WHERE c.relkind = 'v' AND %s AND a.grantee <> c.relowner AND r.rolname IS DISTINCT FROM %s
	LOOP EXECUTE one; END LOOP; END $kproxy$`,
		which, catalog.QuoteLiteral(except)))
	if err != nil {
		return fmt.Errorf("revoking what is published of %s for audiences: %w", name, err)
	}
	return nil
}

// hide drops the published views of a table, and the views over them. The processes that serve
// kproxy's own views make these again.
func hide(ctx context.Context, on executor, name catalog.Name) error {
	if err := moveMark(ctx, on, name); err != nil {
		return err
	}
	if _, err := on.Exec(ctx, "DROP VIEW IF EXISTS "+catalog.Published(name).SQL()+", "+catalog.Classes(name).SQL()+" CASCADE"); err != nil {
		return fmt.Errorf("dropping the published view of %s: %w", name, err)
	}
	return hideFromOthers(ctx, on, name, nil)
}

// hideFromOthers drops the published views of a table for all audiences but some.
func hideFromOthers(ctx context.Context, on executor, name catalog.Name, shown []string) error {
	which := ofAudiences(name)
	for _, audience := range shown {
		which += " AND NOT " + ofAudience(name, audience)
	}
	_, err := on.Exec(ctx, fmt.Sprintf(`DO $kproxy$ DECLARE one text; BEGIN
	FOR one IN SELECT pg_catalog.format('DROP VIEW %%I.%%I CASCADE', n.nspname, c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind = 'v' AND %s
	LOOP EXECUTE one; END LOOP; END $kproxy$`, which))
	if err != nil {
		return fmt.Errorf("dropping what is published of %s for audiences: %w", name, err)
	}
	return nil
}

// hideFrom drops the published views of a table for some audiences.
func hideFrom(ctx context.Context, on executor, name catalog.Name, audiences []string) error {
	if err := moveMark(ctx, on, name); err != nil {
		return err
	}
	for _, audience := range audiences {
		views := catalog.PublishedFor(audience, name).SQL() + ", " + catalog.ClassesFor(audience, name).SQL()
		if _, err := on.Exec(ctx, "DROP VIEW IF EXISTS "+views+" CASCADE"); err != nil {
			return fmt.Errorf("dropping what is published of %s for %s: %w", name, audience, err)
		}
	}
	return nil
}

// revoke revokes the published views of a table from those who read them until they are granted again,
// so that no role can read what kproxy refuses.
func (s *store) revoke(ctx context.Context, on executor, name catalog.Name) error {
	if err := moveMark(ctx, on, name); err != nil {
		return err
	}
	for _, view := range []string{catalog.Published(name).SQL(), catalog.Classes(name).SQL()} {
		there, err := isThere(ctx, on, view)
		if there {
			_, err = on.Exec(ctx, "REVOKE SELECT, REFERENCES ON "+view+" FROM "+catalog.QuoteIdentifier(s.reader))
		}
		if err != nil {
			return fmt.Errorf("revoking the published view of %s: %w", name, err)
		}
	}
	return revokeFrom(ctx, on, name, ofAudiences(name), "")
}
