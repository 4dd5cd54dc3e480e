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
	"github.com/kproxy/kproxy/internal/eval/journal"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// evaluation holds the flags of kproxy eval.
type evaluation struct {
	data, knows        []string
	policy, population string
	label, out         string
	efforts            []string
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
next k the percentage points of it that one more k costs, query error is the median error
of counts over ranges, labels and sensitive values, risk is the probability of finding the
record most at risk, mean risk that of any record, and joint risk that for an attacker
who knows the columns of all parts that the policy anonymizes separately. DM is the
discernibility metric. Classes that publish the same count as one. Lower is better for all
of them; the page explains each. A second table says which method loses least, and how far
the policy's own is behind. Methods that make the same release under the constraints at
hand run once.

The figures are those of a live table, which publishes for each class what its members
cover. Methods that generalize by levels (datafly, classfly, classfly-plus-...,
alpha-k-lattice) therefore lose less than in their original form. Records that they
withhold by suppression count as lost here; a live table places them in their most similar
class.

--effort has lookahead-partition look longer for classes that lose less; several are
compared. --seeds 5 runs all with five seeds, which decide ties and draw the queries: loss
and query error are then means, with their standard deviations in percentage points behind ±.
--k, --l and --alpha replace the policy's own k over all columns, the l of its
diversity constraints, and its alphas. Without --methods, eval runs all methods
that can satisfy the constraints.

With --out, each run is written to runs.jsonl in the folder as it ends. After an interruption
the same command goes on where it stopped, and one with further methods or parameters runs
these alone, as long as the data, the policy and the program are the same; else it starts
afresh and says so. Delete runs.jsonl to measure all of it again. What was measured until
Ctrl-C is printed.

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
	e.flags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(e.data) == 0 || e.policy == "" {
			return usageError{errors.New("--data and --policy are needed; 'kproxy init' drafts a policy")}
		}
		if err := errors.Join(e.readEfforts(), e.grid.Validate()); err != nil {
			return usageError{err}
		}
		return e.run(c)
	}
	c.AddCommand(newEvalPaper(), newEvalDrift(), newEvalAttack(), newEvalWorkload(), newEvalNested())
	return c
}

// flags has the command's flags set what is evaluated.
func (e *evaluation) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&e.data, "data", nil, "CSV `FILE` to evaluate on; with people in the policy TABLE=FILE, once for each table")
	flags.StringVar(&e.policy, "policy", "", "policy `FILE` with the sections csv and tables, and maybe people")
	flags.StringSliceVar(&e.knows, "knows", nil, "`KNOWLEDGE` to compare, separated by commas, such as all,1,1/1y,1/6mo:16 (default: the policy's; with people only)")
	flags.StringSliceVar(&e.grid.Methods, "methods", nil, "`METHODS`, separated by commas (default: all that can satisfy the constraints)")
	flags.IntSliceVar(&e.grid.K, "k", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.Float64SliceVar(&e.grid.L, "l", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.Float64SliceVar(&e.grid.Alpha, "alpha", nil, "`NUMBERS`, separated by commas (default: the policy's)")
	flags.StringSliceVar(&e.efforts, "effort", nil, "`EFFORTS` of lookahead-partition, separated by commas: fast, good, best (default: the policy's)")
	flags.StringVar(&e.label, "label", "", "`COLUMN` that a classifier would predict, for CM")
	flags.StringVar(&e.population, "population", "", "CSV `FILE`, in the form of --data, of the population that it is a sample of, for the journalist risk")
	flags.Uint64Var(&e.grid.Seed, "seed", 1, "`SEED` of the methods and of the query workload")
	flags.IntVar(&e.grid.Seeds, "seeds", 1, "`NUMBER` of seeds from --seed on that everything is run with")
	flags.StringVar(&e.out, "out", "", "write the report into this `FOLDER`")
	flags.BoolVar(&e.json, "json", false, "print JSON instead of the table")
	_ = c.RegisterFlagCompletionFunc("methods", completeMethods) // the flag is there
	for _, name := range []string{"l", "alpha"} {
		flags.Lookup(name).DefValue = "" // the help's "(default [])" contradicts what it says
	}
}

func (e *evaluation) readEfforts() error {
	if e.grid.Seeds < 1 {
		return errors.New("--seeds must be at least 1")
	}
	for _, name := range e.efforts {
		effort, err := anonymizer.ParseEffort(name)
		if err != nil {
			return fmt.Errorf("--effort: %w", err)
		}
		e.grid.Efforts = append(e.grid.Efforts, effort)
	}
	return nil
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
	series := eval.Series{Table: table, Cases: cases, Options: options, Seeds: e.grid.Seeds}
	r := comparison.New(filepath.Base(e.data[0]), table, e.grid.Seed)
	r.Planned = len(cases)
	if err := e.measure(c, &series, r); err != nil {
		return err
	}
	return e.write(c, r)
}

// measure runs the series. Of one that is interrupted it shows what was measured.
func (e *evaluation) measure(c *cobra.Command, series *eval.Series, r *comparison.Report) error {
	if e.out != "" {
		kept, err := e.keep(c)
		if err != nil {
			return err
		}
		defer func() { _ = kept.Close() }() // every result is on the disk already
		series.Keeper = kept
	}
	bar := newProgress(os.Stderr)
	defer bar.done()
	series.Progress = func(run int, one eval.Case, stage string, done, total int) {
		bar.say(fmt.Sprintf("%s run %d of %d: %s, k = %d: %s", gauge(done, total), run+1, series.Runs(), one.Method, one.K, stage))
	}
	var err error
	r.Measurements, err = series.Measure(c.Context())
	bar.done()
	if err == nil || len(r.Released()) == 0 {
		return err
	}
	hint := "with --out FOLDER, the same command would go on from here"
	if e.out != "" {
		hint = "the same command goes on from here"
	}
	fmt.Fprintf(c.ErrOrStderr(), "kproxy: %d of %d measurements were made: %s\n", len(r.Measurements), len(series.Cases), hint)
	return errors.Join(e.write(c, r), err)
}

// runsName is the file of the report's folder with the runs as they end.
const runsName = "runs.jsonl"

// keep opens what an earlier evaluation has kept in the report's folder.
func (e *evaluation) keep(c *cobra.Command) (*journal.Journal, error) {
	var digest journal.Digest
	if err := digest.AddProgram(); err != nil {
		return nil, err
	}
	for _, path := range []string{e.data[0], e.policy, e.population} {
		if path == "" {
			digest.Add(nil)
			continue
		}
		if err := digest.AddFile(path); err != nil {
			return nil, err
		}
	}
	digest.Add([]byte(e.label))
	path := filepath.Join(e.out, runsName)
	kept, err := journal.Open(path, digest.String())
	switch {
	case err != nil:
		return nil, err
	case kept.Other():
		fmt.Fprintf(c.ErrOrStderr(), "kproxy: %s is of other data, another policy or another version of kproxy: starting afresh\n", path)
	case kept.Found() > 0:
		fmt.Fprintf(c.ErrOrStderr(), "kproxy: going on with the runs in %s: there are %d; delete it to measure them again\n", path, kept.Found())
	}
	return kept, nil
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
