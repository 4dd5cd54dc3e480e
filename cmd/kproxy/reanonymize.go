package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
	ksync "github.com/kproxy/kproxy/sync"
)

func newReanonymize() *cobra.Command {
	var noWait bool
	var timeout time.Duration
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
	flags.DurationVar(&timeout, "timeout", 0, "wait at most `LONG` for the outcome (default: as long as it takes)")
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if timeout < 0 || noWait && timeout > 0 {
			return usageError{errors.New("--timeout takes a positive duration, and has no meaning with --no-wait")}
		}
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		var tables []catalog.Name
		for _, name := range arguments {
			tables = append(tables, catalog.ParseName(name))
		}
		ctx := c.Context()
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		bar := newProgress(os.Stderr)
		defer bar.done()
		results, err := daemon.Reanonymize(ctx, cfg, tables, !noWait, func(results []ksync.Renewed) { bar.say(waitingFor(results)) })
		bar.done()
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the outcome was not known after %s: the requests stay, and 'kproxy serve' logs it", timeout)
		}
		if err != nil {
			return err
		}
		if noWait {
			_, err := fmt.Fprintln(c.OutOrStdout(), "asked for: 'kproxy serve' logs the outcome")
			return err
		}
		return writeRenewed(c.OutOrStdout(), results)
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
	return errors.Join(failed...)
}
