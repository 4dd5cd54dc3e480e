package main

import (
	"context"
	"errors"
	"fmt"
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
		Short: "Publish tables afresh from the source",
		Long: `Rebuild asks the kproxy that applies changes to publish the named tables, or with --all every
table, afresh from the source. Readers see the earlier release until the new one is
complete. Other tables are not affected. If no kproxy runs, the next 'kproxy serve' does it.

A guarded table begins a new lineage: readers who compare its new classes with the old
ones can single people out. At a terminal, rebuild asks for confirmation; otherwise it
requires --new-lineage. 'kproxy resync' keeps the lineage.

Exit codes: 0 done, or requested without waiting; 1 not done; 2 wrong command line.`,
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
	lineage := c.Flags().Bool("new-lineage", false, "begin a new lineage of guarded tables without asking")
	return newTableRequest(c, tableRequest{
		note: shownByStatus, hint: hintNeeds, submit: submitKind(request.Rebuild, "published afresh"),
		settle: func(ctx context.Context, cfg *config.Config, named []catalog.Name) ([]catalog.Name, error) {
			if !*lineage {
				// The file may say otherwise than what readers hold.
				stored, err := request.Lineages(ctx, cfg, named)
				if err != nil {
					return nil, err
				}
				guarded := slices.Compact(slices.Sorted(slices.Values(append(guardedAmong(cfg.Policy, named), stored...))))
				if err := permitLineages(ctx, guarded, dialog(c)); err != nil {
					return nil, err
				}
			}
			return request.Tables(cfg.Policy, named) // consent is to tables by their names
		},
	})
}

func newResync() *cobra.Command {
	c := &cobra.Command{
		Use:   "resync [TABLE ...]",
		Short: "Compare tables with their source and apply the difference",
		Long: `Resync asks the kproxy that applies changes to compare the named tables, or all tables, with
their source, and to apply the difference as if it had come in one transaction. Classes stay
as they are where possible, and guarded tables keep their lineage. If no kproxy runs, the
next 'kproxy serve' does it.

Resync repairs what the stream of changes did not show: a lost slot, a restored backup, or
values that ALTER TABLE ... USING rewrote in place. A halted or withdrawn table is examined
again.

Exit codes: 0 done, or requested without waiting; 1 not done; 2 wrong command line.`,
	}
	return newTableRequest(c, tableRequest{note: shownByStatus, hint: hintNeeds, submit: submitKind(request.Resync, "resynchronized")})
}

const (
	shownByStatus = "'kproxy serve' logs the outcome, and 'kproxy status' shows it"
	hintNeeds     = "'kproxy status' shows what each table needs"
)

// submitKind asks for a kind of request. Done is what has become of a table then.
func submitKind(kind request.Kind, done string) func(context.Context, *config.Config, []catalog.Name, bool, func(string)) ([]outcome, error) {
	return func(ctx context.Context, cfg *config.Config, tables []catalog.Name, wait bool, say func(string)) ([]outcome, error) {
		began := time.Now()
		outcomes, err := request.Submit(ctx, cfg, kind, tables, wait, func(outcomes []request.Outcome) { say(awaited(outcomes, time.Since(began))) })
		return outcomesOf(outcomes, done), err
	}
}

func outcomesOf(requested []request.Outcome, done string) []outcome {
	all := []outcome{}
	for _, r := range requested {
		one := outcome{Table: r.Table, Done: r.Problem == "", Problem: r.Problem, Fix: r.Fix, text: fmt.Sprintf("%s: %s", r.Table, done)}
		if !one.Done {
			one.text = fmt.Sprintf("%s was not %s: %s (%s)", r.Table, done, r.Problem, r.Fix)
		}
		all = append(all, one)
	}
	return all
}

// awaited says which tables are not done yet.
func awaited(outcomes []request.Outcome, since time.Duration) string {
	var waiting []string
	for _, o := range outcomes {
		if !o.Ended {
			waiting = append(waiting, o.Table)
		}
	}
	return fmt.Sprintf("%d of %d tables done after %s; waiting for %s",
		len(outcomes)-len(waiting), len(outcomes), since.Round(time.Second), strings.Join(waiting, ", "))
}
