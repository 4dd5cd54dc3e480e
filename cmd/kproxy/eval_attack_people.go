package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

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
	flags.Uint64Var(&setup.Seed, "seed", setup.Seed, "`SEED` of persons, visits and pseudonyms")
	flags.IntVar(&setup.Persons, "persons", setup.Persons, "`NUMBER` of persons")
	flags.IntVar(&setup.Days, "days", setup.Days, "`NUMBER` of days in which visits happen")
	flags.Float64Var(&setup.Rate, "visits", setup.Rate, "`NUMBER` of visits of a person, on average")
	flags.Float64Var(&setup.Deleted, "deleted", setup.Deleted, "`SHARE` of the visits that are deleted")
	flags.IntVar(&setup.K, "k", setup.K, "`NUMBER` of persons that are left to whoever knows one visit")
	json := flags.Bool("json", false, "print JSON instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := setup.Validate(); err != nil {
			return usageError{err}
		}
		bar := newProgress(os.Stderr)
		defer bar.done()
		setup.Report = func(format string, arguments ...any) { bar.say(fmt.Sprintf(format, arguments...)) }
		outcome, err := attack.RunVisits(c.Context(), setup)
		if err != nil {
			return err
		}
		bar.done()
		if *json {
			return outcome.WriteJSON(c.OutOrStdout())
		}
		return outcome.WriteText(c.OutOrStdout())
	}
	return c
}
