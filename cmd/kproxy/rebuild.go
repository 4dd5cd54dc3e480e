package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
)

func newRebuild() *cobra.Command {
	c := &cobra.Command{
		Use:   "rebuild",
		Short: "Forget slot and position, so that the next 'kproxy serve' publishes every table afresh",
		Long: `Rebuild drops the replication slot and the stored position. The source is not
touched, and the last release stays readable until the next 'kproxy serve' has
made a new one. Stop kproxy first.`,
		Args: noArguments,
	}
	path := configFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		if err := daemon.Forget(c.Context(), cfg); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "done: start 'kproxy serve' to publish afresh")
		return nil
	}
	return c
}
