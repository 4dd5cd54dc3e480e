package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/request"
	ksync "github.com/kproxy/kproxy/sync"
)

func newReanonymize() *cobra.Command {
	var noWait bool
	c := &cobra.Command{
		Use:   "reanonymize [TABLE ...]",
		Short: "Have the running kproxy make the classes of tables anew",
		Long: `Reanonymize asks the running 'kproxy serve' to run the method of each table, or of all
that are published immediately, on all records anew. Maintenance makes a release lose
somewhat more than that over time; 'reanonymize' in the policy does it by itself at
a threshold. Changes go on being published meanwhile, and readers see the new classes
from one transaction to the next. New classes that lose no less are not adopted.

Readers who kept the old release can intersect its classes with the new ones: what an
immediate table tells with every change, it then tells of everybody at once. A guarded
table is refused: its classes never change.

Loss is the share of the information that generalization takes away, before and after.

  kproxy reanonymize
  kproxy reanonymize public.patients --timeout 10m`,
	}
	path := configFlag(c)
	flags := c.Flags()
	flags.BoolVar(&noWait, "no-wait", false, "do not wait for the outcome, which is logged by 'kproxy serve'")
	limited := timeoutFlag(c, 0, "wait at most `LONG` for the outcome")
	asJSON := jsonFlag(c)
	quiet := quietFlag(c, "no progress on standard error")
	c.ValidArgsFunction = completeTables
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if noWait && c.Flags().Changed("timeout") {
			return usageError{errors.New("--timeout has no meaning with --no-wait")}
		}
		ctx, cancel, err := limited(c.Context())
		if err != nil {
			return err
		}
		defer cancel()
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		var tables []catalog.Name
		for _, name := range arguments {
			tables = append(tables, catalog.ParseName(name))
		}
		bar := newProgress(os.Stderr)
		defer bar.done()
		results, err := request.Reanonymize(ctx, cfg, tables, !noWait, func(results []ksync.Renewed) {
			if !*quiet {
				bar.say(waitingFor(results))
			}
		})
		bar.done()
		if errors.Is(err, context.DeadlineExceeded) {
			return failure{codeTimeout, "'kproxy serve' logs the outcome", errors.New("the outcome was not known in time: the requests stay, and 'kproxy serve' logs it")}
		}
		if err != nil {
			return err
		}
		out := c.OutOrStdout()
		switch {
		case noWait:
			return writeAsked(out, *asJSON, "'kproxy serve' logs the outcome")
		case *asJSON:
			if err := writeJSON(out, asked{Waited: true, Outcomes: renewals(results)}); err != nil {
				return err
			}
			out = io.Discard
		}
		return writeRenewed(out, results)
	}
	return c
}

// waitingFor says what the first request that has not ended is at.
func waitingFor(results []ksync.Renewed) string {
	for _, r := range results {
		switch {
		case r.Ended:
		case r.Done < 0:
			return fmt.Sprintf("%s: waiting for kproxy", r.Table)
		default:
			return fmt.Sprintf("%s: %d records have found their class", r.Table, r.Done)
		}
	}
	return "done"
}

func renewals(results []ksync.Renewed) []outcome {
	all := []outcome{}
	for _, r := range results {
		one := outcome{Table: r.Table.String(), Done: r.Problem == "", Problem: r.Problem}
		if one.Done {
			one.Before, one.Afresh, one.Adopted = &r.Before, &r.Afresh, &r.Adopted
		}
		all = append(all, one)
	}
	return all
}

// writeRenewed tells the outcomes; one that made nothing is a failure.
func writeRenewed(w io.Writer, results []ksync.Renewed) error {
	var failed []error
	for _, r := range results {
		if r.Problem != "" {
			failed = append(failed, fmt.Errorf("%s was not re-anonymized: %s", r.Table, r.Problem))
			continue
		}
		format := "%s: information loss %.2f%% before, %.2f%% after\n"
		if !r.Adopted {
			format = "%s: information loss %.2f%%; kept, as new classes would lose %.2f%%\n"
		}
		if _, err := fmt.Fprintf(w, format, r.Table, 100*r.Before, 100*r.Afresh); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return failure{codeRefused, "'kproxy serve' logs the reason", errors.Join(failed...)}
	}
	return nil
}
