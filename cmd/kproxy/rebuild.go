package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
)

func newRebuild() *cobra.Command {
	return newAsk(daemon.Rebuild, "published afresh", &cobra.Command{
		Use:   "rebuild [TABLE ...]",
		Short: "Publish tables afresh from the source, whatever readers may conclude from that",
		Long: `Rebuild asks the kproxy that applies to publish each table, or all, afresh from its
source. Readers see the earlier release until the new one is there; other tables go on.
Where no kproxy runs, the next 'kproxy serve' does it.

A guarded table begins a new lineage: readers who compare its new classes with the old
ones can single people out. 'kproxy resync' keeps the lineage.

  kproxy rebuild
  kproxy rebuild public.patients --timeout 10m

Exit codes: 0 done, or nobody waits for it; 1 it was not done; 2 wrong command line.`,
	})
}

func newResync() *cobra.Command {
	return newAsk(daemon.Resync, "resynchronized", &cobra.Command{
		Use:   "resync [TABLE ...]",
		Short: "Compare tables with their source and apply the difference",
		Long: `Resync asks the kproxy that applies to compare each table, or all, with its source and to
apply the difference as if it had come as one transaction. Classes stay as far as they
can, and guarded tables keep their lineage. Where no kproxy runs, the next 'kproxy serve'
does it.

It heals what the stream of changes did not tell: a lost slot, a restored backup, values
that ALTER TABLE ... USING rewrote in place. A table that waits for the operator is
looked at afresh.

Exit codes: 0 done, or nobody waits for it; 1 it was not done; 2 wrong command line.`,
	})
}

// newAsk completes a command that asks the process that applies for something.
func newAsk(wish daemon.Wish, done string, c *cobra.Command) *cobra.Command {
	path := configFlag(c)
	flags := c.Flags()
	noWait := flags.Bool("no-wait", false, "do not wait for the outcome, which 'kproxy serve' logs")
	timeout := flags.Duration("timeout", 0, "wait at most `LONG` for the outcome (default: as long as it takes)")
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if *timeout < 0 || *noWait && *timeout > 0 {
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
		if *timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, *timeout)
			defer cancel()
		}
		bar, began := newProgress(os.Stderr), time.Now()
		defer bar.done()
		wished, err := daemon.Ask(ctx, cfg, wish, tables, !*noWait, func(wished []daemon.Wished) { bar.say(awaited(wished, time.Since(began))) })
		bar.done()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("the outcome was not known after %s: the wish stays, and 'kproxy serve' logs it", *timeout)
		case errors.Is(err, daemon.ErrNobodyApplies):
			_, err := fmt.Fprintln(c.OutOrStdout(), "asked for:", err)
			return err
		case err != nil:
			return err
		case *noWait:
			_, err := fmt.Fprintln(c.OutOrStdout(), "asked for: 'kproxy serve' logs the outcome, and 'kproxy status' shows it")
			return err
		}
		return writeWished(c.OutOrStdout(), wished, done)
	}
	return c
}

// awaited says which tables are not done yet.
func awaited(wished []daemon.Wished, since time.Duration) string {
	var waiting []string
	for _, w := range wished {
		if !w.Ended {
			waiting = append(waiting, w.Table)
		}
	}
	return fmt.Sprintf("%d of %d tables done after %s; waiting for %s",
		len(wished)-len(waiting), len(wished), since.Round(time.Second), strings.Join(waiting, ", "))
}

// writeWished tells the outcomes; a table that waits for the operator is a failure.
func writeWished(w io.Writer, wished []daemon.Wished, done string) error {
	var failed []error
	for _, one := range wished {
		if one.Problem != "" {
			failed = append(failed, fmt.Errorf("%s was not %s: %s (%s)", one.Table, done, one.Problem, one.Fix))
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", one.Table, done); err != nil {
			return fmt.Errorf("writing the outcome: %w", err)
		}
	}
	return errors.Join(failed...)
}
