package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/eval/attack"
)

func newEvalAttack() *cobra.Command {
	setup := attack.Default()
	c := &cobra.Command{
		Use:   "attack",
		Short: "Attack a live release: what a polling reader can guess, and what guarding against it costs",
		Long: `Attack simulates people whose records are inserted, deleted and changed, publishes the
same stream of changes with immediate and with guarded updates, and lets attackers guess
diagnoses.

The attackers fetch every version. They know the quasi-identifying values of everybody at
any time, and when each person's record came, left or changed. They examine one version, the
differences between versions, and what all versions have in common; they follow rows by a
unique column; and some know the members of every class and kproxy's code. For comparison,
one attacker has a single static release, whose information cannot be held back.

  kproxy eval attack --out report
  kproxy eval attack --k 5 --rates 0.01 --crowds 1,2,4,8 --alpha 0.4 --json`,
		Args: noArguments,
	}
	c.AddCommand(newEvalAttackPeople(), newEvalAttackAudiences())
	attackFlags(c, &setup)
	quick := c.Flags().Bool("quick", false, "fewer records, rates and values of k, for a quick look")
	out := c.Flags().String("out", "", "write a page, charts, JSON and Markdown into this `FOLDER`")
	json := c.Flags().Bool("json", false, "print JSON instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *quick {
			setup = setup.Quick()
		}
		if err := setup.Validate(); err != nil {
			return usageError{err}
		}
		var outcome *attack.Outcome
		err := experiment(c, &setup.Report, *json, func(ctx context.Context) (_ attackOutcome, err error) {
			outcome, err = attack.Run(ctx, setup)
			return outcome, err
		})
		if err != nil || *out == "" {
			return err
		}
		if err := outcome.WriteFiles(*out); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.ErrOrStderr(), "The report is in %s.\n", filepath.Join(*out, attack.PageName))
		return err
	}
	return c
}

// attackFlags has flags set an experiment.
func attackFlags(c *cobra.Command, setup *attack.Setup) {
	flags := c.Flags()
	flags.Uint64Var(&setup.Seed, "seed", setup.Seed, "`SEED` of people, changes and methods")
	flags.IntVar(&setup.Records, "records", setup.Records, "`NUMBER` of records at the beginning")
	flags.IntVar(&setup.Steps, "steps", setup.Steps, "`NUMBER` of ticks of simulated time")
	flags.Float64SliceVar(&setup.Rates, "rates", setup.Rates, "`SHARES` of the records that come, leave or change within a tick, separated by commas")
	flags.Lookup("rates").DefValue = "0.001,0.005,0.02" // not with six decimals
	flags.IntSliceVar(&setup.K, "k", setup.K, "`NUMBERS`, separated by commas")
	flags.Float64Var(&setup.Alpha, "alpha", setup.Alpha, "greatest `SHARE` of a diagnosis in a class, 0 for no bound")
	flags.IntVar(&setup.L, "l", setup.L, "least `NUMBER` of different diagnoses in a class")
	flags.IntSliceVar(&setup.Crowds, "crowds", setup.Crowds, "`NUMBERS`: guarded publication makes classes of so many times k, separated by commas")
	flags.IntVar(&setup.Least, "least", setup.Least, "`NUMBER`: the least records that are tried as a batch (default 20 where values count)")
	flags.IntVar(&setup.Batch, "batch", setup.Batch, "`NUMBER`: so many times crowd times k waiting records are published together")
	flags.IntVar(&setup.Within, "within", setup.Within, "`NUMBER` of ticks after which fewer are published together, 0 for never")
	flags.Float64Var(&setup.Repeats, "repeats", setup.Repeats, "`SHARE` of new records about somebody who has one already; persons are counted then")
	flags.Float64Var(&setup.Returns, "returns", setup.Returns, "`SHARE` of new records of people who left before, with the same values")
	flags.Float64Var(&setup.Correlation, "correlation", setup.Correlation, "`SHARE` of the people whose diagnosis goes with their age")
}

// attackOutcome is what an experiment prints.
type attackOutcome interface {
	WriteJSON(w io.Writer) error
	WriteText(w io.Writer) error
}

// experiment runs an attack, whose setup has the place for what it reports, and prints the outcome.
func experiment(c *cobra.Command, report *func(string, ...any), json bool, run func(context.Context) (attackOutcome, error)) error {
	bar := newProgress(os.Stderr)
	defer bar.done()
	*report = func(format string, arguments ...any) { bar.say(fmt.Sprintf(format, arguments...)) }
	outcome, err := run(c.Context())
	if err != nil {
		return err
	}
	bar.done()
	if json {
		return outcome.WriteJSON(c.OutOrStdout())
	}
	return outcome.WriteText(c.OutOrStdout())
}
