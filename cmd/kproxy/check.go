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
		Short: "Check the configuration against the database, and what the reader role can reach",
		Long: `Check examines the database as 'kproxy serve' does when it starts, and reports everything
that prevents serving: the server, the roles, the publication, each protected table, and each
readable relation and function. It changes nothing. It also reads the protected tables, and
reports published columns whose values identify single records, columns of two tables that
hold the same values, and policies that may not be what was meant. It tries the policy of each
table on 10,000 of its records, published or not, and reports classes of more than 1,000
records, and columns that are fully generalized in 90 % of the rows, with the quasi-identifying
column that, in further trials, gains the most if it is left out.

It also lists the certificates that the configuration names, by their ends. It warns of those
that are not valid, or not for long, and of a server's certificate that known clients cannot use.

Findings are grouped by subject. Each has the line of the configuration that it concerns, if
any, a code in brackets that does not change between versions, and a fix: SQL for an
administrator, lines for the configuration, or a command.

  error    'kproxy serve' would not start, would withdraw what is named, or would not publish
           it under a new policy; the last line says which
  warning  worth fixing, but breaks no promise by itself
  hint     worth knowing

Exit codes: 0 no error was found; 1 an error was found, or the database could not be
queried; 2 wrong command line.`,
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
				_, err = fmt.Fprint(forReading(c), report.String())
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
			_, err = fmt.Fprintln(forReading(c), report.Verdict())
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
