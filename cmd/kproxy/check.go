package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
)

func newCheck() *cobra.Command {
	c := &cobra.Command{
		Use:   "check",
		Short: "Verify the configuration against the database, and what the reader role can reach",
		Args:  noArguments,
	}
	path := configFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		checked, err := daemon.Check(c.Context(), cfg)
		if err != nil {
			return err
		}
		report := checked.Report
		if len(report.Errors()) == 0 {
			advice, err := daemon.Advise(c.Context(), cfg, checked.Publications)
			if err != nil {
				return err
			}
			report = append(report, advice...)
		}
		if len(report) > 0 {
			fmt.Fprintln(c.OutOrStdout(), daemon.FormatReport(cfg, report))
		}
		if errs := report.Errors(); len(errs) > 0 {
			if daemon.Alone(cfg.Policy, errs) {
				return errors.New("the check failed: 'kproxy serve' would withdraw what is named, or refuse to start if it has published nothing of it yet")
			}
			return errors.New("the check failed: 'kproxy serve' would refuse to start")
		}
		fmt.Fprintf(c.OutOrStdout(), "ok: %d protected tables can be published, and the reader role reaches no raw row\n", len(cfg.Policy.Tables))
		return nil
	}
	return c
}
