package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
)

func newVerify() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Prove from the database alone that the published tables meet their constraints",
		Long: `Verify counts the constraints by GROUP BY over the published relations as clients
see them, and compares the release with the private store: every published range
holds its members' raw values, no record is missing, surplus or withheld by
mistake. It shares no code with what makes the release.

Exit code 0: everything holds. 1: something does not, or could not be asked.`,
		Args: noArguments,
	}
	path := configFlag(c)
	asJSON := jsonFlag(c)
	limited := timeoutFlag(c, 0, "prove for at most `LONG`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx, cancel, err := limited(c.Context())
		if err != nil {
			return err
		}
		defer cancel()
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		report, err := daemon.Verify(ctx, cfg)
		if err != nil {
			return err
		}
		write := report.WriteText
		if *asJSON {
			write = report.WriteJSON
		}
		if err := write(c.OutOrStdout()); err != nil {
			return err
		}
		for _, t := range report {
			if t.Generation == 0 {
				return failure{codeMissing, "start 'kproxy serve'", fmt.Errorf("table %s has not been published yet: start 'kproxy serve'", t.Table)}
			}
		}
		if !report.Passed() {
			return failure{codeUnproven, "the report says which, and what was found", errors.New("a published table does not keep its promises")}
		}
		return nil
	}
	return c
}
