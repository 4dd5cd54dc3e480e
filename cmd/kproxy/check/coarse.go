package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/eval"
)

// Codes of findings about the effect of a policy on a table.
const (
	codeLargeClass    = "large-class"
	codeSilentColumn  = "silent-column"
	codeCoarseTimeout = "coarse-untried"
)

const (
	// coarseSample is the number of records on which a policy is tried.
	coarseSample = 10_000
	// coarseSeed makes samples reproducible.
	coarseSeed = 1
	// coarseTimeout bounds the trials of one table.
	coarseTimeout = 30 * time.Second
	// largeClass is the number of records above which a class is reported.
	largeClass = 1_000
	// silentShare is the share of fully generalized rows, 0 to 1, from which on a column is
	// reported.
	silentShare = 0.9
)

// trialOf is the effect of a policy on records of its table.
type trialOf struct {
	eval.Measurement
	looked int
	total  int64
}

// adviseCoarse tries each policy of a table that is released by itself on records of it, published or not, and reports large
// classes and columns that reveal next to nothing, with the quasi-identifying column that causes
// it: the one whose omission, in further trials, gains the most.
func adviseCoarse(ctx context.Context, conn *pgx.Conn, c *config.Config, relations []catalog.Relation) (inspect.Report, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("trying the policies: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var report inspect.Report
	for _, policy := range c.Policy.Protecting().Tables {
		if c.Policy.IsMember(policy.Table) {
			continue // kproxy eval tries tables that are released together
		}
		a := coarseTrials{tx: tx, relations: relations, policy: policy, until: time.Now().Add(coarseTimeout)}
		found, err := a.advise(ctx)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			found, err = inspect.Report{{
				Severity: inspect.Hint, Code: codeCoarseTimeout, Table: policy.Table,
				What: fmt.Sprintf("could not be tried within %v: how large its classes become, and of which columns nothing is said, is not told", coarseTimeout),
				Fix:  "kproxy eval measures it on a sample of any size",
			}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("trying the policy of %s: %w", policy.Table, err)
		}
		report = append(report, found...)
	}
	return report, nil
}

// coarseTrials are the trials of one table.
type coarseTrials struct {
	tx        pgx.Tx
	relations []catalog.Relation
	policy    catalog.TablePolicy
	until     time.Time
}

func (a *coarseTrials) advise(ctx context.Context) (inspect.Report, error) {
	whole, err := a.try(ctx, a.policy)
	if err != nil || whole.Refused != "" || whole.looked == 0 {
		return nil, err
	}
	large, largest := whole.large()
	silent := slices.DeleteFunc(slices.Clone(whole.Columns), func(l eval.ColumnLoss) bool { return l.Suppressed <= silentShare })
	if large == 0 && len(silent) == 0 {
		return nil, nil
	}
	without, complete, err := a.without(ctx)
	if err != nil {
		return nil, err
	}
	var report inspect.Report
	tell := func(code, column, what, cause string) {
		if !complete {
			cause += "; not all columns could be tried in time"
		}
		report = append(report, inspect.Finding{
			Severity: inspect.Hint, Code: code, Table: a.policy.Table, Column: column, What: what + ", " + whole.tried() + "; " + cause,
			Fix: "give the column that is the cause a hierarchy with more levels, or the role identifying; or lower k",
		})
	}
	if large > 0 {
		column, cause := whole.causeOfSize(without)
		tell(codeLargeClass, column, fmt.Sprintf("has classes of more than %d records, %d of them, the largest of about %d", largeClass, large, largest), cause)
	}
	for _, l := range silent {
		tell(codeSilentColumn, l.Column, fmt.Sprintf("is published as *, or without a value, in %.0f %% of the rows", 100*l.Suppressed), causeOfSilence(l, without))
	}
	return report, nil
}

// try anonymizes records of the table under a policy.
func (a *coarseTrials) try(ctx context.Context, policy catalog.TablePolicy) (t trialOf, err error) {
	publications, problems, err := inspect.Publish(ctx, a.tx.Conn(), catalog.Policy{Tables: []catalog.TablePolicy{policy}}, a.relations)
	if err != nil {
		return t, err
	}
	if len(problems) > 0 || len(publications) != 1 {
		return t, &sample.PolicyError{Problems: problems}
	}
	table, total, err := sample.Records(ctx, a.tx, publications[0], coarseSample, coarseSeed, nil)
	if err != nil {
		return t, upstream.WithoutValues(err)
	}
	t.looked, t.total = table.Records.Len(), total
	if t.looked == 0 {
		return t, nil
	}
	cases, err := eval.Grid{Methods: []string{policy.Method}, Seed: coarseSeed}.Cases(table)
	if err != nil {
		return t, err
	}
	// The deadline is for the computation only: it would break the connection if it ended a query.
	limited, cancel := context.WithDeadline(ctx, a.until)
	defer cancel()
	t.Measurement, err = eval.Measure(limited, table, cases[0], eval.Options{Seed: coarseSeed})
	return t, err
}

// without returns trials that each leave out one quasi-identifying column, by its name. Complete
// reports whether there was time for all.
func (a *coarseTrials) without(ctx context.Context) (trials map[string]trialOf, complete bool, err error) {
	trials = make(map[string]trialOf)
	for _, column := range a.policy.ByRole(catalog.QuasiIdentifying) {
		policy, sound := leavingOut(a.policy, column.Name)
		if !sound {
			continue
		}
		trial, err := a.try(ctx, policy)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return trials, false, nil
		}
		if refused := (*sample.PolicyError)(nil); errors.As(err, &refused) {
			continue // the column cannot be left out
		}
		if err != nil {
			return nil, false, err
		}
		if trial.Refused == "" {
			trials[column.Name] = trial
		}
	}
	return trials, true, nil
}

// leavingOut returns the policy without a quasi-identifying column. Sound reports whether another
// one is left.
func leavingOut(policy catalog.TablePolicy, column string) (_ catalog.TablePolicy, sound bool) {
	policy.Columns = slices.DeleteFunc(slices.Clone(policy.Columns), func(c catalog.ColumnPolicy) bool { return c.Name == column })
	constraints := slices.Clone(policy.Constraints)
	policy.Constraints = nil
	for _, c := range constraints {
		over := slices.DeleteFunc(slices.Clone(c.Over), func(name string) bool { return name == column })
		if len(c.Over) > 0 && len(over) == 0 {
			continue // it speaks of nothing else
		}
		c.Over = over
		policy.Constraints = append(policy.Constraints, c)
	}
	return policy, len(policy.ByRole(catalog.QuasiIdentifying)) > 0 && len(policy.Constraints) > 0
}

// large returns the number of classes with more than largeClass records, and the number of records
// of the largest class. Sizes in a sample are scaled to the table: a class with far more than k
// records that is not divided in the sample consists of similar records.
func (t trialOf) large() (classes int, largest int64) {
	scale := float64(t.total) / float64(max(1, t.looked))
	for _, s := range t.Sizes {
		if float64(s.Size)*scale > largeClass && s.Size > 20*max(1, t.K) {
			classes += s.Classes
		}
	}
	return classes, int64(float64(t.Largest) * scale)
}

func (t trialOf) tried() string {
	if int64(t.looked) < t.total {
		return fmt.Sprintf("as tried on %d of its %d records", t.looked, t.total)
	}
	return fmt.Sprintf("as tried on its %d records", t.total)
}

// causeOfSize returns the column whose omission makes the largest class smallest.
func (t trialOf) causeOfSize(without map[string]trialOf) (column, why string) {
	_, least := t.large()
	for _, name := range sortedNames(without) {
		if _, largest := without[name].large(); largest < least {
			column, least = name, largest
		}
	}
	if column == "" {
		return "", "no single quasi-identifying column is the cause: the records are alike in all of them, or a constraint on sensitive values keeps them together"
	}
	return column, fmt.Sprintf("column %s is the cause: without it the largest has about %d", column, least)
}

// causeOfSilence names the column whose omission makes another one reveal the most.
func causeOfSilence(l eval.ColumnLoss, without map[string]trialOf) string {
	cause, least := "", l.Suppressed
	for _, name := range sortedNames(without) {
		for _, other := range without[name].Columns {
			if other.Column == l.Column && other.Suppressed < least {
				cause, least = name, other.Suppressed
			}
		}
	}
	if cause == "" || least > silentShare {
		return fmt.Sprintf("column %s itself is the cause, whatever other column is left out: too few records are alike in a value of it, and its hierarchy has nothing between", l.Column)
	}
	return fmt.Sprintf("column %s is the cause: without it, it is %.0f %%", cause, 100*least)
}

func sortedNames(trials map[string]trialOf) []string {
	names := make([]string, 0, len(trials))
	for name := range trials {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
