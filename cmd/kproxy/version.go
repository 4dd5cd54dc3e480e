package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/build"
)

func newVersion() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Show the version of kproxy, its revision, and the version of its SQL grammar",
		Args:  noArguments,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		b := build.This()
		if *asJSON {
			return writeJSON(c.OutOrStdout(), b)
		}
		commit := b.Commit
		if commit == "" {
			commit = "not noted by the build (go build -buildvcs=false, or outside of a clone)"
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "kproxy %s\ncommit %s\n%s, %s\nSQL grammar of PostgreSQL %s\n", b.Version, commit, b.Go, b.Platform, b.Grammar)
		return err
	}
	return c
}
