package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/eval/attack"
)

func newEvalAttackAudiences() *cobra.Command {
	setup := attack.Default()
	setup.K, setup.Rates, setup.Steps = []int{5, 25}, []float64{0.005}, 20
	setup.Crowds = []int{2}
	c := &cobra.Command{
		Use:   "audiences",
		Short: "Attack several releases of one table: what readers learn who pool them",
		Long: `Audiences publishes a table that changes for several audiences at once, with immediate updates
and with guarded ones: --k 5,25 is a fine release and a coarser one. The coarser releases are
made of unions of the finer one's classes, and for comparison each is made by itself. It compares
what readers of all releases learn together with what those of the finest, and of the coarsest,
learn alone. With immediate updates, it then adds a column that the coarsest audience alone sees:
who pools that with the finest release guesses it no better than from a finest release with it.

The attackers are those of 'kproxy eval attack'.

  kproxy eval attack audiences
  kproxy eval attack audiences --k 5,25,100 --rates 0.001,0.02 --json`,
		Args: noArguments,
	}
	c.AddCommand(newEvalAttackAudiencesPeople())
	attackFlags(c, &setup)
	c.Flags().Lookup("rates").DefValue = "0.005"
	c.Flags().Lookup("crowds").DefValue = "2"
	json := c.Flags().Bool("json", false, "print JSON instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := setup.Validate(); err != nil {
			return usageError{err}
		}
		return experiment(c, &setup.Report, *json, func(ctx context.Context) (attackOutcome, error) { return attack.RunCoalitions(ctx, setup) })
	}
	return c
}
