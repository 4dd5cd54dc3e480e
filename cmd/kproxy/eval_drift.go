package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/internal/eval/drift"
)

// quickDrift bounds what --quick runs.
const (
	quickRecords    = 5_000
	quickOperations = 20_000
)

func newEvalDrift() *cobra.Command {
	setup := drift.Setup{}
	var mix, out string
	var asJSON, quick bool
	var seeds []uint
	c := &cobra.Command{
		Use:   "drift",
		Short: "Maintain a release through many changes and compare it with one made afresh",
		Long: `Drift takes a maintained release through many changes and measures how much more
it loses than one made afresh from the same records: without re-anonymization, and with it
wherever it lowers the loss by the threshold, like 'reanonymize' in a policy. It
prints a table. With --out, it also writes the curves as SVG and drift.json.

Loss is the share of the information that generalization removes, the mean over all
records and attributes. Drift is the loss divided by that of the release made afresh; 1 means
no drift.

Data: ` + strings.Join(drift.Workloads(), ", ") + ` (generated). Methods: ` + strings.Join(methods.Names(), ", ") + `.

  kproxy eval drift --quick
  kproxy eval drift --methods rounded-partition,hilbert --k 5,10 --out drift`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringVar(&setup.Data, "data", drift.AdultLike, "`NAME` of the data")
	flags.IntVar(&setup.Records, "records", 100_000, "`NUMBER` of records at the start")
	flags.IntVar(&setup.Operations, "operations", 1_000_000, "`NUMBER` of inserts, deletes and modifications")
	flags.StringVar(&mix, "mix", "1:1:1", "inserts, deletes and modifications, relative to each other, as `I:D:M`")
	flags.IntVar(&setup.Group, "commit", 100, "`NUMBER` of operations in a commit of the source")
	flags.IntVar(&setup.Points, "points", 20, "`NUMBER` of places at which the curves are measured")
	flags.Float64Var(&setup.Threshold, "threshold", 0.1, "`SHARE` by which a release may lose more than one made afresh")
	flags.StringSliceVar(&setup.Methods, "methods", []string{"rounded-partition"}, "`METHODS`, separated by commas")
	flags.IntSliceVar(&setup.K, "k", []int{5}, "`NUMBERS`, separated by commas")
	flags.UintSliceVar(&seeds, "seeds", []uint{1}, "`SEEDS` of the data, the operations and the methods, separated by commas; figures are means")
	flags.BoolVar(&quick, "quick", false, fmt.Sprintf("at most %d records and %d operations: for a quick look", quickRecords, quickOperations))
	flags.StringVar(&out, "out", "", "write the curves into this `FOLDER`")
	flags.BoolVar(&asJSON, "json", false, "print JSON instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, seed := range seeds {
			setup.Seeds = append(setup.Seeds, uint64(seed))
		}
		var err error
		if setup.Mix, err = parseMix(mix); err != nil {
			return usageError{err}
		}
		if quick {
			setup.Records, setup.Operations = min(setup.Records, quickRecords), min(setup.Operations, quickOperations)
		}
		if err := setup.Validate(); err != nil {
			return usageError{err}
		}
		return runDrift(c, setup, out, asJSON)
	}
	return c
}

// parseMix reads three numbers between colons.
func parseMix(text string) (drift.Mix, error) {
	var numbers []float64
	for _, part := range strings.Split(text, ":") {
		number, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return drift.Mix{}, fmt.Errorf("--mix: %q is no number", part)
		}
		numbers = append(numbers, number)
	}
	if len(numbers) != 3 {
		return drift.Mix{}, errors.New("--mix takes three numbers, such as 1:1:1")
	}
	return drift.Mix{Insert: numbers[0], Delete: numbers[1], Modify: numbers[2]}, nil
}

func runDrift(c *cobra.Command, setup drift.Setup, out string, asJSON bool) error {
	bar := newProgress(os.Stderr)
	defer bar.done()
	setup.Report = bar.say
	curves, err := setup.Run(c.Context())
	if err != nil {
		return err
	}
	bar.done()
	r := drift.NewReport(setup, curves)
	write := r.WriteText
	if asJSON {
		write = r.WriteJSON
	}
	if err := write(c.OutOrStdout()); err != nil || out == "" {
		return err
	}
	names, err := r.WriteFiles(out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.ErrOrStderr(), "Written to %s: %s.\n", out, strings.Join(names, ", "))
	return err
}
