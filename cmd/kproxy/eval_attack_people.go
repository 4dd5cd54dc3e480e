package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kproxy/kproxy/internal/eval/attack"
)

func newEvalAttackPeople() *cobra.Command {
	setup := attack.DefaultVisits()
	c := &cobra.Command{
		Use:   "people",
		Short: "Attack a live release of persons and their visits, two tables that are released together",
		Long: `People simulates persons whose visits are inserted and deleted, publishes the same stream with
immediate updates and with each pace of guarded ones, and lets attackers guess the ward of a
visit.

The attackers fetch every version. They know who is in which class, the day of one visit of a
person, and when it was inserted and deleted; one is even told in which version it appeared.
For comparison, one attacker has a single release of all visits.

  kproxy eval attack people --k 10 --persons 2000`,
		Args: noArguments,
	}
	flags := c.Flags()
	visitFlags(flags, &setup.Seed, &setup.Persons, &setup.Days, &setup.Rate, &setup.Deleted)
	flags.IntVar(&setup.K, "k", setup.K, "`NUMBER` of persons that are left to whoever knows one visit")
	json := flags.Bool("json", false, "print JSON instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := setup.Validate(); err != nil {
			return usageError{err}
		}
		return experiment(c, &setup.Report, *json, func(ctx context.Context) (attackOutcome, error) { return attack.RunVisits(ctx, setup) })
	}
	return c
}

// visitFlags are the flags of attacks on persons with visits. They have the given values where they are left out.
func visitFlags(flags *pflag.FlagSet, seed *uint64, persons, days *int, visits, deleted *float64) {
	flags.Uint64Var(seed, "seed", *seed, "`SEED` of persons, visits and pseudonyms")
	flags.IntVar(persons, "persons", *persons, "`NUMBER` of persons")
	flags.IntVar(days, "days", *days, "`NUMBER` of days in which visits happen")
	flags.Float64Var(visits, "visits", *visits, "`NUMBER` of visits of a person, on average")
	flags.Float64Var(deleted, "deleted", *deleted, "`SHARE` of the visits that are deleted")
}
