package views

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// A view over protected tables is published once for the policy's own readers and once for each
// audience that sees its tables: the same definition over what each sees of them. What one is
// refused says nothing of the others.

// fixUnseen is what mends a view over a table that an audience does not see.
const fixUnseen = "nothing, if the audience need not have it; else name the table under tables of the audience, or take it out of hide there"

// viewer is an audience, or with an empty name the policy's own readers, and a view that it sees.
type viewer struct {
	audience string
	view     catalog.Name
}

// viewOutcomes are the outcomes of readable relations and views for the policy's own readers, and of
// views for audiences.
type viewOutcomes map[viewer]viewOutcome

// add adds the outcomes for one audience.
func (o viewOutcomes) add(audience string, outcomes map[catalog.Name]viewOutcome) {
	for name, outcome := range outcomes {
		o[viewer{audience, name}] = outcome
	}
}

// keep adds what is known for one audience from before.
func (o viewOutcomes) keep(audience string, before viewOutcomes) {
	for of, outcome := range before {
		if of.audience == audience {
			o[of] = outcome
		}
	}
}

// withRoles are the audiences that somebody belongs to.
func withRoles(all []catalog.Audience) (with []catalog.Audience) {
	for _, a := range all {
		if len(a.Roles) > 0 {
			with = append(with, a)
		}
	}
	return with
}

// forAudience is the planner of views for an audience, which reads what that sees of tables. Stand-ins
// of readable relations are planned already, for all.
func (p *planner) forAudience(a catalog.Audience, policy catalog.Policy) *planner {
	of := *p
	of.audience, of.reader, of.audiences = a.Name, a.Roles[0], nil
	of.seen, of.plans = make(map[catalog.Name]bool), make(map[catalog.Name]viewPlan)
	of.sources = make(map[catalog.Name]inspect.ViewSource)
	seen, _ := policy.For(a.Name)
	for _, t := range seen.Tables {
		of.seen[t.Table] = true
	}
	for name, plan := range p.plans {
		if plan.standIn {
			of.plans[name] = plan
		}
	}
	return &of
}

// readSources reads what views read for the planner's audience.
func (p *planner) readSources(ctx context.Context, on upstream.Databases, views []catalog.View) (err error) {
	switch names := viewSources(p.audience, views); {
	case len(names) == 0 || p.away:
	case p.apart:
		err = p.readSourcesApart(ctx, on, names)
	default:
		p.sources, err = inspect.ViewSources(ctx, on.Owner, p.reader, names)
	}
	return err
}

// publishFor brings what is published of views for audiences in line with the definitions and the policy,
// after what the policy's own readers have. Audiences whose views could not be looked at have no outcomes.
func (l *Look) publishFor(ctx context.Context, own *planner, m viewMaker) error {
	if own.away {
		return errors.Join(l.addKept(ctx), l.dropOthers(ctx, m))
	}
	var failed []error
	for _, a := range withRoles(l.config.Policy.Audiences) {
		p := own.forAudience(a, l.config.Policy)
		if err := p.readSources(ctx, upstream.Databases{Owner: l.conn, Source: cmp.Or(l.source, l.conn)}, l.found); err != nil {
			failed = append(failed, fmt.Errorf("audience %s: %w", a.Name, err))
			continue
		}
		plans := p.planViews(l.found)
		own.rewritten = p.rewritten
		planned := make(map[catalog.Name]bool, len(plans))
		for _, plan := range plans {
			planned[plan.view.Name] = true
		}
		of := m
		of.listed, of.kept = nil, false // what was accepted is kept for all
		of.audience, of.reader, of.told = a.Name, p.reader, l.told(a.Name)
		of.gone = func(name catalog.Name) bool { return !planned[name] && (p.listed[name] || l.afresh) }
		err := of.make(ctx, plans)
		l.kept = l.kept || of.kept
		l.outcomes.add(a.Name, of.outcomes)
		if err != nil {
			failed = append(failed, fmt.Errorf("audience %s: %w", a.Name, err))
		}
	}
	return errors.Join(append(failed, l.dropOthers(ctx, m))...)
}

// unseen are the audiences whose views the look was kept from looking at.
func (l *Look) unseen() (all []string) {
	for _, a := range withRoles(l.config.Policy.Audiences) {
		if l.err != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(l.outcomes)), func(of viewer) bool { return of.audience == a.Name }) {
			all = append(all, a.Name)
		}
	}
	return all
}

// dropOthers drops what is published of views for audiences that the policy no longer has.
func (l *Look) dropOthers(ctx context.Context, m viewMaker) error {
	if !l.afresh {
		return nil
	}
	rows, err := l.conn.Query(ctx, "SELECT DISTINCT audience FROM kproxy_store.audience_view")
	if err != nil {
		return fmt.Errorf("reading for which audiences views are published: %w", err)
	}
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("reading for which audiences views are published: %w", err)
	}
	for _, a := range withRoles(l.config.Policy.Audiences) {
		for i, name := range known {
			if name == a.Name {
				known[i] = ""
			}
		}
	}
	for _, name := range known {
		if name == "" {
			continue
		}
		of := m
		of.listed, of.invoker, of.reader = nil, true, "" // nothing is made
		of.audience, of.gone = name, func(catalog.Name) bool { return true }
		if err := of.make(ctx, nil); err != nil {
			return fmt.Errorf("former audience %s: %w", name, err)
		}
		l.kept = l.kept || of.kept
	}
	return nil
}

// checkFor tells which views audiences do not see though the policy's own readers do, or see without columns,
// each with all audiences of which the same is to be told. Shapes are those of what is published for an
// audience once the policy is applied.
func checkFor(ctx context.Context, on upstream.Databases, own *planner, policy catalog.Policy, views []catalog.View, shapes func(audience string) map[catalog.Name]inspect.ViewSource) (inspect.Report, error) {
	var report inspect.Report
	told := make(map[string]int) // places in the report
	for _, a := range withRoles(policy.Audiences) {
		p := own.forAudience(a, policy)
		if err := p.readSources(ctx, on, views); err != nil {
			return nil, err
		}
		for name, shape := range shapes(a.Name) {
			shape.OID = p.sources[name].OID // the digest of what was made tells of it
			p.sources[name] = shape
		}
		stored, err := storedViews(ctx, on.Owner, a.Name, p.reader)
		if err != nil && !errors.Is(err, errViewStore) {
			return nil, err
		}
		for _, plan := range p.planViews(views) {
			f, is := plan.finding(stored[plan.view.Name])
			if !is {
				continue
			}
			what := f.Table.String() + f.What
			if at, known := told[what]; known {
				report[at].What = strings.Replace(report[at].What, ":", ", "+a.Name+":", 1)
				continue
			}
			told[what] = len(report)
			f.What = "for " + a.Name + ": " + f.What
			report = append(report, f)
		}
		own.rewritten = p.rewritten
	}
	return report, nil
}
