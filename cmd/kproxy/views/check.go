package views

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
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
func Check(ctx context.Context, on upstream.Databases, c *config.Config, relations []catalog.Relation, publications []catalog.Publication) (
	[]catalog.View, inspect.Report, error,
) {
	names, err := inspect.Callable(ctx, on.Owner)
	if err != nil {
		return nil, nil, err
	}
	rewritten := rewritings{rewriter: rewrite.New(gate.Options(c)), snapshot: catalog.NewSnapshot(c.Policy, relations, nil).WithNames(names)}
	rewritten.rewriter.SetSnapshot(rewritten.snapshot)
	p, found, err := newPlanner(ctx, on, c, rewritten, new(definitions))
	if err != nil {
		return nil, nil, err
	}
	// Once the policy is applied, the tables will have these columns.
	for _, publication := range publications {
		name := catalog.Published(publication.Policy.Table)
		p.sources[name] = shapeOf(p.sources[name].OID, publication)
	}
	plans := p.plan(found)
	if len(plans) == 0 {
		return found, nil, nil
	}
	var report inspect.Report
	for _, plan := range plans {
		if f, is := plan.finding(p.stored[plan.view.Name]); is {
			report = append(report, f)
		}
	}
	audiences, err := checkFor(ctx, on, p, c.Policy, found, func(audience string) map[catalog.Name]inspect.ViewSource {
		shapes := make(map[catalog.Name]inspect.ViewSource)
		for _, publication := range publications {
			if seen, shown := publication.For(audience); shown {
				shapes[seen.Policy.Published()] = shapeOf(0, seen)
			}
		}
		return shapes
	})
	return found, append(report, audiences...), err
}

// shapeOf is what readers will see of a table, once the policy is applied.
func shapeOf(oid catalog.OID, publication catalog.Publication) inspect.ViewSource {
	shape := inspect.ViewSource{OID: oid, Readable: true}
	for _, column := range publication.Columns {
		shape.Columns = append(shape.Columns, column.Name)
	}
	return shape
}

// finding is what there is to tell of a plan, given what was made of the view before.
func (plan viewPlan) finding(before storedView) (inspect.Finding, bool) {
	warn := func(code, what, fix string) (inspect.Finding, bool) {
		return inspect.Finding{Severity: inspect.Warning, Code: code, Table: plan.view.Name, What: what, Fix: fix}, true
	}
	omitted := strings.Join(plan.published.Omitted, ", ")
	switch {
	case plan.standIn && plan.problem != "":
		return warn(CodeProblem, "it cannot be served: "+plan.problem, plan.fix)
	case plan.standIn && before.refused(plan):
		return warn(CodeProblem, "it could not be served when kproxy tried last: "+before.problem, fixSetup)
	case plan.standIn && omitted != "":
		return warn(codeViewColumns, "it has columns that were added since it was accepted, which are not served: "+omitted, fixAccept)
	case plan.standIn, plan.waits: // what is told of the table is enough
	case plan.problem != "":
		return warn(CodeProblem, "the view cannot be published: "+plan.problem, plan.fix)
	case before.refused(plan):
		return warn(CodeProblem, "the view could not be published when kproxy tried last: "+before.problem, FixDefinition)
	case omitted != "":
		return warn(codeViewColumns, "the view is published without what is not published of its tables: "+omitted, "nothing, if analysts need not have it")
	}
	return inspect.Finding{}, false
}

// definitions are those that were read last; see inspect.Definitions.
type definitions struct{ views, readables inspect.Definitions }

// newPlanner reads the views over protected tables, and makes a planner for the listed
// ones.
func newPlanner(ctx context.Context, on upstream.Databases, c *config.Config, known rewritings, last *definitions) (*planner, []catalog.View, error) {
	reader, conn := c.Upstream.Reader.User, on.Owner
	p := planner{
		audiences: c.Policy.Audiences, apart: c.IsApart(), away: on.Source == nil,
		reader: reader, rewritten: known, stored: make(map[catalog.Name]storedView), sources: make(map[catalog.Name]inspect.ViewSource),
		protected: make(map[catalog.Name]bool), seen: make(map[catalog.Name]bool), listed: make(map[catalog.Name]bool),
	}
	for _, t := range c.Policy.Tables {
		p.protected[t.Table], p.seen[t.Table] = true, true
	}
	for _, name := range c.Policy.Readable {
		p.listed[name] = true
	}
	found, err := p.readRelations(ctx, on, c, last)
	if err != nil {
		return nil, nil, err
	}
	// The check tells of an old store.
	if p.stored, err = storedViews(ctx, conn, "", reader); err != nil && !errors.Is(err, errViewStore) {
		return nil, nil, err
	}
	if err := p.findParts(ctx, conn); err != nil {
		return nil, nil, err
	}
	if err := p.readSources(ctx, on, found); err != nil {
		return nil, nil, err
	}
	if err := conn.QueryRow(ctx, "SELECT pg_catalog.current_setting('server_version_num')::int").Scan(&p.version); err != nil {
		return nil, nil, fmt.Errorf("asking for the server's version: %w", err)
	}
	return &p, found, nil
}

// readRelations reads the listed relations and what shows rows of protected tables, and returns the views that do.
func (p *planner) readRelations(ctx context.Context, on upstream.Databases, c *config.Config, last *definitions) (found []catalog.View, err error) {
	policy := ofRelease(c)
	if !p.apart {
		if found, err = inspect.Views(ctx, on.Source, policy, &last.views); err != nil {
			return nil, err
		}
	}
	if p.readables, err = inspect.Readables(ctx, on.Owner, policy, &last.readables); err != nil {
		return nil, err
	}
	if p.held, err = inspect.Held(ctx, on.Owner, policy); err != nil || !p.apart {
		return found, err
	}
	if found, err = p.readApart(ctx, on, c.Policy, &last.views); errors.Is(err, errViewStore) {
		err = nil // the check tells of an old store
	}
	return found, err
}
