package main

import (
	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
)

func newStatus() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Show how fresh the published tables are, and how far replication is behind",
		Long: `Status reads the private store as the owner, whether 'kproxy serve' runs or not:
how far the published tables are behind their source, and of each its records, rows
and classes. Of tables with guarded updates it also shows

  WAITING  records that wait to be published, and for how long the first has
  STALE    records that are published as they were before a change, and since when
  GHOSTS   rows whose records are deleted, which vanish when enough others have left
  EXPIRED  records that are withheld for good: they waited until the deadline, or
           violated the constraints with all others of their batch

WITHHELD are all records that are not published. The figures are for the operator:
to readers they would tell who came and left.`,
		Args: noArguments,
	}
	path := configFlag(c)
	asJSON := c.Flags().Bool("json", false, "write the status as JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		status, err := daemon.ReadStored(c.Context(), cfg)
		if err != nil {
			return err
		}
		if *asJSON {
			return status.WriteJSON(c.OutOrStdout())
		}
		return status.WriteText(c.OutOrStdout())
	}
	return c
}
