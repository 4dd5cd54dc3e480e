package views

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/rewrite"
)

// Codes of the findings about views. They are warnings: a view that cannot be published
// is refused to readers, and takes nothing away from others.
const (
	CodeProblem     = "view"
	codeViewColumns = "view-columns"
)

// Check reads the views over protected tables and tells what is wrong with those
// that the policy lists, as far as that can be known before the tables are published, and
// what the database said when kproxy tried.
func Check(ctx context.Context, conn *pgx.Conn, c *config.Config, relations []catalog.Relation, publications []catalog.Publication) (
	[]catalog.View, inspect.Report, error,
) {
	names, err := inspect.Callable(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	rewritten := rewritings{rewriter: rewrite.New(gate.Options(c)), snapshot: catalog.NewSnapshot(c.Policy, relations, nil).WithNames(names)}
	rewritten.rewriter.SetSnapshot(rewritten.snapshot)
	p, found, err := newPlanner(ctx, conn, c, rewritten, new(definitions))
	if err != nil {
		return nil, nil, err
	}
	// Once the policy is applied, the tables will have these columns.
	for _, publication := range publications {
		name := catalog.Published(publication.Policy.Table)
		shape := inspect.ViewSource{OID: p.sources[name].OID, Readable: true}
		for _, column := range publication.Columns {
			shape.Columns = append(shape.Columns, column.Name)
		}
		p.sources[name] = shape
	}
	plans := p.plan(found)
	if len(plans) == 0 {
		return found, nil, nil
	}
	stored := p.stored
	var report inspect.Report
	warn := func(code string, view catalog.Name, what, fix string) {
		report = append(report, inspect.Finding{Severity: inspect.Warning, Code: code, Table: view, What: what, Fix: fix})
	}
	for _, plan := range plans {
		name, before := plan.view.Name, stored[plan.view.Name]
		switch {
		case plan.standIn && plan.problem != "":
			warn(CodeProblem, name, "it cannot be served: "+plan.problem, plan.fix)
		case plan.standIn && before.refused(plan):
			warn(CodeProblem, name, "it could not be served when kproxy tried last: "+before.problem, fixSetup)
		case plan.standIn && len(plan.published.Omitted) > 0:
			warn(codeViewColumns, name, "it has columns that were added since it was accepted, which are not served: "+strings.Join(plan.published.Omitted, ", "),
				fixAccept)
		case plan.standIn:
		case plan.waits: // what is told of the table is enough
		case plan.problem != "":
			warn(CodeProblem, name, "the view cannot be published: "+plan.problem, plan.fix)
		case before.refused(plan):
			warn(CodeProblem, name, "the view could not be published when kproxy tried last: "+before.problem, FixDefinition)
		case len(plan.published.Omitted) > 0:
			warn(codeViewColumns, name, "the view is published without what is not published of its tables: "+strings.Join(plan.published.Omitted, ", "),
				"nothing, if analysts need not have it")
		}
	}
	return found, report, nil
}

// definitions are those that were read last; see inspect.Definitions.
type definitions struct{ views, readables inspect.Definitions }

// newPlanner reads the views over protected tables, and makes a planner for the listed
// ones.
func newPlanner(ctx context.Context, conn *pgx.Conn, c *config.Config, known rewritings, last *definitions) (*planner, []catalog.View, error) {
	reader := c.Upstream.Reader.User
	found, err := inspect.Views(ctx, conn, c.Policy, &last.views)
	if err != nil {
		return nil, nil, err
	}
	p := planner{
		audiences: c.Policy.Audiences,
		reader:    reader, rewritten: known, stored: make(map[catalog.Name]storedView), sources: make(map[catalog.Name]inspect.ViewSource),
		protected: make(map[catalog.Name]bool), listed: make(map[catalog.Name]bool),
	}
	for _, t := range c.Policy.Tables {
		p.protected[t.Table] = true
	}
	for _, name := range c.Policy.Readable {
		p.listed[name] = true
	}
	if p.readables, err = inspect.Readables(ctx, conn, c.Policy, &last.readables); err != nil {
		return nil, nil, err
	}
	if p.held, err = inspect.Held(ctx, conn, c.Policy); err != nil {
		return nil, nil, err
	}
	// The check tells of an old store.
	if p.stored, err = storedViews(ctx, conn, reader); err != nil && !errors.Is(err, errViewStore) {
		return nil, nil, err
	}
	if err := p.findParts(ctx, conn); err != nil {
		return nil, nil, err
	}
	if names := viewSources(found); len(names) > 0 {
		if p.sources, err = inspect.ViewSources(ctx, conn, reader, names); err != nil {
			return nil, nil, err
		}
	}
	if err := conn.QueryRow(ctx, "SELECT pg_catalog.current_setting('server_version_num')::int").Scan(&p.version); err != nil {
		return nil, nil, fmt.Errorf("asking for the server's version: %w", err)
	}
	return &p, found, nil
}
