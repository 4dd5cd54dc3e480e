package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/verify"
)

// verifyJobs is how many tables are verified at the same time.
const verifyJobs = 2

// tellVerified says in words how far a verification is.
func tellVerified(say func(string)) func(verify.Progress) {
	return func(at verify.Progress) {
		say(fmt.Sprintf("verifying: %d of %d tables done; %s: %s", at.Done, at.Tables, at.Table, at.Checks))
	}
}

func newVerify() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Verify, from the database alone, that the published tables meet their constraints",
		Long: `Verify counts the constraints by GROUP BY over the published relations as clients see
them, and compares each release with the private store: every published range
contains the raw values of its members, and no record is missing, superfluous or withheld by
mistake. Verify and the code that makes releases share only the interpretation of a policy.

Verify also examines the servers of upstream.reader. On a server that follows the owner's
server, it verifies the same as the owner, who must be able to log in there. A second primary,
or a server that follows another server, is an error. These findings are written to standard
error.

While a source in a database of its own is away, what is published is verified all the same, and
a warning says what is not.

All tables are verified as of one moment, several of them at the same time with --jobs, each of
which is a connection of the owner. What is being checked is written to standard error.

Exit codes: 0 everything holds; 1 something does not, or could not be verified.`,
		Args: noArguments,
	}
	asJSON := jsonFlag(c)
	bounded := boundedConfig(c, 0, "verify for at most `LONG`")
	quiet := quietFlag(c, "no progress on standard error")
	jobs := c.Flags().IntP("jobs", "j", verifyJobs, "verify at most `N` tables at the same time")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *jobs < 1 {
			return usageError{errors.New("--jobs must be at least 1")}
		}
		return bounded(func(ctx context.Context, cfg *config.Config) error {
			bar := newProgress(os.Stderr)
			defer bar.done()
			told := tellVerified(func(text string) {
				if !*quiet {
					bar.say(text)
				}
			})
			report, err := history.Verify(ctx, cfg, *jobs, told)
			bar.done()
			if err != nil {
				return err
			}
			write := report.WriteText
			if *asJSON {
				write = report.WriteJSON
			}
			if err := write(forReading(c)); err != nil {
				return err
			}
			servers, findings, err := history.VerifyServers(ctx, cfg, *jobs, told)
			bar.done()
			if err != nil {
				return err
			}
			for _, f := range append(findings, history.Unverified(ctx, cfg)...) {
				fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n    fix: %s\n", f.Severity, f.What, f.Fix)
			}
			for _, t := range report {
				if t.Generation == 0 {
					return failure{codeMissing, "start 'kproxy serve'", fmt.Errorf("table %s has not been published yet: start 'kproxy serve'", t.Table)}
				}
			}
			for _, at := range slices.Sorted(maps.Keys(servers)) {
				if !servers[at].Passed() {
					_ = servers[at].WriteText(c.ErrOrStderr())
					return failure{codeUnproven, "the report says which, and what was found", fmt.Errorf("what is published does not keep its promises on server %s, to which readers are sent", at)}
				}
				fmt.Fprintf(c.ErrOrStderr(), "server %s: passed\n", at)
			}
			if errs := findings.Errors(); len(errs) > 0 {
				return failure{codeUnproven, errs[0].Fix, errors.New(errs[0].What)}
			}
			if !report.Passed() {
				return failure{codeUnproven, "the report says which, and what was found", errors.New("a published table does not keep its promises")}
			}
			return nil
		})
	}
	return c
}
