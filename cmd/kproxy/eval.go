package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/comparison"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// evaluation holds the flags of kproxy eval.
type evaluation struct {
	data, knows        []string
	policy, population string
	label, out, effort string
	grid               eval.Grid
	json               bool
}

func newEval() *cobra.Command {
	var e evaluation
	c := &cobra.Command{
		Use:   "eval",
		Short: "Compare methods and parameters on your data: information loss, risk, class sizes, time",
		Long: `Eval anonymizes a CSV file under its policy by several methods and parameters,
without a database, and measures information loss and remaining risk. It prints a
table. With --out, it also writes report.html, a self-contained page with charts,
measurements.json and measurements.csv.

In the table, loss is the share of the information that generalization removes,
query error is the error of counts over ranges, risk is the probability of finding the
record most at risk, mean risk that of any record, and joint risk that for an attacker
who knows the columns of all parts that the policy anonymizes separately. DM is the
discernibility metric. Lower is better for all of them; the page explains each.

The figures are those of a live table, which publishes for each class what its members
cover. Methods that generalize by levels (datafly, classfly, classfly-plus-...,
alpha-k-lattice) therefore lose less than in their original form. Records that they
withhold by suppression count as lost here; a live table places them in their most similar
class.

--effort has lookahead-partition look longer for classes that lose less.
--k, --l and --alpha replace the policy's own k over all columns, the l of its
diversity constraints, and its alphas. Without --methods, eval runs all methods
that can satisfy the constraints.

With people in the policy, eval takes a file for each of their tables and releases them
together. It measures what is lost, how far answers to questions over several tables are
off, and what outsiders achieve who know no, one, two, three or all rows of a person.
--knows replaces what the policy grants them, several times to compare: all, or rows/period,
with a crowd behind a colon.

  kproxy init --data people.csv --out policy.yaml
  kproxy eval --data people.csv --policy policy.yaml --k 2,5,10,25,50 --out report
  kproxy eval --policy hospital.yaml --data public.patients=patients.csv \
    --data public.visits=visits.csv --knows all,1/1y,1/6mo:16

'kproxy eval paper' re-runs the experiments of the papers.
'kproxy eval drift' follows a maintained release through many changes.`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringArrayVar(&e.data, "data", nil, "CSV `FILE` to evaluate on; with people in the policy TABLE=FILE, once for each table")
	flags.StringVar(&e.policy, "policy", "", "policy `FILE` with the sections csv and tables, and maybe people")
	flags.StringSliceVar(&e.knows, "knows", nil, "`KNOWLEDGE` to compare, separated by commas, such as all,1,1/1y,1/6mo:16 (default: the policy's; with people only)")
	flags.StringSliceVar(&e.grid.Methods, "methods", nil, "`METHODS`, separated by commas (default: all that can satisfy the constraints)")
	flags.IntSliceVar(&e.grid.K, "k", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.Float64SliceVar(&e.grid.L, "l", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.Float64SliceVar(&e.grid.Alpha, "alpha", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.StringVar(&e.effort, "effort", "", "`EFFORT` of lookahead-partition: fast, good or best (default: the policy's)")
	flags.StringVar(&e.label, "label", "", "`COLUMN` that a classifier would predict, for CM")
	flags.StringVar(&e.population, "population", "", "CSV `FILE`, in the form of --data, of the population that it is a sample of, for the journalist risk")
	flags.Uint64Var(&e.grid.Seed, "seed", 1, "`SEED` of the methods and of the query workload")
	flags.StringVar(&e.out, "out", "", "write the report into this `FOLDER`")
	flags.BoolVar(&e.json, "json", false, "print JSON instead of the table")
	_ = c.RegisterFlagCompletionFunc("methods", completeMethods) // the flag is there
	for _, name := range []string{"l", "alpha"} {
		flags.Lookup(name).DefValue = "" // the help's "(default [])" contradicts what it says
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(e.data) == 0 || e.policy == "" {
			return usageError{errors.New("--data and --policy are needed; 'kproxy init' drafts a policy")}
		}
		if err := errors.Join(e.readEffort(), e.grid.Validate()); err != nil {
			return usageError{err}
		}
		return e.run(c)
	}
	c.AddCommand(newEvalPaper(), newEvalDrift(), newEvalAttack(), newEvalWorkload())
	return c
}

func (e *evaluation) readEffort() error {
	if e.effort == "" {
		return nil
	}
	effort, err := anonymizer.ParseEffort(e.effort)
	e.grid.Effort = &effort
	return err
}

func (e *evaluation) run(c *cobra.Command) error {
	policy, err := config.LoadPolicy(e.policy)
	if err != nil {
		return fmt.Errorf("the policy cannot be used:\n%w", err)
	}
	if len(policy.People) > 0 {
		return e.runPeople(c, policy)
	}
	if len(e.data) > 1 || len(e.knows) > 0 {
		return usageError{errors.New("several files, and --knows, are for a policy with people: this one is about one table")}
	}
	table, cases, options, err := e.read(c, policy)
	if err != nil {
		return err
	}
	if e.out != "" {
		if err := report.Prepare(e.out); err != nil {
			return err
		}
	}
	r := comparison.New(filepath.Base(e.data[0]), table, e.grid.Seed)
	bar := newProgress(os.Stderr)
	defer bar.done()
	for i, one := range cases {
		options.Progress = func(stage string, done, total int) {
			bar.say(fmt.Sprintf("%s run %d of %d: %s, k = %d: %s", gauge(done, total), i+1, len(cases), one.Method, one.K, stage))
		}
		m, err := eval.Measure(c.Context(), table, one, options)
		if err != nil {
			return err
		}
		r.Measurements = append(r.Measurements, m)
	}
	bar.done()
	return e.write(c, r)
}

// read reads the data and says what is to be run on them.
func (e *evaluation) read(c *cobra.Command, policy *config.PolicyFile) (table *dataset.Table, cases []eval.Case, options eval.Options, err error) {
	options.Seed = e.grid.Seed
	file, err := dataset.Read(e.data[0], policy.CSV)
	if err != nil {
		return nil, nil, options, err
	}
	if e.label != "" && !slices.Contains(file.Columns, e.label) {
		return nil, nil, options, usageError{fmt.Errorf("--label: there is no column %q: there are %s", e.label, strings.Join(file.Columns, ", "))}
	}
	if table, err = file.Anonymizable(policy, e.label); err != nil {
		return nil, nil, options, err
	}
	for _, warning := range table.Warnings() {
		fmt.Fprintf(c.ErrOrStderr(), "kproxy: warning: %s\n", warning)
	}
	cases, err = e.grid.Cases(table)
	if err != nil && !errors.Is(err, eval.ErrNoMethod) {
		err = usageError{err}
	}
	if err != nil || e.population == "" {
		return table, cases, options, err
	}
	people, err := dataset.Read(e.population, policy.CSV)
	if err != nil {
		return nil, nil, options, err
	}
	if options.Population, err = people.Like(table); err != nil {
		return nil, nil, options, fmt.Errorf("the population %s: %w", e.population, err)
	}
	return table, cases, options, nil
}

// write shows the report; without any release there is nothing to show but the
// reasons.
func (e *evaluation) write(c *cobra.Command, r *comparison.Report) error {
	nothing := len(r.Released()) == 0
	var err error
	switch {
	case e.json:
		err = r.WriteJSON(c.OutOrStdout())
	case !nothing:
		err = r.WriteTable(c.OutOrStdout())
	}
	if err != nil {
		return err
	}
	if e.out != "" {
		if err := r.WriteFiles(e.out); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.ErrOrStderr(), "The report is in %s.\n", filepath.Join(e.out, comparison.PageName)); err != nil {
			return err
		}
	}
	if nothing {
		return fmt.Errorf("no run made a release:\n%s", strings.Join(r.Refusals(), "\n"))
	}
	return nil
}
