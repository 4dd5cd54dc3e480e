// Package accept shows how tables, readable relations, functions and the policy differ from what the
// operator accepted, and accepts them as they are.
package accept

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/request"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Proposal is what is not accepted yet in a configuration and in the relations and functions that it names.
type Proposal struct {
	// Policy are the differences from the policy in force, as text. It is nil if the configuration's
	// policy is in force, or tables were named.
	Policy []string
	// InForce is the number of the policy in force, 0 for none. Was is the number that the
	// configuration's policy had when it was in force, 0 for never.
	InForce, Was int64
	Tables       []ksync.Unaccepted
	// Relations are readable relations and listed views.
	Relations []views.Unaccepted
	// Functions are those that clients may call.
	Functions []check.UnacceptedFunction

	policy ksync.Policy
}

// Empty reports whether everything is accepted.
func (p Proposal) Empty() bool {
	return len(p.Policy)+len(p.Tables)+len(p.Relations)+len(p.Functions) == 0
}

// Propose returns what there is to accept in the named tables, readable relations and functions, or
// in the policy and all of them. It returns a *check.Error if the policy does not fit a table as it
// is now.
func Propose(ctx context.Context, c *config.Config, place string, named []catalog.Name) (p Proposal, err error) {
	tables, listed, functions, err := toAccept(c.Policy, named)
	if err != nil {
		return p, err
	}
	on, err := upstream.ConnectBoth(ctx, c)
	if err != nil {
		return p, err
	}
	defer on.Close(context.WithoutCancel(ctx))
	conn := on.Owner
	_, relations, err := check.Relations(ctx, on, c)
	if err != nil {
		return p, fmt.Errorf("reading the catalog: %w", err)
	}
	publications, problems, err := inspect.Publish(ctx, on.Source, c.Policy, relations)
	if err != nil {
		return p, err
	}
	if report := unfit(tables, relations, problems); len(report) > 0 {
		return p, &check.Error{Config: c, Report: report}
	}
	publications = slices.DeleteFunc(publications, func(q catalog.Publication) bool { return !slices.Contains(tables, q.Policy.Table) })
	if p.Tables, err = ksync.FindUnaccepted(ctx, on.Owner, on.Source, publications); err != nil {
		return p, upstream.Unprepared(err)
	}
	if p.Relations, err = views.FindUnaccepted(ctx, on, c, listed); err != nil {
		return p, err
	}
	if p.Functions, err = check.FindUnacceptedFunctions(ctx, conn, catalog.Policy{Functions: functions}, false); err != nil {
		return p, err
	}
	if p.policy, err = ksync.NewPolicy(c.Policy, place); err != nil {
		return p, err
	}
	standing, err := ksync.StandingOf(ctx, conn, p.policy)
	if err != nil {
		return p, upstream.Unprepared(err)
	}
	p.InForce, p.Was = standing.InForce.Number, standing.Was
	if err := identifying(ctx, on.Source, c, p.Tables, relations); err != nil {
		return p, err
	}
	if len(named) == 0 && !standing.IsInForce() {
		if err := servable(ctx, c, standing.InForce); err != nil {
			return p, err
		}
		p.Policy = differencesOf(standing.InForce, c.Policy)
	}
	return p, nil
}

// identifying returns a *check.Error if the values of a published column identify the records of a
// table that is to be accepted: it may be another column than before.
func identifying(ctx context.Context, conn *pgx.Conn, c *config.Config, tables []ksync.Unaccepted, relations []catalog.Relation) error {
	policy := catalog.Policy{Readable: check.OfSource(c).Readable}
	for _, t := range c.Policy.Tables {
		if slices.ContainsFunc(tables, func(u ksync.Unaccepted) bool { return u.Table == t.Table }) {
			policy.Tables = append(policy.Tables, t)
		}
	}
	if len(policy.Tables) == 0 {
		return nil
	}
	report, err := inspect.NearlyUnique(ctx, conn, policy, relations)
	if err == nil && len(report) > 0 {
		err = &check.Error{Config: c, Report: report}
	}
	return err
}

// servable returns a *check.Error if a process would refuse the policy, and then stop, as the one
// before is no longer in force. Errors about a table, relation or function are tolerated if the policy
// in force says the same of it.
func servable(ctx context.Context, c *config.Config, inForce ksync.AcceptedPolicy) error {
	before, _ := storedPolicy(inForce)
	known := make(map[string]bool, len(before.Tables))
	for _, t := range before.Tables {
		known[storedText(t)] = true
	}
	_, err := check.Fitness(ctx, c, check.Leniency{
		Table:    func(t catalog.TablePolicy) bool { return known[storedText(t)] },
		Readable: func(name catalog.Name) bool { return slices.Contains(before.Readable, name) },
		Called:   func(name catalog.Name) bool { return slices.Contains(before.Functions, name) },
		StandIn: func(view catalog.Name) bool {
			return slices.ContainsFunc(before.Readable, func(name catalog.Name) bool { return catalog.Published(name) == view })
		},
	})
	return err
}

// unfit returns the reasons why tables cannot be published under the policy.
func unfit(tables []catalog.Name, relations []catalog.Relation, problems []catalog.Problem) inspect.Report {
	var report inspect.Report
	for _, name := range tables {
		if !slices.ContainsFunc(relations, func(r catalog.Relation) bool { return r.Name == name }) {
			report = append(report, inspect.Finding{Severity: inspect.Error, Code: "accept", Table: name, What: "there is no such table", Fix: "correct the policy"})
		}
	}
	for _, p := range problems {
		if slices.Contains(tables, p.Table) {
			report = append(report, inspect.Finding{Severity: inspect.Error, Code: "accept", Table: p.Table, Column: p.Column, What: p.What, Fix: p.Fix})
		}
	}
	return report
}

// Accept records that the operator accepts a proposal, and returns the number of the policy in
// force. It accepts all or, with an error, nothing; views.ErrMeanwhile says that a relation is to be
// shown again.
func Accept(ctx context.Context, c *config.Config, p Proposal) (number int64, err error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		number = p.InForce
		if len(p.Policy) > 0 {
			if number, err = ksync.AcceptPolicy(ctx, tx, p.policy); err != nil {
				return err
			}
		}
		if err := views.Accept(ctx, tx, p.Relations); err != nil {
			return err
		}
		if err := check.AcceptFunctions(ctx, tx, p.Functions); err != nil {
			return err
		}
		return ksync.Accept(ctx, tx, p.Tables)
	})
	return number, err
}

// toAccept divides names into protected tables, readable relations and functions. A relation and a
// function may have the same name. Without names, it returns all.
func toAccept(p catalog.Policy, named []catalog.Name) (tables, relations, functions []catalog.Name, err error) {
	if len(named) == 0 {
		tables, err = request.Tables(p, nil)
		return tables, p.Readable, p.Functions, err
	}
	for _, name := range named {
		called := slices.Contains(p.Functions, name)
		if called {
			functions = append(functions, name)
		}
		switch {
		case slices.Contains(p.Readable, name):
			relations = append(relations, name)
		case !called || upstream.Protects(p, name):
			tables = append(tables, name)
		}
	}
	if len(tables) > 0 {
		tables, err = request.Tables(p, tables)
	}
	return tables, relations, functions, err
}
