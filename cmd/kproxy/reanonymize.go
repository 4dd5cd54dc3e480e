package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/request"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

func newReanonymize() *cobra.Command {
	c := &cobra.Command{
		Use:   "reanonymize [TABLE ...]",
		Short: "Make the classes of tables anew",
		Long: `Reanonymize asks the running 'kproxy serve' to run the method of each named table, or of all
tables with immediate updates, on all records again. Maintenance makes a release lose
somewhat more information over time than a new one would; 'reanonymize' in the policy
does this automatically at a threshold. Meanwhile, changes are still published, and readers
see the new classes from one transaction to the next. New classes that lose as much or more
are discarded.

Readers who kept the old release can intersect its classes with the new ones: an immediate
table then reveals about everybody what it otherwise reveals with each change. A guarded
table is refused: its classes never change.

The output shows the loss, the share of the information that generalization removes, before
and after.

  kproxy reanonymize
  kproxy reanonymize public.patients --timeout 10m`,
	}
	return newTableRequest(c, tableRequest{
		note: "'kproxy serve' logs the outcome", hint: "'kproxy serve' logs the reason",
		submit: func(ctx context.Context, cfg *config.Config, tables []catalog.Name, wait bool, say func(string)) ([]outcome, error) {
			results, err := request.Reanonymize(ctx, cfg, tables, wait, func(results []ksync.Renewed) { say(waitingFor(results)) })
			return renewals(results), err
		},
	})
}

// waitingFor says what the first request that has not ended is at.
func waitingFor(results []ksync.Renewed) string {
	for _, r := range results {
		switch {
		case r.Ended:
		case r.Done < 0:
			return fmt.Sprintf("%s: waiting for kproxy", r.Table)
		default:
			return fmt.Sprintf("%s: %d records have found their class", r.Table, r.Done)
		}
	}
	return "done"
}

func renewals(results []ksync.Renewed) []outcome {
	all := []outcome{}
	for _, r := range results {
		one := outcome{Table: r.Table.String(), Done: r.Problem == "", Problem: r.Problem}
		switch {
		case !one.Done:
			one.text = fmt.Sprintf("%s was not re-anonymized: %s", r.Table, r.Problem)
		case r.Adopted:
			one.text = fmt.Sprintf("%s: information loss %.2f%% before, %.2f%% after", r.Table, 100*r.Before, 100*r.Afresh)
		default:
			one.text = fmt.Sprintf("%s: information loss %.2f%%; kept, as new classes would lose %.2f%%", r.Table, 100*r.Before, 100*r.Afresh)
		}
		if one.Done {
			one.Before, one.Afresh, one.Adopted = &r.Before, &r.Afresh, &r.Adopted
		}
		all = append(all, one)
	}
	return all
}
