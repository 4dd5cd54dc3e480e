package webconsole

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	known "github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
)

// trialSeed draws the same records each time, so that trials can be compared.
const trialSeed = 1

// policyOf returns the policy of a table by name.
func policyOf(c *config.Config, name string) (catalog.TablePolicy, error) {
	i := slices.IndexFunc(c.Policy.Tables, func(t catalog.TablePolicy) bool { return t.Table.String() == name })
	if i < 0 {
		return catalog.TablePolicy{}, console.ErrUnknown
	}
	return c.Policy.Tables[i], nil
}

// triedPolicyOf is policyOf for a table that has classes, of which others can be tried.
func triedPolicyOf(c *config.Config, name string) (catalog.TablePolicy, error) {
	policy, err := policyOf(c, name)
	if err == nil && policy.IsMirrored() {
		err = console.ErrUnknown
	}
	return policy, err
}

// Methods returns the methods that can satisfy the table's constraints.
func (s *source) Methods(ctx context.Context, table string) (console.Choices, error) {
	c := s.config()
	policy, err := triedPolicyOf(c, table)
	if err != nil {
		return console.Choices{}, err
	}
	if kind, is := kindOf(c, policy.Table); is {
		return peopleChoices(kind), nil
	}
	k, l, _ := eval.Parameters(policy.Constraints)
	choices := console.Choices{Method: policy.Method, K: k, L: l}
	conn, err := upstream.ConnectSource(ctx, c)
	if err != nil {
		return choices, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	p, err := publicationOf(ctx, conn, c, policy)
	if err != nil {
		return choices, err
	}
	attributes, err := p.NewAttributes()
	if err != nil {
		return choices, err
	}
	schema, err := p.NewSchema()
	if err != nil {
		return choices, err
	}
	set, err := p.ConstraintSet(schema)
	if err != nil {
		return choices, err
	}
	choices.Methods = known.Accepting(attributes, set)
	return choices, nil
}

func publicationOf(ctx context.Context, conn *pgx.Conn, c *config.Config, policy catalog.TablePolicy) (catalog.Publication, error) {
	publications, _, err := upstream.Publications(ctx, conn, c)
	if err != nil {
		return catalog.Publication{}, err
	}
	for _, p := range publications {
		if p.Policy.Table == policy.Table {
			return p, nil
		}
	}
	return catalog.Publication{}, fmt.Errorf("table %s does not fit its policy; 'kproxy check' says why", policy.Table)
}

// Try runs the methods one after the other.
func (s *source) Try(ctx context.Context, p console.Parameters, tell func(console.Trial)) (console.Trial, error) {
	c := s.config()
	policy, err := policyOf(c, p.Table)
	if err != nil {
		return console.Trial{}, err
	}
	if kind, is := kindOf(c, policy.Table); is {
		return s.tryPeople(ctx, kind, p, tell)
	}
	trial := console.Trial{Total: len(p.Methods) * len(p.K)}
	table, total, err := drawRecords(ctx, c, policy, p.Sample)
	if err != nil {
		return trial, err
	}
	trial.Records, trial.Of = table.Records.Len(), total
	tell(trial)
	grid := eval.Grid{Methods: p.Methods, K: p.K, Seed: trialSeed}
	if slices.Equal(p.K, []int{0}) {
		grid.K = nil
	}
	if p.L > 0 {
		grid.L = []float64{p.L}
	}
	cases, err := grid.Cases(table)
	if err != nil {
		return trial, console.InputError(err.Error())
	}
	k, l, _ := eval.Parameters(policy.Constraints)
	trial.Total = len(cases)
	for _, next := range cases {
		m, err := eval.Measure(ctx, table, next, eval.Options{Seed: trialSeed})
		if err != nil {
			return trial, fmt.Errorf("measuring %s with k = %d: %w", next.Method, next.K, err)
		}
		trial.Runs = append(slices.Clone(trial.Runs), console.Run{ // what was told is not written to
			Method: m.Method, K: m.K, L: m.L, InForce: m.Method == policy.Method && m.K == k && m.L == l, Refused: m.Refused,
			Loss: m.Loss, Highest: m.Prosecutor, Average: m.MeanRisk,
			Classes: m.Classes, Smallest: m.Smallest, Largest: m.Largest, Withheld: m.Withheld, Seconds: m.Seconds,
		})
		trial.Done++
		tell(trial)
	}
	return trial, nil
}

// drawRecords draws a sample of the source table. It releases the snapshot before anything is
// measured.
func drawRecords(ctx context.Context, c *config.Config, policy catalog.TablePolicy, limit int) (*dataset.Table, int64, error) {
	conn, err := upstream.ConnectSource(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	p, err := publicationOf(ctx, conn, c, policy)
	if err != nil {
		return nil, 0, err
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, 0, fmt.Errorf("drawing records: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	table, total, err := sample.Records(ctx, tx, p, limit, trialSeed, nil)
	if err != nil {
		return nil, 0, upstream.WithoutValues(err)
	}
	if table.Records.Len() == 0 {
		return nil, 0, errors.New("the table has no records")
	}
	return table, total, nil
}
