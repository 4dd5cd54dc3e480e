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
	"github.com/kproxy/kproxy/cmd/kproxy/request"
	"github.com/kproxy/kproxy/internal/config"
)

// tableRequest is what a command asks of the process that applies changes, for named tables or
// for all.
type tableRequest struct {
	// settle returns the tables to ask for in place of those named, or refuses. It may be nil.
	settle func(ctx context.Context, cfg *config.Config, named []catalog.Name) ([]catalog.Name, error)
	// submit asks, and waits for the outcome if it is to. It reports progress by say.
	submit func(ctx context.Context, cfg *config.Config, tables []catalog.Name, wait bool, say func(string)) ([]outcome, error)
	// note says where the outcome can be seen that the command does not wait for, and hint where
	// the reason is why a table was not done.
	note, hint string
}

// newTableRequest completes a command that makes a request.
func newTableRequest(c *cobra.Command, r tableRequest) *cobra.Command {
	noWait := c.Flags().Bool("no-wait", false, "do not wait for the outcome, which 'kproxy serve' logs")
	bounded := boundedConfig(c, 0, "wait at most `LONG` for the outcome")
	asJSON := jsonFlag(c)
	quiet := quietFlag(c, "no progress on standard error")
	c.ValidArgsFunction = completeTables
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if *noWait && c.Flags().Changed("timeout") {
			return usageError{errors.New("--timeout has no meaning with --no-wait")}
		}
		return bounded(func(ctx context.Context, cfg *config.Config) (err error) {
			tables := tableNames(arguments)
			if r.settle != nil {
				if tables, err = r.settle(ctx, cfg, tables); err != nil {
					return err
				}
			}
			bar, began := newProgress(os.Stderr), time.Now()
			defer bar.done()
			outcomes, err := r.submit(ctx, cfg, tables, !*noWait, func(text string) {
				if !*quiet {
					bar.say(text)
				}
			})
			bar.done()
			out := c.OutOrStdout()
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				return failure{codeTimeout, r.note, fmt.Errorf("the outcome was not known after %s: the request stays, and 'kproxy serve' logs it", time.Since(began).Round(time.Second))}
			case errors.Is(err, request.ErrNoApplier):
				return writeRequested(out, *asJSON, err.Error())
			case err != nil:
				return err
			case *noWait:
				return writeRequested(out, *asJSON, r.note)
			}
			return writeOutcomes(out, *asJSON, outcomes, r.hint)
		})
	}
	return c
}

// requested is what came of a request, as JSON.
type requested struct {
	// Waited says that the outcomes are known. If they are not, Note says where they will be.
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

	text string // for people
}

// writeRequested says where the outcome will be.
func writeRequested(w io.Writer, asJSON bool, note string) error {
	if asJSON {
		return writeJSON(w, requested{Note: note, Outcomes: []outcome{}})
	}
	_, err := fmt.Fprintln(w, "asked for:", note)
	return err
}

// writeOutcomes writes the outcomes. A table that is not done is a failure with the hint.
func writeOutcomes(w io.Writer, asJSON bool, outcomes []outcome, hint string) error {
	if asJSON {
		if err := writeJSON(w, requested{Waited: true, Outcomes: outcomes}); err != nil {
			return err
		}
		w = io.Discard
	}
	var failed []error
	for _, o := range outcomes {
		if !o.Done {
			failed = append(failed, errors.New(o.text))
			continue
		}
		if _, err := fmt.Fprintln(w, o.text); err != nil {
			return fmt.Errorf("writing the outcome: %w", err)
		}
	}
	if len(failed) > 0 {
		return failure{codeRefused, hint, errors.Join(failed...)}
	}
	return nil
}
