package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/request"
	"github.com/kproxy/kproxy/internal/config"
)

func newRebuild() *cobra.Command {
	c := &cobra.Command{
		Use:   "rebuild {TABLE ... | --all}",
		Short: "Publish tables afresh from the source, whatever readers may conclude from that",
		Long: `Rebuild asks the kproxy that applies to publish each named table, or with --all every one,
afresh from its source. Readers see the earlier release until the new one is there; other
tables go on. Where no kproxy runs, the next 'kproxy serve' does it.

A guarded table begins a new lineage: readers who compare its new classes with the old
ones can single people out. At a terminal you are asked whether that is meant; elsewhere
it takes --new-lineage. 'kproxy resync' keeps the lineage.

Exit codes: 0 done, or nobody waits for it; 1 it was not done; 2 wrong command line.`,
		Example: `  kproxy rebuild public.visits --timeout 10m
  kproxy rebuild public.patients --new-lineage
  kproxy rebuild --all --no-wait`,
	}
	all := c.Flags().Bool("all", false, "all protected tables")
	c.Args = func(_ *cobra.Command, arguments []string) error {
		switch {
		case *all && len(arguments) > 0:
			return usageError{fmt.Errorf("--all means every table, and %q is one", arguments[0])}
		case !*all && len(arguments) == 0:
			return usageError{errors.New("say which tables to publish afresh, or --all")}
		}
		return nil
	}
	lineage := c.Flags().Bool("new-lineage", false, "begin a new lineage of guarded tables without being asked")
	return newAsk(request.Rebuild, "published afresh", c, func(cfg *config.Config, named []catalog.Name) ([]catalog.Name, error) {
		if !*lineage {
			// The file may say otherwise than what readers hold.
			stored, err := request.Lineages(c.Context(), cfg, named)
			if err != nil {
				return nil, err
			}
			guarded := slices.Compact(slices.Sorted(slices.Values(append(guardedAmong(cfg.Policy, named), stored...))))
			if err := permitLineages(c.Context(), guarded, c.InOrStdin(), c.ErrOrStderr(), isTerminal()); err != nil {
				return nil, err
			}
		}
		if len(named) == 0 {
			return tablesOf(cfg.Policy), nil // consent is to tables by their names
		}
		return named, nil
	})
}

func newResync() *cobra.Command {
	c := &cobra.Command{
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
	}
	return newAsk(request.Resync, "resynchronized", c, nil)
}

// newAsk completes a command that asks the process that applies for something, for named
// tables or for all. Settle, unless nil, says for which tables in their place, or refuses.
func newAsk(wish request.Kind, done string, c *cobra.Command, settle func(*config.Config, []catalog.Name) ([]catalog.Name, error)) *cobra.Command {
	path := configFlag(c)
	flags := c.Flags()
	noWait := flags.Bool("no-wait", false, "do not wait for the outcome, which 'kproxy serve' logs")
	limited := timeoutFlag(c, 0, "wait at most `LONG` for the outcome")
	asJSON := jsonFlag(c)
	quiet := quietFlag(c, "no progress on standard error")
	c.ValidArgsFunction = completeTables
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if *noWait && c.Flags().Changed("timeout") {
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
		if settle != nil {
			if tables, err = settle(cfg, tables); err != nil {
				return err
			}
		}
		bar, began := newProgress(os.Stderr), time.Now()
		defer bar.done()
		wished, err := request.Submit(ctx, cfg, wish, tables, !*noWait, func(wished []request.Outcome) {
			if !*quiet {
				bar.say(awaited(wished, time.Since(began)))
			}
		})
		bar.done()
		out := c.OutOrStdout()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return failure{codeTimeout, "'kproxy status' shows the outcome", fmt.Errorf("the outcome was not known after %s: the wish stays, and 'kproxy serve' logs it", time.Since(began).Round(time.Second))}
		case errors.Is(err, request.ErrNoApplier):
			return writeAsked(out, *asJSON, err.Error())
		case err != nil:
			return err
		case *noWait:
			return writeAsked(out, *asJSON, "'kproxy serve' logs the outcome, and 'kproxy status' shows it")
		}
		return writeOutcomes(out, *asJSON, wished, done)
	}
	return c
}

// asked is what came of a wish, as JSON.
type asked struct {
	// Waited says that the outcomes are known; Note says otherwise who will know.
	Waited   bool      `json:"waited"`
	Note     string    `json:"note,omitempty"`
	Outcomes []outcome `json:"outcomes"`
}

// outcome is that of one table.
type outcome struct {
	Table   string `json:"table"`
	Done    bool   `json:"done"`
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
	// Before and Afresh are shares of the information that generalization takes away. They
	// and Adopted are of 'kproxy reanonymize' alone.
	Before  *float64 `json:"loss_before,omitempty"`
	Afresh  *float64 `json:"loss_afresh,omitempty"`
	Adopted *bool    `json:"adopted,omitempty"`
}

func outcomesOf(wished []request.Outcome) []outcome {
	all := []outcome{}
	for _, w := range wished {
		all = append(all, outcome{Table: w.Table, Done: w.Problem == "", Problem: w.Problem, Fix: w.Fix})
	}
	return all
}

// writeAsked tells that nobody waits for the outcome.
func writeAsked(w io.Writer, asJSON bool, note string) error {
	if asJSON {
		return writeJSON(w, asked{Note: note, Outcomes: []outcome{}})
	}
	_, err := fmt.Fprintln(w, "asked for:", note)
	return err
}

// awaited says which tables are not done yet.
func awaited(wished []request.Outcome, since time.Duration) string {
	var waiting []string
	for _, w := range wished {
		if !w.Ended {
			waiting = append(waiting, w.Table)
		}
	}
	return fmt.Sprintf("%d of %d tables done after %s; waiting for %s",
		len(wished)-len(waiting), len(wished), since.Round(time.Second), strings.Join(waiting, ", "))
}

func writeOutcomes(w io.Writer, asJSON bool, wished []request.Outcome, done string) error {
	if asJSON {
		if err := writeJSON(w, asked{Waited: true, Outcomes: outcomesOf(wished)}); err != nil {
			return err
		}
		w = io.Discard
	}
	return writeWished(w, wished, done)
}

// writeWished tells the outcomes; a table that waits for the operator is a failure.
func writeWished(w io.Writer, wished []request.Outcome, done string) error {
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
	if len(failed) > 0 {
		return failure{codeRefused, "'kproxy status' shows what each table needs", errors.Join(failed...)}
	}
	return nil
}
