package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/internal/config"
)

// reloadPatience is how long processes may take to check a configuration: an audit at
// most.
const reloadPatience = time.Minute

func newReload() *cobra.Command {
	c := &cobra.Command{
		Use:   "reload",
		Short: "Have every running kproxy read its configuration again",
		Long: `Reload asks every 'kproxy serve' on the configuration's database and slot, on whichever
machine, to read its own configuration file again, and prints what each one says. SIGHUP
asks one process for the same.

Tables are added, changed and removed, each without touching the others, and readers of
the others see nothing of it. What takes effect at the next start only is named. A
configuration with any mistake is refused as a whole, and the old one goes on.

A table that is withdrawn because its source no longer fits its policy is looked at
afresh, also where the configuration is the same as before. The answer names such tables;
the look goes on after it, and a table that stays halted is no failure of the reload:
'kproxy status' says why, and ends with 3 as long as one is.

With --check nothing is taken over: the answers say what would change.

A table that is added needs 'kproxy setup' first, which gives the grants and puts it into
the publication; after one is removed, 'kproxy setup' takes it out.

Exit codes: 0 all have taken the configuration over, 1 one has not or none is running, 2 wrong command
line.`,
		Args: noArguments,
	}
	try := c.Flags().Bool("check", false, "only say what would change")
	asJSON := jsonFlag(c)
	quiet := quietFlag(c, "show refusals only")
	bounded := boundedConfig(c, reloadPatience, "wait at most `LONG` for the answers")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return bounded(func(ctx context.Context, cfg *config.Config) error {
			answers, silent, err := processes.AskReload(ctx, cfg, *try)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			if len(answers)+silent == 0 {
				return failure{codeMissing, "start 'kproxy serve'", fmt.Errorf("no 'kproxy serve' is running on this database with slot %s: it reads its configuration when it starts", cfg.Slot)}
			}
			out := c.OutOrStdout()
			if *asJSON {
				if err := writeJSON(out, reloaded{Checked: *try, Answers: append([]processes.Answer{}, answers...), Silent: silent}); err != nil {
					return err
				}
			}
			if *quiet || *asJSON {
				out = io.Discard
			}
			return writeAnswers(out, answers, silent, *try)
		})
	}
	return c
}

// reloaded is what the processes said, as JSON.
type reloaded struct {
	// Checked says that nothing was taken over.
	Checked bool               `json:"checked"`
	Answers []processes.Answer `json:"answers"`
	// Silent is how many did not answer.
	Silent int `json:"silent"`
}

// writeAnswers tells what the processes said; one that did not take the configuration
// over is a failure.
func writeAnswers(w io.Writer, answers []processes.Answer, silent int, try bool) error {
	var failed []error
	for _, a := range answers {
		word := "reloaded"
		if try {
			word = "would be reloaded"
		}
		if a.Refused != "" {
			failed = append(failed, fmt.Errorf("%s refuses the new configuration, and the old one goes on:\n%s", a.Process, a.Refused))
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n  %s\n", a.Process, word, strings.ReplaceAll(a.String(), "\n", "\n  ")); err != nil {
			return fmt.Errorf("writing the answers: %w", err)
		}
	}
	if silent > 0 {
		failed = append(failed, fmt.Errorf("%d running kproxy did not answer; its log tells more", silent))
	}
	if len(failed) > 0 {
		return failure{codeRefused, "correct the configuration, or look at the log of the process that did not answer", errors.Join(failed...)}
	}
	return nil
}
