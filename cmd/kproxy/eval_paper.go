package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/eval/paper"
)

func newEvalPaper() *cobra.Command {
	var names []string
	for _, e := range paper.Experiments() {
		names = append(names, e.Name)
	}
	setup := paper.Setup{}
	c := &cobra.Command{
		Use:   "paper NAME",
		Short: "Re-run the experiments of the papers and compare the results with their claims",
		Long: `Paper re-runs the evaluation of one paper, or of all, and compares the measured curves
with the paper's claims. Names: all, ` + strings.Join(names, ", ") + `.

Most experiments need the Adult census data (UCI machine learning repository,
adult.data and adult.test); --adult names its folder.`,
		Args: func(c *cobra.Command, arguments []string) error {
			if len(arguments) != 1 {
				return usageError{fmt.Errorf("%s takes one name: all, %s", c.CommandPath(), strings.Join(names, ", "))}
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&setup.Adult, "adult", "", "`FOLDER` of the Adult data, its hierarchies in hierarchies/")
	flags.Uint64Var(&setup.Seed, "seed", 1, "`SEED` of the methods and of generated data")
	flags.BoolVar(&setup.Quick, "quick", false, "fewer records and parameters, for a quick look")
	out := flags.String("out", "", "write a page, JSON and Markdown into this `FOLDER`")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		experiments := paper.Experiments()
		if arguments[0] != "all" {
			e, err := paper.Named(arguments[0])
			if err != nil {
				return usageError{err}
			}
			experiments = []paper.Experiment{e}
		}
		bar := newProgress(os.Stderr)
		defer bar.done()
		setup.Report = bar.say
		var results []paper.Result
		var skipped []string
		var noData error
		for _, e := range experiments {
			result, err := e.Run(c.Context(), setup)
			if errors.Is(err, paper.ErrNoData) {
				skipped, noData = append(skipped, e.Name), err
				continue
			}
			if err != nil {
				return err
			}
			bar.done()
			if !*asJSON {
				if err := result.WriteText(c.OutOrStdout()); err != nil {
					return err
				}
			}
			results = append(results, result)
		}
		if *asJSON {
			if err := writeJSON(c.OutOrStdout(), results); err != nil {
				return err
			}
		}
		if *out != "" && len(results) > 0 {
			if err := paper.WriteFiles(*out, results); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "The report is in %s.\n", filepath.Join(*out, paper.PageName))
		}
		if noData != nil {
			return fmt.Errorf("not run: %s: %w", strings.Join(skipped, ", "), errors.Unwrap(noData))
		}
		return nil
	}
	return c
}
