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
	asJSON := c.Flags().Bool("json", false, "write the report as JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		report, err := daemon.Verify(c.Context(), cfg)
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
				return fmt.Errorf("table %s has not been published yet: start 'kproxy serve'", t.Table)
			}
		}
		if !report.Passed() {
			return errors.New("a published table does not keep its promises")
		}
		return nil
	}
	return c
}
