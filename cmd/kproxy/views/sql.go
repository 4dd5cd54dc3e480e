package views

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// createForAudiences makes the stand-in of a readable relation for each audience as well, which it replaces:
// an audience reads nothing in the schemas of others.
func createForAudiences(ctx context.Context, tx pgx.Tx, plan viewPlan, audiences []catalog.Audience) error {
	if err := dropForAudiences(ctx, tx, plan.view.Name); err != nil {
		return err
	}
	for _, a := range audiences {
		if len(a.Roles) == 0 {
			continue
		}
		if err := createViewFor(ctx, tx, plan, a.Name, a.Roles[0], false); err != nil {
			return err
		}
	}
	return nil
}

// dropForAudiences drops what is published of a readable relation or view for audiences, also for those of
// earlier configurations.
func dropForAudiences(ctx context.Context, tx pgx.Tx, name catalog.Name) error {
	_, err := tx.Exec(ctx, fmt.Sprintf(`DO $kproxy$ DECLARE one text; BEGIN
	FOR one IN SELECT pg_catalog.format('DROP VIEW %%I.%%I CASCADE', n.nspname, c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind = 'v' AND c.relname = %s AND n.nspname ~ %s
	LOOP EXECUTE one; END LOOP; END $kproxy$`,
		catalog.QuoteLiteral(name.Relation), catalog.QuoteLiteral("^"+catalog.AudienceSchemaPattern(name.Schema)+"$")), pgx.QueryExecModeSimpleProtocol)
	return err
}

// createViewFor makes the published view for the role of an audience, or of the policy's own readers, in
// place of an earlier one if that has the same columns, or the first of them.
func createViewFor(ctx context.Context, tx pgx.Tx, plan viewPlan, audience, reader string, invoker bool) error {
	view := catalog.PublishedFor(audience, plan.view.Name).SQL()
	columns := make([]string, len(plan.published.Columns))
	for i, column := range plan.published.Columns {
		columns[i] = catalog.QuoteIdentifier(column)
	}
	options := fmt.Sprintf("security_barrier = %t", plan.view.Barrier)
	// REFERENCES marks what clients see in another form in the catalogs: the relation itself.
	privileges := "SELECT, REFERENCES"
	if !plan.standIn {
		privileges = "SELECT"
		if invoker {
			options += ", security_invoker = true"
		}
	}
	for _, sql := range []string{
		fmt.Sprintf("CREATE OR REPLACE VIEW %s (%s) WITH (%s) AS %s", view, strings.Join(columns, ", "), options, plan.published.SQL),
		"REVOKE ALL PRIVILEGES ON " + view + " FROM PUBLIC, " + catalog.QuoteIdentifier(reader),
		"GRANT " + privileges + " ON " + view + " TO " + catalog.QuoteIdentifier(reader),
		"COMMENT ON VIEW " + view + " IS " + catalog.QuoteLiteral(plan.comment()),
	} {
		if _, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return nil
}

// dropView drops a published view and those that read it.
func dropView(ctx context.Context, tx pgx.Tx, published catalog.Name) error {
	_, err := tx.Exec(ctx, "DROP VIEW IF EXISTS "+published.SQL()+" CASCADE")
	return err
}

// comment is what readers see of the view's making. It names no column that they do not
// have.
func (plan viewPlan) comment() string {
	switch n := len(plan.published.Omitted); {
	case plan.standIn:
		return "A readable relation, as it was accepted."
	case n == 0:
		return "A view over published tables."
	case n == 1:
		return "A view over published tables. 1 column of its definition is not published."
	default:
		return fmt.Sprintf("A view over published tables. %d columns of its definition are not published.", n)
	}
}
