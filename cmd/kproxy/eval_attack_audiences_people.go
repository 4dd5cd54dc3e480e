package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/eval/attack"
)

func newEvalAttackAudiencesPeople() *cobra.Command {
	setup := attack.DefaultKind()
	c := &cobra.Command{
		Use:   "people",
		Short: "Attack several releases of tables about the same persons: what readers learn who pool them",
		Long: `People publishes persons, their visits and what was prescribed at these for several audiences at
once: --k 3,9 is a fine release and a coarser one. Persons come and leave, visits are inserted,
changed and deleted. It publishes with immediate updates and with guarded ones, where one row of
a person is known, and where all are; for comparison, it makes each release by itself, too.

The readers of each set of audiences pool what they have: all versions, or the last ones. They know
who is in each class, the moments at which rows came, changed and left, and in which cell of each
version a known row is. They infer who a person is, the ward of a visit, and a column that the last
audience alone sees. Beside these figures is what one static release allows that has the k of the
finest of their releases, and all columns that they see.

  kproxy eval attack audiences people
  kproxy eval attack audiences people --k 3,6,12 --persons 1000 --json`,
		Args: noArguments,
	}
	flags := c.Flags()
	visitFlags(flags, &setup.Seed, &setup.Persons, &setup.Days, &setup.Rate, &setup.Deleted)
	flags.Float64Var(&setup.Changed, "changed", setup.Changed, "`SHARE` of the visits whose ward is changed")
	flags.IntSliceVar(&setup.K, "k", setup.K, "`NUMBERS` of persons that are left to readers of each release, the finest first, separated by commas")
	flags.IntVar(&setup.Crowd, "crowd", setup.Crowd, "`NUMBER`: where one row is known, classes have so many times k persons")
	json := flags.Bool("json", false, "print JSON instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := setup.Validate(); err != nil {
			return usageError{err}
		}
		return experiment(c, &setup.Report, *json, func(ctx context.Context) (attackOutcome, error) { return attack.RunKindCoalitions(ctx, setup) })
	}
	return c
}
