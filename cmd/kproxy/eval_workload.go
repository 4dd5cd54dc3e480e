package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval/weighted"
)

// workload holds the flags of kproxy eval workload.
type workload struct {
	setup             weighted.Setup
	data, policy, sum string
	records           int
	out               string
	json              bool
}

func newEvalWorkload() *cobra.Command {
	var w workload
	c := &cobra.Command{
		Use:   "workload",
		Short: "Measure the error of weighted counts and sums over a release",
		Long: `Workload draws counts and sums over one to three quasi-identifying columns, each
selecting about 0.1 to 50 percent of the records, and measures the error of answers from a
release: by plain filtering on the values that stand for a class, and by weighting each row
with kproxy.overlap, as analysts can. It prints a table. With --out, it also writes the
curves as SVG and all figures as JSON.

Without --data, the records are patients of the demonstration's hospital.

  kproxy eval workload --k 5,10,50
  kproxy eval workload --data adult.data --policy adult.yaml --sum fnlwgt --k 5,50`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringVar(&w.data, "data", "", "CSV `FILE` to evaluate on (default: a generated hospital)")
	flags.StringVar(&w.policy, "policy", "", "policy `FILE` with the sections csv and tables (needed with --data)")
	flags.StringVar(&w.sum, "sum", "", "`COLUMN` of numbers to sum (with --data; of the hospital it is the cost)")
	flags.IntVar(&w.records, "records", 20_000, "`NUMBER` of patients to generate")
	flags.StringSliceVar(&w.setup.Methods, "methods", []string{"rounded-partition"}, "`METHODS`, separated by commas")
	flags.IntSliceVar(&w.setup.K, "k", []int{5, 10, 50}, "`NUMBERS`, separated by commas")
	flags.IntVar(&w.setup.Queries, "queries", 200, "`NUMBER` of queries over each number of columns")
	flags.Uint64Var(&w.setup.Seed, "seed", 1, "`SEED` of the hospital, the methods and the queries")
	flags.StringVar(&w.out, "out", "", "write the curves into this `FOLDER`")
	flags.BoolVar(&w.json, "json", false, "print JSON instead of the table")
	_ = c.RegisterFlagCompletionFunc("methods", completeMethods) // the flag is there
	c.RunE = func(c *cobra.Command, _ []string) error {
		if (w.data == "") != (w.policy == "") || w.data == "" && w.sum != "" {
			return usageError{errors.New("--data and --policy are given together, and --sum with them")}
		}
		if w.records < 1 {
			return usageError{errors.New("--records must be at least 1")}
		}
		if err := w.setup.Validate(); err != nil {
			return usageError{fmt.Errorf("%w; methods: %s", err, strings.Join(methods.Names(), ", "))}
		}
		return w.run(c)
	}
	return c
}

func (w workload) run(c *cobra.Command) error {
	data, err := w.read()
	if err != nil {
		return err
	}
	r, err := w.measure(c.Context(), data)
	if err != nil {
		return err
	}
	write := r.WriteText
	if w.json {
		write = r.WriteJSON
	}
	if err := write(c.OutOrStdout()); err != nil || w.out == "" {
		return err
	}
	names, err := r.WriteFiles(w.out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.ErrOrStderr(), "Written to %s: %s.\n", w.out, strings.Join(names, ", "))
	return err
}

func (w workload) measure(ctx context.Context, data weighted.Data) (weighted.Report, error) {
	bar := newProgress(os.Stderr)
	defer bar.done()
	w.setup.Report = bar.say
	return w.setup.Run(ctx, data)
}

func (w workload) read() (weighted.Data, error) {
	if w.data == "" {
		return weighted.Hospital(w.records, w.setup.Seed)
	}
	policy, err := config.LoadPolicy(w.policy)
	if err != nil {
		return weighted.Data{}, fmt.Errorf("the policy cannot be used:\n%w", err)
	}
	file, err := dataset.Read(w.data, policy.CSV)
	if err != nil {
		return weighted.Data{}, err
	}
	name := strings.TrimSuffix(filepath.Base(w.data), filepath.Ext(w.data))
	return weighted.NewData(name, file, policy, w.sum)
}
