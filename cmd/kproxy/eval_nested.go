package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
)

// nesting holds the flags of kproxy eval nested.
type nesting struct {
	data, policy, method, effort string
	k                            []int
	l, alpha                     []float64
	seed                         uint64
	json, csv                    bool
}

func newEvalNested() *cobra.Command {
	var n nesting
	c := &cobra.Command{
		Use:   "nested",
		Short: "Measure what it costs that coarser releases are unions of finer ones",
		Long: `Nested makes releases of a CSV file for a chain of audiences, the finest first: each
further one unites classes of the one before, so that readers who pool several releases learn
what the finest tells alone. Beside each, it makes a release alone, under the same constraints
by the same method, and prints loss and query error of both, with their ratios.

The audiences are given by --k, and maybe --l and --alpha, which have as many numbers, or one
for all. An audience's constraints are its own and all of those before it.

  kproxy eval nested --data people.csv --policy policy.yaml --k 5,25,100
  kproxy eval nested --data people.csv --policy policy.yaml --k 5,25 --l 2,3 --csv`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringVar(&n.data, "data", "", "CSV `FILE` to evaluate on")
	flags.StringVar(&n.policy, "policy", "", "policy `FILE` with the sections csv and tables")
	flags.StringVar(&n.method, "method", "lookahead-partition", "`METHOD` of the finest release and of those made alone")
	flags.StringVar(&n.effort, "effort", "", "`EFFORT` of lookahead-partition: fast, good, best (default: the policy's)")
	flags.IntSliceVar(&n.k, "k", []int{5, 25}, "`NUMBERS`, separated by commas, one for each audience")
	flags.Float64SliceVar(&n.l, "l", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.Float64SliceVar(&n.alpha, "alpha", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.Uint64Var(&n.seed, "seed", 1, "`SEED` of the methods and of the query workload")
	flags.BoolVar(&n.json, "json", false, "print JSON instead of the table")
	flags.BoolVar(&n.csv, "csv", false, "print CSV instead of the table")
	for _, name := range []string{"l", "alpha"} {
		flags.Lookup(name).DefValue = "" // the help's "(default [])" contradicts what it says
	}
	_ = c.RegisterFlagCompletionFunc("method", completeMethods) // the flag is there
	c.RunE = func(c *cobra.Command, _ []string) error { return n.run(c) }
	return c
}

// validate returns what is wrong with the flags, joined.
func (n *nesting) validate() error {
	var errs []error
	if n.data == "" || n.policy == "" {
		errs = append(errs, errors.New("--data and --policy are needed; 'kproxy init' drafts a policy"))
	}
	if len(n.k) == 0 {
		errs = append(errs, errors.New("--k needs a number for each audience"))
	}
	for flag, numbers := range map[string][]float64{"--l": n.l, "--alpha": n.alpha} {
		if len(numbers) > 1 && len(numbers) != len(n.k) {
			errs = append(errs, fmt.Errorf("%s has %d numbers for %d audiences: write one for each, or one for all", flag, len(numbers), len(n.k)))
		}
	}
	if n.json && n.csv {
		errs = append(errs, errors.New("--json and --csv are two forms of one table"))
	}
	return errors.Join(errs...)
}

func (n *nesting) run(c *cobra.Command) error {
	if err := n.validate(); err != nil {
		return usageError{err}
	}
	policy, err := config.LoadPolicy(n.policy)
	if err != nil {
		return fmt.Errorf("the policy cannot be used:\n%w", err)
	}
	file, err := dataset.Read(n.data, policy.CSV)
	if err != nil {
		return err
	}
	table, err := file.Anonymizable(policy, "")
	if err != nil {
		return err
	}
	var cases []eval.Case
	for i := range n.k {
		grid, err := n.audience(i)
		if err != nil {
			return usageError{err}
		}
		found, err := grid.Cases(table)
		if err != nil {
			return usageError{err}
		}
		cases = append(cases, found[0])
	}
	measured, err := eval.MeasureAudiences(c.Context(), table, cases, eval.Options{Seed: n.seed})
	if err != nil {
		return err
	}
	write := measured.WriteText
	switch {
	case n.json:
		write = measured.WriteJSON
	case n.csv:
		write = measured.WriteCSV
	}
	return write(c.OutOrStdout())
}

// audience is the grid of one case.
func (n *nesting) audience(i int) (eval.Grid, error) {
	grid := eval.Grid{Methods: []string{n.method}, K: n.k[i : i+1], L: ofAudience(n.l, i), Alpha: ofAudience(n.alpha, i)}
	if n.effort != "" {
		effort, err := anonymizer.ParseEffort(n.effort)
		if err != nil {
			return grid, fmt.Errorf("--effort: %w", err)
		}
		grid.Efforts = []anonymizer.Effort{effort}
	}
	return grid, grid.Validate()
}

// ofAudience is the number of one audience, or the one of all; none without.
func ofAudience(numbers []float64, i int) []float64 {
	if len(numbers) <= 1 {
		return numbers
	}
	return numbers[i : i+1]
}
