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

// reloadTimeout is how long processes may take to check a configuration: an audit at
// most.
const reloadTimeout = time.Minute

func newReload() *cobra.Command {
	c := &cobra.Command{
		Use:   "reload",
		Short: "Make every running kproxy read its configuration again",
		Long: `Reload makes every 'kproxy serve' on the configuration's database and slot, on any machine,
read its own configuration file again, and prints the answer of each. SIGHUP does the same
for one process.

Tables are added, changed and removed independently; readers of the other tables notice
nothing. Guarded tables that the change halts, or that go on with other audiences, are named.
Settings that take effect at the next start are named. A configuration with a mistake
is refused as a whole, and the process keeps the old one.

A table that is withdrawn because its source no longer fits its policy is examined
again, even if the configuration has not changed. The answer names such tables, but does not
wait for the result. A table that stays halted is not a failure of the reload: 'kproxy
status' says why it is halted, and exits with 3 as long as it is.

With --check, nothing is changed: the answers say what would change.

Before a table is added, 'kproxy setup' must grant access to it and add it to the
publication. After a table is removed, 'kproxy setup' takes it out again. When audiences or
their readers have changed, run 'kproxy setup' first, too.

Exit codes: 0 all processes use the configuration; 1 one does not, or none is running;
2 wrong command line.`,
		Args: noArguments,
	}
	try := c.Flags().Bool("check", false, "say what would change, and change nothing")
	asJSON := jsonFlag(c)
	quiet := quietFlag(c, "show refusals only")
	bounded := boundedConfig(c, reloadTimeout, "wait at most `LONG` for the answers")
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
