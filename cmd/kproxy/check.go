package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/internal/config"
)

func newCheck() *cobra.Command {
	c := &cobra.Command{
		Use:   "check",
		Short: "Verify the configuration against the database, and what the reader role can reach",
		Long: `Check looks at the database as 'kproxy serve' does when it starts, and reports all that
stands in the way: of the server, the roles, the publication, each protected table, each
readable relation and function. It changes nothing. It also reads the protected tables, to
tell of published columns whose values find single records, of columns of two tables that
say the same, and of what the policy may not have meant. It tries the policy of each on
10,000 of its records, published or not: classes of more than 1,000 records are told, and
columns that say nothing in 90 % of the rows, with the quasi-identifying column without which,
as further trials show, the most is gained.

Findings are in groups, by what they are about. Each has the line of the configuration
that it is about, where there is one, a code in brackets that does not change between
versions, and the fix: SQL for an administrator, lines for the configuration, or a command.

  error    'kproxy serve' would not start, or would withdraw what is named, or not publish
           it under a new policy; the last line says which
  warning  worth mending, but breaks no promise by itself
  hint     worth knowing

Exit codes: 0 no error was found, 1 one was, or the database could not be asked, 2 wrong
command line.`,
		Example: `  kproxy check -c kproxy.yaml
  kproxy check --json | jq -r '.findings[] | select(.severity == "error") | .fix'`,
		Args: noArguments,
	}
	asJSON := jsonFlag(c)
	quiet := quietFlag(c, "show errors only")
	bounded := boundedConfig(c, 0, "check for at most `LONG`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return bounded(func(ctx context.Context, cfg *config.Config) error {
			report, err := examine(ctx, cfg)
			if err != nil {
				return err
			}
			if *quiet {
				report = report.Errors()
			}
			if *asJSON {
				err = writeJSON(c.OutOrStdout(), report)
			} else {
				_, err = fmt.Fprint(c.OutOrStdout(), report.String())
			}
			if err != nil {
				return err
			}
			if !report.OK {
				return failure{codeCheck, "apply the fixes", errors.New(report.Verdict())}
			}
			if *quiet || *asJSON {
				return nil
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), report.Verdict())
			return err
		})
	}
	return c
}

// examine looks at the database, and at the values and what the policy may not have meant
// where the tables can be read and published.
func examine(ctx context.Context, cfg *config.Config) (check.Report, error) {
	checked, err := check.Full(ctx, cfg)
	if err != nil {
		return check.Report{}, err
	}
	advice, err := check.Advise(ctx, cfg, checked)
	if err != nil {
		return check.Report{}, err
	}
	return check.Summarize(cfg, append(checked.Report, advice...), checked.Before), nil
}
