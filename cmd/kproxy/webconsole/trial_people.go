package webconsole

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/eval/linked"
	"github.com/kproxy/kproxy/internal/persons"
)

// trialTargets is how many persons are looked for in each attack: the mean risk is then known to about
// two hundredths.
const trialTargets = 300

// kindOf finds the kind of person whose tables a table is released with.
func kindOf(c *config.Config, table catalog.Name) (catalog.People, bool) {
	i := slices.IndexFunc(c.Policy.People, func(p catalog.People) bool { return slices.Contains(p.Names(), table) })
	if i < 0 {
		return catalog.People{}, false
	}
	return c.Policy.People[i], true
}

// peopleChoices are what may be taken to be known: what the policy says, and the alternatives to it.
func peopleChoices(kind catalog.People) console.Choices {
	choices := console.Choices{Kind: kind.Kind, K: kind.K(), Method: kind.Knows.String()}
	alternatives := []catalog.Knowledge{{All: true}, {Rows: 1, Crowd: people.DefaultCrowd}}
	if slices.ContainsFunc(kind.Tables, func(t catalog.PeopleTable) bool { return t.Order != "" }) {
		for _, period := range []catalog.Period{12, 6} {
			alternatives = append(alternatives, catalog.Knowledge{Rows: 1, Per: period, Crowd: people.DefaultCrowd})
		}
	}
	choices.Methods = []string{choices.Method}
	for _, knows := range alternatives {
		if !slices.Contains(choices.Methods, knows.String()) {
			choices.Methods = append(choices.Methods, knows.String())
		}
	}
	return choices
}

// tryPeople makes a release for each knowledge and k, of a sample of persons with all of their rows.
func (s *source) tryPeople(ctx context.Context, kind catalog.People, p console.Parameters, tell func(console.Trial)) (console.Trial, error) {
	trial := console.Trial{Total: len(p.Methods) * len(p.K)}
	builder, total, err := drawPersons(ctx, s.config(), kind, p.Sample)
	if err != nil {
		return trial, err
	}
	trial.Of = total
	for _, text := range p.Methods {
		knows, err := catalog.ParseKnowledge(text)
		if err != nil {
			return trial, console.InputError(err.Error())
		}
		report, err := linked.Evaluation{Records: builder, Knows: []catalog.Knowledge{knows}, K: p.K, Targets: trialTargets, Seed: trialSeed}.Run(ctx)
		if err != nil {
			return trial, fmt.Errorf("measuring what is known as %s: %w", text, err)
		}
		trial.Records = report.Persons
		for _, m := range report.Measurements {
			run := peopleRun(m)
			run.InForce = m.Knows == kind.Knows.String() && m.K == kind.K()
			trial.Runs = append(slices.Clone(trial.Runs), run) // what was told is not written to
			trial.Done++
		}
		tell(trial)
	}
	return trial, nil
}

func peopleRun(m linked.Measurement) console.Run {
	run := console.Run{
		Method: m.Knows, K: m.K, Refused: m.Refused, Loss: m.Root.Loss, Classes: m.Classes, Smallest: m.Smallest, Largest: m.Largest,
		People: &console.PeopleRun{Root: m.Root.Loss, Rows: m.Loss, Keyed: m.Linked, Risks: []console.KnownRisk{}},
	}
	for _, r := range m.Risks {
		run.People.Risks = append(run.People.Risks, console.KnownRisk{Known: r.Known, Mean: r.Mean})
	}
	return run
}

// drawPersons draws about so many persons. It releases the snapshot before anything is measured.
func drawPersons(ctx context.Context, c *config.Config, kind catalog.People, limit int) (*persons.Builder, int64, error) {
	conn, err := upstream.ConnectSource(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	root, err := publicationOf(ctx, conn, c, catalog.TablePolicy{Table: kind.Root})
	if err != nil {
		return nil, 0, err
	}
	publication := catalog.PeoplePublication{People: kind, Root: root}
	for _, t := range kind.Tables {
		table, err := publicationOf(ctx, conn, c, catalog.TablePolicy{Table: t.Table})
		if err != nil {
			return nil, 0, err
		}
		publication.Tables = append(publication.Tables, table)
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, 0, fmt.Errorf("drawing persons: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var total int64
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+kind.Root.SQL()).Scan(&total); err != nil {
		return nil, 0, upstream.WithoutValues(err)
	}
	if total == 0 {
		return nil, 0, errors.New("the root table has no records")
	}
	builder, err := sample.People(ctx, tx, publication, min(1, float64(limit)/float64(total)), trialSeed, nil)
	return builder, total, upstream.WithoutValues(err)
}
